#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the timing model of fp8-run --timing to what was measured on a GPU, without one (docs/Timing.md):

    python3 benchmark/timing.py benchmark/results/survey/2026-11-26-h200.csv --rows 40 --half held

A shape with all its rows is either "fitted", so that constants were fitted to some of them, or "held" out. Its extents decide, whatever the file. --rows
takes so many rows, drawn by a fixed seed.

Within a shape it ranks configurations. Spearman's correlation counts every row. Kendall's leaves out pairs whose measured times differ by less than
--noise percent: a second measurement might put those the other way round. No model can rank better than the measurement repeats itself: a last line
says how its rounds rank the same rows.
"""

import argparse
import collections
import csv
import json
import os
import random
import re
import sys
import tempfile

import chooser
import inputs

# The types of A's scales and B's: of blocks of 128 elements of K, or of MXFP8.
SCALES = {"f32": ("memref<?x?xf32, strided<[?, 1]>>", "memref<?x?xf32>"), "mx": ("memref<?x?x32x16xf8E8M0FNU>", "memref<?x?x32x16xf8E8M0FNU>")}
KERNEL = """
func.func @gemm(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                %a_scale: A_SCALE {fp8.name = "a_scale", fp8.access = "read"},
                %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                %b_scale: B_SCALE {fp8.name = "b_scale", fp8.access = "read"},
                %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
  fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale
      : memref<?x?xf8E4M3FN>, A_SCALE, memref<?x?xf8E4M3FN>, B_SCALE)
    outs(%d : memref<?x?xbf16>) {config = #fp8.gemm_config<CONFIG>}
  return
}
"""
NAME = re.compile(r"(\d+)x(\d+)(?:-k(\d+))?(?:-(\d+)x(\d+))?(-early)?$")
SEED = 7
LONG_US = 40


def kernel(config, scales="f32"):
    """The module of a GEMM with that configuration."""
    ours, theirs = SCALES[scales]
    return KERNEL.replace("CONFIG", config).replace("A_SCALE", ours).replace("B_SCALE", theirs)


def config_of(name):
    """The configuration that a row names, as the op's attribute has it, or None. A survey has it as it is."""
    if name.startswith("tile = "):
        return name
    match = NAME.match(name)
    if not match:
        return None
    m, n, k, rows, columns, early = match.groups()
    return (f"tile = {m} x {n} x 128" + (f", cluster = {rows} x {columns}" if rows else "") + (f", split_k = {k}" if k else "")
            + (", launch = programmatic" if early else ""))


def is_fitted(shape):
    return random.Random("%dx%dx%d" % shape).random() < 0.5


def read_rows(path, half, most_us):
    """(m, n, k, name, us) of each row of ours that was right and belongs to the half, in the order of the seed."""
    with inputs.reading(path, inputs.RESULTS) as file:
        rows = [(int(row["m"]), int(row["n"]), int(row["k"]), row["configuration"], float(row["us"]))
                for row in csv.DictReader(file)
                if row["peer"] == "fp8" and row["right"] == "True" and row["us"] and config_of(row["configuration"])]
    rows = [row for row in rows if row[4] <= most_us and half in ("all", "fitted" if is_fitted(row[:3]) else "held")]
    random.Random(SEED).shuffle(rows)
    return rows


def replace_long(rows, long_rows):
    """The rows, with those of more than LONG_US from another survey, which may lack some."""
    short = [row for row in rows if row[4] <= LONG_US]
    have = {row[:4] for row in short}
    return short + [row for row in long_rows if row[:4] not in have]


def read_rounds(path):
    """The times of each round, in microseconds, by (m, n, k, name)."""
    with inputs.reading(path, inputs.RESULTS) as file:
        return {(int(row["m"]), int(row["n"]), int(row["k"]), row["configuration"]): [float(us) for us in row["us_rounds"].split()]
                for row in csv.DictReader(file) if row["peer"] == "fp8" and row["us"]}


def compile_kernel(options, name, folder):
    """The PTX of a configuration, as it is measured: one kernel serves all shapes."""
    ptx = os.path.join(options.keep or folder, re.sub(r"\W+", "-", name) + ".ptx")
    if not os.path.exists(ptx):
        inputs.run_tool([options.fp8_opt, "-", "--fp8-gemm-to-ptx=chip=" + options.chip, "--emit=ptx", "-o", ptx], kernel(config_of(name), options.scales))
    return ptx


def predict(options, row, folder, written=()):
    """Microseconds of a row: m, n, k and the configuration's name come first. `written`: arguments that the preceding kernel writes."""
    m, n, k, name = row[:4]
    ptx = compile_kernel(options, name, folder)
    command = [options.fp8_run, ptx, "--backend=sim", "--timing", f"--gpu={options.gpu}", f"--m={m}", f"--n={n}", f"--k={k}"]
    command += [f"--written={name}" for name in written]
    line = inputs.run_tool(command, option="--fp8-run").splitlines()[-1]
    return json.loads(line)["predicted_us"]


def written_in(path):
    """What the kernel in front counts as writing in a survey: those of older surveys waited for A, as they do behind one that writes it."""
    return ["a"] if chooser.waited_for_a(path) else []


