#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws shapes, and configurations for each, that nobody chose: what the timing model (docs/Timing.md) says of good kernels and of bad ones.

    python3 benchmark/draw.py OUTPUT --seed=20270301

OUTPUT is a table for benchmark/gpu/pack.py, whose survey.py times the kernels. benchmark/timing.py then holds the model to the times. M is log-uniform from 1
to 4096. A tile's rows are at most twice M, or 64, and at least a quarter of M, or 64. Configurations that do not compile are left out.
"""

import argparse
import concurrent.futures
import json
import math
import os
import random
import shutil
import subprocess
import sys

import inputs
import timing

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "gpu"))
import table  # pylint: disable=wrong-import-position

NS = (576, 1536, 2112, 2304, 4096, 4608, 5120, 7168, 9216, 12288, 18432, 24576, 32768, 36864)
KS = (512, 1536, 2048, 2304, 4096, 5120, 7168, 9216, 16384, 18432)
MOST_M = 4096
LIMIT_US = (1.2, 110)
SWAPPED_ROWS = [rows for rows in range(8, 128, 8) if rows != 64]
# Of a shape so many more are drawn, since some do not compile.
SPARE = 3


def draw_shapes(draw, count):
    shapes = []
    while len(shapes) < count:
        shape = (round(math.exp(draw.uniform(0, math.log(MOST_M + 1)))), draw.choice(NS), draw.choice(KS))
        if LIMIT_US[0] < table.find_limit(*shape) < LIMIT_US[1]:
            shapes.append(shape)
    return shapes


def draw_tile(draw, m):
    while True:
        if draw.random() < (0.55 if m <= 128 else 0.25):
            rows, columns = draw.choice(SWAPPED_ROWS), draw.choice((64, 64, 128, 192, 256))
        else:
            rows, columns = draw.choice((64, 128, 192, 256)), 8 * draw.randint(3, 32)
        if (rows < 2 * m or rows <= 64) and (4 * rows >= m or rows >= 64):
            return rows, columns


def draw_configuration(draw, m):
    rows, columns = draw_tile(draw, m)
    fields = [f"tile = {rows} x {columns} x 128"]
    cluster = draw.choice((None, None, None, "1 x 2", "2 x 1", "1 x 4"))
    split = draw.choice((None, None, 2, 4)) if not cluster and m <= 128 else None
    if cluster:
        fields.append(f"cluster = {cluster}")
    if split:
        fields.append(f"split_k = {split}")
    if rows >= 128 and draw.random() < 0.3:
        fields.append("b_scales = lanes")
    if draw.random() < 0.4:
        fields.append("l2_promotion = 128")
    fields.append("launch = programmatic")
    edge = draw.random()
    if edge < 0.4 and cluster != "2 x 1":
        fields.append("edge = first")
    elif edge > 0.8 and not cluster and not split:
        fields.append("edge = fit")
    if draw.random() < 0.4:
        fields.append("signal = wait")
    return ", ".join(fields)


def compiles(config, options):
    command = [options.fp8_opt, "-", "--fp8-gemm-to-ptx=chip=" + options.chip, "--emit=ptx", "-o", os.devnull]
    return subprocess.run(command, input=timing.kernel(config), text=True, capture_output=True, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("output", help="the table")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--shapes", type=int, default=48)
    parser.add_argument("--configurations", type=int, default=13, help="of a shape, at most")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--fp8-opt", default="fp8-opt")
    options = parser.parse_args()
    if not shutil.which(options.fp8_opt):
        raise inputs.InputError("cannot run '%s': No such file or directory; build it, or name it with --fp8-opt" % options.fp8_opt)
    draw = random.Random(options.seed)
    drawn = {shape: [draw_configuration(draw, shape[0]) for _ in range(options.configurations + SPARE)] for shape in draw_shapes(draw, options.shapes)}
    configs = sorted({config for ours in drawn.values() for config in ours})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        good = dict(zip(configs, pool.map(lambda config: compiles(config, options), configs)))
    rows = {shape: [config for config in dict.fromkeys(ours) if good[config]][: options.configurations] for shape, ours in drawn.items()}
    names = {config: f"drawn-{number}" for number, config in enumerate(dict.fromkeys(config for ours in rows.values() for config in ours))}
    with inputs.writing(options.output) as file:
        json.dump({"kernels": {name: {"config": config} for config, name in names.items()},
                   "rows": {"%dx%dx%d" % shape: [names[config] for config in ours] for shape, ours in rows.items() if ours}}, file, indent=1)
    print(f"{options.output}: {len(names)} kernels on {sum(bool(ours) for ours in rows.values())} rows; {sum(not one for one in good.values())} of {len(good)} drawn do not compile")


if __name__ == "__main__":
    inputs.run(main)
