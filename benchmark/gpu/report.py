# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is made of the measurements: the CSV file, the table, the ratios.

A measurement is a dict with the keys of COLUMNS. A peer that did not run beside
us is represented by its figure in rows.csv times cuBLASLt's now over cuBLASLt's
there.
"""

import csv
import math

OURS = "fp8"
# Our kernels, each of which started when the preceding one had ended (survey.py --alone).
ALONE = "fp8-alone"
DEFAULT = "fp8.gemm"
# What only moves the bytes (floor.py). It is neither right nor wrong, and so no peer.
FLOOR = "floor"
# The widest band in which a ratio counts as 1: what moves more is no measurement.
WIDEST_BAND = 0.03
# rows.csv has the better of cuBLASLt's first choice and its best, as "cublaslt-best" is measured.
SCALE_BY = ("cublaslt-best", "cublaslt")
SMALL_M = 128
COLUMNS = ("date", "gpu", "driver", "torch", "triton", "m", "n", "k", "peer", "configuration", "us", "tflops",
           "us_rounds", "launches_per_replay", "operand_sets", "seed", "right", "worst", "frobenius", "sm_mhz", "memory_mhz",
           "power_w", "celsius", "limit_us", "error")


class CsvFile:
    """Measurements, written and flushed one by one."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8", newline="")
        self.writer = csv.DictWriter(self.file, COLUMNS, restval="", lineterminator="\n")
        self.writer.writeheader()
        self.file.flush()

    def add(self, measurement):
        self.writer.writerow(measurement)
        self.file.flush()

    def close(self):
        self.file.close()


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def is_right(measurement):
    return measurement.get("right") is True and measurement.get("us")


def fastest(measurements, peer):
    """The fastest right measurement of a peer; None without one."""
    return min((one for one in measurements if one["peer"] == peer and is_right(one)),
               key=lambda one: one["us"], default=None)


def spread(measurement):
    """Half of what the rounds of a measurement lie apart, as a part of their median."""
    rounds = [float(one) for one in str(measurement.get("us_rounds") or measurement["us"]).split()]
    return (max(rounds) - min(rounds)) / 2 / measurement["us"]


class Comparison:
    """One row: ours, the peers measured, and those represented by the baseline."""

    def __init__(self, row, measurements):
        self.row = row
        candidate, default = fastest(measurements, OURS), fastest(measurements, DEFAULT)
        self.measures_default = any(one["peer"] == DEFAULT for one in measurements)
        self.ours = default if self.measures_default else candidate
        self.searched = min((one for one in (candidate, default) if one), key=lambda one: one["us"], default=None)
        self.floor_us = next((one["us"] for one in measurements if one["peer"] == FLOOR and one.get("us")), None)
        self.peers = {}     # peer: TFLOP/s
        self.represented, self.spreads = set(), {}
        for peer in dict.fromkeys(one["peer"] for one in measurements if one["peer"] not in (OURS, DEFAULT)):
            best = fastest(measurements, peer)
            if best:
                self.peers[peer], self.spreads[peer] = row.tflops(best["us"]), spread(best)
        self.scale = self.drift()
        for peer, tflops in row.baseline.items():
            if peer not in self.peers and not (peer == "cublaslt" and "cublaslt-best" in self.peers):
                self.peers[peer] = tflops * self.scale
                self.represented.add(peer)

    def drift(self):
        """cuBLASLt now over cuBLASLt then; 1 if it did not run."""
        for peer in SCALE_BY:
            if peer in self.peers and "cublaslt" in self.row.baseline:
                return self.peers[peer] / self.row.baseline["cublaslt"]
        return 1.0

    @property
    def best_peer(self):
        return max(self.peers, key=self.peers.get) if self.peers else None

    @property
    def tflops(self):
        return self.row.tflops(self.ours["us"]) if self.ours else None

    @property
    def ratio(self):
        return self.tflops / self.peers[self.best_peer] if self.ours and self.peers else None

    @property
    def band(self):
        """How far from 1 a ratio may be by chance: the wider spread of ours and of the best peer."""
        return min(WIDEST_BAND, max(spread(self.ours), self.spreads.get(self.best_peer, 0.0))) if self.ours else None

    @property
    def counted(self):
        """The ratio; 1 if it is in the band."""
        return 1.0 if self.ratio and abs(self.ratio - 1) <= self.band else self.ratio

    @property
    def of_limit(self):
        return self.row.limit_us / self.ours["us"] if self.ours else None

    @property
    def of_floor(self):
        return self.floor_us / self.ours["us"] if self.ours and self.floor_us else None


def number(value, digits=0):
    return "–" if value is None else "%.*f" % (digits, value)


def markdown(comparisons):
    """The table, then the means."""
    peers = list(dict.fromkeys(peer for one in comparisons for peer in sorted(one.peers)))
    head = ["M", "N", "K", "ours"] + peers + ["best peer", "**ratio**", "±%", "searched", "us", "limit us", "limit/us"]
    has_floor = any(one.floor_us for one in comparisons)
    head += ["floor us", "floor/us"] * has_floor + ["configuration"]
    lines = ["| %s |" % " | ".join(head), "|" + "--:|" * (len(head) - 1) + "--|"]
    for one in comparisons:
        cells = ["%d" % extent for extent in one.row.shape] + [number(one.tflops)]
        cells += [number(one.peers.get(peer)) + ("*" if peer in one.represented else "") for peer in peers]
        cells += [one.best_peer or "–", "**%s**" % number(one.ratio, 3), number(one.band and one.band * 100, 1),
                  number(one.searched and one.ours and one.ours["us"] / one.searched["us"], 2), number(one.ours and one.ours["us"], 1),
                  "%.1f" % one.row.limit_us, number(one.of_limit, 2)]
        cells += [number(one.floor_us, 1), number(one.of_floor, 2)] * has_floor + [one.ours["configuration"] if one.ours else "–"]
        lines.append("| %s |" % " | ".join(cells))
    lines += ["", "TFLOP/s. *: did not run beside us; its figure of the baseline, times cuBLASLt now over cuBLASLt then. ±: the spread of the rounds; a ratio within it "
              "counts as 1. searched: our time over that of the fastest candidate.", ""]
    return "\n".join(lines + means(comparisons))


def means(comparisons):
    ratios = {one.row.name: one.counted for one in comparisons if one.ratio}
    small = [one.of_limit for one in comparisons if one.of_limit and one.row.shape[0] <= SMALL_M]
    lines = []
    if ratios:
        worst = min(ratios, key=ratios.get)
        lines.append("Ratio to the best peer: geometric mean %.3f over %d rows, least %.3f (%s)" % (
            geometric_mean(list(ratios.values())), len(ratios), ratios[worst], worst))
    floors = [one.of_floor for one in comparisons if one.of_floor and one.row.shape[0] <= SMALL_M]
    if small:
        lines.append("M <= %d: geometric mean %.3f of the limit over %d rows" % (SMALL_M, geometric_mean(small), len(small)))
    if floors:
        lines.append("M <= %d: geometric mean %.3f of the floor over %d rows" % (SMALL_M, geometric_mean(floors), len(floors)))
    without = [one.row.name for one in comparisons if not one.ours]
    if without:
        lines.append("No right result of ours: " + ", ".join(without))
    return lines
