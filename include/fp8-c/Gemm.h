/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of what the GEMM is: its operands and their element types. Each
 * text is JSON, and the library's own: it stays valid and is not freed. */
#ifndef FP8_C_GEMM_H
#define FP8_C_GEMM_H

#include "fp8-c/Common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operands of fp8.blockwise_gemm, where so many rows of B share a scale:
 * 128, 64 or 1; NULL for other numbers. A list in the op's order:
 *
 *   {"name": "a_scale", "dtypes": ["f32", "bf16"],
 *    "rows": {"axis": "K", "block": 128}, "columns": {"axis": "M", "block": 1},
 *    "optional": false, "batched": true, "by_tma": true, "written": false,
 *    "rule": "G2"}
 *
 * "rows" and "columns" are the blocks that cover M, N or K, rounded up, or the
 * axis "1". Those that are batched have a leading batch extent in a batch. TMA
 * copies rows that are multiples of 16 bytes apart. "rule" is a label in
 * docs/Semantics.md. */
const char *fp8GemmOperands(int64_t b_block);

/* The floating-point types of elements, a list:
 *
 *   {"dtype": "bf16", "name": "bfloat16", "bytes": 2, "exponent_bits": 8,
 *    "mantissa_bits": 7, "has_infinity": true, "saturates": false,
 *    "largest": 3.3895313892515355e38,
 *    "floors": {"float32": 2e-4, "fourteen_bits": 1e-3, "tanh": 1.4e-3}}
 *
 * "name" is that of NumPy, with ml_dtypes, and of PyTorch. "saturates" says
 * that larger numbers become the largest. "floors" says how far a right D of
 * that type may be from the reference (docs/Numerics.md); null if D cannot have
 * the type. */
const char *fp8ElementTypes(void);

/* What of the sum of an element's magnitudes its error may be. */
double fp8MagnitudeShare(void);

#ifdef __cplusplus
}
#endif

#endif /* FP8_C_GEMM_H */
