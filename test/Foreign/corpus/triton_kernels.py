# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that Triton compiles for sm_90a and sm_100a, from sources of this project (triton_source.py)."""

import functools
import json
import os
import re

import numpy as np

from formats import E4M3, ceil_div, from_ue8m0, random_e2m1
from kernels import Described, call
from launch import Launch, tensor_map

PROJECT = "Triton"
HERE = os.path.dirname(os.path.abspath(__file__))
CHIPS = {90: "sm_90a", 100: "sm_100a"}
SWIZZLES = ("none", "32B", "64B", "128B")  # by the numbers of CUtensorMapSwizzle
SIZES = {"u8": 1, "f16": 2, "f32": 4}
ROUNDED, EXACT = 1e-3, 1e-5


def compile_job(job, settings, path):
    job_path = path[:-4] + ".job.json"
    with open(job_path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    call([settings.triton_python, os.path.join(HERE, "triton_compile.py"), job_path, path], path[:-4] + ".log")


def kernel(name, arch, job, launch):
    """launch: (random generator, Triton's own part of the launch) -> Launch"""
    path_name = f"triton_{name}_sm{arch}"
    job = {**job, "arch": arch}

    def make(settings, rng):
        ptx = settings.made(path_name + ".ptx")
        with open(ptx, encoding="utf-8") as text, open(ptx[:-4] + ".json", encoding="utf-8") as facts:
            return launch(rng, Compiled(text.read(), json.load(facts)))

    return Described(path_name, PROJECT, CHIPS[arch], functools.partial(compile_job, job), make)


class Compiled:
    """What Triton's launcher adds: the block and the cluster, which the PTX says, maps with their shapes, and two scratch pointers."""

    def __init__(self, ptx, facts):
        self.facts = facts
        self.maps = list(facts["maps"])
        self.threads = int(re.search(r"\.(?:req|max)ntid (\d+)", ptx)[1])
        cluster = re.search(r"\.reqnctapercluster (\d+)", ptx)
        self.cluster = int(cluster[1]) if cluster else 1

    def launch(self, grid):
        self.ctas = [grid[0] * self.cluster, *grid[1:]]
        return Launch(self.ctas, [self.threads], self.cluster, self.facts["shared"])

    def pass_descriptor(self, made, buffer, dtype, shape):
        """A row-major matrix: the map, then its shape and strides."""
        of_map = self.maps.pop(0)
        made.pass_map(tensor_map(buffer, dtype, shape[::-1], [shape[1] * SIZES[dtype]], of_map["box"][::-1], SWIZZLES[of_map["swizzle"]]))
        made.pass_number("u32", *shape)
        made.pass_number("u64", shape[1], 1)

    def pass_scratch(self, made):
        size = self.facts["scratch"] * int(np.prod(self.ctas))
        if size:
            made.workspace("scratch", size)
            made.pass_buffer("scratch")
        else:
            made.pass_number("u64", 0)
        made.pass_number("u64", 0)


def descriptor(dtype, rows, columns):
    return f"tensordesc<{dtype}[{rows},{columns}]>"


def half(rng, *shape):
    return rng.standard_normal(shape).astype(np.float16)


def random_operand(rng, dtype, rows, k):
    if dtype == "fp16":
        values = half(rng, rows, k)
        return values, values.astype(np.float64)
    codes = rng.integers(0, 256, (rows, k), dtype=np.uint8) & 0xBF
    return codes, E4M3[codes]


def matmul(name, arch, function, m=256, n=256, k=512, tile=(128, 128, 64), dtype="fp16", by="maps", warps=4, ctas=1, constants=None):
    """C = A B^T. by: the operands are maps, pointers to fp16, or pointers with an fp32 C, which split K sums."""
    constants = constants or {}
    block_m, block_n, block_k = tile
    element = "f16" if dtype == "fp16" else "u8"
    wide = by == "pointers to fp32"
    numbers = {"M": "i32", "N": "i32", "K": "i32"}
    if by == "maps":
        signature = {"a_desc": descriptor(dtype, block_m, block_k), "b_desc": descriptor(dtype, block_n, block_k),
                     "c_desc": descriptor("fp16", block_m, block_n), **numbers}
    else:
        signature = {"a_ptr": "*" + dtype, "b_ptr": "*" + dtype, "c_ptr": "*fp32" if wide else "*fp16", **numbers}
    grid = [constants["SMS"]] if "SMS" in constants else [ceil_div(m, block_m), ceil_div(n, block_n), constants.get("SPLIT", 1)]

    def launch(rng, compiled):
        made = compiled.launch(grid)
        (a, exact_a), (b, exact_b) = random_operand(rng, dtype, m, k), random_operand(rng, dtype, n, k)
        made.input("a", a)
        made.input("b", b)
        if "SPLIT" in constants:
            made.accumulator("c", np.zeros((m, n), np.float32))
        else:
            made.output("c", m * n * (4 if wide else 2))
        for buffer, of, shape in (("a", element, (m, k)), ("b", element, (n, k)), ("c", "f16", (m, n))):
            if by == "maps":
                compiled.pass_descriptor(made, buffer, of, shape)
            else:
                made.pass_buffer(buffer)
        made.pass_number("u32", m, n, k)
        compiled.pass_scratch(made)
        # wgmma sums e4m3 products in fewer bits.
        made.expect("c", "f32" if wide else "f16", exact_a @ exact_b.T, EXACT if wide else ROUNDED)
        return made

    job = {"function": function, "signature": signature, "constants": {"BM": block_m, "BN": block_n, "BK": block_k, **constants},
           "options": {"num_warps": warps, "num_stages": 3, "num_ctas": ctas}}
    return kernel(name, arch, job, launch)


def scaled_matmul(name, fp4, block):
    """C = A B^T with a scale for each `block` elements of K: ue8m0 for 32, e4m3 for 16."""
    m, n, k, tile = 256, 256, 512, (128, 128, 256 if fp4 else 128)
    packed = 2 if fp4 else 1

    def operand(rng, rows):
        if fp4:
            stored, values = random_e2m1(rng, rows, k)
        else:
            stored = rng.integers(0, 256, (rows, k), dtype=np.uint8) & 0xBF
            values = E4M3[stored]
        low, high = (122, 130) if block == 32 else (0x28, 0x40)
        scales = rng.integers(low, high, (rows, k // block), dtype=np.uint8)
        factors = from_ue8m0(scales) if block == 32 else E4M3[scales]
        # In the order in which tcgen05.cp takes them: (rows / 128, blocks / 4, 32, 4, 4).
        layout = scales.reshape(rows // 128, 4, 32, k // block // 4, 4).transpose(0, 3, 2, 1, 4)
        return stored, layout, values * np.repeat(factors, block, axis=1)

    def launch(rng, compiled):
        made = compiled.launch([m // tile[0], n // tile[1]])
        (a, a_scales, exact_a), (b, b_scales, exact_b) = operand(rng, m), operand(rng, n)
        for buffer, array in (("a", a), ("b", b), ("a_scales", a_scales), ("b_scales", b_scales)):
            made.input(buffer, array)
        made.output("c", m * n * 4)
        compiled.pass_descriptor(made, "a", "u8", (m, k // packed))
        compiled.pass_descriptor(made, "b", "u8", (n, k // packed))
        for buffer in ("a_scales", "b_scales", "c"):
            made.pass_buffer(buffer)
        made.pass_number("u32", m, n, k)
        compiled.pass_scratch(made)
        made.expect("c", "f32", exact_a @ exact_b.T, EXACT)
        return made

    element = "u8" if fp4 else "fp8e4nv"
    scale = "*u8" if block == 32 else "*fp8e4nv"
    signature = {"a_desc": descriptor(element, tile[0], tile[2] // packed), "b_desc": descriptor(element, tile[1], tile[2] // packed),
                 "as_ptr": scale, "bs_ptr": scale, "c_ptr": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
    constants = {"BM": tile[0], "BN": tile[1], "BK": tile[2], "KIND": "e2m1" if fp4 else "e4m3", "VEC": block}
    job = {"function": "matmul_scaled", "signature": signature, "constants": constants,
           "options": {"num_warps": 4, "num_stages": 3, "num_ctas": 1}}
    return kernel(name, 100, job, launch)


def exact_attention(q, k, v, scale, causal):
    scores = q @ k.T * scale
    if causal:
        scores = np.where(np.tri(len(q)) > 0, scores, -np.inf)
    weights = np.exp2(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True) @ v


def attention(name, arch, causal=False, specialised=False):
    length, depth, heads, block_m, block_n = 512, 64, 2, 128, 64
    scale = float(np.float32(np.log2(np.e) / depth**0.5))

    def launch(rng, compiled):
        made = compiled.launch([length // block_m, heads])
        operands = {buffer: half(rng, heads, length, depth) for buffer in "qkv"}
        for buffer, array in operands.items():
            made.input(buffer, array)
        made.output("o", heads * length * depth * 2)
        for buffer in "qkvo":
            compiled.pass_descriptor(made, buffer, "f16", (heads * length, depth))
        made.pass_number("f32", scale)
        made.pass_number("u32", length)
        compiled.pass_scratch(made)
        per_head = zip(*(array.astype(np.float64) for array in operands.values()))
        made.expect("o", "f16", np.stack([exact_attention(*each, scale, causal) for each in per_head]), ROUNDED)
        return made

    rows = {"q": block_m, "k": block_n, "v": block_n, "o": block_m}
    signature = {**{f"{buffer}_desc": descriptor("fp16", count, depth) for buffer, count in rows.items()}, "scale": "fp32", "S": "i32"}
    constants = {"D": depth, "BM": block_m, "BN": block_n, "CAUSAL": causal, "WS": specialised}
    job = {"function": "attention", "signature": signature, "constants": constants,
           "options": {"num_warps": 4, "num_stages": 3, "num_ctas": 1}}
    return kernel(name, arch, job, launch)


def softmax(arch):
    rows, columns = 8, 1000

    def launch(rng, compiled):
        made = compiled.launch([rows])
        x = rng.standard_normal((rows, columns)).astype(np.float32)
        made.input("x", x)
        made.output("y", x.nbytes)
        made.pass_buffer("x")
        made.pass_buffer("y")
        made.pass_number("u32", columns)
        compiled.pass_scratch(made)
        powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        made.expect("y", "f32", powers / powers.sum(1, keepdims=True), EXACT)
        return made

    job = {"function": "softmax", "signature": {"x_ptr": "*fp32", "y_ptr": "*fp32", "N": "i32"}, "constants": {"BLOCK": 1024},
           "options": {"num_warps": 4, "num_stages": 3, "num_ctas": 1}}
    return kernel("softmax", arch, job, launch)


def gather_scatter(rows=32, columns=64, steps=2, height=48):
    """tile::gather4 and tile::scatter4. Row `height` does not exist."""

    def launch(rng, compiled):
        made = compiled.launch([steps])
        shape = (height, columns * steps)
        x = rng.standard_normal(shape).astype(np.float16)
        source, target = rng.integers(0, height + 1, rows), rng.permutation(height + 1)[:rows]
        made.input("x", x)
        made.accumulator("y", np.zeros(shape, np.float16))
        made.input("from", source.astype(np.int32))
        made.input("to", target.astype(np.int32))
        compiled.pass_descriptor(made, "x", "f16", shape)
        compiled.pass_descriptor(made, "y", "f16", shape)
        made.pass_buffer("from")
        made.pass_buffer("to")
        compiled.pass_scratch(made)
        wanted = np.zeros((height + 1, shape[1]))
        wanted[target] = 2 * np.vstack([x, np.zeros((1, shape[1]))])[source]
        made.expect("y", "f16", wanted[:height], 0)
        return made

    block = descriptor("fp16", 1, columns)
    job = {"function": "gather_scatter", "signature": {"x_desc": block, "y_desc": block, "from_ptr": "*i32", "to_ptr": "*i32"},
           "constants": {"ROWS": rows, "COLUMNS": columns}, "options": {"num_warps": 4, "num_stages": 3, "num_ctas": 1}}
    return kernel("gather_scatter", 100, job, launch)


def gluon_descriptor(element, block, tile=None):
    return {"element": element, "block": block, "tile": tile or block}


def gluon_matmul(name, arch, function, tile, m=256, n=256, k=512, buffers=3):
    """C = A B, with warps for copies, MMAs and the epilogue."""
    block_m, block_n, block_k = tile

    def launch(rng, compiled):
        made = compiled.launch([m // block_m, n // block_n])
        a, b = half(rng, m, k), half(rng, k, n)
        made.input("a", a)
        made.input("b", b)
        made.output("c", m * n * 2)
        for buffer, shape in (("a", a.shape), ("b", b.shape), ("c", (m, n))):
            compiled.pass_descriptor(made, buffer, "f16", shape)
        made.pass_number("u32", k)
        compiled.pass_scratch(made)
        made.expect("c", "f16", a.astype(np.float64) @ b.astype(np.float64), ROUNDED)
        return made

    blocks = {"a_desc": [block_m, block_k], "b_desc": [block_k, block_n], "c_desc": [block_m, block_n]}
    signature = {**{name: gluon_descriptor("fp16", block) for name, block in blocks.items()}, "K": "i32"}
    job = {"function": function, "signature": signature, "constants": {"BUFFERS": buffers}, "options": {"num_warps": 4}}
    return kernel(name, arch, job, launch)


def gluon_gather(rows=32, columns=32, height=48):
    """Rows by tile::gather4, added to Y by a reduction of TMA."""

    def launch(rng, compiled):
        made = compiled.launch([1])
        x, y = (rng.standard_normal(shape).astype(np.float32) for shape in ((height, columns), (rows, columns)))
        order = rng.integers(0, height, rows)
        made.input("x", x)
        made.accumulator("y", y)
        made.input("rows", order.astype(np.int32))
        compiled.pass_descriptor(made, "x", "f32", x.shape)
        compiled.pass_descriptor(made, "y", "f32", y.shape)
        made.pass_buffer("rows")
        compiled.pass_scratch(made)
        made.expect("y", "f32", y.astype(np.float64) + x[order], EXACT)
        return made

    signature = {"x_desc": gluon_descriptor("fp32", [1, columns], [rows, columns]), "y_desc": gluon_descriptor("fp32", [rows, columns]),
                 "rows_ptr": "*i32"}
    job = {"function": "gather_rows", "signature": signature, "constants": {"ROWS": rows, "COLUMNS": columns}, "options": {"num_warps": 4}}
    return kernel("gluon_gather", 100, job, launch)


def for_both_chips(arch):
    yield matmul("matmul", arch, "matmul_tma")
    yield matmul("matmul_fp8", arch, "matmul_tma", tile=(128, 128, 128), dtype="fp8e4nv")
    yield matmul("matmul_8warps", arch, "matmul_tma", tile=(128, 256, 64), warps=8)
    yield matmul("matmul_2ctas", arch, "matmul_tma", tile=(256, 128, 64), warps=8, ctas=2)
    yield matmul("matmul_pointers", arch, "matmul_ptr", m=200, n=240, k=400, by="pointers to fp32")
    yield matmul("persistent", arch, "matmul_persistent", m=512, constants={"SMS": 3, "WS": False})
    yield matmul("device_descriptors", arch, "matmul_device_descriptors", by="pointers")
    yield matmul("split_k", arch, "split_k", by="pointers to fp32", constants={"SPLIT": 2})
    yield attention("attention", arch)
    yield attention("attention_causal", arch, causal=True)
    yield softmax(arch)


KERNELS = [*for_both_chips(90), *for_both_chips(100),
           matmul("persistent_ws", 100, "matmul_persistent", m=512, constants={"SMS": 3, "WS": True}),
           attention("attention_ws", 100, specialised=True),
           gather_scatter(), gluon_matmul("gluon_matmul", 90, "matmul_hopper", (64, 128, 64)),
           gluon_matmul("gluon_matmul", 100, "matmul_blackwell", (128, 128, 64)), gluon_gather(), scaled_matmul("mxfp8", False, 32), scaled_matmul("mxfp4", True, 32), scaled_matmul("nvfp4", True, 16)]
