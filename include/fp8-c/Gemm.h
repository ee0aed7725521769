/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of the definition of the GEMM: its operands and their element
 * types. Each text is JSON and belongs to the library: it stays valid and must
 * not be freed. */
#ifndef FP8_C_GEMM_H
#define FP8_C_GEMM_H

#include "fp8-c/Common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operands of fp8.blockwise_gemm if `b_block` rows of B share a scale: 128,
 * 64 or 1; NULL for other numbers. A list in the op's order:
 *
 *   {"name": "a_scale", "dtypes": ["f32", "bf16"],
 *    "rows": {"axis": "K", "block": 128}, "columns": {"axis": "M", "block": 1},
 *    "optional": false, "batched": true, "by_tma": true, "written": false,
 *    "rule": "G2"}
 *
 * "rows" and "columns" are the number of blocks that cover M, N or K, rounded
 * up, or the axis "1". In a batch, operands with "batched" have a leading batch
 * extent. Rows of operands with "by_tma" are multiples of 16 bytes apart.
 * "rule" is a label in docs/Semantics.md. */
const char *fp8GemmOperands(int64_t b_block);

/* The same where the scales are those of MXFP8, which tensor cores apply. There
 * "a_scale" and "b_scale" also have "tile": the extents that follow rows and
 * columns, [32, 16]. */
const char *fp8GemmMxOperands(void);

/* The floating-point types of elements, a list:
 *
 *   {"dtype": "bf16", "name": "bfloat16", "bytes": 2, "exponent_bits": 8,
 *    "mantissa_bits": 7, "has_infinity": true, "saturates": false,
 *    "largest": 3.3895313892515355e38,
 *    "floors": {"float32": 2e-4, "fourteen_bits": 1e-3, "tanh": 1.4e-3}}
 *
 * "name" is the name in NumPy, with ml_dtypes, and in PyTorch. "saturates":
 * larger numbers become the largest. "floors": how far a correct D of that type
 * may be from the reference (docs/Numerics.md); null if D cannot have the
 * type. */
const char *fp8ElementTypes(void);

/* The largest error of an element as a fraction of the sum of its
 * magnitudes. */
double fp8MagnitudeShare(void);

#ifdef __cplusplus
}
#endif

#endif /* FP8_C_GEMM_H */
