#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs packed kernels on the shapes of rows.csv and on random ragged ones, in every type of D, alone and with a
residual, a bias and an output scale, and judges every element.

usage: shapes.py DIR [--seconds=N] [--seed=N] [--ragged=N]

Prints a line for each shape. Exit status 0 if all were run in time and are right.
"""

import argparse
import math
import random
import sys
import time

import gemms
import table

TYPES = ("bf16", "f16", "f32", "f8E4M3FN")
MOST = (5000, 9000, 9000)
STEPS = (1, 8, 16)
BETAS = (0.75, -1.5, 0.0)


def ragged_shapes(count, seed):
    """M, N in eights, K in sixteens: every other shape evenly spread, every other by its logarithm, so that small
    extents occur."""
    choice = random.Random(seed)

    def extent(most, step, logarithmic):
        largest = most // step
        if logarithmic:
            return step * min(largest, int(math.exp(choice.uniform(0, math.log(largest + 1)))))
        return step * choice.randint(1, largest)

    return [tuple(extent(most, step, index % 2) for most, step in zip(MOST, STEPS)) for index in range(count)]


def choose(kernels, number, row):
    """Kernels for shape `number`: of each type of D a plain one and one with all that may follow, tiles taken in turn;
    and, for a row of rows.csv, the kernel that is named for it."""
    tiles = sorted({kernel.tile for kernel in kernels if kernel.group == "all"})
    chosen = [kernel for kernel in kernels if row and kernel.group == "rows" and kernel.name == row]
    for index, dtype in enumerate(TYPES):
        tile = tiles[(number + index) % len(tiles)]
        chosen += [kernel for kernel in kernels if (kernel.group, kernel.tile, kernel.d) == ("all", tile, dtype)]
    functions = [kernel for kernel in kernels if kernel.group == "functions"]
    if functions:
        chosen.append(functions[number % len(functions)])
    return chosen


def check_shape(gpu, shape, kernels, number, seed):
    """What is wrong, and what to say."""
    problem = gemms.Problem(shape, seed, gpu.device)
    problems, worst, nearest, elements = [], 0.0, 0.0, 0
    for index, kernel in enumerate(kernels):
        judged, _, _ = gemms.check(gpu, problem, kernel, BETAS[(number + index) % len(BETAS)])
        worst, nearest = max(worst, judged.worst), max(nearest, judged.frobenius / judged.floor)
        elements += judged.elements
        if judged.problem:
            problems.append("%s: %s" % (kernel, judged.problem))
    told = "seed %d, %d kernels, %d elements, error up to %.2f of the bound, Frobenius distance up to %.2f of the floor" % (
        seed, len(kernels), elements, worst, nearest)
    return "; ".join(["seed %d" % seed] + problems) if problems else None, told


def named_kernels(directory):
    """For each row of rows.csv, the name of its kernel; None where its set has no candidates."""
    configurations = table.read_configurations(directory + "/configurations.json")
    rows = table.read_rows(directory + "/rows.csv")
    return [(row.shape, "row-" + (configurations.candidates(row, False) or [""])[0] if row.set in table.SEARCHED_SETS else None) for row in rows]


def run(gpu, kernels, rows, options, report):
    end = time.monotonic() + options.seconds
    shapes = rows + [(shape, None) for shape in ragged_shapes(options.ragged, options.seed)]
    for number, (shape, row) in enumerate(shapes):
        name = "shape-%dx%dx%d" % shape
        if time.monotonic() > end:
            report.tell("shapes", "%d of %d were not run in %d s" % (len(shapes) - number, len(shapes), options.seconds))
            return
        with report.guarded(name):
            chosen = choose(kernels, number, row)
            if row and not any(kernel.name == row for kernel in chosen):
                report.tell(name, "there is no kernel '%s', which configurations.json names first for it" % row)
                continue
            report.tell(name, *check_shape(gpu, shape, chosen, number, options.seed + number))


def main():
    parser = argparse.ArgumentParser(description="Judges packed GEMMs on many shapes.")
    parser.add_argument("directory")
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ragged", type=int, default=60)
    options = parser.parse_args()
    report = gemms.Report()
    run(gemms.Gpu(options.directory), gemms.read_kernels(options.directory), named_kernels(options.directory), options,
        report)
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
