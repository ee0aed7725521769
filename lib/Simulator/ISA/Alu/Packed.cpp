// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on packed pairs: f16x2, bf16x2, f32x2, u16x2, s16x2.

#include "ISA/Alu/Alu.h"
#include "Numerics/Vectorised.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

namespace {

enum class Op { Add, Sub, Mul, Fma, Min, Max, Abs, Neg, Ex2, Tanh };

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
    return chooseNumber<false>(a, b);
  case Op::Max:
    return chooseNumber<true>(a, b);
  case Op::Abs:
    return std::fabs(a);
  case Op::Neg:
    return -a;
  case Op::Ex2:
    return std::exp2(a);
  case Op::Tanh:
    return std::tanh(a);
  }
  return a;
}

template <Op O, typename Format>
Flow halves(Warp &w, const Inst &i, uint32_t mask) {
  const FloatModifiers &modifiers = i.get<FloatModifiers>();
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[i.sources > 1 ? 1 : 0]),
                 *c = w.row(i.s[i.sources > 2 ? 2 : 0]);
  auto flushed = [&](uint64_t bits) {
    // bf16 has the exponents of f32.
    uint64_t exponent = std::is_same_v<Format, Half> ? 0x7c00 : 0x7f80;
    return !modifiers.flush || bits & exponent ? bits : bits & 0x8000;
  };
  auto load = [&](uint64_t bits) {
    double value = double(float(get<Format>(flushed(bits & 0xffff))));
    return modifiers.absolute ? std::fabs(value) : value;
  };
  forLanes(mask, [&](int l) {
    uint64_t result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
      double x = load(a[l] >> shift), y = load(b[l] >> shift),
             z = load(c[l] >> shift);
      double r =
          O == Op::Fma ? fuseToOdd(x, y, z) : compute<O, double>(x, y, z);
      if (modifiers.xorSign)
        r = std::copysign(r, (a[l] ^ b[l]) >> shift & 0x8000 ? -1.0 : 1.0);
      if (modifiers.nan && (x != x || y != y))
        r = std::nan("");
      if (modifiers.saturate)
        r = r >= 1 ? 1 : r > 0 ? r : 0;
      if (modifiers.relu)
        r = r > 0 || r != r ? r : 0;
      uint64_t first = flushed(a[l] >> shift & 0xffff),
               bits = O == Op::Neg   ? first ^ 0x8000
                      : O == Op::Abs ? first & 0x7fff
                                     : flushed(put(Format::from(r)));
      result |= bits << shift;
    }
    d[l] = result;
  });
  return Flow::Next;
}

/// One half of a register.
using Single __attribute__((may_alias)) = float;

/// fma.f32x2 of all lanes.
FP8_VECTORISED
void fusePairs(Single *d, const Single *a, const Single *b, const Single *c) {
  FP8_INDEPENDENT
  for (int x = 0; x < 64; ++x)
    d[x] = std::fma(a[x], b[x], c[x]);
}

template <Op O>
FP8_VECTORISED_TEMPLATE Flow singles(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]),
                 *c = w.row(i.s[i.sources > 2 ? 2 : 0]);
  if (O == Op::Fma && mask == ~0u) {
    fusePairs(reinterpret_cast<Single *>(d),
              reinterpret_cast<const Single *>(a),
              reinterpret_cast<const Single *>(b),
              reinterpret_cast<const Single *>(c));
    return Flow::Next;
  }
  setLanes(d, mask, [=](int l) {
    float low =
        compute<O, float>(get<float>(a[l]), get<float>(b[l]), get<float>(c[l]));
    float high = compute<O, float>(
        get<float>(a[l] >> 32), get<float>(b[l] >> 32), get<float>(c[l] >> 32));
    return put(low) | put(high) << 32;
  });
  return Flow::Next;
}

