// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which NaN instructions of f64 give. PTX ISA 9.7.3 says that they keep the
// payload, and no more: these are the NaNs of an H200.

#ifndef FP8_LIB_SIMULATOR_ISA_ALU_DOUBLENAN_H
#define FP8_LIB_SIMULATOR_ISA_ALU_DOUBLENAN_H

#include "ISA/Alu/Alu.h"

namespace fp8::sim {

/// A NaN's bits, made quiet.
inline uint64_t quiet(uint64_t nan) { return nan | uint64_t(1) << 51; }

/// The NaN that becomes of an operand: its own, or where it is a number, the
/// NaN of operations without a result.
inline double nanOf(double operand) {
  return bitCast<double>(operand != operand ? quiet(bitCast<uint64_t>(operand))
                                            : uint64_t(0xfff8) << 48);
}

/// The first of the operands that is NaN, or the last.
inline double firstNaN(double a) { return a; }
template <typename... Rest>
double firstNaN(double a, Rest... rest) {
  return a != a ? a : firstNaN(rest...);
}

/// The bits of a NaN that cvt has read from f64 or f32, in one of the two: as
/// many of the payload as fit.
inline uint64_t convertedNaN(Type to, double nan) {
  const uint64_t bits = quiet(bitCast<uint64_t>(nan));
  return to == Type::F64
             ? bits
             : (bits >> 32 & 0x80000000) | (bits >> 29 & 0x7fffffff);
}

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_ALU_DOUBLENAN_H
