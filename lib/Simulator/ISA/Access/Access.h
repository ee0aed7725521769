// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One lane's access to any state space.

#ifndef FP8_LIB_SIMULATOR_ISA_ACCESS_ACCESS_H
#define FP8_LIB_SIMULATOR_ISA_ACCESS_ACCESS_H

#include "Machine/Machine.h"

namespace fp8::sim {

enum class AccessSpace : uint8_t {
  Generic,
  Global,
  Shared,
  SharedCluster,
  Local,
  Param,
  Const
};

/// How an access synchronises.
enum class Strength : uint8_t {
  Weak,    ///< an ordinary access: unordered conflicts are races
  Relaxed, ///< relaxed, volatile: orders itself, and other accesses only
           ///< together with fences
  Strong,  ///< acquire, release: orders what is around it as well
};

/// Checks an access of `count` bytes and returns where the bytes are; null
/// after an error. `value`: what a store is about to write; null where it
/// combines that with the bytes there. `undefined`: bytes that a load finds
/// undefined, or that a store leaves so; null: of a load they are an error, and
/// a store has none.
uint8_t *access(Warp &warp, const Inst &inst, int lane, AccessSpace space,
                uint64_t address, uint32_t count, bool write, Strength strength,
                const uint8_t *value = nullptr,
                UndefinedPart *undefined = nullptr);

/// A load or an atomic operation, for who watches for polls. Source 0 is the
/// address.
void notePoll(Warp &warp, const Inst &inst, uint32_t mask, AccessSpace space,
              uint32_t bytes);

class Decoder;
/// st.bulk.
bool decodeBulkFill(Decoder &decoder, Inst &inst);
/// What follows `ld` or `st`.
bool decodeAccess(Decoder &decoder, Inst &inst, bool isLoad);

/// A list of registers as the bytes of one lane's access.
struct ListLayout {
  uint32_t elementBytes;
  bool isSigned; ///< an element that is loaded is extended by its sign
};
/// Of the list's registers, what a store finds undefined, as bytes.
void gatherUndefined(Warp &warp, const Inst &inst, int lane,
                     const ListLayout &layout, UndefinedPart &part);
/// Reports that a store of the list brings undefined data to global memory.
void reportStored(Warp &warp, const Inst &inst, int lane,
                  const ListLayout &layout, const UndefinedPart &part);
/// Whether an access to the space may be one to global memory.
inline bool mayBeGlobal(AccessSpace space) {
  return space == AccessSpace::Global || space == AccessSpace::Generic;
}
/// Whether an address names global memory.
inline bool isGlobal(AccessSpace space, uint64_t address) {
  return space == AccessSpace::Global ||
         (space == AccessSpace::Generic && address < kParamWindow);
}
/// Undefined bytes that a load leaves in the list's registers.
void leaveUndefined(Warp &warp, const Inst &inst, int lane,
                    const ListLayout &layout, const UndefinedPart &part);

/// A generic address in shared memory as a shared::cluster address; false for
/// any other.
bool genericToShared(uint64_t address, uint64_t &shared);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_ACCESS_ACCESS_H
