#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the promotion loop of sm_100a kernels out of their machine code, which needs no GPU.

For each kernel: what one epilogue warp issues in the loop for a K block, scaled to a block of 128x128x128 and to four warps, by
opcode; registers and spills; and how far loads from tensor memory overlap. A load counts as in flight only if nothing that waits for
it comes before the next load: the order of the text alone says nothing, since ptxas gives each instruction a mask of scoreboards to
wait for and a number of cycles until the next may issue (bits 41 and up of the upper word of a 128-bit instruction; their layout is
not documented, it is that which others found for sm_70 to sm_90, and it fits what is seen here).
"""

import argparse
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import inputs

# (tile, what else is pinned, output type): what the pipeline makes of examples/gemm.mlir.
TILES = [((128, n), "") for n in (64, 96, 128, 160, 192)]
TILES += [((64, 128), ""), ((256, 128), ", cluster = 2 x 1, cta_group = 2")]
CONFIGURATIONS = [(tile, more, out) for tile, more in TILES for out in ("bf16", "f16", "f32")]


class Instruction:
    def __init__(self, text, upper):
        self.text = text
        # A predicate, then the opcode with its modifiers.
        self.opcode = re.sub(r"^@!?U?P\w+ ", "", text).split()[0].rstrip(";").split(".")[0]
        self.stall = upper >> 41 & 0xF
        barrier = upper >> 46 & 0x7
        self.sets = None if barrier == 7 else barrier
        self.waits = {i for i in range(6) if upper >> 52 >> i & 1}

    def is_arrival(self):
        return self.opcode == "SYNCS" and "ARRIVE" in self.text


def find_nvdisasm(named):
    """The one named, the one on PATH, or that of a triton wheel or a CUDA toolkit; '' if there is none."""
    if named:
        return named if os.access(named, os.X_OK) else ""
    places = [shutil.which("nvdisasm") or ""]
    places += glob.glob(os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin/nvdisasm"))
    for entry in sys.path:
        places += glob.glob(os.path.join(entry, "triton/backends/nvidia/bin/nvdisasm"))
    return next((place for place in places if place), "")


def disassemble(nvdisasm, cubin):
    """The instructions of the file, and the position of each label."""
    text = inputs.run_tool([nvdisasm, "-c", "-hex", cubin], option="--nvdisasm")
    instructions, labels, pending = [], {}, None
    for line in text.splitlines():
        if match := re.match(r"\s*(\.L\w+):", line):
            labels[match[1]] = len(instructions)
        elif match := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;\s*/\* 0x[0-9a-f]{16} \*/", line):
            pending = match[1]
        elif pending and (match := re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/", line)):
            instructions.append(Instruction(pending, int(match[1], 16)))
            pending = None
    return instructions, labels


def find_loop(instructions, labels):
    """The loop over K blocks: of the loops that load from tensor memory and have no such loop within, the one with most work. The blocks
    that do not fill a group have a loop of their own."""
    loops = []
    for end, instruction in enumerate(instructions):
        target = re.search(r"`\((\.L\w+)\)", instruction.text)
        # A branch without a condition leads back from a wait that was set apart, not around a loop.
        if instruction.opcode != "BRA" or not target or instruction.text.startswith("BRA `"):
            continue
        begin = labels.get(target[1], end + 1)
        if begin <= end and any(i.opcode == "LDTM" for i in instructions[begin : end + 1]):
            loops.append((begin, end))
    inner = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    bodies = [instructions[begin : end + 1] for begin, end in inner]
    return max(bodies, key=lambda body: sum(map(is_multiply_add, body)), default=None)


def split_blocks(loop):
    """The loop's stretches from one K block's first load of an accumulator to the next one's."""
    starts = [i for i, instruction in enumerate(loop) if instruction.opcode == "LDTM" and "+" not in instruction.text]
    return [loop[a:b] for a, b in zip(starts, starts[1:] + [len(loop)])]


def overlap(block):
    """How many of a block's loads from tensor memory are under way before anything waits for one of them."""
    pending = set()
    count = 0
    for instruction in block:
        # A load without a scoreboard of its own is waited for with a later one.
        if pending & instruction.waits:
            break
        if instruction.opcode == "LDTM":
            count += 1
            pending.add(instruction.sets)
    return count


def is_multiply_add(instruction):
    return instruction.opcode in ("FFMA", "FFMA2")


def last(loop, kind):
    """The position of the loop's last instruction of the kind, -1 if there is none."""
    return max((i for i, instruction in enumerate(loop) if kind(instruction)), default=-1)


def asks_early(loop):
    """Whether scales that come from another lane, or from memory, are asked for before the loop waits for the last accumulator."""
    last_test = last(loop, lambda i: "TRYWAIT" in i.text)
    waits = [i for i, instruction in enumerate(loop) if i > last_test and instruction.opcode == "BRA"]
    return bool(waits) and 0 <= last(loop, lambda i: i.opcode in ("LDG", "SHFL")) < waits[0]


