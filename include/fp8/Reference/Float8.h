// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between float and the narrow floating-point types, bit exact.
//
// e4m3fn: 1-4-3, bias 7, no infinities, NaN is 0x7f and 0xff, largest 448
// (PTX ISA, "Alternate Floating-Point Data Formats"). e5m2: 1-5-2, bias 15,
// IEEE-like, largest 57344. f16: IEEE binary16. bf16: the upper half of
// binary32.
#ifndef FP8_REFERENCE_FLOAT8_H
#define FP8_REFERENCE_FLOAT8_H

#include <cstdint>

namespace fp8::reference {

/// Exact.
float decodeE4M3FN(uint8_t bits);
float decodeE5M2(uint8_t bits);
float decodeF16(uint16_t bits);
float decodeBF16(uint16_t bits);

/// Rounds to nearest, ties to even. A finite value past the largest one, and an
/// infinity, become the largest one with the same sign, as cvt.rn.satfinite
/// does; NaN becomes the canonical NaN (0x7f for both).
uint8_t encodeE4M3FN(float value);
uint8_t encodeE5M2(float value);

/// Round to nearest, ties to even; values past the largest one become infinite;
/// NaN becomes the canonical NaN (0x7fff), as cvt.rn does. `double` arguments
/// are rounded once.
uint16_t encodeF16(double value);
uint16_t encodeBF16(double value);

} // namespace fp8::reference

#endif // FP8_REFERENCE_FLOAT8_H