/// The same with .ftz or a directed rounding mode.
template <Op O>
Flow modifiedSingles(Warp &w, const Inst &i, uint32_t mask) {
  const FloatModifiers &modifiers = i.get<FloatModifiers>();
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]),
                 *c = w.row(i.s[i.sources > 2 ? 2 : 0]);
  auto flushed = [&](float value) {
    return modifiers.flush && std::fabs(value) < 0x1p-126f
               ? std::copysign(0.0f, value)
               : value;
  };
  RoundingMode mode(modifiers.rounding);
  forLanes(mask, [&](int l) {
    uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 32) {
      auto load = [&](uint64_t bits) {
        return flushed(get<float>(bits >> shift));
      };
      result |=
          put(flushed(compute<O, float>(load(a[l]), load(b[l]), load(c[l]))))
          << shift;
    }
    d[l] = result;
  });
  return Flow::Next;
}

template <Op O>
Handler pickSingles(const FloatModifiers &modifiers) {
  return modifiers.flush || modifiers.rounding != Rounding::NearestEven
             ? modifiedSingles<O>
             : singles<O>;
}

template <Op O>
Handler pick(Type type) {
  return type == Type::F16x2    ? halves<O, Half>
         : type == Type::BF16x2 ? halves<O, BFloat>
                                : nullptr;
}

enum class IntOp { Add, Min, Max };
template <IntOp O, typename T, bool Relu = false>
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
      if (Relu)
        r = std::max(r, T(0));
      result |= put(r) << shift;
    }
    d[l] = result;
  });
  return Flow::Next;
}

template <IntOp O>
Handler pickMinMax(bool isSigned, bool relu) {
  return !isSigned ? integers<O, uint16_t>
         : relu    ? integers<O, int16_t, true>
                   : integers<O, int16_t>;
}

} // namespace

bool fp8::sim::decodePackedFloat(Decoder &d, Inst &i, Type type,
                                 const FloatModifiers &modifiers) {
  const std::string &op = d.text().opcode;
  if (type == Type::F32x2) {
    if (modifiers.saturate || modifiers.nan || modifiers.relu ||
        modifiers.absolute)
      return d.fail("takes only a rounding mode and .ftz with .f32x2");
    i.fn = op == "add"   ? pickSingles<Op::Add>(modifiers)
           : op == "sub" ? pickSingles<Op::Sub>(modifiers)
           : op == "mul" ? pickSingles<Op::Mul>(modifiers)
           : op == "fma" ? pickSingles<Op::Fma>(modifiers)
                         : nullptr;
  } else if (modifiers.rounding != Rounding::NearestEven) {
    return d.fail("takes only .rn with pairs of 16 bits");
  } else {
    i.fn = op == "add"   ? pick<Op::Add>(type)
           : op == "sub" ? pick<Op::Sub>(type)
           : op == "mul" ? pick<Op::Mul>(type)
           : op == "fma" ? pick<Op::Fma>(type)
           : op == "min" ? pick<Op::Min>(type)
           : op == "max" ? pick<Op::Max>(type)
           : op == "abs" ? pick<Op::Abs>(type)
           : op == "neg" ? pick<Op::Neg>(type)
           : op == "ex2" ? pick<Op::Ex2>(type)
                         : pick<Op::Tanh>(type);
  }
  const unsigned bits = typeSize(type) * 4;
  spreadElements(i, 2, bits, bits);
  bool isUnary = op == "abs" || op == "neg" || op == "ex2" || op == "tanh";
  return operands(d, i, type, op == "fma" ? 3 : isUnary ? 1 : 2);
}

bool fp8::sim::decodePackedInteger(Decoder &d, Inst &i) {
  const std::string &op = d.text().opcode;
  bool relu = d.take("relu");
  Type type = d.takeType();
  bool isSigned = type == Type::S16x2;
  if (relu && (!isSigned || op == "add"))
    return d.fail("takes .relu only with min and max of s32 and s16x2");
  i.fn = op == "add"   ? integers<IntOp::Add, uint16_t>
         : op == "min" ? pickMinMax<IntOp::Min>(isSigned, relu)
         : op == "max" ? pickMinMax<IntOp::Max>(isSigned, relu)
                       : nullptr;
  spreadElements(i, 2, 16, 16);
  return operands(d, i, type, 2);
}