def measure(nvdisasm, cubin):
    """Figures of the promotion loop, scaled to a K block of 128x128x128 and four epilogue warps."""
    loop = find_loop(*disassemble(nvdisasm, cubin))
    if not loop:
        sys.exit("error: %s: no loop loads from tensor memory and branches back" % cubin)
    # A block multiplies and adds each of a thread's sums once, and 128x128 sums are 128 a thread of four warps.
    sums = sum({"FFMA": 1, "FFMA2": 2}.get(i.opcode, 0) for i in loop)
    scale = 128 / sums
    blocks = split_blocks(loop)
    in_flight = [overlap(block) for block in blocks]
    return {
        "blocks": len(blocks),
        "total": scale * len(loop),
        "cycles": scale * sum(i.stall for i in loop),
        "opcodes": {opcode: scale * count for opcode, count in collections.Counter(i.opcode for i in loop).most_common()},
        "in_flight": (min(in_flight), max(in_flight)),
        "arrives_early": all(0 <= last(block, Instruction.is_arrival) < last(block, is_multiply_add) for block in blocks),
        "scales_early": asks_early(loop),
    }


def assemble(fp8_opt, source, tile, more, out, directory):
    """Lowers and assembles one configuration. Returns the cubin's path, its registers and its spilled bytes."""
    with inputs.reading(source, "give the GEMM op, such as examples/gemm.mlir") as file:
        text = file.read().replace("xbf16>", "x%s>" % out)
    text = re.sub(r"outs\(.*\)", r"\g<0> config<tile = %d x %d x 128%s>" % (*tile, more), text)
    module = os.path.join(directory, "gemm-%dx%d-%s.mlir" % (*tile, out))
    with open(module, "w", encoding="utf-8") as file:
        file.write(text)
    cubin = module.replace(".mlir", ".cubin")
    command = [fp8_opt, module, "--fp8-gemm-to-ptx=chip=sm_100a", "--emit=cubin", "--report-resources", "-o", cubin]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    figures = re.search(r"(\d+) registers, (\d+) bytes spilled", result.stdout + result.stderr)
    if result.returncode or not figures:
        sys.exit("error: %s\n%s%s" % (" ".join(command), result.stdout, result.stderr))
    return cubin, int(figures[1]), int(figures[2])


def print_row(name, figures, registers, spilled):
    yes = {True: "yes", False: "no"}
    least, most = figures["in_flight"]
    print("| %s | %.1f | %.0f | %s | %d | %s | %s | %s | %s |"
          % (name, figures["total"], figures["cycles"],
             ", ".join("%s %.3g" % item for item in figures["opcodes"].items()),
             figures["blocks"], least if least == most else "%d to %d" % (least, most),
             yes[figures["arrives_early"]], yes[figures["scales_early"]], "%s, %s" % (registers, spilled)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--nvdisasm", help="NVIDIA's disassembler; else that on PATH, of a CUDA toolkit or of a triton wheel")
    parser.add_argument("--fp8-opt", default="build/bin/fp8-opt")
    parser.add_argument("--source", default="examples/gemm.mlir")
    parser.add_argument("--tile", help="the default configurations of this tile only, like 128x128")
    parser.add_argument("--most", type=int, help="fail if a default configuration issues more instructions a block, or spills")
    parser.add_argument("cubins", nargs="*", help="files to read instead of the default configurations")
    options = parser.parse_args()
    nvdisasm = find_nvdisasm(options.nvdisasm)
    if not nvdisasm:
        print("promotion loop: not read, for there is no nvdisasm; it comes with a CUDA toolkit and with the triton wheel")
        return 1 if options.nvdisasm else 0
    print("| kernel | instructions a warp per 128x128x128 | cycles by ptxas's schedule | by opcode | K blocks in the loop "
          "| a block's loads in flight before the first is waited for | arrives before the last multiply-add "
          "| asks for B scales before the last wait | registers, spilled bytes |")
    print("|---|---|---|---|---|---|---|---|---|")
    exceeds = False
    for cubin in options.cubins:
        print_row(os.path.basename(cubin), measure(nvdisasm, cubin), "", "")
    if not options.cubins:
        with tempfile.TemporaryDirectory() as directory:
            for tile, more, out in CONFIGURATIONS:
                if options.tile not in (None, "%dx%d" % tile):
                    continue
                cubin, registers, spilled = assemble(options.fp8_opt, options.source, tile, more, out, directory)
                figures = measure(nvdisasm, cubin)
                print_row("%dx%d, %s" % (*tile, out), figures, registers, spilled)
                exceeds |= options.most is not None and (figures["total"] > options.most or spilled > 0)
    return int(exceeds)


if __name__ == "__main__":
    inputs.run(main)
