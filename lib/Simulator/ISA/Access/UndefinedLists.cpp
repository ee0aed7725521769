// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined data between lists of registers and memory.

#include "ISA/Access/Access.h"

using namespace fp8::sim;

void fp8::sim::gatherUndefined(Warp &w, const Inst &i, int lane,
                               const ListLayout &layout, UndefinedPart &part) {
  const uint32_t bytes = layout.elementBytes;
  for (uint32_t n = 0; n < i.listCount; ++n) {
    UndefinedBits undefined =
        w.undefinedBits(i, w.machine.program.lists[i.list + n], lane);
    for (uint32_t byte = 0; undefined.any() && byte < bytes; ++byte)
      if (undefined.bits[byte / 8] >> byte % 8 * 8 & 0xff)
        part.add(n * bytes + byte, undefined.origin);
  }
}

void fp8::sim::reportStored(Warp &w, const Inst &i, int lane,
                            const ListLayout &layout,
                            const UndefinedPart &part) {
  uint32_t n = part.firstByte() / layout.elementBytes;
  w.reportUndefined(i, lane, "stores", w.machine.program.lists[i.list + n],
                    part.first());
}

void fp8::sim::leaveUndefined(Warp &w, const Inst &i, int lane,
                              const ListLayout &layout,
                              const UndefinedPart &part) {
  const uint32_t bytes = layout.elementBytes;
  for (uint32_t n = 0; n < i.listCount; ++n) {
    UndefinedBits undefined;
    for (uint32_t byte = 0; byte < bytes; ++byte) {
      uint32_t at = n * bytes + byte;
      if (!(part.bytes >> at & 1))
        continue;
      const bool extends = layout.isSigned && byte + 1 == bytes;
      undefined.bits[byte / 8] |= (extends ? ~uint64_t(0) : 0xff)
                                  << byte % 8 * 8;
      undefined.origin = part.origins[at];
    }
    if (undefined.any())
      w.leaveUndefined(w.machine.program.lists[i.list + n], lane, undefined);
  }
}
