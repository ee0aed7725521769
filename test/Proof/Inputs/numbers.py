#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants faults in what kernels of the GEMM op compute, and expects the proof of their numbers to refute each.

usage: numbers.py FP8-OPT SOURCE DIRECTORY

SOURCE holds one GEMM op without a configuration. Faults are planted in phase 2 of its kernels, where the protocol of the rings stays as it was.
"""

import collections
import re
import subprocess
import sys

# `loads`: the roles that fill the slots. `epilogue`: which operands there are beside A, B, their scales and D.
Kernel = collections.namedtuple("Kernel", "chip config faults b_scale loads epilogue", defaults=["f32", 1, ""])
# The verdict is refuted, or else unknown.
Fault = collections.namedtuple("Fault", "name pattern by rule isRefuted", defaults=[True])

DEFAULT = [
    Fault("K of B is the block's number", r"(fp8\.tma_load %map_1\[%\w+, )%15", r"\1%14", "tiles of a product must begin at the same element of K"),
    Fault("A is read at the column", r"(fp8\.tma_load %map\[)%10(, %15)", r"\1%11\2", "A scales must be of the rows of the product"),
    Fault("B in place of A", r"fp8\.tma_load %map\[%10, %15\]", "fp8.tma_load %map_1[%10, %15]", "A tile of a product must hold elements of 'a'"),
    Fault("A is copied twice", r"( *fp8\.tma_load %map\[%10, %15\].*\n)", r"\1\1", "a tile of a slot must be filled once"),
    Fault("A is not copied", r" *fp8\.tma_load %map\[%10, %15\].*\n", "", "A tile of a product must hold elements of 'a'"),
    Fault("scales of another row", r"scales\(%a_scale_27\[%28\]", "scales(%a_scale_27[%c0]", "A scales must be of the K block of the product"),
    Fault("scales of the first group", r"tma_load %map_0\[%arg5, %10\]", "tma_load %map_0[%c0, %10]", "A scales must be of the K block of the product"),
    Fault("B scale of another lane", r"(gpu\.shuffle  idx %arg6, )%29", r"\1%26", "B scales must be of the K block of the product"),
    Fault("B scales of the first row", r"memref\.load %arg0\[%22, %21\]", "memref.load %arg0[%c0, %21]", "B scales must be of the columns of the product"),
    Fault("the next B scales too early", r"(%21 = arith\.addi %arg5, )%c8 ", r"\1%c1 ", "B scales must be of the K block of the product"),
    Fault("D transposed", r"%map_2\[%19, %20\]", "%map_2[%20, %19]", "a sum and the box that it is stored to must have the same"),
    Fault("the sum before the last group", r"fp8\.store %18#2", "fp8.store %17#2", "what is stored must add up all of K"),
    Fault("a block is left out", r"promote %sum_30, %acc", "promote %sum_22, %acc", "a product must be added to a sum that ends where its K begins"),
    Fault("A and B exchanged", r"fp8\.mma %accumulator, %a, %b", "fp8.mma %accumulator, %b, %a", "A tile of a product must hold elements of 'a'"),
    Fault("the thread's number for the lane's", r"gpu\.lane_id", "gpu.thread_id  x", "B scales must be of the K block of the product"),
    Fault("a shuffle among eight lanes", r"arith\.constant 32 : i32", "arith.constant 8 : i32", "the B scale must be one that all lanes have", False),
    Fault("a shuffle beyond the lanes", r"(%shuffleResult_25, %valid_26 = gpu\.shuffle  idx %arg6, )%29", r"%far = arith.addi %29, %c32_i32 : i32\n\1%far",
          "the B scale must be one that all lanes have", False),
    Fault("no store", r"(?s)%store_queue_17 = fp8\.store [^\n]*\n(.*?)%store_queue_17", r"\1%store_queue_15", "each sum must be stored"),
]

MULTICAST = [
    Fault("A of each CTA's own columns", r"(fp8\.tma_load %map\[)%21(, %29\].* multicast)", r"\1%25\2", "CTAs that share a multicast must copy the same box"),
    Fault("B without the CTA's number", r"fp8\.tma_load %map_1\[%25", "fp8.tma_load %map_1[%c0", "the B tiles of a pair must be of adjacent columns"),
]

# Of each CTA by itself the numbers are right.
BY_RANK = [
    Fault("columns of each CTA's own", r"%20 = (arith\.addi %19, %18 : index)", "%leads = arith.cmpi eq, %0, %c0 : index\n%same = \\1\n%next = arith.addi %same, %c1 : index\n"
          "%20 = arith.select %leads, %same, %next : index", "CTAs that share a multicast must copy the same box, which was shown of some CTAs only", False),
]

TWO_LOADS = [
    Fault("A of the first block", r"(fp8\.tma_load %map\[%\w+, )%\w+(\], %stage\[\"a0)", r"\1%c0\2", "tiles of a product must begin at the same element of K"),
    Fault("B of the first block", r"(fp8\.tma_load %map_1\[%\w+, )%\w+(\], %stage\[\"b0)", r"\1%c0\2", "tiles of a product must begin at the same element of K"),
]

# Scales of B that are copied one by one.
ELEMENTS = [
    Fault("no B scale", r"(fp8\.load_element [^:]*\[\"b_scale0\", 0\]) if %\w+ :", r"%never = arith.constant false\n\1 if %never :", "an element of K must be loaded unless it lies behind the last one"),
    Fault("no B scale of the first block", r"(fp8\.load_element %\w+\[%\w+, (%\w+)\][^:]*\[\"b_scale0\", 0\]) if %\w+ :", r"%later = arith.cmpi ugt, \2, %c0 : index\n\1 if %later :",
          "an element of K must be loaded unless it lies behind the last one"),
]

RESIDUAL = [
    Fault("the residual is not scaled", r"(fp8\.add_tile .*) scaled %\w+ :", r"\1 :", "the residual must be multiplied by 'beta' if the kernel takes it"),
    Fault("the residual is scaled twice", r"(%\w+ = fp8\.add_tile %\w+\[0\].*) scaled (%\w+) :", r"%square = arith.mulf \2, \2 : f32\n\1 scaled %square :",
          "the residual must be multiplied by 'beta' if the kernel takes it", False),
]

# Whatever follows the sum, left out, done twice, or done in another place.
def left_out(op):
    return rf"(?s)(%\w+) = fp8\.{op} (%\w+)[^\n]*\n(.*)", lambda found: re.sub(rf"{found[1]}\b", found[2], found[3])


def twice(op):
    return rf"(%\w+)( = fp8\.{op} )(%\w+)(.*)", r"%once\2\3\4\n\1\2%once\4"


def mapped_before(op):
    return rf"(%\w+ = fp8\.{op} )(%\w+)([^\n]*? : )(!fp8\.fragment<[^>]*>)((?s:.*))", r"%early = fp8.map(%e = \2) : \4 -> \4 {\n%n = math.absf %e : f32\nfp8.yield %n : f32\n}\n\1%early\3\4\5"


WHOLE = "all that a sum consists of must be added before 'fp8.map' computes with it"
ONCE = "a sum must be multiplied by 'd_scale' once, and behind all else"
LAST = "a sum must be multiplied by 'd_scale' in 'fp8.map', as the last thing before its store"
EPILOGUE = [
    Fault("no bias", *left_out("add_row"), "the bias must be added if the kernel has one"),
    Fault("the bias twice", *twice("add_row"), "the bias must be added once"),
    Fault("a row beside the bias", r"(fp8\.tma_load %\w+\[)%c0(, %\w+\], %\w+\[\"bias)", r"\1%c1\2", "the row of the bias must hold elements of 'bias'", False),
    Fault("a number beside beta", r"(memref\.load %arg4\[)%c0", r"\1%c1", "the residual must be multiplied by 'beta' if the kernel takes it", False),
    Fault("a number beside the output scale", r"(memref\.load %arg5\[)%c0", r"\1%c1", LAST, False),
    Fault("no residual", *left_out("add_tile"), "the residual must be added unless 'beta' is 0"),
    Fault("the residual twice", *twice("add_tile"), "the residual must be added to each column once"),
    Fault("no residual of a negative beta", r"arith\.cmpf une", "arith.cmpf ogt", "the residual must be added unless 'beta' is 0", False),
    Fault("no residual if beta is no number", r"arith\.cmpf une", "arith.cmpf one", "the residual must be added unless 'beta' is 0", False),
    Fault("no residual if the output scale is 0", r"(?s)(memref\.load %)arg4(.*?arith\.cmpf une, )%13(.*?memref\.load %)arg4(.*)", r"\1arg4\2%14\3arg5\4",
          "the residual must be added unless 'beta' is 0", False),
    Fault("no output scale", r"(%\w+) = arith\.mulf (%\w+), %\w+ : f32\n( *)fp8\.yield \1", r"fp8.yield \2", LAST),
    Fault("the output scale twice", r"(%\w+) = arith\.mulf (%\w+), (%\w+) : f32\n( *)fp8\.yield \1", r"%o = arith.mulf \2, \3 : f32\n\1 = arith.mulf %o, \3 : f32\nfp8.yield \1", LAST, False),
    Fault("the output scale in two maps", r"(%\w+)( = fp8\.map\(%\w+ = )(%\w+)([^}]*\})", r"%first\2\3\4\n\1\2%first\4", ONCE),
    Fault("beta for the output scale", r"(?s)(scaled )(%\w+)(.*?arith\.mulf %\w+, )%\w+", r"\1\2\3\2", LAST),
    Fault("a function behind the output scale", r"(%\w+ = fp8\.store )(%\w+)(.*? : )(!fp8\.fragment<[^>]*>)(, !fp8\.tensor_map)",
          r"%late = fp8.map(%e = \2) : \4 -> \4 {\n%n = math.absf %e : f32\nfp8.yield %n : f32\n}\n\1%late\3\4\5", ONCE),
    Fault("the bias behind a function", *mapped_before("add_row"), WHOLE),
    Fault("the residual behind a function", *mapped_before("add_tile"), WHOLE),
    Fault("a function of a part of K", *mapped_before("promote"), WHOLE),
]

REST = [
    Fault("no rest", r"(fp8\.store .*) rest\([^)]*\)", r"\1", "a store must have a 'rest' if the kernel takes 'd' as an array"),
]

DIVIDED_K = [
    Fault("a part begins behind its place", r"(%29 = arith\.addi %arg5, )%28", r"\1%26", "CTAs that divide K must each begin where its part begins"),
    Fault("parts overlap", r"(arith\.muli %cluster_block_id_x_11, )%26", r"\1%25", "CTAs that divide K must each begin where its part begins"),
    Fault("one part for all", r"arith\.muli %cluster_block_id_x_11, %26", "arith.muli %c0, %26", "CTAs that divide K must each begin where its part begins"),
    Fault("shares in one place", r"(%25 = arith\.addi %23, )%24", r"\1%c0", "a sum and the box that it is stored to must have the same columns"),
    Fault("shares lie apart", r"arith\.muli %cluster_block_id_x_16, %c16", "arith.muli %cluster_block_id_x_16, %c64",
          "a sum and the box that it is stored to must have the same columns"),
    Fault("empty parts are stored elsewhere", r"(%22 = )arith\.muli %13, %c64 : index", r"%elsewhere = arith.muli %13, %c64 : index\n\1arith.select %21, %elsewhere, %c0 : index",
          "the CTAs that divide K must store their shares of one tile", False),
]

# Lanes load the scales of B, of blocks behind K zeros.
LANES = [
    Fault("the next scales too early", r"(%55 = arith\.addi %arg5, )%c2 ", r"\1%c1 ", "B scales must be of the K block of the product"),
    Fault("a scale of another lane", r"(gpu\.shuffle  idx %arg6, )%69", r"\1%66", "B scales must be of the K block of the product"),
    Fault("the last scale behind K", r"(arith\.select %63, %62, )%cst ", r"\1%62 ", "the B scales must be of the K block of the product"),
    Fault("zeros from the first block on", r"(%63 = arith\.cmpi ule, %58, )%35 ", r"\1%c0 ", "the B scale must hold elements of 'b_scale'", False),
]

# Tensor cores apply the scales, of MXFP8.
SCALED = [
    Fault("A scales of the first rows", r"(tma_load %map_0\[)%17", r"\1%c0", "A scales must be of the rows of the product"),
    Fault("A scales of the first block", r"(tma_load %map_0\[%17, )%arg4", r"\1%c0", "A scales must be of the K block of the product"),
    Fault("B scales of the first columns", r"(tma_load %map_3\[)%28", r"\1%c0", "B scales must be of the columns of the product"),
    Fault("B scales of the first block", r"(tma_load %map_3\[%29, )%arg4", r"\1%c0", "B scales must be of the K block of the product"),
    Fault("one tile of B scales for both", r"(tma_load %map_3\[)%29", r"\1%28", "B scales must be of the columns of the product"),
    Fault("A scales in place of B's", r"(scaled_by\(%a_scale, )%b_scale,", r"\1%a_scale,", "the tile of the B scales must hold elements of 'b_scale'"),
    Fault("a part of a tile of scales", r"(tma_load %map_0\[%17, %arg4, )%c0", r"\1%c1", "the tile of the A scales must hold elements of 'a_scale'", False),
    Fault("B scales from a row of the tile before", r"(?s)( *)(fp8\.tma_load %map_3\[)%28(.*?fp8\.tma_load %map_3\[)%29(.*?\n)( *)(fp8\.mma [^\n]*? from )(%\w+)",
          r"\1%before = arith.subi %28, %c1 : index\n\1\2%before\3%28\4\5%far = arith.addi \7, %c128 : index\n\5\6%far", "first row of B's scales must be in their first tile"),
    Fault("B scales from a row of the next tile", r"(?s)( *)(fp8\.tma_load %map_3\[)%28(.*?)( *)(fp8\.tma_load %map_3\[)%29(.*?\n)( *)(fp8\.mma [^\n]*? from )(%\w+)",
          r"\1%next = arith.addi %28, %c1 : index\n\1\2%next\3\4%last = arith.addi %29, %c1 : index\n\4\5%last\6\7%near = arith.subi \9, %c128 : index\n\7\8%near",
          "first row of B's scales must be in their first tile"),
    Fault("B scales from the first row on", r"(scaled_by\([^)]*\) from )%\w+", r"\1%c0", "B scales must be of the columns of the product"),
    Fault("no scales", r" scaled_by\([^)]*\) from %\w+", "", "what is stored must be scaled"),
    Fault("the last block alone", r" accumulate\(%\w+\)", "", "what is stored must add up K from its first element on"),
    Fault("the next tile's columns", r"(fp8\.store %sum, %map_2\[%19, )%23", r"\1%22", "a sum and the box that it is stored to must have the same columns"),
]

# Columns of D are the MMA's rows.
SWAPPED = [
    Fault("A of the first row", r"fp8\.tma_load %map\[%\w+, (%\w+)\]", r"fp8.tma_load %map[%c0, \1]", "A scales must be of the rows of the product"),
    Fault("A scales of the first rows", r"(fp8\.tma_load %map_0\[%\w+, )%\w+", r"\1%c0", "A scales must be of the rows of the product"),
    Fault("columns with a scale of their own", r"scales\((%\w+\[%\w+\]), (%\w+)\)", r"scales(\1, \2, %cst, \2, %cst)", "the B scale must be one that all lanes have", False),
    Fault("shares of the first CTA", r"arith\.muli %cluster_block_id_x_\w+, %c8 ", "arith.muli %c0, %c8 ", "a sum and the box that it is stored to must have the same rows"),
]

SWAPPED_SCALED = [
    Fault("A scales of the first tile", r"(fp8\.tma_load %map_0\[)%\w+", r"\1%c0", "A scales must be of the rows of the product"),
    Fault("B scales of the first columns", r"(fp8\.tma_load %map_3\[)%\w+", r"\1%c0", "B scales must be of the columns of the product"),
    Fault("A scales from the first row on", r"(scaled_by\([^)]*\) from )%\w+", r"\1%c0", "A scales must be of the rows of the product"),
    Fault("scales of A and B exchanged", r"scaled_by\((%\w+), (%\w+)\)", r"scaled_by(\2, \1)", "the tile of the B scales must hold elements of 'b_scale'"),
    Fault("A scales from a row before", r"(?s)( *)(fp8\.mma [^\n]*? from )(%\w+)", r"\1%before = arith.subi \3, %c128 : index\n\1\2%before",
          "the first row of A's scales must be in their first tile"),
    Fault("A scales from the middle of 32 rows", r"(?s)( *)(fp8\.mma [^\n]*? from )(%\w+)", r"\1%half = arith.constant 16 : index\n\1%middle = arith.addi \3, %half : index\n\1\2%middle",
          "the first row of A's scales must be a multiple of 32"),
]

KERNELS = {
    "default": Kernel("sm_100a", None, DEFAULT),
    "multicast": Kernel("sm_100a", "tile = 256 x 160 x 128, cta_group = 2, cluster = 2 x 2", MULTICAST),
    "divided K": Kernel("sm_90a", "tile = 64 x 64 x 128, split_k = 4", DIVIDED_K),
    "by rank": Kernel("sm_90a", "tile = 64 x 64 x 128, cluster = 2 x 1", BY_RANK),
    "two loads": Kernel("sm_90a", "tile = 64 x 64 x 128", TWO_LOADS, loads=2),
    "elements": Kernel("sm_90a", "tile = 64 x 64 x 128", ELEMENTS),
    "residual": Kernel("sm_90a", "tile = 128 x 128 x 128", RESIDUAL, epilogue="residual"),
    "epilogue": Kernel("sm_90a", "tile = 64 x 64 x 128", EPILOGUE, epilogue="residual bias scale"),
    "rest": Kernel("sm_90a", "tile = 64 x 64 x 128", REST, epilogue="rest"),
    "scaled": Kernel("sm_100a", "tile = 256 x 96 x 128, cta_group = 2, cluster = 2 x 2", SCALED, "mx"),
    "swapped": Kernel("sm_100a", "tile = 16 x 128 x 128, split_k = 2", SWAPPED),
    "swapped scaled": Kernel("sm_100a", "tile = 32 x 128 x 128", SWAPPED_SCALED, "mx"),
    "lanes": Kernel("sm_90a", "tile = 16 x 64 x 128, split_k = 2", LANES, "bf16"),
}


def prove(opt, chip, path):
    done = subprocess.run([opt, path, f"--fp8-prove=chip={chip}", "-o", "/dev/null"], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def split_load(text):
    """The kernel with a role that fills the tiles of A, and one that fills those of B."""
    ends = "%producer, %consumer = fp8.pipeline : "
    text = text.replace(ends, "%producer, %producer_b, %consumer = fp8.pipeline : !fp8.producer<!pipeline>, ")
    found = re.search(r' *fp8\.role "load".*?(?= *gpu\.return)', text, re.DOTALL)

    def fill(operand, other, end):
        copies = rf' *fp8\.(tma_load|load_element) .*%stage\["{other}.*\n'
        return re.sub(copies, "", found[0]).replace('"load"', f'"load {operand}"').replace("= %producer)", f"= {end})")

    return text.replace(found[0], fill("a", "b", "%producer") + fill("b", "a", "%producer_b"))


def add_operand(arguments, clause, before):
    """Changes an op into one with these operands, which it takes by a clause in front of or behind the result."""
    def add(op):
        op = op.replace("%d: ", f"{arguments}, %d: ")
        return op.replace(" outs(", f" {clause} outs(") if before else re.sub(r"(outs\(%d : [^)]*\))", rf"\1 {clause}", op)

    return add


PARTS = {
    "residual": add_operand("%c: memref<?x?xbf16>, %beta: memref<1x1xf32>", "residual(%c scaled %beta : memref<?x?xbf16>, memref<1x1xf32>)", True),
    "bias": add_operand("%bias: memref<1x?xf32>", "bias(%bias : memref<1x?xf32>)", True),
    "scale": add_operand("%d_scale: memref<1x1xf32>", "scale(%d_scale : memref<1x1xf32>)", False),
    "rest": lambda op: op.replace("memref<?x?xbf16>", "memref<?x?xbf16, strided<[?, 1]>>"),
}


def write_kernel(opt, source, kernel, path):
    """The kernel in phase 2, which must be proved."""
    with open(source, encoding="utf-8") as file:
        op = file.read()
    if kernel.b_scale == "mx":
        op = re.sub(r"memref<\?x\?xf32[^%]*?>(?=[,) ]| \{)", "memref<?x?x32x16xf8E8M0FNU>", op)
    else:
        op = op.replace("memref<?x?xf32>", f"memref<?x?x{kernel.b_scale}>")
    for part in kernel.epilogue.split():
        op = PARTS[part](op)
    if kernel.config:
        op = re.sub(r"(outs\(%d : [^)]*\)(?: scale\([^)]*\))?)", rf"\1 config <{kernel.config}>", op)
    options = f"--fp8-gemm-to-ptx=chip={kernel.chip} phase=linear"
    subprocess.run([opt, "-", options, "-o", path], input=op, text=True, check=True)
    if kernel.loads == 2:
        with open(path, encoding="utf-8") as file:
            text = split_load(file.read())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    code, said = prove(opt, kernel.chip, path)
    if code or "computes what it says" not in said:
        sys.exit(f"the kernel itself is not proved: {said}")
    with open(path, encoding="utf-8") as file:
        return file.read()


def judge(opt, chip, text, fault, path):
    """True if the fault is found as expected."""
    planted, count = re.subn(fault.pattern, fault.by, text)
    if not count:
        sys.exit(f"{fault.name}: the kernel has no such line")
    with open(path, "w", encoding="utf-8") as file:
        file.write(planted)
    code, said = prove(opt, chip, path)
    verdict = "does not compute what it says" if fault.isRefuted else "the proof of the numbers"
    if code == fault.isRefuted and verdict in said and fault.rule in said:
        return True
    print(f"{fault.name}: expected that '{fault.rule}' is {'violated' if fault.isRefuted else 'not known'}, but got {code}:\n{said}")
    return False


def main():
    opt, source, directory = sys.argv[1:]
    found = []
    for name, kernel in KERNELS.items():
        text = write_kernel(opt, source, kernel, f"{directory}/{name}.mlir")
        found += [judge(opt, kernel.chip, text, fault, f"{directory}/{fault.name.replace(' ', '-')}.mlir") for fault in kernel.faults]
    print(f"{len(found)} faults planted, {found.count(False)} not found as expected")
    sys.exit(False in found)


main()
