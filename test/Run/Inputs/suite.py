# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structured-kernel suite: every MMA shape, cluster, scheduler and launch, each right under five schedules.

suite.py FP8-OPT FP8-RUN GEMM.mlir WORKDIR [--hopper] [--sample COUNT] [--ptxas PTXAS] [--run FLAG]

Lists every configuration that the GEMM op may be given on Blackwell, or with --hopper on Hopper, lowers and simulates each (or a seeded sample of COUNT that has every
value of every axis), and with --ptxas assembles each for every chip of the family; those that spill are named and counted. A
configuration that the compiler refuses must be refused for one of the known reasons, and is counted. --run adds a flag to FP8-RUN's.
"""
import argparse
import random
import re
import sys

import tools

REFUSALS = ["it reads B scales in chunks of"]
CLUSTERS = {1: [(1, 1), (2, 1), (2, 2), (4, 4), (8, 2)], 2: [(2, 1), (2, 2), (4, 4), (8, 2)]}
SCHEDULERS = ["persistent", "one_tile", "clc"]
LAUNCHES = ["serial", "programmatic"]
HOPPER_SCHEDULERS = ["persistent", "one_tile"]
# (M, N, K): ragged in each, K = 320 among them.
SHAPES = [(500, 576, 320), (260, 328, 400), (130, 1064, 128)]


def configurations():
    for group, rows in [(1, 64), (1, 128), (2, 128), (2, 256)]:
        step = 8 if (group, rows) == (1, 64) else 16
        for columns in range(step, 257, step):
            for cluster in CLUSTERS[group]:
                yield group, rows, columns, cluster


def hopper_configurations():
    for rows in [64, 128, 192, 256]:
        for columns in range(8, 201 if rows == 192 else 257, 8):
            yield 1, rows, columns, (1, 1)
    for rows in range(8, 64, 8):  # the operands swapped
        for columns in range(64, 257, 64):
            yield 1, rows, columns, (1, 1)


def describe(index, point, schedulers):
    """The configuration of a point: schedulers and launches take turns."""
    group, rows, columns, cluster = point
    return (f"tile = {rows} x {columns} x 128, cta_group = {group}, cluster = {cluster[0]} x {cluster[1]}, "
            f"scheduler = {schedulers[index % len(schedulers)]}, launch = {LAUNCHES[index // 2 % len(LAUNCHES)]}")


def configure(text, config):
    """The op in the text with the configuration."""
    return re.sub(r"outs\(.*\)", lambda match: f"{match[0]} config<{config}>", text)


def sample(points, count):
    """A seeded sample that has every value of every axis."""
    order = list(points)
    random.Random(20260101).shuffle(order)
    chosen, seen = [], set()
    for point in order:
        values = {(axis, value) for axis, value in enumerate(point)} | {(point[:2], point[3])}
        if not values <= seen:
            chosen.append(point)
            seen |= values
    return chosen + [p for p in order if p not in chosen][:max(0, count - len(chosen))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs=4)
    parser.add_argument("--hopper", action="store_true")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--ptxas")
    parser.add_argument("--run", action="append", default=[])
    options = parser.parse_args()
    opt, runner, gemm, work = options.paths
    text = open(gemm).read()
    points = list(hopper_configurations() if options.hopper else configurations())
    chips = tools.HOPPER if options.hopper else tools.BLACKWELL
    schedulers = HOPPER_SCHEDULERS if options.hopper else SCHEDULERS
    chosen = sample(points, options.sample) if options.sample else points
    tally = tools.Tally()
    for index, point in enumerate(chosen):
        config = describe(index, point, schedulers)
        source, ptx = f"{work}.mlir", f"{work}.ptx"
        with open(source, "w") as file:
            file.write(configure(text, config))
        problem = tools.lower(opt, source, ptx, chips[0])
        if any(reason in problem for reason in REFUSALS):
            tally.counts["refused"] += 1
            continue
        m, n, k = SHAPES[index // 3 % 3]
        problem = problem or tools.simulate(runner, ptx, [f"--m={m}", f"--n={n}", f"--k={k}", "--schedules=5", *options.run])
        spilling = []
        for chip in chips if options.ptxas and not problem else []:
            refused, spills = tools.lower(opt, source, ptx, chip), False
            if not refused:
                refused, spills = tools.assemble(options.ptxas, ptx, chip)
            problem += f"{chip}: {refused}" if refused else ""
            spilling += [chip] if spills else []
        tally.add(f"{config}, {m} x {n} x {k}", problem, spilling)
    tally.summary(f"{len(chosen)} of {len(points)} configurations", "right", "refused", "failed", *["spill"] * bool(options.ptxas))
    sys.exit(tally.counts["failed"] > 0)


if __name__ == "__main__":
    main()
