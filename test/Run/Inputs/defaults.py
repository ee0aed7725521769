# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose configuration is chosen, not pinned: ptxas must spill registers of none.

defaults.py FP8-OPT PTXAS WORKDIR [--count N | --matrix] [--seed S] [--chips CHIP,...] [--jobs N] [--run FP8-RUN]

Draws problems, element types and epilogues at random, from a seed, and assembles the kernel of each. With --matrix the kernels are those
of each chip, for each of PROBLEMS, with each part of the epilogue and each type alone, and with all of them. With --run each kernel whose
function fp8-run knows is also simulated, on a small shape.
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys

import epilogues
import tools

CHIPS = tools.HOPPER + tools.BLACKWELL
epilogues.FUNCTIONS |= {
    "gelu": """      %a0 = arith.constant 0.0356774081 : f32
      %a1 = arith.constant 0.797884561 : f32
      %half = arith.constant 0.5 : f32
      %xx = arith.mulf %x, %x : f32
      %p = math.fma %xx, %a0, %a1 : f32
      %q = arith.mulf %p, %x : f32
      %t = math.tanh %q : f32
      %h = arith.mulf %x, %half : f32
      %y = math.fma %h, %t, %h : f32
      fp8.yield %y : f32
""",
    "sigmoid": """      %one = arith.constant 1.0 : f32
      %n = arith.negf %x : f32
      %e = math.exp %n : f32
      %s = arith.addf %e, %one : f32
      %y = arith.divf %one, %s : f32
      fp8.yield %y : f32
""",
    "softcap": """      %cap = arith.constant 30.0 : f32
      %inverse = arith.constant 0.0333333333 : f32
      %s = arith.mulf %x, %inverse : f32
      %t = math.tanh %s : f32
      %y = arith.mulf %t, %cap : f32
      fp8.yield %y : f32
""",
}
ADDENDS = [None, None, None, "bf16", "f16", "f32"]
# What is drawn; an extent of None is one that nobody knows.
AXES = {
    "m": [None, 1, 7, 16, 24, 33, 40, 48, 56, 64, 96, 128, 200, 256, 512, 1024, 2048, 4096, 8192, 16384],
    "n": [None, 64, 128, 576, 1536, 2048, 2112, 4096, 4608, 7168, 8192, 24576, 32768],
    "k": [None, 128, 512, 1536, 2048, 4096, 7168, 16384],
    "d": ["bf16", "bf16", "f16", "f32", "f8E4M3FN"],
    "c": ADDENDS,
    "beta": [None, True],
    "bias": ADDENDS,
    "function": [None, None, None, *epilogues.FUNCTIONS],
    "scale": [None, None, True],
    "batch": [None, None, True],
    "strided": [None, True],
    "a_scale": ["f32", "f32", "bf16"],
    "b_scale": ["f32", "f32", "bf16"],
    "b_block": [128, 128, 64, 1],
    "mx": [None, None, True],
}
# Shapes whose kernels differ: swapped operands, 64 rows, few and many tiles, pairs.
PROBLEMS = [(None, None, None), (16, 7168, 2048), (48, 32768, 512), (64, 4096, 7168), (128, 24576, 1536), (128, 7168, 16384),
            (512, 2112, 7168), (4096, 4096, 7168), (8192, 8192, 8192)]
ALL = {"c": "f32", "beta": True, "bias": "f32", "function": "gelu", "scale": True, "batch": True, "strided": True, "a_scale": "bf16",
       "b_scale": "bf16"}
PLAIN = {"d": "bf16", "a_scale": "f32", "b_scale": "f32", "b_block": 128, "config": None}


def matrix(chips):
    parts = [{axis: value} for axis in list(AXES)[3:] if axis != "beta" for value in dict.fromkeys(AXES[axis])]
    parts = [part for part in parts if part.items() - PLAIN.items() and any(part.values())]
    parts += [{}, {"c": "bf16", "beta": True}, ALL | {"d": "bf16", "mx": True}] + [ALL | {"d": d, "b_block": block} for d in ("bf16", "f32") for block in (128, 64, 1)]
    for chip in chips:
        for extents in PROBLEMS:
            for part in parts:
                if part.get("mx") and chip not in tools.BLACKWELL:
                    continue
                yield dict.fromkeys(AXES, None) | PLAIN | dict(zip("mnk", extents)) | part | {"chip": chip}


def draw(generator, chip):
    point = {axis: generator.choice(values) for axis, values in AXES.items()}
    return point | {"chip": chip, "beta": point["c"] and point["beta"], "mx": point["mx"] if chip in tools.BLACKWELL else None, "config": None}


def describe(point):
    return ", ".join(f"{axis}={value}" for axis, value in point.items() if value)


def get_options(point):
    extents = [point[axis] for axis in "mnk"]
    problem = " problem=" + "x".join(str(extent or "?") for extent in extents) if any(extents) else ""
    return point["chip"] + problem


def get_config(opt, source, options):
    """The configuration that is chosen, or '' where the lowering takes its own."""
    result = tools.run([opt, source, f"--fp8-explain-config=chip={options} top=1 format=json", "-o", os.devnull])
    return json.loads(result.stdout)[0].get("config", "")


class Outcome:
    def __init__(self, point, problem="", spilled=0, config=""):
        self.point, self.problem, self.spilled, self.config = point, problem, spilled, config


def try_point(options, index, point):
    source, ptx = (os.path.join(options.work, f"{index}.{suffix}") for suffix in ("mlir", "ptx"))
    with open(source, "w") as file:
        file.write(epilogues.text(point))
    problem, spilled = tools.lower(options.opt, source, ptx, get_options(point)), 0
    if not problem:
        problem, spilled = tools.assemble(options.ptxas, ptx, point["chip"])
    if not problem and options.run and point["function"] in (None, "relu", "abs", "silu"):
        problem = simulate(options.run, ptx, point)
    config = get_config(options.opt, source, get_options(point)) if spilled or problem else ""
    return Outcome(point, problem, spilled, config)


def simulate(runner, ptx, point):
    flags = ["--m=200", "--n=336", "--k=272", "--schedules=2"]
    flags += [f"--elementwise={point['function']}"] if point["function"] else []
    flags += ["--batch=2"] if point["batch"] else []
    return tools.simulate(runner, ptx, flags)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opt")
    parser.add_argument("ptxas")
    parser.add_argument("work")
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--matrix", action="store_true")
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--run")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    generator, chips = random.Random(options.seed), options.chips.split(",")
    points = list(matrix(chips)) if options.matrix else [draw(generator, chips[i % len(chips)]) for i in range(options.count)]
    tally = tools.Tally()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda pair: try_point(options, *pair), enumerate(points))
        for outcome in outcomes:
            name = f"{describe(outcome.point)}: {outcome.config}"
            tally.add(name, outcome.problem, [f"{outcome.point['chip']}: {outcome.spilled} bytes"] if outcome.spilled else [])
            sys.stdout.flush()
    tally.summary(f"{len(points)} defaults", "right", "failed", "spill")
    sys.exit(tally.counts["failed"] + tally.counts["spill"] > 0)


if __name__ == "__main__":
    main()
