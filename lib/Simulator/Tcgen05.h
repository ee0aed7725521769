// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of tcgen05 that are decoded elsewhere.

#ifndef FP8_LIB_SIMULATOR_TCGEN05_H
#define FP8_LIB_SIMULATOR_TCGEN05_H

#include "Decoder.h"
#include "Machine.h"

namespace fp8::sim {

bool decodeTcgen05Mma(Decoder &decoder, Inst &inst);
bool decodeTcgen05Commit(Decoder &decoder, Inst &inst);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TCGEN05_H
