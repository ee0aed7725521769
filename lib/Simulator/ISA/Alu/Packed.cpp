// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on packed pairs: f16x2, bf16x2, f32x2, u16x2, s16x2.

#include "ISA/Alu/Alu.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

namespace {

enum class Op { Add, Sub, Mul, Fma, Min, Max, Abs, Neg };

template <Op O, typename T>
T compute(T a, T b, T c) {
  switch (O) {
  case Op::Add:
    return a + b;
  case Op::Sub:
    return a - b;
  case Op::Mul:
    return a * b;
  case Op::Fma:
    return std::fma(a, b, c);
  case Op::Min:
    return std::fmin(a, b);
  case Op::Max:
    return std::fmax(a, b);
  case Op::Abs:
    return std::fabs(a);
  case Op::Neg:
    return -a;
  }
  return a;
}

template <Op O, typename Format>
Flow halves(Warp &w, const Inst &i, uint32_t mask) {
  const FloatModifiers &modifiers = i.get<FloatModifiers>();
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[i.sources > 1 ? 1 : 0]),
                 *c = w.row(i.s[i.sources > 2 ? 2 : 0]);
  forLanes(mask, [&](int l) {
    uint64_t result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
      double x = double(float(get<Format>(a[l] >> shift))),
             y = double(float(get<Format>(b[l] >> shift)));
      double z = double(float(get<Format>(c[l] >> shift)));
      double r = compute<O, double>(x, y, z);
      if (modifiers.nan && (x != x || y != y))
        r = std::nan("");
      if (modifiers.saturate)
        r = r >= 1 ? 1 : r > 0 ? r : 0;
      if (modifiers.relu)
        r = r > 0 || r != r ? r : 0;
      uint64_t bits = O == Op::Neg   ? (a[l] >> shift & 0xffff) ^ 0x8000
                      : O == Op::Abs ? a[l] >> shift & 0x7fff
                                     : put(Format::from(r));
      result |= bits << shift;
    }
    d[l] = result;
  });
  return Flow::Next;
}

template <Op O>
Flow singles(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]),
                 *c = w.row(i.s[i.sources > 2 ? 2 : 0]);
  eachLane(mask, [&](int l) {
    float low =
        compute<O, float>(get<float>(a[l]), get<float>(b[l]), get<float>(c[l]));
    float high = compute<O, float>(
        get<float>(a[l] >> 32), get<float>(b[l] >> 32), get<float>(c[l] >> 32));
    d[l] = put(low) | put(high) << 32;
  });
  return Flow::Next;
}

template <Op O>
Handler pick(Type type) {
  return type == Type::F16x2    ? halves<O, Half>
         : type == Type::BF16x2 ? halves<O, BFloat>
                                : nullptr;
}

enum class IntOp { Add, Min, Max };
template <IntOp O, typename T>
Flow integers(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  forLanes(mask, [&](int l) {
    uint64_t result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
      T x = T(a[l] >> shift), y = T(b[l] >> shift);
      T r = O == IntOp::Add   ? T(x + y)
            : O == IntOp::Min ? std::min(x, y)
                              : std::max(x, y);
      result |= put(r) << shift;
    }
    d[l] = result;
  });
  return Flow::Next;
}

} // namespace

bool fp8::sim::decodePackedFloat(Decoder &d, Inst &i, Type type,
                                 const FloatModifiers &modifiers) {
  const std::string &op = d.text().opcode;
  if (modifiers.rounding != Rounding::NearestEven)
    return d.fail("takes only .rn with packed types");
  if (type == Type::F32x2) {
    if (modifiers.any())
      return d.fail("does not take .ftz or .sat with .f32x2");
    i.fn = op == "add"   ? singles<Op::Add>
           : op == "sub" ? singles<Op::Sub>
           : op == "mul" ? singles<Op::Mul>
           : op == "fma" ? singles<Op::Fma>
                         : nullptr;
  } else {
    i.fn = op == "add"   ? pick<Op::Add>(type)
           : op == "sub" ? pick<Op::Sub>(type)
           : op == "mul" ? pick<Op::Mul>(type)
           : op == "fma" ? pick<Op::Fma>(type)
           : op == "min" ? pick<Op::Min>(type)
           : op == "max" ? pick<Op::Max>(type)
           : op == "abs" ? pick<Op::Abs>(type)
           : op == "neg" ? pick<Op::Neg>(type)
                         : nullptr;
  }
  return operands(d, i, type,
                  op == "fma"                  ? 3
                  : op == "abs" || op == "neg" ? 1
                                               : 2);
}

bool fp8::sim::decodePackedInteger(Decoder &d, Inst &i) {
  const std::string &op = d.text().opcode;
  Type type = d.takeType();
  bool isSigned = type == Type::S16x2;
  i.fn = op == "add"   ? integers<IntOp::Add, uint16_t>
         : op == "min" ? (isSigned ? integers<IntOp::Min, int16_t>
                                   : integers<IntOp::Min, uint16_t>)
         : op == "max" ? (isSigned ? integers<IntOp::Max, int16_t>
                                   : integers<IntOp::Max, uint16_t>)
                       : nullptr;
  return operands(d, i, type, 2);
}
