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

/// What red.async can do (PTX ISA 9.7.13.7).
struct ReductionForm {
  Reduction reduction;
  Type type;
  ElementType element;
};
constexpr ReductionForm kReductions[] = {
    {Reduction::Inc, Type::U32, ElementType::U32},
    {Reduction::Dec, Type::U32, ElementType::U32},
    {Reduction::Min, Type::U32, ElementType::U32},
    {Reduction::Min, Type::S32, ElementType::S32},
    {Reduction::Max, Type::U32, ElementType::U32},
    {Reduction::Max, Type::S32, ElementType::S32},
    {Reduction::Add, Type::U32, ElementType::U32},
    {Reduction::Add, Type::S32, ElementType::S32},
    {Reduction::Add, Type::U64, ElementType::U64},
    {Reduction::And, Type::B32, ElementType::U32},
    {Reduction::Or, Type::B32, ElementType::U32},
    {Reduction::Xor, Type::B32, ElementType::U32},
};

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
  if (!takeCompletion(d) || !takeReduction(d, write.reduction))
    return false;
  Type type = d.takeType();
  auto form =
      std::find_if(std::begin(kReductions), std::end(kReductions),
                   [&](const ReductionForm &f) {
                     return f.reduction == write.reduction && f.type == type;
                   });
  if (form == std::end(kReductions))
    return d.fail("takes .inc and .dec of u32, .min and .max of u32 and s32, "
                  ".add of u32, s32 and u64, and .and, .or and .xor of b32");
  write.type = form->element;
  write.elementBytes = typeSize(type);
  i.fn = writeRemote;
  return d.address(i) && d.list(i, 1, type, false) &&
         d.address(i, write.barrierOffset);
}
