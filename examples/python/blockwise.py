# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operands of a blockwise-scaled FP8 GEMM, and what a launcher checks of them: what clc.py and split_k.py share."""

from fp8.builder import Array, Host, MemRef, ceildiv

MATRIX = MemRef((None, None), "f8E4M3FN")
SCALES = MemRef((None, None), "f32")
PADDED_SCALES = MemRef((None, None), "f32", strides=(None, 1))
RESULT = MemRef((None, None), "bf16")
BYTES = {"a": 1, "a_scale": 4, "b": 1, "d": 2}  # of an element that TMA copies


def operands(host: Host) -> dict[str, Array]:
    """Declares the arrays, with the conditions of rules G2 to G4 (docs/Semantics.md); a launch that breaks one is refused."""
    arrays = {"a": host.read("a", MATRIX), "a_scale": host.read("a_scale", PADDED_SCALES), "b": host.read("b", MATRIX),
              "b_scale": host.read("b_scale", SCALES), "d": host.write("d", RESULT)}
    m, n, k = arrays["a"].extent(0), arrays["b"].extent(0), arrays["a"].extent(1)
    blocks = ceildiv(k, 128)
    for name, extent in {"M": m, "N": n, "K": k}.items():
        host.check(extent < 2**31, f"{name} must be below 2^31, the range of TMA coordinates (G4)")
    host.check(arrays["b"].extent(1) == k, "a and b must agree in K")
    host.check(k % 16 == 0, "K must be a multiple of 16 (G4)")
    host.check(arrays["a_scale"].extent(0) == blocks, "a_scale must have ceil(K/128) rows (G2)")
    host.check(arrays["a_scale"].extent(1) == m, "a_scale must have M columns (G2)")
    host.check(arrays["b_scale"].extent(0) == ceildiv(n, 128), "b_scale must have ceil(N/128) rows (G2)")
    host.check(arrays["b_scale"].extent(1) == blocks, "b_scale must have ceil(K/128) columns (G2)")
    host.check(arrays["d"].extent(0) == m, "d must have M rows (G3)")
    host.check(arrays["d"].extent(1) == n, "d must have N columns (G3)")
    for name, size in BYTES.items():
        distance = arrays[name].stride(0) if size == 1 else arrays[name].stride(0) * size
        host.check(distance % 16 == 0, f"the rows of {name} must be a multiple of 16 bytes apart, because TMA copies them (G4)")
    return arrays
