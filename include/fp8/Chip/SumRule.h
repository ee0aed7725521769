// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the tensor cores of a chip add up the products of an MMA instruction. The
// simulator computes by these rules, and the checker derives its floors from
// them. docs/Numerics.md says where they come from.
#ifndef FP8_CHIP_SUMRULE_H
#define FP8_CHIP_SUMRULE_H

#include "fp8/Chip/Chip.h"

#include <cstdint>

namespace fp8::chip {

/// Types of operands whose products are added up alike.
enum class ProductKind {
  Float8,       ///< e4m3 and e5m2, and what has fewer bits
  Float16,      ///< f16 and bf16
  TF32,         ///< tf32
  Integer8,     ///< s8 and u8
  ScaledFloat8, ///< those of Float8 with a scale a row of one instruction
  ScaledFloat4, ///< e2m1, two in a byte, with several scales a row
};

enum class SumRounding { NearestEven, TowardZero };

/// One step takes the accumulator and `products` products, which make a term
/// each, or `perTerm` of them one exact sum. Each term is cut off toward zero
/// to `termBits` bits behind the leading bit of the largest exponent. The terms
/// are then added up exactly, and their sum is rounded to `resultBits` bits of
/// fraction.
struct SumRule {
  MmaEngine engine;
  ProductKind kind;
  int products;
  int perTerm;
  int termBits; ///< kAllBits: no term is cut off
  int resultBits;
  SumRounding rounding; ///< to f32; results in f16 are rounded to nearest even

  static constexpr int kAllBits = 0;
  constexpr bool isExact() const { return termBits == kAllBits; }
  /// Whether results have every bit of f32.
  constexpr bool fillsFloat32() const { return resultBits == 23; }
  /// The mean of what rounding cuts off a sum between 1 and 2.
  constexpr double bias() const {
    if (isExact() || rounding == SumRounding::NearestEven)
      return 0;
    // Any multiple of the terms' unit below the last bit of the result.
    double unit = 1.0 / static_cast<double>(int64_t(1) << termBits);
    return (static_cast<double>(1 << (termBits - resultBits)) - 1) / 2 * unit;
  }
};

/// Every rule, one for each engine and kind.
Table<SumRule> getSumRules();
const SumRule &getSumRule(MmaEngine engine, ProductKind kind);

} // namespace fp8::chip

#endif // FP8_CHIP_SUMRULE_H
