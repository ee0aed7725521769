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

# (tile N, output type): what the pipeline makes of examples/gemm.mlir.
CONFIGURATIONS = [(n, out) for n in (64, 96, 128, 192) for out in ("bf16", "f16", "f32")]


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
    text = subprocess.run([nvdisasm, "-c", "-hex", cubin], check=True, capture_output=True, text=True).stdout
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
    """The shortest stretch that ends in a branch back to its start and loads from tensor memory."""
    loops = []
    for end, instruction in enumerate(instructions):
        target = re.search(r"`\((\.L\w+)\)", instruction.text)
        if instruction.opcode != "BRA" or not target:
            continue
        begin = labels.get(target[1], end + 1)
        body = instructions[begin : end + 1]
        if begin <= end and any(i.opcode == "LDTM" for i in body):
            loops.append(body)
    return min(loops, key=len, default=None)


def overlap(loop):
    """The most loads from tensor memory under way at once before the first of them is used."""
    pending, most = [], 0
    for instruction in loop:
        pending = [barrier for barrier in pending if barrier not in instruction.waits]
        if instruction.opcode == "LDTM":
            pending.append(instruction.sets)
            most = max(most, len(pending))
        if instruction.opcode.startswith("FFMA"):
            break
    return most


def is_multiply_add(instruction):
    return instruction.opcode in ("FFMA", "FFMA2")


def last(loop, kind):
    """The position of the loop's last instruction of the kind, -1 if there is none."""
    return max((i for i, instruction in enumerate(loop) if kind(instruction)), default=-1)


def measure(nvdisasm, cubin):
    """Figures of the promotion loop, scaled to a K block of 128x128x128 and four epilogue warps."""
    loop = find_loop(*disassemble(nvdisasm, cubin))
    if not loop:
        sys.exit("error: %s: no loop loads from tensor memory and branches back" % cubin)
    # A block multiplies and adds each of a thread's sums once, and 128x128 sums are 128 a thread of four warps.
    scale = 128 / sum({"FFMA": 1, "FFMA2": 2}.get(i.opcode, 0) for i in loop)
    first_use = next(i for i, instruction in enumerate(loop) if is_multiply_add(instruction))
    last_wait = last(loop, lambda i: "TRYWAIT" in i.text)
    return {
        "total": scale * len(loop),
        "cycles": scale * sum(i.stall for i in loop),
        "opcodes": {opcode: scale * count for opcode, count in collections.Counter(i.opcode for i in loop).most_common()},
        "started": sum(i.opcode == "LDTM" for i in loop[:first_use]),
        "in_flight": overlap(loop),
        # The last arrival is that of the ring that is released last; both precede what they may.
        "arrives_early": 0 <= last(loop, Instruction.is_arrival) < last(loop, is_multiply_add),
        # Scales that come from another lane, or from memory, are asked for before the last wait.
        "scales_early": 0 <= last(loop, lambda i: i.opcode in ("LDG", "SHFL")) < last_wait,
    }


def assemble(fp8_opt, source, tile_n, out, directory):
    """Lowers and assembles one configuration. Returns the cubin's path, its registers and its spilled bytes."""
    with open(source, encoding="utf-8") as file:
        text = file.read().replace("xbf16>", "x%s>" % out)
    text = re.sub(r"outs\(.*\)", r"\g<0> config<tile = 128 x %d x 128>" % tile_n, text)
    module = os.path.join(directory, "gemm-%d-%s.mlir" % (tile_n, out))
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
    print("| %s | %.0f | %.0f | %s | %d | %d | %s | %s | %s |"
          % (name, figures["total"], figures["cycles"],
             ", ".join("%s %.3g" % item for item in figures["opcodes"].items()),
             figures["started"], figures["in_flight"], yes[figures["arrives_early"]], yes[figures["scales_early"]],
             "%s, %s" % (registers, spilled)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--nvdisasm", help="NVIDIA's disassembler; else that on PATH, of a CUDA toolkit or of a triton wheel")
    parser.add_argument("--fp8-opt", default="build/bin/fp8-opt")
    parser.add_argument("--source", default="examples/gemm.mlir")
    parser.add_argument("cubins", nargs="*", help="files to read instead of the default configurations")
    options = parser.parse_args()
    nvdisasm = find_nvdisasm(options.nvdisasm)
    if not nvdisasm:
        print("promotion loop: not read, for there is no nvdisasm; it comes with a CUDA toolkit and with the triton wheel")
        return 1 if options.nvdisasm else 0
    print("| kernel | instructions a warp per 128x128x128 | cycles by ptxas's schedule | by opcode | loads started before the first "
          "multiply-add | of them in flight at once | arrives before the last one | asks for B scales before the last wait "
          "| registers, spilled bytes |")
    print("|---|---|---|---|---|---|---|---|---|")
    for cubin in options.cubins:
        print_row(os.path.basename(cubin), measure(nvdisasm, cubin), "", "")
    if not options.cubins:
        with tempfile.TemporaryDirectory() as directory:
            for tile_n, out in CONFIGURATIONS:
                cubin, registers, spilled = assemble(options.fp8_opt, options.source, tile_n, out, directory)
                print_row("128x%d, %s" % (tile_n, out), measure(nvdisasm, cubin), registers, spilled)
    return 0


if __name__ == "__main__":
    sys.exit(main())
