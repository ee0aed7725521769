// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops around atom.cas that begin with a plain load.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_CASLOOPS_H
#define FP8_LIB_SIMULATOR_PROGRAM_CASLOOPS_H

#include "Program/Program.h"

namespace fp8::sim {

bool isCompareAndSwap(const Inst &inst);

/// Whether what `load` reads is used for nothing but an atom.cas on the same
/// address, which compares it with what is there then. False where straight
/// code does not show it.
bool feedsCompareAndSwap(const Program &program, const Inst &load);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_CASLOOPS_H
