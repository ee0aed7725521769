// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// st.async and red.async: one thread's write to shared memory of the cluster,
// which completes on an mbarrier there (PTX ISA 9.7.9.12, 9.7.13.7).

#include "ISA/Copy/Copy.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace fp8::sim;

namespace {

/// Payload of st.async and red.async. List: the elements. Sources: 0 target, 1
/// mbarrier.
struct RemoteWrite {
  uint32_t elementBytes;
  uint64_t barrierOffset;
  ElementType type;    ///< of a reduction
  Reduction reduction; ///< None: a store
};

Flow writeRemote(Warp &w, const Inst &i, uint32_t mask) {
  const uint32_t *rows = &w.machine.program.lists[i.list];
  const RemoteWrite &write = i.get<RemoteWrite>();
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    BulkLoad load;
    load.target = w.row(i.s[0])[l] + uint64_t(i.offset);
    load.barrier = w.row(i.s[1])[l] + write.barrierOffset;
    load.bytes = write.elementBytes * i.listCount;
    load.engine = Engine::RemoteStore;
    load.proxy = Proxy::Generic;
    load.combines = write.reduction != Reduction::None;
    if (load.target % load.bytes) {
      w.machine.error(
          ErrorKind::Misaligned,
          "'" + Machine::mnemonic(&i) +
              "' needs an address that is a multiple of its size, " +
              std::to_string(load.bytes) + " bytes",
          &w, &i, l, true);
      return;
    }
    std::array<uint8_t, 32> value{};
    for (uint32_t n = 0; n < i.listCount; ++n)
      std::memcpy(&value[n * write.elementBytes], &w.row(rows[n])[l],
                  write.elementBytes);
    issueLoad(w, i, l, load,
              [value, &write, bytes = load.bytes](auto &target, auto &) {
                reduceBytes(write.type, write.reduction, target.data(),
                            value.data(), bytes);
              });
  });
  return Flow::Next;
}

/// `.shared::cluster` and the completion mechanism.
bool takeCompletion(Decoder &d) {
  return (d.take("shared::cluster") &&
          d.take("mbarrier::complete_tx::bytes")) ||
         d.fail("needs .shared::cluster and .mbarrier::complete_tx::bytes");
}

} // namespace

bool fp8::sim::decodeStoreAsync(Decoder &d, Inst &i) {
  d.take("async");
  d.take("weak");
  if (!takeCompletion(d))
    return false;
  int vector = d.takeOneOf({"v2", "v4"});
  Type type = d.takeType();
  RemoteWrite &write = i.make<RemoteWrite>();
  write.elementBytes = typeSize(type);
  i.fn = writeRemote;
  if (write.elementBytes != 4 && write.elementBytes != 8)
    return d.fail("stores elements of 4 or 8 bytes");
  return d.address(i) &&
         d.list(i, vector < 0 ? 1 : 2u << vector, type, false) &&
         d.address(i, write.barrierOffset);
}

bool fp8::sim::decodeReduceAsync(Decoder &d, Inst &i) {
  d.take("async");
  d.take("relaxed");
  d.take("cluster");
  RemoteWrite &write = i.make<RemoteWrite>();
  if (!takeCompletion(d) ||
      !takeSharedReduction(d, write.reduction, write.type))
    return false;
  write.elementBytes = elementBytes(write.type);
  i.fn = writeRemote;
  return d.address(i) &&
         d.list(i, 1, write.elementBytes == 8 ? Type::U64 : Type::U32, false) &&
         d.address(i, write.barrierOffset);
}
