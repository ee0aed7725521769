// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of floating-point types in little-endian storage: their values and
// spacing, special values, and the poison that D holds before a kernel runs.
#ifndef FP8_REFERENCE_ELEMENTS_H
#define FP8_REFERENCE_ELEMENTS_H

#include "fp8/Tensor/ElementType.h"

namespace fp8::reference {

using tensor::ElementType;

/// The types of A and of B.
struct OperandTypes {
  ElementType a = ElementType::F8E4M3FN, b = ElementType::F8E4M3FN;
};

inline bool isFloat8(ElementType type) { return byteSize(type) == 1; }

/// The element at `element`, widened exactly.
double load(ElementType type, const void *data, uint64_t element);
/// Stores `value` rounded to nearest even. Past the largest value, 8-bit types
/// saturate and other types become infinite.
void store(ElementType type, void *data, uint64_t element, double value);
/// The element's bits.
uint32_t loadBits(ElementType type, const void *data, uint64_t element);
/// Widens `count` elements from `first` on.
void decode(ElementType type, const void *data, uint64_t first, uint64_t count,
            double *out);
/// Stores a NaN with that sign.
void storeNaN(ElementType type, void *data, uint64_t element, bool negative);
/// Stores +infinity, in a type that has one.
void storeInfinity(ElementType type, void *data, uint64_t element);

/// `value` as `store` rounds it.
double roundTo(ElementType type, double value);

/// The distance between neighbouring values of the type at |value|, for a
/// finite value: 2^(exponent - mantissa bits), the subnormal spacing below the
/// smallest normal.
double ulpAt(ElementType type, double value);

/// Limits a value that is too large for the type, before rounding: to the
/// largest value if the type saturates; otherwise returns `value`. NaN is
/// unchanged.
double saturate(ElementType type, double value);

/// A NaN that no instruction produces. D is filled with it, so that an element
/// that still holds it was not written.
uint32_t poisonBits(ElementType type);
void fillWithPoison(ElementType type, void *data, uint64_t elements);

} // namespace fp8::reference

#endif // FP8_REFERENCE_ELEMENTS_H
