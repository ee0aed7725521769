# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows that are measured (rows.csv: the baseline, and what a decoding step asks
for, which has few rows and no figures of peers) and the kernels that are tried on each
(configurations.json)."""

import csv
import json
import os

# Peers that rows.csv has figures of, in TFLOP/s.
BASELINE_PEERS = ("deepgemm", "cublaslt", "cutlass", "triton")


class Row:
    """A shape and what is known of it."""

    def __init__(self, fields):
        self.set = fields["set"]
        self.shape = tuple(int(fields[key]) for key in "mnk")
        self.priority = int(fields["priority"])
        self.limit_us = float(fields["limit_us"])
        self.baseline = {peer: float(fields[peer]) for peer in BASELINE_PEERS if fields[peer]}

    @property
    def name(self):
        return "%dx%dx%d" % self.shape

    def tflops(self, microseconds):
        m, n, k = self.shape
        return 2 * m * n * k / microseconds / 1e6


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [Row(fields) for fields in csv.DictReader(file)]


def select_rows(rows, names, chosen="baseline"):
    """The rows named, or those of a set; the baseline first, and by priority, so that what matters most is measured if time runs out."""
    unknown = set(names) - {row.name for row in rows}
    if unknown:
        raise ValueError("there is no row '%s'; there are %s" % (min(unknown), ", ".join(row.name for row in rows)))
    sets = {row.set for row in rows}
    if chosen not in sets | {"all"}:
        raise ValueError("there is no set '%s' of rows; there are all, %s" % (chosen, ", ".join(sorted(sets))))
    wanted = [row for row in rows if (row.name in names if names else chosen in (row.set, "all"))]
    return sorted(wanted, key=lambda row: (row.set, row.priority))


class Configurations:
    """Kernels by name, and the names to try for each row, the preferred one first."""

    def __init__(self, text, where):
        table = json.loads(text)
        self.kernels = table["kernels"]
        self.rows = table["rows"]
        for row, names in self.rows.items():
            if not names:
                raise ValueError("%s: row '%s' has no kernel; name one of \"kernels\"" % (where, row))
            for name in names:
                if name not in self.kernels:
                    raise ValueError("%s: row '%s' names kernel '%s', which \"kernels\" does not have" % (
                        where, row, name))
        for name, kernel in self.kernels.items():
            unknown = set(kernel) - {"config", "options", "programmatic"}
            if "config" not in kernel or unknown:
                raise ValueError("%s: kernel '%s' must have \"config\" and may have \"options\" and \"programmatic\""
                                 % (where, name))

    def candidates(self, row, every):
        names = self.rows.get(row.name, [])
        return names if every else names[:1]

    def used(self, rows):
        """The names of all kernels that some row tries."""
        return sorted({name for row in rows for name in self.candidates(row, True)})


def read_configurations(path):
    with open(path, encoding="utf-8") as file:
        return Configurations(file.read(), os.path.basename(path))
