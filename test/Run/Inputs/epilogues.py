# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Everything that may follow the sum of a GEMM, each part alone and many together.

epilogues.py FP8-OPT FP8-RUN WORKDIR [--hopper] [--sample COUNT] [--ptxas PTXAS]
epilogues.py --print OPTIONS [--config CONFIG]

Writes GEMM ops with a residual, a bias, a function, an output scale, over the types that each may have and over kinds of kernels;
lowers and simulates each on ragged shapes, without K, with a residual that is not read, and with special values. A seeded sample of
COUNT has every value of every axis. With --ptxas each kernel is assembled, and those that spill are named and counted. Kernels are for sm_100a, with --hopper for sm_90a. The
second form prints one op. OPTIONS are as `c=bf16,beta,bias=f32,function=relu,scale,d=f16`; with `strided`, the rows of C and D may lie apart; with
`constant`, B and its scales are constant; with `mx`, scales are those of MXFP8.
"""
import argparse
import itertools
import random
import sys

import tools

FUNCTIONS = {
    "relu": """      %y = arith.maximumf %x, %zero : f32
      fp8.yield %y : f32
""",
    "abs": """      %y = math.absf %x : f32
      fp8.yield %y : f32
""",
    "silu": """      %half = arith.constant 0.5 : f32
      %h = arith.mulf %x, %half : f32
      %t = math.tanh %h : f32
      %y = math.fma %h, %t, %h : f32
      fp8.yield %y : f32
