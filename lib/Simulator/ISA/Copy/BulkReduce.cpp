// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.reduce.async.bulk (PTX ISA 9.7.9.25.4.2): shared memory combined with
// global memory, an element at a time. Those of tensors are decoded in Tma.cpp.

#include "ISA/Copy/Copy.h"

#include "ISA/Alu/Alu.h"

#include <algorithm>
#include <cstring>

using namespace fp8::sim;

namespace {

template <typename T>
void reduceElements(unsigned op, uint8_t *target, const uint8_t *source,
                    uint32_t bytes) {
  for (uint32_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, target + at, sizeof(T));
    std::memcpy(&b, source + at, sizeof(T));
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
      float x = a, y = b;
      a = T::from(op == 1   ? double(x) + double(y)
                  : op == 2 ? double(std::min(x, y))
                            : double(std::max(x, y)));
    } else {
      a = op == 1 ? T(a + b) : op == 2 ? std::min(a, b) : std::max(a, b);
      if constexpr (std::is_integral_v<T>) {
        T old;
        std::memcpy(&old, target + at, sizeof(T));
        if (op == 4)
          a = old >= b ? T(0) : T(old + 1);
        if (op == 5)
          a = old == 0 || old > b ? b : T(old - 1);
        if (op == 6)
          a = T(old & b);
        if (op == 7)
          a = T(old | b);
        if (op == 8)
          a = T(old ^ b);
      }
    }
    std::memcpy(target + at, &a, sizeof(T));
  }
}

} // namespace

void fp8::sim::reduceBytes(ElementType type, unsigned op, uint8_t *target,
                           const uint8_t *source, uint32_t bytes) {
  if (!op) {
    std::copy_n(source, bytes, target);
    return;
  }
  switch (type) {
  case ElementType::F16:
    return reduceElements<Half>(op, target, source, bytes);
  case ElementType::BF16:
    return reduceElements<BFloat>(op, target, source, bytes);
  case ElementType::F64:
    return reduceElements<double>(op, target, source, bytes);
  case ElementType::U32:
    return reduceElements<uint32_t>(op, target, source, bytes);
  case ElementType::S32:
    return reduceElements<int32_t>(op, target, source, bytes);
  case ElementType::U64:
    return reduceElements<uint64_t>(op, target, source, bytes);
  case ElementType::S64:
    return reduceElements<int64_t>(op, target, source, bytes);
  default:
    return reduceElements<float>(op, target, source, bytes);
  }
}

bool fp8::sim::takeReduction(Decoder &d, uint32_t &op) {
  int index =
      d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  op = uint32_t(index) + 1;
  return index >= 0 || d.fail("needs an operation such as .add");
}

namespace {

/// aux: ElementType; aux2: operation.
Flow bulkReduce(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) {
    BulkOperands o;
    if (!bulkOperands(w, i, l, o) ||
        !w.machine.global(w, i, l, o.target, o.bytes, true))
      return;
    Warp *warp = &w;
    issueStore(w, i, l, o.source, o.bytes, true,
               [warp, &i, l, o](const uint8_t *bytes, const GlobalActor &a) {
                 if (uint8_t *to = warp->machine.accessGlobal(
                         *warp, i, l, a, o.target, o.bytes, true))
                   reduceBytes(ElementType(i.aux), i.aux2, to, bytes, o.bytes);
               });
  });
  return Flow::Next;
}

} // namespace

bool fp8::sim::decodeReduceBulk(Decoder &d, Inst &i) {
  if (!d.take("reduce") || !d.take("async") || !d.take("bulk"))
    return d.fail("is not supported in this form");
  if (d.take("tensor"))
    return decodeReduceTensor(d, i);
  d.dropCacheHints();
  if (!d.take("global") || !d.take("shared::cta") || !d.take("bulk_group"))
    return d.fail("reduces from .shared::cta to .global with .bulk_group only");
  if (!takeReduction(d, i.aux2))
    return false;
  bool flushes = !d.take("noftz");
  bool wide = true;
  switch (d.takeType()) {
  case Type::F16:
    i.aux = uint32_t(ElementType::F16);
    wide = false;
    break;
  case Type::BF16:
    i.aux = uint32_t(ElementType::BF16);
    wide = false;
    break;
  case Type::F32:
    i.aux = uint32_t(ElementType::F32);
    break;
  case Type::F64:
    i.aux = uint32_t(ElementType::F64);
    break;
  case Type::S32:
    i.aux = uint32_t(ElementType::S32);
    break;
  case Type::U32:
  case Type::B32:
    i.aux = uint32_t(ElementType::U32);
    break;
  case Type::S64:
    i.aux = uint32_t(ElementType::S64);
    break;
  case Type::U64:
  case Type::B64:
    i.aux = uint32_t(ElementType::U64);
    break;
  default:
    return d.fail("is not supported with this type");
  }
  if (!wide && flushes && i.aux2 == 1)
    return d.fail("needs .noftz to add numbers of 16 bits");
  i.fn = bulkReduce;
  return d.address(i) && d.address(i, i.imm) && d.source(i, Type::U32) &&
         (!d.cacheHint || d.takeOperand());
}
