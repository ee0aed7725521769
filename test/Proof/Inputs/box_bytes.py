#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits a kernel whose boxes fit the rows of A, one fault at a time, in a phase of the compiler or in its PTX. Each edit is refused with the message
that the table names, or is harmless: then the kernel computes the right D on the simulator, and its PTX is that of its proof.

usage: box_bytes.py EXAMPLE FOLDER FP8-OPT FP8-CHECK-PTX FP8-RUN
"""

import pathlib
import re
import subprocess
import sys

CONFIG = "tile = 64 x 64 x 128, edge = fit"
CHIP = "chip=sm_90a"
MAP = r"!fp8\.tensor_map<!tile>"
EXPECT = r"(\n *)(fp8\.mbarrier_expect) (%\w+), 8192 as %arg4"
BYTES = r"(%\d+) = (fp8\.box_bytes %\w+ : [^\n]*)"
LAUNCH = r"(\n *gpu\.launch_func[^\n]*)"
LOAD = r"(\n *)(fp8\.tma_load %map\[)(%\w+)(, %\w+\][^\n]*)"
UNTOLD = (r" \{fp8\.box_bytes = 0 : i64\}", "")
WHOLE = (r"\bargs\(%\w+", "args(%map")
OF_A = r"(fp8\.tensor_map %arg0 [^\n]*\n *)(%\w+) = fp8\.fit_rows %map"
# The map of B's boxes, which have the type of A's, and the map that fits.
B = r"(?s)(.*(%\w+) = fp8\.tensor_map %arg2.*)"
OTHER = "which are 8192 at most"
H6_TELLS = r"must pass fp8\.box_bytes of parameter {} as parameter 8 .* \(H6\)"
H6_FITS = r"passes a tensor map of fp8\.fit_rows as parameter {} .* which is not told the bytes of its boxes.* \(H6\)"
B6_TOLD = r"copies a box whose bytes are argument 8 of the kernel, .* \(B6\)"
B6_COPY = r"tells of the bytes of a box of tensor map {}, and so one fp8\.copy_tile in its block .* \(B6\)"
HARMLESS = "harmless"

# The phase; what is edited; patterns and what they become, each once; the error.
EDITS = [
    ("structured", "a launch passes a constant", [(BYTES, r"\1 = arith.constant 8192 : i32")], H6_TELLS.format(0)),
    ("structured", "a launch passes the bytes of whole boxes", [(r"fp8\.box_bytes %\w+", "fp8.box_bytes %map")], H6_TELLS.format(0)),
    ("structured", "a launch passes whole boxes", [WHOLE], H6_TELLS.format(0)),
    ("structured", "a launch passes whole boxes and their bytes", [(r"fp8\.box_bytes %\w+", "fp8.box_bytes %map"), WHOLE], HARMLESS),
    ("structured", "a launch passes the bytes of B's boxes", [(B + r"fp8\.box_bytes %\w+", r"\1fp8.box_bytes \2")], H6_TELLS.format(0)),
    ("structured", "a launch passes the fitting map as B's, too", [(r"\bargs\((%\w+)(.*?, .*?, )%\w+", r"args(\1\2\1")], H6_FITS.format(2)),
    ("structured", "a launch passes a sum", [(BYTES, r"%by = \2\n%zero = arith.constant 0 : i32\n\1 = arith.addi %by, %zero : i32")], H6_TELLS.format(0)),
    ("structured", "a launch passes the larger of two", [(BYTES, r"%by = \2\n%some = arith.constant 4096 : i32\n\1 = arith.maxui %by, %some : i32")], H6_TELLS.format(0)),
    ("structured", "a launch passes bytes that were cast", [(BYTES, r"%by = \2\n%wide = arith.extui %by : i32 to i64\n\1 = arith.trunci %wide : i64 to i32")], H6_TELLS.format(0)),
    ("structured", "a launch passes a map that is fitted twice", [(OF_A, r"\1%one = fp8.fit_rows %map : !fp8.tensor_map<!tile>\n\2 = fp8.fit_rows %one")], r"boxes fit already \(H7\)"),
    ("structured", "a launch passes one of two maps", [(OF_A, r"\1%one = fp8.fit_rows %map : !fp8.tensor_map<!tile>\n\2 = arith.select %0, %one, %map")], "does not come from an fp8.tensor_map of the host function"),
    ("structured", "a launch passes one of two maps, the kernel is not told", [UNTOLD, (OF_A, r"\1%one = fp8.fit_rows %map : !fp8.tensor_map<!tile>\n\2 = arith.select %0, %one, %map")], "does not come from an fp8.tensor_map of the host function"),
    ("structured", "a second launch passes whole boxes", [(LAUNCH, lambda its: its[1] + re.sub(*WHOLE, its[1]))], H6_TELLS.format(0)),
    ("structured", "a second launch passes a constant", [(LAUNCH, lambda its: its[1] + "\n%some = arith.constant 64 : i32" + re.sub(r"%\d+ : i32\)", "%some : i32)", its[1]))], H6_TELLS.format(0)),
    ("structured", "the kernel is not told", [UNTOLD], H6_FITS.format(0)),
    ("structured", "the kernel takes them for the bytes of B", [(r"box_bytes = 0", "box_bytes = 2")], H6_TELLS.format(2)),
    ("structured", "the kernel takes them for the bytes of B, which the launch passes", [(r"box_bytes = 0", "box_bytes = 2"), (B + r"fp8\.box_bytes %\w+", r"\1fp8.box_bytes \2")], H6_FITS.format(0)),
    ("structured", "the kernel takes them for the bytes of D", [(r"box_bytes = 0", "box_bytes = 3")], r"uses tensor map 3, whose boxes have the bytes of argument 8; only .* \(M7\)"),
    ("structured", "two parameters have the bytes", [(r"(%arg4: i32 (\{[^}]*\}))", r"\1, %more: i32 \2"), (r"(gpu\.launch_func.*)(%\d+) : i32\)", r"\1\2 : i32, \2 : i32)")], HARMLESS),
    ("structured", "two parameters have the bytes, one is a constant", [(r"(%arg4: i32 (\{[^}]*\}))", r"\1, %more: i32 \2"), (r"(gpu\.launch_func.*)(%\d+) : i32\)", r"%some = arith.constant 64 : i32\n\1\2 : i32, %some : i32)")], r"as parameter 9 .* \(H6\)"),
    ("structured", "A is copied by B's map", [(r"tma_load %map\[", "tma_load %map_1[")], "the A tile of a product must hold elements of 'a'"),
    ("structured", "B is copied by A's map", [(r"tma_load %map_1\[", "tma_load %map[")], "the B tile of a product must hold elements of 'b'"),
    ("structured", "A is copied from a row in front", [(LOAD, r"\1%eight = arith.constant 8 : index\1%front = arith.subi \3, %eight : index\1\2%front\4")], "the A scales must be of the rows of the product, but it has 0 and -8"),
    ("structured", "A is not copied", [(LOAD, "")], r"into which nobody copies \(K6\)"),
    ("structured", "A is copied twice", [(LOAD, r"\1\2\3\4\1\2\3\4")], "writes tile 'a0' of the ring .* twice|breaks ownership"),
    ("structured", "A is copied under a condition", [(LOAD, r"\1%some = arith.cmpi ult, %arg5, %arg2 : index\1scf.if %some {\1\2\3\4\1}")], "the A tile of a product must hold elements of 'a', but it has -1 and 0"),
    ("structured", "A is brought near before", [(LOAD, r"\1fp8.tma_prefetch %map[\3\4\1\2\3\4"), (r"(tma_prefetch [^\n]*\]), [^:]*: (" + MAP + ")[^\n]*", r"\1 : \2")], HARMLESS),
    ("structured", "a role takes the map", [(r'"load" warps\(1\) \((.*?)\) : (.*?) \{', r'"load" warps(1) (\1, %its = %map) : \2, !fp8.tensor_map<!tile> {'), (r"tma_load %map\[", "tma_load %its[")], r"'fp8\.role' op uses tensor map 0, .* \(M7\)"),
    ("planned", "a plan tells all bytes at the acquire", [(r"(acquire %producer\w* \{fp8\.plan = #fp8\.stage_plan<bytes = \d+)", r"\1, bytes_at_acquire")], "miscounts|is not that of"),
    ("planned", "a plan tells the bytes of A at the acquire", [(r"(tma_load %map\[.*?#fp8\.stage_plan<bytes = \d+)", r"\1, bytes_at_acquire")], "miscounts|is not that of"),
    ("planned", "a plan counts other arrivals", [(r"full_arrivals = 2", "full_arrivals = 1")], "miscounts"),
    ("planned", "a planned kernel is not told", [UNTOLD], H6_FITS.format(0)),
    ("barriers", "a barrier is told a constant", [(EXPECT, r"\1\2 \3, 8192")], B6_TOLD),
    ("barriers", "a barrier is not told", [(EXPECT, "")], B6_TOLD),
    ("barriers", "a barrier is told twice", [(EXPECT, r"\1\2 \3, 8192 as %arg4\1\2 \3, 8192 as %arg4")], B6_COPY.format(0)),
    ("barriers", "another barrier is told", [(EXPECT, r"\1%eight = arith.constant 8 : i32\1%next = arith.addi \3, %eight : i32\1\2 %next, 8192 as %arg4")], B6_COPY.format(0)),
    ("barriers", "a barrier is told B's bytes by A's", [(r"(mbarrier_expect %\w+, 8192)\n", r"\1 as %arg4\n")], B6_COPY.format(0)),
    ("barriers", "a barrier is told the half", [(EXPECT, r"\1%two = arith.constant 2 : i32\1%half = arith.divui %arg4, %two : i32\1\2 \3, 8192 as %half")], r"must be an argument of the kernel with 'fp8\.box_bytes' \(B6\)"),
    ("barriers", "a barrier is told another argument", [(EXPECT, r"\1%some = arith.index_cast %arg1 : index to i32\1\2 \3, 8192 as %some")], r"must be an argument of the kernel with 'fp8\.box_bytes' \(B6\)"),
    ("barriers", "a barrier is told of at most 4096 bytes", [(EXPECT, r"\1\2 \3, 4096 as %arg4")], r"which are 8192 at most \(B6\), but got 4096"),
    ("barriers", "a barrier is told with an arrival", [(EXPECT, r"\1\2 arrive \3, 8192 as %arg4")], r"with an arrival \(B5\)"),
    ("barriers", "A is copied by B's map", [(r"copy_tile %map\[", "copy_tile %map_1[")], B6_COPY.format(0)),
    ("barriers", "A is copied by one of two maps", [(r"(\n *)fp8\.copy_tile %map\[", r"\1%one = arith.constant true\1%some = arith.select %one, %map, %map_1 : !fp8.tensor_map<!tile>\1fp8.copy_tile %some[")], r"'arith\.select' op uses tensor map 0, .* only fp8\.copy_tile .* \(M7\)"),
    ("barriers", "the kernel takes no argument for the bytes", [UNTOLD, WHOLE], r"must be an argument of the kernel with 'fp8\.box_bytes' \(B6\)"),
    ("barriers", "the kernel takes them for the bytes of B", [(r"box_bytes = 0", "box_bytes = 2")], B6_COPY.format(2)),
    ("ptx", "a barrier is told a constant", [(r"(mbarrier\.expect_tx\S*\s*\[[^,]*, )%r\d+;", r"\g<1>8192;")], r"expect, at \d+, bytes 8192"),
    ("ptx", "a barrier is told another parameter", [(r"gemm_kernel_param_14\]", "gemm_kernel_param_13]")], "bytes of parameter 13"),
    ("ptx", "A is copied by B's map", [(r"(?s)(::bytes\s*\[[^]]*\], \[)(%rd\d+)(.*?::bytes\s*\[[^]]*\], \[)(%rd\d+)", r"\1\4\3\4")], "map of parameter 2"),
    ("ptx", "A is copied by any map", [(r"(?s)(::bytes\s*\[[^]]*\], \[)(%rd\d+)", r"\1%rd1")], "cannot be compared|map unknown"),
]


class Kernel:
    """The kernel in each phase, and what its PTX is compared with."""

    def __init__(self, example, folder, opt, check, run):
        self.folder, self.opt, self.check, self.simulate = folder, opt, check, run
        text = re.sub(r"outs\(%d : .*\)", rf"\g<0>\n config <{CONFIG}>", pathlib.Path(example).read_text(encoding="utf-8"))
        self.texts = {"structured": self.write("op.mlir", text, "--fp8-structure-gemm=" + CHIP)}
        for phase in ("linear", "barriers"):
            self.texts[phase] = self.write("op.mlir", text, f"--fp8-gemm-to-ptx={CHIP} phase={phase}")
        self.texts["planned"] = self.write("linear.mlir", self.texts["linear"], "--fp8-attach-chip=" + CHIP, "--fp8-plan-kernels")
        self.texts["ptx"] = self.write("linear.mlir", self.texts["linear"], "--fp8-gemm-to-ptx=" + CHIP, "--emit=ptx")
        self.prove("linear.mlir")

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stdout + done.stderr

    def write(self, name, text, *options):
        (self.folder / name).write_text(text, encoding="utf-8")
        failed, out, said = self.run(self.opt, name, *options)
        if failed:
            sys.exit(said)
        return out

    def prove(self, name):
        self.run(self.opt, name, f"--fp8-prove={CHIP} json=events.json", "-o", "/dev/null")

    def judge(self, phase, text):
        """What is said of the text, or that it is harmless."""
        if phase == "ptx":
            (self.folder / "edited.ptx").write_text(text, encoding="utf-8")
            failed, _, said = self.run(self.check, "edited.ptx", "events.json")
            return said if failed else HARMLESS
        (self.folder / "edited.mlir").write_text(text, encoding="utf-8")
        failed, _, said = self.run(self.opt, "edited.mlir", "--fp8-gemm-to-ptx=" + CHIP, "--emit=ptx", "-o", "edited.ptx")
        if failed:
            return said
        if phase != "barriers":
            self.prove("edited.mlir")
        failed, _, said = self.run(self.check, "edited.ptx", "events.json")
        for m in (1, 40, 100):
            if not failed:
                failed, _, said = self.run(self.simulate, "edited.ptx", "--backend=sim", "--multiprocessors=2", f"--m={m}", "--n=72", "--k=272")
        return said if failed else HARMLESS


def main():
    example, folder, *tools = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    kernel = Kernel(example, folder, *tools)
    wrong = 0
    for phase, name, patterns, expected in sorted(EDITS, key=lambda edit: edit[0] != "ptx"):
        text = kernel.texts[phase]
        for pattern, by in patterns:
            text, edits = re.subn(pattern, by, text, count=1)
            if not edits:
                sys.exit(f"{phase}, {name}: no place for {pattern}")
        said = kernel.judge(phase, text)
        if not re.search(expected, said):
            wrong += 1
            print(f"{phase}, {name}: not {expected}, but\n{said[:800]}")
    print(f"{len(EDITS)} edits, {wrong} judged otherwise")


if __name__ == "__main__":
    main()
