# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowers GEMM ops with random configurations, element types and epilogues for every chip. Each becomes a kernel or is refused at the op:
no process may abort, and no error may stand at an op that the user did not write.

usage: random-configs.py FP8-OPT SEED COUNT SCRATCH_DIR
"""

import os
import random
import re
import subprocess
import sys

CHIPS = ["sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_110a"]
BATCH = 40  # ops that one process lowers
SEPARATOR = "// -----\n"
ERROR = re.compile(r"^[^\n:]*:(\d+):\d+: error: (.*)$", re.M)
OTHER_OP = re.compile(r"'(?!fp8\.blockwise_gemm')[a-z0-9_]+\.[a-z0-9_.]+' op ")


def make_config(rng, chip):
    """The fields that the text of a configuration gives, mostly such as the chip takes."""
    stray = rng.random() < 0.15  # what another chip takes, or none
    hopper = (chip == "sm_90a") != stray
    small = hopper and rng.random() < 0.3
    pair = rng.random() < (0.05 if hopper else 0.4)
    if small:
        m, n = rng.choice([*range(8, 64, 8), 72, 80, 96, 120]), rng.choice([64, 128, 192, 256])
    else:
        m = rng.choice([64, 128, 192, 256] if hopper else [128, 256] if pair else [64, 128])
        n = rng.choice(range(8, 257, 8) if hopper or m == 64 else range(16, 257, 16))
    if stray and rng.random() < 0.3:
        m, n = rng.choice([(96, n), (m, 12), (m, 264), (0, n), (m, -8)])
    fields = ["tile = %d x %d x %d" % (m, n, 64 if stray and rng.random() < 0.1 else 128)]
    if pair:
        fields.append("cta_group = 2")
    if rng.random() < 0.3:
        fields.append("cluster = %d x %d" % (rng.choice([1, 2, 2, 4, 8]) * (1 + pair), rng.choice([1, 1, 2, 4])))
    elif not pair and rng.random() < (0.5 if hopper else 0.03):
        fields.append("split_k = %d" % rng.choice([2, 2, 3, 4, 5, 6, 8, 16]))
    for name, values, share in (("stages", [1, 2, 3, 4, 6, 40], 0.3), ("accumulators", [1, 2, 3, 4, 64], 0.02 if hopper else 0.3),
                                ("scheduler", ["persistent", "one_tile"] + ["clc"] * (not hopper), 0.4),
                                ("launch", ["serial", "programmatic"], 0.3)):
        if rng.random() < share:
            fields.append("%s = %s" % (name, rng.choice(values)))
    return ", ".join(fields)


def make_memref(shape, element, batch, strided):
    extents = "?x" * (len(shape) + batch)
    strides = ", strided<[%s1]>" % ("?, " * (len(shape) + batch - 1)) if strided else ""
    return "memref<%s%s%s>" % (extents, element, strides)


def make_function(rng, chip):
    """A function with one GEMM op."""
    batch = rng.random() < 0.2
    block = rng.choice([128, 128, 64, 1])
    arguments = []

    def add(name, element, strided=False, type=None, batched=batch):
        arguments.append((name, type or make_memref("mn", element, batched, strided)))
        return "%" + name, arguments[-1][1]

    def join(parts):
        return "%s : %s" % (", ".join(name for name, _ in parts), ", ".join(type for _, type in parts))

    inputs = [add("a", "f8E4M3FN"), add("as", rng.choice(["f32", "bf16"]), True), add("b", "f8E4M3FN"),
              add("bs", rng.choice(["f32", "bf16"]), block == 1)]
    output = rng.choice(["bf16", "f16", "f32", "f8E4M3FN"])
    text = "  fp8.blockwise_gemm ins(%s)\n" % join(inputs)
    addends = ["bf16", "f16", "f32"]
    if rng.random() < 0.4:
        c = add("c", rng.choice(addends), rng.random() < 0.5)
        if rng.random() < 0.5:
            beta = add("beta", None, type="memref<1x1xf32>")
            text += "    residual(%s scaled %s : %s, %s)\n" % (c[0], beta[0], c[1], beta[1])
        else:
            text += "    residual(%s)\n" % join([c])
    if rng.random() < 0.4:
        text += "    bias(%s)\n" % join([add("bias", None, type="memref<1x?x%s>" % rng.choice(addends))])
    text += "    outs(%s)" % join([add("d", output, rng.random() < 0.3)])
    if rng.random() < 0.3:
        text += " scale(%s)" % join([add("ds", None, type="memref<1x1xf32>")])
    if rng.random() < 0.85:
        text += " config <%s>" % make_config(rng, chip)
    if block != 128:
        text += " {b_block = %d}" % block
    if rng.random() < 0.3:
        text += " map (%x) {\n      %y = math.absf %x : f32\n      fp8.yield %y : f32\n    }"
    signature = ", ".join('%%%s: %s {fp8.name = "%s", fp8.access = "%s"}' % (name, type, name, "write" if name == "d" else "read")
                          for name, type in arguments)
    return 'func.func @gemm(%s) attributes {fp8.problem = "blockwise_gemm"} {\n%s\n  return\n}\n' % (signature, text)


def make_options(rng, chip):
    """The options of the pipeline: where the op pins no configuration, one is chosen for the problem."""
    extents = [rng.choice([1, 8, 24, 64, 200, 4096]), rng.choice([8, 64, 520, 7168]), rng.choice([16, 128, 2048, 16384])]
    return "chip=" + chip + (" problem=" + "x".join(map(str, extents)) if rng.random() < 0.8 else "")


def lower(opt, functions, options, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(SEPARATOR.join(functions))
    return subprocess.run([opt, path, "--split-input-file", "--fp8-gemm-to-ptx=" + options, "-o", os.devnull],
                          capture_output=True, text=True, check=False)


def get_function(functions, line):
    """The function that has the line of the file."""
    for function in functions:
        line -= function.count("\n") + 1
        if line <= 0:
            return function
    return ""


def main():
    opt, seed, count, scratch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    os.makedirs(scratch, exist_ok=True)
    rng = random.Random(seed)
    path = os.path.join(scratch, "configs.mlir")
    total = refused = 0
    faults = []
    for first in range(0, count, BATCH):
        chip = CHIPS[first // BATCH % len(CHIPS)]
        functions = [make_function(rng, chip) for _ in range(min(BATCH, count - first))]
        options = make_options(rng, chip)
        result = lower(opt, functions, options, path)
        if result.returncode not in (0, 1):
            # Which of them it was.
            for function in functions:
                alone = lower(opt, [function], options, path)
                if alone.returncode not in (0, 1):
                    faults.append("%s: aborts\n%s%s" % (options, function, alone.stderr[:2000]))
            continue
        errors = ERROR.findall(result.stderr)
        refused += len({line for line, _ in errors})
        total += len(functions)
        faults += ["%s: not at the op: %s\n%s" % (options, message, get_function(functions, int(line)))
                   for line, message in errors if OTHER_OP.search(message) or "failed to" in message]
        if bool(errors) != bool(result.returncode):
            faults.append("%s: status %d, but %d errors" % (options, result.returncode, len(errors)))
    for fault in faults:
        print(fault)
    print("%d configurations: %d kernels, %d refused at the op" % (total, total - refused, refused))
    sys.exit(bool(faults))


main()
