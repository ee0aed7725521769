// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all forms of atom and red have in common (PTX ISA 9.7.13.5, 9.7.13.6).

#ifndef FP8_LIB_SIMULATOR_ISA_ACCESS_ATOMIC_H
#define FP8_LIB_SIMULATOR_ISA_ACCESS_ATOMIC_H

#include "ISA/Access/Access.h"
#include "Program/Decoder.h"

namespace fp8::sim {

enum class AtomicOp : uint8_t {
  Add,
  Min,
  Max,
  And,
  Or,
  Xor,
  Exch,
  Cas,
  Inc,
  Dec
};

/// Payload of atom and red.
struct Atomic {
  AccessSpace space;
  AtomicOp op;
  Strength strength;
  uint32_t elementBytes; ///< of vectors: of what one register has
};

/// Where the bytes are that an operation combines with others; null after an
/// error. It reads and writes them, so they must be defined.
uint8_t *combined(Warp &warp, const Inst &inst, int lane, uint32_t bytes);

/// What follows `atom`, which has a result, or `red`.
bool decodeAtomic(Decoder &decoder, Inst &inst, bool result);
/// Vectors of `count` registers, and numbers of 16 bits, alone or in pairs:
/// decodes what follows the operation. `result`: of atom.
bool decodeFloatAtomic(Decoder &decoder, Inst &inst, Atomic &atomic,
                       uint32_t count, bool result);
/// atom.exch.b128 and atom.cas.b128.
bool decodeWideAtomic(Decoder &decoder, Inst &inst, const Atomic &atomic);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_ACCESS_ATOMIC_H
