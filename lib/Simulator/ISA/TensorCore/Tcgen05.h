// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of tcgen05 that are decoded elsewhere.

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_TCGEN05_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_TCGEN05_H

#include "Machine/Machine.h"
#include "Program/Decoder.h"

namespace fp8::sim {

/// The value of `row`, which all lanes must agree on.
uint32_t sameInAllLanes(Warp &warp, const Inst &inst, uint32_t mask,
                        uint32_t row, const char *what);

/// .cta_group, which all of a kernel's instructions must agree on; `pair`: 2.
bool takeCtaGroup(Decoder &decoder, bool &pair);
bool takeSyncAligned(Decoder &decoder, Inst &inst);

bool decodeTcgen05Allocation(Decoder &decoder, Inst &inst);
bool decodeTcgen05Transfer(Decoder &decoder, Inst &inst, bool load);
bool decodeTcgen05Copy(Decoder &decoder, Inst &inst);
bool decodeTcgen05Shift(Decoder &decoder, Inst &inst);
bool decodeTcgen05Mma(Decoder &decoder, Inst &inst);
bool decodeTcgen05Commit(Decoder &decoder, Inst &inst);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_TCGEN05_H
