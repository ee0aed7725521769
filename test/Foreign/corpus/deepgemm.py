# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DeepGEMM's kernels: what its just-in-time compiler would instantiate for small problems, and how it would launch them.

Template arguments, shared memory and tensor maps follow csrc/jit_kernels of commit 54e2261, with few multiprocessors and stages.
"""

import numpy as np

from formats import E4M3, random_e4m3
from kernels import Described, Mend, compile_ptx
from launch import EXACT, HOPPER_SUMS, ROUNDED, tensor_map

PROJECT = "DeepGEMM"
MULTIPROCESSORS = 8
K_MAJOR, MN_MAJOR = "cute::UMMA::Major::K", "cute::UMMA::Major::MN"
BF16, F32, E4M3_TYPE = "cutlass::bfloat16_t", "float", "cutlass::float_e4m3_t"
IDENTITY = "epilogue::transform::EpilogueIdentity"
DTYPES = {BF16: ("bf16", 2), F32: ("f32", 4)}


def fence_reads(header, arrival):
    """What the warpgroups lack that load scales: a fence before the arrival behind which TMA overwrites them, and that its lanes
    meet (docs/evidence/ForeignKernels.md#finds)."""
    return Mend(f"deep_gemm/impls/{header}.cuh", arrival, "cutlass::arch::fence_view_async_shared(); __syncwarp();")


def kernel(name, chip, header, arguments, launch, function=None, mend=None):
    """An instance of a kernel template in impls/HEADER.cuh."""
    values = ", ".join(str(a).lower() if isinstance(a, bool) else str(a) for a in arguments)
    source = (f"#include <deep_gemm/epilogue/transform.cuh>\n#include <deep_gemm/impls/{header}.cuh>\n"
              "using namespace deep_gemm;\nstatic void instantiate() "
              f"{{ auto kernel = reinterpret_cast<void *>(&{function or header + '_impl'}<{values}>); }}\n")

    def compile_it(settings, path):
        own = settings.checkout("DeepGEMM/deep_gemm/include")
        includes = ["-I" + own, "-I" + settings.checkout("cutlass/include")]
        if mend:
            mend.write(own, path + ".include")
            includes.insert(0, f"-I{path}.include")
        compile_ptx(settings, source, path, chip, includes)

    name += "_mended" if mend else ""
    return Described("deepgemm_" + name, PROJECT, chip, compile_it, launch)


def swizzle_bytes(elements, size):
    """The widest swizzle of which a row is a multiple."""
    return next(width for width in (128, 64, 32, 16) if elements * size % width == 0)


def swizzle_name(width):
    return f"{width}B" if width > 16 else "none"


def matrix(buffer, dtype, size, inner, outer, box, swizzle=0, stride=None):
    """The map of a matrix. size: of an element; swizzle: bytes, of which the box is as wide; stride: elements."""
    width = swizzle // size if swizzle else box[0]
    return tensor_map(buffer, dtype, (inner, outer), ((stride or inner) * size,), (width, box[1]), swizzle_name(swizzle))


def operand(buffer, dtype, size, rows, k, major, box_rows, box_k):
    """The map of A or B, (rows, k) where K is contiguous, else (k, rows); and its swizzle."""
    if major == K_MAJOR:
        swizzle = swizzle_bytes(box_k, size)
        return matrix(buffer, dtype, size, k, rows, (box_k, box_rows), swizzle), swizzle
    swizzle = swizzle_bytes(box_rows, size)
    return matrix(buffer, dtype, size, rows, k, (box_rows, box_k), swizzle), swizzle


def stored(array, major):
    """A matrix (rows, k) as it lies in memory."""
    return array if major == K_MAJOR else array.T


def scaled(values, scales, granularity):
    """values (rows, k) times scales (rows, ceil(k / granularity))."""
    return values * np.repeat(scales, granularity, axis=1)[:, :values.shape[1]]


def grouped_product(a, b, group_of_row, n):
    """Each row of A times the (n, k) of its group in B."""
    product = np.empty((a.shape[0], n))
    for group in np.unique(group_of_row):
        product[group_of_row == group] = a[group_of_row == group] @ b[group * n:(group + 1) * n].T
    return product


def masked_rows(groups, m):
    """How many rows each group has, and the mask of all of them: one full, one nearly, one with little."""
    counts = np.array([m - 37, 5, m][:groups], np.int32)
    return counts, np.concatenate([np.arange(m) < count for count in counts])


def logits(rng, chip, launch):
    """The operands and the product of the kernels that score keys for queries, which both chips have: the sum over heads of
    max(q . k, 0) times a weight. Passes what stands before the maps."""
    heads, depth, queries, keys = 32, 128, 128, 512
    q, kv = random_e4m3(rng, queries * heads, depth), random_e4m3(rng, keys, depth)
    key_scales = (rng.random(keys) + 0.5).astype(np.float32)
    weights = rng.standard_normal((queries, heads)).astype(np.float32)
    for name, array in (("q", q), ("kv", kv), ("scales", key_scales), ("weights", weights),
                        ("start", np.zeros(queries, np.int32)), ("end", np.full(queries, keys, np.int32))):
        launch.input(name, array)
    launch.output("d", queries * keys * 4)
    launch.pass_number("u32", queries, keys, *([0] if chip == "sm_90a" else []), keys)
    for name in ("start", "end", "d"):
        launch.pass_buffer(name)
    scored = np.einsum("qhd,kd->qhk", E4M3[q].reshape(queries, heads, depth), E4M3[kv] * key_scales[:, None].astype(np.float64))
    launch.expect("d", "f32", (np.maximum(scored, 0) * weights[:, :, None].astype(np.float64)).sum(1), HOPPER_SUMS)
    maps = {"q": matrix("q", "u8", 1, depth, queries * heads, (depth, 4 * heads), depth),
            "kv": matrix("kv", "u8", 1, depth, keys, (depth, 256), depth),
            "scales": matrix("scales", "f32", 4, keys, 1, (256, 1)),
            "weights": matrix("weights", "f32", 4, heads, queries, (heads, 4))}
    for name in ("q", "kv", "scales", "weights") if chip == "sm_90a" else ("q", "scales", "kv", "scales", "weights"):
        launch.pass_map(maps[name])
    return launch