""",
}
ADDENDS = [None, "bf16", "f16", "f32"]
AXES = {
    "d": ["bf16", "f16", "f32", "f8E4M3FN"],
    "c": ADDENDS,
    "beta": [None, True],
    "bias": ADDENDS,
    "function": [None, *FUNCTIONS],
    "scale": [None, True],
    "batch": [None, True],
    "mx": [None, True],
    "config": [
        "tile = 128 x 128 x 128",
        "tile = 128 x 128 x 128, cluster = 2 x 1, scheduler = one_tile",
        "tile = 128 x 64 x 128, cluster = 1 x 2, scheduler = clc",
        "tile = 256 x 128 x 128, cta_group = 2, cluster = 2 x 1",
        "tile = 128 x 96 x 128, scheduler = clc",
        "tile = 64 x 128 x 128",
        "tile = 128 x 64 x 128, cta_group = 2, cluster = 2 x 2, scheduler = one_tile",
        "tile = 128 x 192 x 128, cta_group = 2, cluster = 2 x 1, scheduler = clc",
        "tile = 128 x 192 x 128",
        "tile = 128 x 160 x 128, stages = 2",
    ],
}
HOPPER_CONFIGS = [
    "tile = 128 x 128 x 128",
    "tile = 256 x 128 x 128",
    "tile = 192 x 112 x 128",
    "tile = 64 x 64 x 128",
    "tile = 128 x 96 x 128, scheduler = one_tile",
    "tile = 128 x 192 x 128, stages = 2",
    "tile = 24 x 128 x 128",
    "tile = 48 x 64 x 128, split_k = 2",
    "tile = 64 x 80 x 128",
]


def points():
    for values in itertools.product(*AXES.values()):
        point = dict(zip(AXES, values))
        if (point["c"] or not point["beta"]) and (takes_mx(point["config"]) or not point["mx"]):
            yield point


def takes_mx(config):
    """Whether tensor cores of the chip can apply scales to tiles of that many rows."""
    return config.startswith("tile = 256" if "cta_group" in config else "tile = 128")


def sample(count):
    """Each part alone, then a seeded sample that has every value of every axis together with every kind of kernel."""
    alone = [dict.fromkeys(AXES, None) | {"d": "bf16", "config": AXES["config"][0]} | part
             for part in [{"c": "bf16"}, {"c": "bf16", "beta": True}, {"bias": "f32"}, {"function": "relu"}, {"scale": True}]]
    order = list(points())
    random.Random(20260101).shuffle(order)
    chosen, seen = [], set()
    for point in order:
        values = {(axis, point[axis], point["config"]) for axis in AXES}
        if sum(value not in seen for value in values) >= 3:
            chosen.append(point)
            seen |= values
    rest = [point for point in order if point not in chosen]
    return (alone + chosen + rest)[:count]


def text(point):
    argument = '%{0}: {1} {{fp8.name = "{0}", fp8.access = "{2}"}}'.format
    extents, strides = ("?x?x?", "[?, ?, 1]") if point["batch"] else ("?x?", "[?, 1]")
    a_scale, b_scale, b_block = (point.get(axis, default) for axis, default in [("a_scale", "f32"), ("b_scale", "f32"), ("b_block", 128)])
    types = [f"memref<{extents}xf8E4M3FN>", f"memref<{extents}x{a_scale}, strided<{strides}>>", f"memref<{extents}xf8E4M3FN>",
             f"memref<{extents}x{b_scale}{f', strided<{strides}>' if b_block == 1 else ''}>"]
    if point.get("mx"):
        b_block = 128
        types[1] = types[3] = f"memref<{extents}x32x16xf8E8M0FNU>"
    b_access = "constant" if point.get("constant") else "read"
    arguments = [argument(name, type, b_access if name.startswith("b") else "read") for name, type in zip(["a", "a_scale", "b", "b_scale"], types)]
    clauses = ""
    layout = f", strided<{strides}>" if point.get("strided") else ""
    number = "memref<1x1xf32>"
    if point["c"]:
        matrix = f"memref<{extents}x{point['c']}{layout}>"
        arguments.append(argument("c", matrix, "read"))
        clauses += f" residual(%c scaled %beta : {matrix}, {number})" if point["beta"] else f" residual(%c : {matrix})"
    if point["beta"]:
        arguments.append(argument("beta", number, "read"))
    if point["bias"]:
        row = f"memref<1x?x{point['bias']}, strided<[?, 1]>>"
        arguments.append(argument("bias", row, "read"))
        clauses += f" bias(%bias : {row})"
    clauses += f" outs(%d : memref<{extents}x{point['d']}{layout}>)"
    arguments.append(argument("d", f"memref<{extents}x{point['d']}{layout}>", "write"))
    if point["scale"]:
        arguments.append(argument("d_scale", number, "read"))
        clauses += f" scale(%d_scale : {number})"
    if point["config"]:
        clauses += f" config <{point['config']}>"
    if b_block != 128:
        clauses += f" {{b_block = {b_block}}}"
    if point["function"]:
        clauses += " map (%x) {\n" + FUNCTIONS[point["function"]] + "    }"
    return """func.func @gemm({}) attributes {{fp8.problem = "blockwise_gemm"}} {{
  %zero = arith.constant 0.0 : f32
  fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale
      : {})
   {}
  return
}}
""".format(",\n                ".join(arguments), ", ".join(types), clauses)


def parse(options):
    """The point that OPTIONS name."""
    parts = [part.split("=") for part in options.split(",") if part]
    return dict.fromkeys(AXES, None) | {"d": "bf16"} | {part[0]: part[-1] for part in parts}


def check(runner, ptx, point):
    """What went wrong when the kernel ran, empty if nothing."""
    flags = [f"--elementwise={point['function']}"] if point["function"] else []
    flags += ["--batch=3"] if point["batch"] else []
    runs = [["--m=300", "--n=336", "--k=272", "--schedules=2"], ["--m=130", "--n=208", "--k=0"],
            ["--m=200", "--n=208", "--k=400", "--data=specials", "--multiprocessors=2"]]
    if point["beta"]:
        runs += [["--m=130", "--n=336", "--k=144", "--beta=0"], ["--m=70", "--n=144", "--k=0", "--beta=0"]]
    for options in runs:
        problem = tools.simulate(runner, ptx, flags + options)
        if problem:
            return f"{' '.join(flags + options)}: {problem}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--hopper", action="store_true")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--ptxas")
    parser.add_argument("--print", dest="one")
    parser.add_argument("--config")
    options = parser.parse_args()
    if options.one is not None:
        print(text(parse(options.one) | {"config": options.config}), end="")
        return
    opt, runner, work = options.paths
    chip = "sm_100a"
    if options.hopper:
        chip, AXES["config"], AXES["mx"] = "sm_90a", HOPPER_CONFIGS, [None]
    chosen = sample(options.sample) if options.sample else list(points())
    tally = tools.Tally()
    for point in chosen:
        name = ", ".join(f"{axis}={value}" for axis, value in point.items() if value)
        source, ptx = f"{work}.mlir", f"{work}.ptx"
        with open(source, "w") as file:
            file.write(text(point))
        problem, spills = tools.lower(opt, source, ptx, chip) or check(runner, ptx, point), False
        if options.ptxas and not problem:
            problem, spills = tools.assemble(options.ptxas, ptx, chip)
        tally.add(name, problem, [chip] if spills else [])
    tally.summary(f"{len(chosen)} of {len(list(points()))} kernels", "right", "failed", *["spill"] * bool(options.ptxas))
    sys.exit(tally.counts["failed"] > 0)


if __name__ == "__main__":
    main()
