// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.reduce.async.bulk (PTX ISA 9.7.9.25.4.2): shared memory combined with
// global memory, or with shared memory of another CTA, an element at a time.
// Those of tensors are decoded in Tma.cpp.

#include "ISA/Copy/Copy.h"

#include "ISA/Alu/Alu.h"
#include "Numerics/Formats.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

using namespace fp8::sim;

namespace {

template <typename T>
void reduceElements(Reduction op, uint8_t *target, const uint8_t *source,
                    uint32_t bytes) {
  for (uint32_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, target + at, sizeof(T));
    std::memcpy(&b, source + at, sizeof(T));
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
      float x = a, y = b;
      a = T::from(op == Reduction::Add   ? double(x) + double(y)
                  : op == Reduction::Min ? double(std::min(x, y))
                                         : double(std::max(x, y)));
    } else if (std::is_same_v<T, float> && op == Reduction::Add) {
      // An H200 keeps subnormal numbers, which PTX ISA 9.7.9.25.4.2 flushes.
      a = T(addInMemory(float(a), float(b), false));
    } else {
      a = op == Reduction::Add   ? T(a + b)
          : op == Reduction::Min ? std::min(a, b)
                                 : std::max(a, b);
      if constexpr (std::is_integral_v<T>) {
        T old;
        std::memcpy(&old, target + at, sizeof(T));
        if (op == Reduction::Inc)
          a = old >= b ? T(0) : T(old + 1);
        if (op == Reduction::Dec)
          a = old == 0 || old > b ? b : T(old - 1);
        if (op == Reduction::And)
          a = T(old & b);
        if (op == Reduction::Or)
          a = T(old | b);
        if (op == Reduction::Xor)
          a = T(old ^ b);
      }
    }
    std::memcpy(target + at, &a, sizeof(T));
  }
}

/// What combines in shared memory: red.async and cp.reduce.async.bulk (PTX ISA
/// 9.7.13.7, 9.7.9.25.4.2).
struct SharedReduction {
  Reduction reduction;
  Type type;
  ElementType element;
};
constexpr SharedReduction kSharedReductions[] = {
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

void fp8::sim::reduceBytes(ElementType type, Reduction op, uint8_t *target,
                           const uint8_t *source, uint32_t bytes) {
  if (op == Reduction::None) {
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

bool fp8::sim::takeReduction(Decoder &d, Reduction &op) {
  int index =
      d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  op = Reduction(index + 1);
  return index >= 0 || d.fail("needs an operation such as .add");
}

bool fp8::sim::takeSharedReduction(Decoder &d, Reduction &reduction,
                                   ElementType &type) {
  if (!takeReduction(d, reduction))
    return false;
  const Type given = d.takeType();
  const auto *form =
      std::find_if(std::begin(kSharedReductions), std::end(kSharedReductions),
                   [&](const SharedReduction &f) {
                     return f.reduction == reduction && f.type == given;
                   });
  if (form == std::end(kSharedReductions))
    return d.fail("takes .inc and .dec of u32, .min and .max of u32 and s32, "
                  ".add of u32, s32 and u64, and .and, .or and .xor of b32");
  type = form->element;
  return true;
}

static bool takeElementType(Decoder &d, ElementType &type) {
  static const std::pair<Type, ElementType> types[] = {
      {Type::F16, ElementType::F16}, {Type::BF16, ElementType::BF16},
      {Type::F32, ElementType::F32}, {Type::F64, ElementType::F64},
      {Type::S32, ElementType::S32}, {Type::U32, ElementType::U32},
      {Type::B32, ElementType::U32}, {Type::S64, ElementType::S64},
      {Type::U64, ElementType::U64}, {Type::B64, ElementType::U64}};
  Type given = d.takeType();
  for (auto [name, element] : types)
    if (given == name) {
      type = element;
      return true;
    }
  return d.fail("is not supported with this type");
}

bool fp8::sim::decodeReduceBulk(Decoder &d, Inst &i) {
  if (!d.take("reduce") || !d.take("async") || !d.take("bulk"))
    return d.fail("is not supported in this form");
  if (d.take("tensor"))
    return decodeReduceTensor(d, i);
  if (d.take("relaxed")) // as it is without
    d.takeOneOf({"cta", "cluster", "gpu", "sys"});
  d.dropCacheHints();
  BulkCopy &copy = i.make<BulkCopy>();
  if (d.take("shared::cluster")) {
    i.fn = bulkShared;
    if (!d.take("shared::cta") || !d.take("mbarrier::complete_tx::bytes"))
      return d.fail("reduces into .shared::cluster from .shared::cta only, "
                    "with .mbarrier::complete_tx::bytes");
    return takeSharedReduction(d, copy.reduction, copy.type) && d.address(i) &&
           d.address(i, copy.sourceOffset) && d.source(i, Type::U32) &&
           d.address(i, copy.barrierOffset);
  }
  if (!d.take("global") || !d.take("shared::cta") || !d.take("bulk_group"))
    return d.fail("reduces from .shared::cta to .global with .bulk_group, or "
                  "to .shared::cluster with an mbarrier");
  if (!takeReduction(d, copy.reduction))
    return false;
  bool flushes = !d.take("noftz");
  if (!takeElementType(d, copy.type))
    return false;
  if (elementBytes(copy.type) == 2 && flushes &&
      copy.reduction == Reduction::Add)
    return d.fail("needs .noftz to add f16 or bf16");
  i.fn = bulkStore;
  return d.address(i) && d.address(i, copy.sourceOffset) &&
         d.source(i, Type::U32) && (!d.cacheHint || d.takeOperand());
}
