# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is made of a probe's samples: a number with its spread, beside what the project assumes or somebody published."""

import statistics
import struct

WARM_UP = 4        # samples of a series that do not count
AT_ONCE_NS = 10000  # CTAs that begin so soon after the first began at once
UNWRITTEN = (0xffffffff, 0xffffffffffffffff)
AGREES, DIFFERS, NEW = "agrees", "differs", "new"


def unpack(data, wide):
    size, form = (8, "Q") if wide else (4, "I")
    return struct.unpack("<%d%s" % (len(data) // size, form), data)


def series_of(words, samples):
    return [words[at:at + samples] for at in range(0, len(words), samples)]


def settled(series):
    """Without those of the warm-up and those that were not written."""
    return [word for word in series[WARM_UP:] if word not in UNWRITTEN]


def median(series):
    return statistics.median(settled(series))


def values(figure, series):
    """The numbers that one run of the probe gives for the figure."""
    take, chosen = figure["take"], [series[index] for index in figure.get("series", [])]
    if take == "each":  # samples of one series
        return settled(chosen[0])
    if take == "step":  # of a longer chain beside a shorter
        base = median(chosen[0])
        return [(sample - base) / figure["steps"] for sample in settled(chosen[1])]
    if take == "first":  # beside the later ones
        return [chosen[0][0] - median(chosen[0])]
    if take == "beside":  # of one series, without another's
        base = median(chosen[0])
        return [sample - base for sample in settled(chosen[1])]
    rows = [row for row in series[:figure.get("ctas")] if not set(row) & set(UNWRITTEN)]
    if take == "together":  # bytes of all CTAs in a nanosecond
        return [figure["bytes"] * len(rows) / (max(row[1] for row in rows) - min(row[0] for row in rows))]
    if take == "cycles":  # bytes of a CTA in a cycle
        return [figure["bytes"] / row[2] for row in rows]
    if take == "clock":
        return [row[2] / (row[1] - row[0]) for row in rows]
    if take == "handover":  # cycles from what the first CTA of an SM has freed to the other's having it
        on = {}
        for sm, got, freed in sorted(rows, key=lambda row: (row[0], row[1])):
            on.setdefault(sm, []).append((got, freed))
        return [second[0] - first[1] for ctas in on.values() for first, second in zip(ctas, ctas[1:]) if second[0] > first[1]]
    if take == "at-once":  # CTAs
        begin = min(row[0] for row in rows)
        return [sum(row[0] - begin < AT_ONCE_NS for row in rows)]
    raise ValueError("there is no way '%s' to take a figure" % take)


def scaled(figure, numbers):
    if "over" in figure:
        return [figure["over"] / number for number in numbers if number]
    return [number * figure.get("factor", 1) for number in numbers]


def summary(figure, numbers):
    """The figure with what was measured: median, from the 10th to the 90th of a hundred, and how it compares."""
    numbers = sorted(numbers)
    if not numbers:
        return dict(figure, error="no samples")
    middle = statistics.median(numbers)
    told = dict(figure, median=middle, low=numbers[len(numbers) // 10], high=numbers[-1 - len(numbers) // 10], samples=len(numbers))
    assumed = figure.get("assumed")
    if assumed is None:
        return dict(told, verdict=NEW)
    told["ratio"] = middle / assumed
    return dict(told, verdict=AGREES if abs(told["ratio"] - 1) <= figure["tolerance"] else DIFFERS)


def evaluate(figures, dumps, samples, wide):
    """Every figure of a probe, over all its runs."""
    runs = [series_of(unpack(data, wide), samples) for data in dumps]
    told = []
    for figure in figures:
        try:
            told.append(summary(figure, scaled(figure, [number for series in runs for number in values(figure, series)])))
        except (ValueError, IndexError, ZeroDivisionError, statistics.StatisticsError) as error:
            told.append(dict(figure, error="%s: %s" % (type(error).__name__, error)))
    return told
