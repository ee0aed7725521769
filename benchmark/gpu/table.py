# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows that are measured (rows.csv: the baseline, with figures of peers; what a decoding
step asks for; M between the two, M and N off every tile, more N and K of models; and
rows drawn from a seed, which are in no table) and the kernels that are tried on each
(configurations.json)."""

import csv
import json
import math
import os
import random
import re

# Peers that rows.csv has figures of, in TFLOP/s.
BASELINE_PEERS = ("deepgemm", "cublaslt", "cutlass", "triton")


# The sets whose rows have candidates in configurations.json; the others are about defaults.
SEARCHED_SETS = ("baseline", "decode")

# What the limit of a row is made of (docs/Benchmark.md): bytes and multiply-adds in a microsecond.
BYTES_PER_US = 4.3e6
OPERATIONS_PER_US = 1979e6

# Rows of A's scales are a multiple of this many bytes apart, which TMA needs; DeepGEMM lays them out so.
LEAST_SCALE_BYTES = 16
# As fp8.quantize_blockwise lays them out: rows begin with a line of L2 (benchmark/notes/every-m.md).
OWN_SCALE_BYTES = 128
# N and K of the random rows, and the largest M.
RANDOM_NS = (576, 1536, 2112, 2304, 4096, 4608, 5120, 7168, 9216, 12288, 18432, 24576, 36864)
RANDOM_KS = (512, 1536, 2048, 2304, 4096, 5120, 7168, 9216, 16384, 18432)
RANDOM_MOST_ROWS = 16384
RANDOM_COUNT = 40

# N and K of the sweep over M (every_m.py): those of the baseline.
EVERY_M_SHAPES = ((2112, 7168), (4096, 7168), (7168, 2048), (7168, 16384), (24576, 1536), (32768, 512))
# M of the sweep at which peers are measured: their tiles' multiples, what their users can pad A to, and some between.
PEER_TILES = (*range(64, 1100, 64), 1280, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384)
PEER_MS = sorted({*PEER_TILES, 1, 8, 16, 32, 48, 65, 80, 100, 129, 160, 200, 257, 300, 400, 513, 777, 1025})


def every_m_peer_shapes(shapes=EVERY_M_SHAPES):
    """(m, n, k) of what peers are asked for in the sweep."""
    return [(m, n, k) for n, k in shapes for m in PEER_MS]


def find_limit(m, n, k):
    """Microseconds that the bytes, or the arithmetic, take at least."""
    return max((m * k + n * k + 2 * m * n) / BYTES_PER_US, 2 * m * n * k / OPERATIONS_PER_US)


class Row:
    """A shape and what is known of it."""

    @classmethod
    def of_shape(cls, m, n, k, chosen, priority):
        """A row that is in no table."""
        return cls(dict.fromkeys(BASELINE_PEERS, ""), set=chosen, m=m, n=n, k=k, priority=priority, limit_us="")

    def __init__(self, fields, **others):
        fields = dict(fields, **others)
        self.set = fields["set"]
        self.shape = tuple(int(fields[key]) for key in "mnk")
        self.priority = int(fields["priority"])
        self.limit_us = float(fields["limit_us"] or find_limit(*self.shape))
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


def draw_rows(seed, count=RANDOM_COUNT):
    """Rows that a seed determines: M log-uniform from 1 to RANDOM_MOST_ROWS, N and K any of models'."""
    draw = random.Random(seed)
    rows = []
    for index in range(count):
        m = int(math.exp(draw.uniform(0, math.log(RANDOM_MOST_ROWS + 1))))
        rows.append(Row.of_shape(m, draw.choice(RANDOM_NS), draw.choice(RANDOM_KS), "random", index))
    return rows


def parse_shape(name):
    """(m, n, k) of a row's name."""
    match = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)x([1-9]\d*)", name)
    if not match:
        raise ValueError("'%s' is no row; write M, N and K as in 64x7168x2048" % name)
    return tuple(int(extent) for extent in match.groups())


def select_rows(rows, names, chosen="baseline"):
    """The rows named, or those of a set; the baseline first, and by priority, so that what matters most is measured if time runs out.
    A name may be that of a row in no table: it comes last."""
    named = {row.name for row in rows}
    unknown = [name for name in dict.fromkeys(names) if name not in named]
    rows = rows + [Row.of_shape(*parse_shape(name), "named", index) for index, name in enumerate(unknown)]
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
            unknown = set(kernel) - {"config", "options", "constant_b"}
            if "config" not in kernel or unknown or not isinstance(kernel.get("constant_b", False), bool):
                raise ValueError("%s: kernel '%s' must have \"config\" and may have \"options\", and \"constant_b\", true or false" % (where, name))

    def is_programmatic(self, name):
        """Whether the kernel is made for programmatic launches, which its manifest then asks for."""
        return "launch = programmatic" in self.kernels[name]["config"]

    def candidates(self, row, every, serial=False):
        """The kernels to try for the row, or the preferred one; `serial`: of those that are launched one after another."""
        names = [name for name in self.rows.get(row.name, []) if not (serial and self.is_programmatic(name))]
        return names if every else names[:1]

    def used(self, rows):
        """The names of all kernels that some row tries."""
        return sorted({name for row in rows for name in self.candidates(row, True)})


def read_configurations(path):
    with open(path, encoding="utf-8") as file:
        return Configurations(file.read(), os.path.basename(path))
