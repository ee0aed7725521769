// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guesses at what made an element wrong.
#ifndef FP8_LIB_REFERENCE_HINTS_H
#define FP8_LIB_REFERENCE_HINTS_H

#include "fp8/Reference/Checker.h"

namespace fp8::reference {

/// Whether one K block left out or counted twice, or another element in its
/// place, explains `bad` to within `tolerance`, which is what rounding alone
/// does; empty when nothing does.
std::string guessCause(const BlockwiseData &data,
                       const GemmReference &reference, const BadElement &bad,
                       double tolerance);

} // namespace fp8::reference

#endif // FP8_LIB_REFERENCE_HINTS_H
