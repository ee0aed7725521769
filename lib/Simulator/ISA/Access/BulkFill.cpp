// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// st.bulk: zeroes shared memory of the CTA (PTX ISA 9.7.9.13). It is an
// ordinary store of the generic proxy, from sm_100 on.

#include "ISA/Access/Access.h"
#include "Program/Decoder.h"

#include <algorithm>
#include <string>

using namespace fp8::sim;

namespace {

/// Addresses and sizes are multiples of this.
constexpr uint32_t kWord = 8;

/// Payload of st.bulk. Sources: 0 the address, 1 the bytes.
struct BulkFill {
  AccessSpace space;
};

Flow fill(Warp &w, const Inst &i, uint32_t mask) {
  const AccessSpace space = i.get<BulkFill>().space;
  w.machine.progress();
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    const uint64_t address = w.row(i.s[0])[l] + uint64_t(i.offset);
    const uint64_t bytes = w.row(i.s[1])[l];
    uint64_t shared;
    const char *wrong =
        space == AccessSpace::Generic && !genericToShared(address, shared)
            ? "needs a generic address of shared memory"
        : address % kWord || bytes % kWord
            ? "needs an address and a size that are multiples of 8"
            : nullptr;
    if (wrong) {
      w.machine.error(address % kWord || bytes % kWord ? ErrorKind::Misaligned
                                                       : ErrorKind::OutOfBounds,
                      "'" + Machine::mnemonic(&i) + "' " + wrong, &w, &i, l,
                      true);
      return;
    }
    constexpr uint8_t zeros[kWord] = {};
    for (uint64_t at = 0; at < bytes && !w.machine.stopped; at += kWord) {
      uint8_t *word = access(w, i, l, space, address + at, kWord, true,
                             Strength::Weak, zeros);
      if (!word)
        return;
      std::fill_n(word, kWord, uint8_t(0));
    }
  });
  return Flow::Next;
}

} // namespace

bool fp8::sim::decodeBulkFill(Decoder &d, Inst &i) {
  d.take("bulk");
  d.take("weak");
  if (!d.requiresChip(100))
    return false;
  i.make<BulkFill>().space =
      d.take("shared::cta") ? AccessSpace::Shared : AccessSpace::Generic;
  uint64_t value = 0;
  i.fn = fill;
  if (!d.address(i) || !d.source(i, Type::U64) || !d.immediate(value))
    return false;
  return !value || d.fail("can only store 0");
}