def ranks(values):
    """The place of each, from 0; equal ones share the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def spearman(measured, predicted):
    pairs = list(zip(ranks(measured), ranks(predicted)))
    middle = (len(pairs) - 1) / 2
    together = sum((one - middle) * (other - middle) for one, other in pairs)
    spread = [sum((rank - middle) ** 2 for rank in side) for side in zip(*pairs)]
    return together / (spread[0] * spread[1]) ** 0.5 if all(spread) else 0.0


def kendall(measured, predicted, noise):
    """Over the pairs whose measured times differ by more than `noise` percent; None if there are none."""
    told = [(measured[i] - measured[j]) * (predicted[i] - predicted[j]) > 0 for i in range(len(measured)) for j in range(i)
            if max(measured[i], measured[j]) > (1 + noise / 100) * min(measured[i], measured[j])]
    return 2 * sum(told) / len(told) - 1 if told else None


def rank_lines(found, noise):
    """What the ranking within the shapes of the rows (shape, measured, predicted) is worth; of shapes with five rows or more."""
    shapes = collections.defaultdict(list)
    for shape, measured, predicted in found:
        shapes[shape].append((measured, predicted))
    lines = []
    for name, correlate in (("Spearman, every row", spearman), (f"Kendall, pairs more than {noise:g} % apart", lambda *both: kendall(*both, noise))):
        told = [correlate(*zip(*rows)) for rows in shapes.values() if len(rows) >= 5]
        told = sorted(one for one in told if one is not None)
        if told:
            lines.append("rank correlation within a shape (%s), %d shapes: mean %.3f, median %.2f, least %.2f, %d of 0.9 or more" % (
                name, len(told), sum(told) / len(told), told[len(told) // 2], told[0], sum(one >= 0.9 for one in told)))
    # A choice by the model, instead of by a measurement, of those that were measured.
    lost = sorted(min(rows, key=lambda row: row[1])[0] / min(rows)[0] - 1 for rows in shapes.values() if len(rows) >= 5)
    if lost:
        lines.append("the row of a shape that the model puts first takes %.1f %% more than the fastest in the median, %.1f %% at most" % (
            100 * lost[len(lost) // 2], 100 * lost[-1]))
    return lines


def ceiling_line(rounds):
    """How well a round of the measurement ranks another, from the times of rounds (shape, times), of shapes with five rows or more."""
    shapes = collections.defaultdict(list)
    for shape, times in rounds:
        shapes[shape].append(times)
    told = []
    for rows in shapes.values():
        columns = list(zip(*rows)) if len(rows) >= 5 else []
        pairs = [spearman(one, other) for n, one in enumerate(columns) for other in columns[:n]]
        if pairs:
            told.append(sum(pairs) / len(pairs))
    return "two rounds of the measurement (Spearman), %d shapes: mean %.3f, least %.2f" % (len(told), sum(told) / len(told), min(told)) if told else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="a CSV file of benchmark/results")
    parser.add_argument("--half", choices=("fitted", "held", "all"), default="held")
    parser.add_argument("--rows", type=int, default=None, help="so many of them; all by default")
    parser.add_argument("--most-us", type=float, default=200, help="leave out rows that take longer")
    parser.add_argument("--long", help=f"another file, whose rows replace those of more than {LONG_US} us")
    parser.add_argument("--limit", type=float, help="fail where the median error is larger, in percent")
    parser.add_argument("--gpu", default="h200", help="whose constants: the GPU of the results")
    parser.add_argument("--chip", default="sm_90a", help="that GPU's")
    parser.add_argument("--scales", choices=sorted(SCALES), default="f32", help="mx: those of MXFP8")
    parser.add_argument("--noise", type=float, default=2, help="percent; what is nearer is not ranked")
    parser.add_argument("--keep", help="a folder for the kernels, which are not compiled again if they are there")
    parser.add_argument("--fp8-opt", default="fp8-opt")
    parser.add_argument("--fp8-run", default="fp8-run")
    options = parser.parse_args()
    rows = read_rows(options.results, options.half, options.most_us)
    rounds = read_rounds(options.results)
    if options.long:
        rows = replace_long(rows, read_rows(options.long, options.half, options.most_us))
        long_rounds = read_rounds(options.long)
        rounds.update({row[:4]: long_rounds[row[:4]] for row in rows if row[4] > LONG_US})
    rows = rows[:options.rows]
    if not rows:
        inputs.fail(options.results, "has no right measurement of ours in the half '%s'" % options.half, inputs.RESULTS)
    written = written_in(options.results)
    errors, found = [], []
    print("| M | N | K | configuration | measured us | predicted us | error |\n|--:|--:|--:|--|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for row in sorted(rows):
            us = predict(options, row, folder, written)
            errors.append(100 * (us / row[4] - 1))
            found.append((row[:3], row[4], us))
            print("| %d | %d | %d | %s | %.2f | %.2f | %+.1f %% |" % (row + (us, errors[-1])), flush=True)
    size = sorted(abs(error) for error in errors)
    median = size[len(size) // 2]
    print("\n%d rows (%s): median error %.1f %%, 90 %% within %.1f %%, largest %.1f %%; within 15 %%: %.0f %%; mean %+.1f %%" % (
        len(size), options.half, median, size[len(size) * 9 // 10], size[-1], 100 * sum(one <= 15 for one in size) / len(size),
        sum(errors) / len(errors)))
    ceiling = ceiling_line([(row[:3], rounds[row[:4]]) for row in rows])
    print("\n".join(rank_lines(found, options.noise) + ([ceiling] if ceiling else [])))
    if options.limit and median > options.limit:
        sys.exit(f"timing.py: error: the median error exceeds {options.limit} %")


if __name__ == "__main__":
    inputs.run(main)
