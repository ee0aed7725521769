// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the conversions of single numbers and of packed ones share.

#ifndef FP8_LIB_SIMULATOR_ISA_ALU_CONVERT_H
#define FP8_LIB_SIMULATOR_ISA_ALU_CONVERT_H

#include "ISA/Alu/Alu.h"

namespace fp8::sim {

/// Payload of cvt.
struct Conversion {
  Type from, to;
  Rounding rounding;
  bool flush;      ///< .ftz
  bool saturate;   ///< .sat
  bool relu;       ///< .relu
  bool finite;     ///< .satfinite
  bool integral;   ///< .rni and the like: rounded to an integer
  bool tiesAway;   ///< .rna
  bool stochastic; ///< .rs
  uint64_t kept;   ///< the bits that the destination register has

  bool modifies() const {
    return flush || saturate || relu || finite || integral;
  }
  double clampNegative(double value) const {
    return !relu || value > 0 || value != value ? value : 0;
  }
};

/// Whether a register holds several numbers of the type.
bool isPacked(Type type);

/// Conversions from or to packed types, behind the qualifiers.
bool decodePackedConversion(Decoder &decoder, Inst &inst);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_ALU_CONVERT_H
