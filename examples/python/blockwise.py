# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operands of a blockwise-scaled FP8 GEMM, and what a launcher checks of them: what clc.py and split_k.py share."""

from fp8 import GemmSpec
from fp8.builder import Array, Host, MemRef, ceildiv

SPEC = GemmSpec()
PADDED = ("a_scale",)  # rows lie further apart than they are long


def operands(host: Host) -> dict[str, Array]:
    """Declares the arrays, with the conditions of rules G2 to G4 (docs/Semantics.md); a launch that breaks one is refused."""
    arrays = {}
    for parameter in SPEC.parameters:
        declare = host.write if parameter.written else host.read
        strides = (None, 1) if parameter.name in PADDED else None
        arrays[parameter.name] = declare(parameter.name, MemRef((None, None), SPEC.dtype_of(parameter), strides=strides))
    sizes = {"M": arrays["a"].extent(0), "N": arrays["b"].extent(0), "K": arrays["a"].extent(1)}
    for name, size in sizes.items():
        host.check(size < 2**31, f"{name} must be below 2^31, the range of TMA coordinates (G4)")
    host.check(arrays["b"].extent(1) == sizes["K"], "a and b must agree in K")
    host.check(sizes["K"] % 16 == 0, "K must be a multiple of 16 (G4)")
    for parameter in SPEC.parameters:
        for axis, (extent, part) in enumerate(zip(parameter.extents, ("rows", "columns"))):
            if parameter.name not in ("a", "b"):
                expected = sizes[extent.axis] if extent.block == 1 else ceildiv(sizes[extent.axis], extent.block)
                host.check(arrays[parameter.name].extent(axis) == expected, f"{parameter.name} must have {extent.formula} {part} ({parameter.rule})")
    for parameter in SPEC.parameters:
        if parameter.by_tma:
            (size,) = (format.size for format in parameter.formats if format.mlir == SPEC.dtype_of(parameter))
            distance = arrays[parameter.name].stride(0) if size == 1 else arrays[parameter.name].stride(0) * size
            host.check(distance % 16 == 0, f"the rows of {parameter.name} must be a multiple of 16 bytes apart, because TMA copies them (G4)")
    return arrays
