# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the kinds that Triton's tutorials have (triton_source.py): grouped products, backward passes, scans, and products of many types."""

import numpy as np

from formats import E4M3, ceil_div, from_ue8m0, random_e2m1
from triton_kernels import EXACT, ROUNDED, descriptor, half, kernel

OPTIONS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1}


def grouped(arch, problems=((256, 128, 192), (128, 256, 64))):
    """C = A B^T of several sizes, whose addresses lie in global memory."""

    def launch(rng, compiled):
        made = compiled.launch([3])
        fields = []
        for g, (m, n, k) in enumerate(problems):
            a, b = half(rng, m, k), half(rng, n, k)
            made.input(f"a{g}", a)
            made.input(f"b{g}", b)
            made.output(f"c{g}", m * n * 2)
            fields += [{"offset": 24 * g + 8 * n, "value": {"buffer": f"{name}{g}"}} for n, name in enumerate("abc")]
            made.expect(f"c{g}", "f16", a.astype(np.float64) @ b.T.astype(np.float64), ROUNDED)
        made.input("problems", np.array(problems, np.int32))
        made.input("addresses", np.zeros(3 * len(problems), np.int64))
        made.description["buffers"][-1]["fields"] = fields
        made.pass_buffer("problems")
        made.pass_buffer("addresses")
        made.pass_number("u32", len(problems))
        compiled.pass_scratch(made)
        return made

    job = {"function": "grouped_matmul", "signature": {"problems_ptr": "*i32", "addresses_ptr": "*i64", "groups": "i32"},
           "constants": {"SMS": 3, "BM": 128, "BN": 128, "BK": 64}, "options": OPTIONS}
    return kernel("grouped", arch, job, launch)


