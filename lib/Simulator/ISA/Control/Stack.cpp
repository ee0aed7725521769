// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// alloca, stacksave and stackrestore: memory behind the frame of the current
// call (PTX ISA 9.7.17). Here the stack grows up.

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "Machine/Machine.h"

#include <algorithm>

using namespace fp8::sim;

namespace {

constexpr uint64_t kLeastAlignment = 8, kMostAlignment = uint64_t(1) << 23;

/// Payload of alloca.
struct Allocation {
  uint64_t alignment;
};

Flow allocate(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *bytes = w.row(i.s[0]);
  uint64_t *pointer = w.row(i.d[0]);
  forLanes(mask, [&](int l) {
    pointer[l] = w.allocateStack(i, l, bytes[l], i.get<Allocation>().alignment);
  });
  return Flow::Next;
}

Flow save(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) { w.row(i.d[0])[l] = w.stackTop(l); });
  return Flow::Next;
}

Flow restore(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) { w.restoreStack(i, l, w.row(i.s[0])[l]); });
  return Flow::Next;
}

bool takeAddressType(Decoder &d, Type &type) {
  type = d.takeType();
  return type == Type::U32 || type == Type::U64 ||
         d.fail("needs type .u32 or .u64");
}

} // namespace

void fp8::sim::addStackOpcodes(OpcodeTable &t) {
  t.add("alloca", [](Decoder &d, Inst &i) {
    Type type;
    uint64_t &alignment = i.make<Allocation>().alignment;
    alignment = kLeastAlignment;
    i.fn = allocate;
    if (!takeAddressType(d, type) || !operands(d, i, type, 1) ||
        (d.operandsLeft() && !d.immediate(alignment)))
      return false;
    if (alignment & (alignment - 1) || !alignment || alignment > kMostAlignment)
      return d.fail("needs an alignment that is a power of two up to 2^23");
    alignment = std::max(alignment, kLeastAlignment);
    return true;
  });
  t.add("stacksave", [](Decoder &d, Inst &i) {
    Type type;
    i.fn = save;
    return takeAddressType(d, type) && operands(d, i, type, 0);
  });
  t.add("stackrestore", [](Decoder &d, Inst &i) {
    Type type;
    i.fn = restore;
    return takeAddressType(d, type) && d.source(i, type);
  });
}
