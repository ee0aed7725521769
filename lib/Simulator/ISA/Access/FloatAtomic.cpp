// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red of vectors, of numbers of 16 bits, and of 128 bits (PTX
// ISA 9.7.13.5, 9.7.13.6). Each number of a vector is combined by itself.

#include "ISA/Access/Atomic.h"
#include "ISA/Alu/Alu.h"
#include "Numerics/Formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace fp8::sim;

namespace {

/// The one that is a number, if one is; -0 is less than +0.
float lesser(float a, float b) {
  if (a != a || b != b)
    return a != a ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

float combine(AtomicOp, float old, float value) {
  return addInMemory(old, value, true);
}
template <typename Format>
Format combine(AtomicOp op, Format old, Format value) {
  float a = old, b = value;
  switch (op) {
  case AtomicOp::Min:
    return Format::from(double(lesser(a, b)));
  case AtomicOp::Max:
    return Format::from(-double(lesser(-a, -b)));
  default:
    return Format::from(double(a) + double(b));
  }
}

/// List: the results of atom. Source list: the values. A register holds as many
/// numbers as fit, or one of 16 bits.
template <typename T>
Flow combineFloats(Warp &w, const Inst &i, uint32_t mask) {
  const Atomic &a = i.get<Atomic>();
  const uint32_t *values = &w.machine.program.lists[i.sourceList];
  const uint32_t *results =
      i.listCount ? &w.machine.program.lists[i.list] : nullptr;
  const uint32_t bytes = a.elementBytes * i.sourceListCount;
  w.machine.progress();
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    uint8_t *target = combined(w, i, l, bytes);
    if (!target)
      return;
    uint8_t before[16], after[16];
    std::memcpy(before, target, bytes);
    for (uint32_t at = 0; at < bytes; at += sizeof(T)) {
      T old;
      std::memcpy(&old, before + at, sizeof(T));
      uint64_t value = w.row(values[at / a.elementBytes])[l];
      old = combine(a.op, old, get<T>(value >> at % a.elementBytes * 8));
      std::memcpy(after + at, &old, sizeof(T));
    }
    std::memcpy(target, after, bytes);
    for (uint32_t n = 0; results && n < i.listCount; ++n) {
      uint64_t old = 0;
      std::memcpy(&old, before + n * a.elementBytes, a.elementBytes);
      w.row(results[n])[l] = old;
    }
  });
  return Flow::Next;
}

/// A register of 128 bits has two rows.
Flow combineWide(Warp &w, const Inst &i, uint32_t mask) {
  using Pair = std::array<uint64_t, 2>;
  auto read = [&](uint32_t row, int l) {
    return Pair{w.row(row)[l], w.row(row + 1)[l]};
  };
  w.machine.progress();
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    uint8_t *target = combined(w, i, l, sizeof(Pair));
    if (!target)
      return;
    Pair old;
    std::memcpy(&old, target, sizeof(Pair));
    const bool compares = i.get<Atomic>().op == AtomicOp::Cas;
    Pair value = read(i.s[compares ? 2 : 1], l);
    if (!compares || old == read(i.s[1], l))
      std::memcpy(target, &value, sizeof(Pair));
    w.row(i.d[0])[l] = old[0];
    w.row(i.d[0] + 1)[l] = old[1];
  });
  return Flow::Next;
}

struct FloatForm {
  Type type;
  Handler handler;
};
const FloatForm kForms[] = {
    {Type::F32, combineFloats<float>},     {Type::F16, combineFloats<Half>},
    {Type::F16x2, combineFloats<Half>},    {Type::BF16, combineFloats<BFloat>},
    {Type::BF16x2, combineFloats<BFloat>},
};

} // namespace

bool fp8::sim::decodeFloatAtomic(Decoder &d, Inst &i, Atomic &a, uint32_t count,
                                 bool result) {
  Type type = d.takeType();
  auto form = std::find_if(std::begin(kForms), std::end(kForms),
                           [&](const FloatForm &f) { return f.type == type; });
  a.elementBytes = typeSize(type);
  const bool isMinMax = a.op == AtomicOp::Min || a.op == AtomicOp::Max;
  if (form == std::end(kForms) || count * a.elementBytes > 16 ||
      !(a.op == AtomicOp::Add || (isMinMax && type != Type::F32)))
    return d.fail("takes a vector only of f32 with .add, or of f16, bf16 or "
                  "packed pairs with .add, .min or .max, and of at most 16 "
                  "bytes");
  if (count > 1 && !mayBeGlobal(a.space))
    return d.fail("takes a vector only in global memory");
  i.fn = form->handler;
  i.needsSourceList = true;
  return (!result || d.list(i, count, type, true)) && d.address(i) &&
         d.sourceList(i, count, type) && (!d.cacheHint || d.takeOperand());
}

bool fp8::sim::decodeWideAtomic(Decoder &d, Inst &i, const Atomic &a) {
  if (a.op != AtomicOp::Exch && a.op != AtomicOp::Cas)
    return d.fail("takes .b128 only with .exch or .cas");
  i.fn = combineWide;
  return d.destination(i, Type::B128) && d.address(i) &&
         d.source(i, Type::B128) &&
         (a.op == AtomicOp::Exch || d.source(i, Type::B128)) &&
         (!d.cacheHint || d.takeOperand());
}