def layer_norm_backward(arch, rows=8, columns=500, groups=2):
    """The gradients of x, and of the weights, which rows add up under a lock."""

    def launch(rng, compiled):
        made = compiled.launch([rows])
        x, dy, w = half(rng, rows, columns), half(rng, rows, columns), half(rng, columns)
        made.output("dx", x.nbytes)
        made.input("dy", dy)
        made.accumulator("dw", np.zeros((groups, columns), np.float32))
        made.input("x", x)
        made.input("w", w)
        made.accumulator("locks", np.zeros(2 * groups, np.int32))
        for buffer in ("dx", "dy", "dw", "x", "w", "locks"):
            made.pass_buffer(buffer)
        made.pass_number("u32", columns)
        compiled.pass_scratch(made)
        x, dy, w = (array.astype(np.float64) for array in (x, dy, w))
        centred = x - x.mean(1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
        normal, wdy = centred / deviation, w * dy
        dx = (wdy - normal * (normal * wdy).mean(1, keepdims=True) - wdy.mean(1, keepdims=True)) / deviation
        made.expect("dx", "f16", dx, ROUNDED)
        made.expect("dw", "f32", np.stack([(dy * normal)[group::groups].sum(0) for group in range(groups)]), EXACT)
        return made

    signature = {"dx_ptr": "*fp16", "dy_ptr": "*fp16", "dw_ptr": "*fp32", "x_ptr": "*fp16", "w_ptr": "*fp16", "locks_ptr": "*i32", "N": "i32"}
    job = {"function": "layer_norm_backward", "signature": signature, "constants": {"GROUPS": groups, "BLOCK": 512}, "options": OPTIONS}
    return kernel("layer_norm_backward", arch, job, launch)


def attention_backward(arch, length=256, depth=64, heads=2, block_m=64, block_n=128):
    """Causal; CTAs add up dq by atomics."""
    scale = float(np.float32(np.log2(np.e) / depth**0.5))

    def gradients(q, k, v, seed):
        scores = np.where(np.tri(length) > 0, q @ k.T * scale, -np.inf)
        logarithms = np.log2(np.exp2(scores).sum(1))
        weights = np.exp2(scores - logarithms[:, None])
        delta = (seed * (weights @ v)).sum(1)
        inner = weights * (seed @ v.T - delta[:, None]) * scale * np.log(2)
        return inner @ k, inner.T @ q, weights.T @ seed, logarithms, delta

    def launch(rng, compiled):
        made = compiled.launch([length // block_n, heads])
        operands = {buffer: half(rng, heads, length, depth) for buffer in ("q", "k", "v", "do")}
        dq, dk, dv, logarithms, delta = (np.stack(each) for each in zip(*(gradients(*head) for head in zip(
            *(array.astype(np.float64) for array in operands.values())))))
        for buffer, array in operands.items():
            made.input(buffer, array)
        for buffer in ("dk", "dv"):
            made.output(buffer, dk.size * 2)
        for buffer in ("q", "k", "v", "do", "dk", "dv"):
            compiled.pass_descriptor(made, buffer, "f16", (heads * length, depth))
        made.accumulator("dq", np.zeros(dq.shape, np.float32))
        made.input("logarithms", logarithms.astype(np.float32))
        made.input("delta", delta.astype(np.float32))
        for buffer in ("dq", "logarithms", "delta"):
            made.pass_buffer(buffer)
        made.pass_number("f32", scale)
        made.pass_number("u32", length)
        compiled.pass_scratch(made)
        made.expect("dq", "f32", dq, ROUNDED)
        made.expect("dk", "f16", dk, ROUNDED)
        made.expect("dv", "f16", dv, ROUNDED)
        return made

    rows = {"q": block_m, "k": block_n, "v": block_n, "do": block_m, "dk": block_n, "dv": block_n}
    signature = {**{f"{buffer}_desc": descriptor("fp16", count, depth) for buffer, count in rows.items()},
                 "dq_ptr": "*fp32", "lse_ptr": "*fp32", "delta_ptr": "*fp32", "scale": "fp32", "S": "i32"}
    job = {"function": "attention_backward", "signature": signature, "constants": {"D": depth, "BM": block_m, "BN": block_n}, "options": OPTIONS}
    return kernel("attention_backward", arch, job, launch)


def scan_and_sort(arch, rows=3, columns=512, bins=32):
    def launch(rng, compiled):
        made = compiled.launch([rows])
        x = rng.integers(-5000, 5000, (rows, columns), dtype=np.int32)
        ordered = -np.sort(-x, axis=1)
        results = {"sums": np.cumsum(x, 1), "most": np.maximum.accumulate(x, 1), "sorted": ordered,
                   "histogram": np.stack([np.bincount(row & (bins - 1), minlength=bins) for row in x]),
                   "gathered": np.take_along_axis(ordered, x & (columns - 1), 1)}
        made.input("x", x)
        made.pass_buffer("x")
        for buffer, values in results.items():
            made.output(buffer, values.size * 4)
            made.pass_buffer(buffer)
            made.expect(buffer, "i32", values, 0)
        compiled.pass_scratch(made)
        return made

    names = ("x", "sums", "most", "sorted", "histogram", "gathered")
    job = {"function": "scan_and_sort", "signature": {name + "_ptr": "*i32" for name in names}, "constants": {"N": columns, "BINS": bins},
           "options": OPTIONS}
    return kernel("scan_and_sort", arch, job, launch)


# By what Triton calls them: the types of A, B and C in its words, of C in the launch's, and the largest error.
TYPES = {"int8": ("*i8", "*i8", "*i32", "i32", 0), "int4": ("*fp16", "*u8", "*fp32", "f32", EXACT), "tf32x3": ("*fp32", "*fp32", "*fp32", "f32", EXACT),
         "bf16x3": ("*fp32", "*fp32", "*fp32", "f32", 1e-4), "fp64": ("*fp64", "*fp64", "*fp64", "f64", 1e-14)}


def matmul_of_types(how, arch, m=128, n=128, k=192):
    a_type, b_type, c_type, result, tolerance = TYPES[how]
    tile = {"BM": 64, "BN": 64, "BK": 16 if how == "fp64" else 64}

    def operand(rng, type_name, rows):
        if type_name == "*u8":
            codes = rng.integers(0, 256, (rows, k // 2), dtype=np.uint8)
            return codes, np.stack([codes & 15, codes >> 4], -1).reshape(rows, k).astype(np.float64) - 8
        if type_name == "*i8":
            values = rng.integers(-128, 128, (rows, k), dtype=np.int8)
        else:
            values = rng.standard_normal((rows, k)).astype({"*fp16": np.float16, "*fp32": np.float32, "*fp64": np.float64}[type_name])
        return values, values.astype(np.float64)

    def launch(rng, compiled):
        made = compiled.launch([ceil_div(m, tile["BM"]), ceil_div(n, tile["BN"])])
        (a, exact_a), (b, exact_b) = operand(rng, a_type, m), operand(rng, b_type, n)
        made.input("a", a)
        made.input("b", b)
        made.output("c", m * n * (8 if result == "f64" else 4))
        for buffer in "abc":
            made.pass_buffer(buffer)
        made.pass_number("u32", m, n, k)
        compiled.pass_scratch(made)
        made.expect("c", result, exact_a @ exact_b.T, tolerance)
        return made

    job = {"function": "matmul_types", "signature": {"a_ptr": a_type, "b_ptr": b_type, "c_ptr": c_type, "M": "i32", "N": "i32", "K": "i32"},
           "constants": {**tile, "HOW": how}, "options": OPTIONS}
    return kernel("matmul_" + how, arch, job, launch)


def scaled_rows(name, formats, arch, m=128, n=128, k=256):
    """Scales in the order of rows; on Hopper the compiler multiplies the operands by them."""
    packs = [2 if element == "e2m1" else 1 for element in formats]

    def operand(rng, element, rows):
        if element == "e2m1":
            stored, values = random_e2m1(rng, rows, k)
        else:
            stored = rng.integers(0, 256, (rows, k), dtype=np.uint8) & 0xBF
            values = E4M3[stored]
        scales = rng.integers(122, 130, (rows, k // 32), dtype=np.uint8)
        return stored, scales, values * np.repeat(from_ue8m0(scales), 32, axis=1)

    def launch(rng, compiled):
        made = compiled.launch([m // 128, n // 128])
        (a, a_scales, exact_a), (b, b_scales, exact_b) = operand(rng, formats[0], m), operand(rng, formats[1], n)
        for buffer, array in (("a", a), ("b", b), ("a_scales", a_scales), ("b_scales", b_scales)):
            made.input(buffer, array)
            made.pass_buffer(buffer)
        made.output("c", m * n * 4)
        made.pass_buffer("c")
        made.pass_number("u32", m, n, k)
        compiled.pass_scratch(made)
        made.expect("c", "f32", exact_a @ exact_b.T, EXACT)
        return made

    of = {"e2m1": "*u8", "e4m3": "*fp8e4nv"}
    signature = {"a_ptr": of[formats[0]], "b_ptr": of[formats[1]], "as_ptr": "*u8", "bs_ptr": "*u8", "c_ptr": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
    constants = {"BM": 128, "BN": 128, "BK": 128, "A": formats[0], "B": formats[1], "PACKA": packs[0], "PACKB": packs[1]}
    return kernel(name, arch, {"function": "matmul_scaled_rows", "signature": signature, "constants": constants, "options": OPTIONS}, launch)


def for_chip(arch):
    yield grouped(arch)
    yield layer_norm_backward(arch)
    yield attention_backward(arch)
    yield scan_and_sort(arch)
    for how in TYPES:
        yield matmul_of_types(how, arch)
    yield scaled_rows("scaled_fp4", ("e2m1", "e2m1"), arch)
    yield scaled_rows("scaled_mixed", ("e4m3", "e2m1"), arch)


KERNELS = [*for_chip(90), *for_chip(100)]
