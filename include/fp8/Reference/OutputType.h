// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types D may have: their bits, their spacing, and the poison that D holds
// before a kernel runs.
#ifndef FP8_REFERENCE_OUTPUTTYPE_H
#define FP8_REFERENCE_OUTPUTTYPE_H

#include <cstdint>
#include <string_view>

namespace fp8::reference {

enum class OutputType { F8E4M3FN, BF16, F16, F32 };

std::string_view name(OutputType type);
unsigned byteSize(OutputType type);

/// The element at `element` of little-endian storage, widened exactly.
double load(OutputType type, const void *data, uint64_t element);
/// Stores `value` rounded to nearest even.
void store(OutputType type, void *data, uint64_t element, double value);
/// The element's bits.
uint32_t loadBits(OutputType type, const void *data, uint64_t element);

/// `value` rounded to nearest even; past the largest value, infinite. E4M3 has
/// no infinity: there it is the largest value.
double roundTo(OutputType type, double value);

/// The distance between neighbouring values of the type at |value|, for a
/// finite value: 2^(exponent - mantissa bits), the subnormal spacing below the
/// smallest normal.
double ulpAt(OutputType type, double value);

/// What the type makes of a value that is too large: E4M3 the largest it has,
/// the others `value` itself. NaN stays.
double saturate(OutputType type, double value);

/// The first magnitude past the largest finite one (2^128 for bf16 and f32,
/// 2^16 for f16): what an infinity counts as when an overflow is measured.
double overflowThreshold(OutputType type);

/// A NaN that no instruction produces: D is filled with it, so that an element
/// that holds it was not written.
uint32_t poisonBits(OutputType type);
void fillWithPoison(OutputType type, void *data, uint64_t elements);

} // namespace fp8::reference

#endif // FP8_REFERENCE_OUTPUTTYPE_H
