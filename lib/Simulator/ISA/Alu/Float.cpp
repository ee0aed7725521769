// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point arithmetic (PTX ISA 9.7.3, 9.7.4): f32, f64, f16, bf16. The
// approximate functions are computed as exactly as the host can.

#include "ISA/Families.h"

#include "ISA/Alu/DoubleNaN.h"

#include <cmath>
#include <limits>

using namespace fp8::sim;

namespace {

float canonical(float value) {
  return value == value ? value : bitCast<float>(0x7fffffffu);
}
float flush(float value) {
  return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}
double flush(double value) { return value; }

template <typename T>
T finish(T value, const FloatModifiers &modifiers) {
  if (modifiers.flush)
    value = flush(value);
  if (modifiers.saturate)
    value = value >= T(1) ? T(1) : value > T(0) ? value : T(0);
  if (modifiers.relu)
    value = value > T(0) || value != value ? value : T(0);
  return value;
}

// The operations, on values of one type.
constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSub = [](auto a, auto b) { return a - b; };
constexpr auto kMul = [](auto a, auto b) { return a * b; };
constexpr auto kDiv = [](auto a, auto b) { return a / b; };
/// div.approx.f32 multiplies by 1 / b, which it flushes (PTX ISA 9.7.3.8).
constexpr auto kDivApprox = [](float a, float b) {
  return std::fabs(b) > 0x1p126f ? a * std::copysign(0.0f, b) : a / b;
};
constexpr auto kFma = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
constexpr auto kFmaToOdd = [](auto a, auto b, auto c) {
  return fuseToOdd(a, b, c);
};
constexpr auto kRcp = [](auto a) { return decltype(a)(1) / a; };
constexpr auto kSqrt = [](auto a) { return std::sqrt(a); };
constexpr auto kRsqrt = [](auto a) {
  return decltype(a)(1 / std::sqrt(double(a)));
};
constexpr auto kEx2 = [](auto a) { return std::exp2(a); };
constexpr auto kLg2 = [](auto a) { return std::log2(a); };
constexpr auto kSin = [](auto a) { return std::sin(a); };
constexpr auto kCos = [](auto a) { return std::cos(a); };
constexpr auto kTanh = [](auto a) { return std::tanh(a); };

/// The value type of a format, and rounding of a result into it.
template <typename Format>
struct Value {
  using Type = float;
  static Format pack(float v) { return Format::from(double(v)); }
};
template <>
struct Value<float> {
  using Type = float;
  static float pack(float v) { return canonical(v); }
};
template <>
struct Value<double> {
  using Type = double;
  static double pack(double v) { return v == v ? v : nanOf(v); }
};

/// The operand whose NaN the result of f64 has. div takes several steps.
template <const auto &Op, unsigned Arity>
double decisive(double a, double b, double c) {
  constexpr bool divides = std::is_same_v<decltype(Op), decltype((kDiv))>;
  if (Arity == 3)
    return firstNaN(b, c, a);
  return Arity == 1 || divides ? firstNaN(a, b) : firstNaN(b, a);
}

template <typename Format, const auto &Op, unsigned Arity>
FP8_VECTORISED_TEMPLATE Flow plain(Warp &w, const Inst &i, uint32_t mask) {
  using T = typename Value<Format>::Type;
  // 16-bit formats compute in double. Rounding to 16 bits gives the same as if
  // it happened once: products are exact, and where a sum is not, one number is
  // too small to matter. An fma of bf16 needs kFmaToOdd.
  using C = std::conditional_t<std::is_same_v<Format, Half> ||
                                   std::is_same_v<Format, BFloat>,
                               double, T>;
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[Arity > 1 ? 1 : 0]),
                 *c = w.row(i.s[Arity > 2 ? 2 : 0]);
  const FloatModifiers modifiers = i.get<FloatModifiers>();
  const bool modified = modifiers.any(), flushes = modifiers.flush;
  auto load = [=](uint64_t bits) {
    if constexpr (std::is_same_v<Format, Half>)
      bits = flushes ? flushHalf(bits) : bits;
    T value = T(get<Format>(bits));
    return C(flushes ? flush(value) : value);
  };
  auto compute = [=](int l) {
    C r;
    if constexpr (Arity == 1)
      r = Op(load(a[l]));
    else if constexpr (Arity == 2)
      r = Op(load(a[l]), load(b[l]));
    else
      r = Op(load(a[l]), load(b[l]), load(c[l]));
    if (modified)
      r = finish(r, modifiers);
    if constexpr (std::is_same_v<T, double>) {
      const double nan =
          nanOf(decisive<Op, Arity>(load(a[l]), load(b[l]), load(c[l])));
      return put(r == r ? r : nan);
    } else if constexpr (std::is_same_v<C, T>) {
      return put(Value<Format>::pack(r));
    } else {
      uint64_t bits = put(Format::from(r));
      return std::is_same_v<Format, Half> && flushes ? flushHalf(bits) : bits;
    }
  };
  // What calls functions of the host takes a lane at a time.
  if constexpr (Arity > 1 && std::is_same_v<C, T>)
    setLanes(d, mask, compute);
  else
    forLanes(mask, [=](int l) { d[l] = compute(l); });
  return Flow::Next;
}

/// add, sub and fma in f32 of numbers of 16 bits: the first one, or factors
/// both (PTX ISA 9.7.5).
template <typename Format, const auto &Op, unsigned Arity>
Flow mixed(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]),
                 *c = w.row(i.s[Arity - 1]);
  const FloatModifiers &modifiers = i.get<FloatModifiers>();
  RoundingMode mode(modifiers.rounding);
  forLanes(mask, [&](int l) {
    float x = float(get<Format>(a[l])), z = get<float>(c[l]), r;
    if constexpr (Arity == 3)
      r = Op(x, float(get<Format>(b[l])), z);
    else
      r = Op(x, z);
    d[l] = put(canonical(finish(r, modifiers)));
  });
  return Flow::Next;
}

template <typename Format>
Handler pickMixed(const std::string &op) {
  return op == "add"   ? mixed<Format, kAdd, 2>
         : op == "sub" ? mixed<Format, kSub, 2>
         : op == "fma" ? mixed<Format, kFma, 3>
                       : nullptr;
}

/// Behind the type of the result, the one of the narrow operands.
bool decodeMixed(Decoder &d, Inst &i, Type narrow) {
  const std::string &op = d.text().opcode;
  i.fn = narrow == Type::F16 ? pickMixed<Half>(op) : pickMixed<BFloat>(op);
  return d.destination(i, Type::F32) && d.source(i, narrow) &&
         (op != "fma" || d.source(i, narrow)) && d.source(i, Type::F32);
}

/// The same under a directed rounding mode.
template <typename Format, const auto &Op, unsigned Arity>
Flow directed(Warp &w, const Inst &i, uint32_t mask) {
  RoundingMode mode(i.get<FloatModifiers>().rounding);
  return plain<Format, Op, Arity>(w, i, mask);
}

/// Of f32, where NaN loses, in all lanes: r, the larger or smaller of r and x.
template <bool Max>
inline float choose(float r, float x) {
  bool beats = Max ? x > r : x < r;
  bool ties =
      x == r && (Max ? bitCast<int32_t>(x) >= 0 : bitCast<int32_t>(x) < 0);
  return (r != r) | beats | ties ? x : r;
}
FP8_VECTORISED
void chooseLanes(bool max, uint64_t *d, const uint64_t *a, const uint64_t *b) {
  FP8_INDEPENDENT
  for (int l = 0; l < 32; ++l) {
    float x = get<float>(a[l]), y = get<float>(b[l]);
    d[l] = put(canonical(max ? choose<true>(x, y) : choose<false>(x, y)));
  }
}

template <typename Format, bool Max>
Flow minMax(Warp &w, const Inst &i, uint32_t mask) {
  using T = typename Value<Format>::Type;
  uint64_t *d = w.row(i.d[0]);
  const FloatModifiers &modifiers = i.get<FloatModifiers>();
  auto load = [&](uint64_t bits) {
    if (std::is_same_v<Format, Half> && modifiers.flush)
      bits = flushHalf(bits);
    T value = T(get<Format>(bits));
    return modifiers.flush ? flush(value) : value;
  };
  if constexpr (std::is_same_v<Format, float>)
    if (mask == ~0u && i.sources == 2 && !modifiers.any()) {
      chooseLanes(Max, d, w.row(i.s[0]), w.row(i.s[1]));
      return Flow::Next;
    }
  forLanes(mask, [&](int l) {
    T r = 0;
    bool sign = false;
    for (unsigned n = 0; n < i.sources; ++n) {
      T x = load(w.row(i.s[n])[l]);
      sign ^= std::signbit(x);
      if (modifiers.absolute)
        x = std::fabs(x);
      if (n == 0)
        r = x;
      else if (modifiers.nan && (r != r || x != x))
        r = std::numeric_limits<T>::quiet_NaN();
      else
        r = chooseNumber<Max>(r, x);
    }
    if (modifiers.xorSign)
      r = std::copysign(r, T(sign ? -1 : 1));
    d[l] = put(Value<Format>::pack(r));
  });
  return Flow::Next;
}

/// abs and neg work on the sign bit, but of f64 not on that of a NaN.
template <bool Neg, unsigned Bits>
FP8_VECTORISED_TEMPLATE Flow sign(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  constexpr uint64_t bit = uint64_t(1) << (Bits - 1);
  const bool flushes = Bits < 64 && i.get<FloatModifiers>().flush;
  setLanes(w.row(i.d[0]), mask, [=](int l) {
    uint64_t v = a[l];
    if (Bits == 64 && std::isnan(get<double>(v)))
      return quiet(v);
    if (flushes)
      v = Bits == 32 ? put(flush(get<float>(v))) : flushHalf(v);
    return Neg ? v ^ bit : v & ~bit;
  });
  return Flow::Next;
}

template <const auto &Op, unsigned Arity>
Handler pick(Type type, Rounding rounding = Rounding::NearestEven) {
  if (rounding != Rounding::NearestEven)
    return type == Type::F32   ? directed<float, Op, Arity>
           : type == Type::F64 ? directed<double, Op, Arity>
                               : nullptr;
  return type == Type::F32    ? plain<float, Op, Arity>
         : type == Type::F64  ? plain<double, Op, Arity>
         : type == Type::F16  ? plain<Half, Op, Arity>
         : type == Type::BF16 ? plain<BFloat, Op, Arity>
                              : nullptr;
}

Handler pickFma(Type type, Rounding rounding) {
  return type == Type::BF16 && rounding == Rounding::NearestEven
             ? plain<BFloat, kFmaToOdd, 3>
             : pick<kFma, 3>(type, rounding);
}

template <bool Max>
Handler pickMinMax(Type type) {
  return type == Type::F32    ? minMax<float, Max>
         : type == Type::F64  ? minMax<double, Max>
         : type == Type::F16  ? minMax<Half, Max>
         : type == Type::BF16 ? minMax<BFloat, Max>
                              : nullptr;
}

template <bool Neg>
Handler pickSign(Type type) {
  return typeSize(type) == 4   ? sign<Neg, 32>
         : typeSize(type) == 8 ? sign<Neg, 64>
                               : sign<Neg, 16>;
}

bool isPackedType(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2 || type == Type::F32x2;
}

const FloatModifiers &takeModifiers(Decoder &d, Inst &i) {
  FloatModifiers &modifiers = i.make<FloatModifiers>();
  modifiers.flush = d.take("ftz");
  modifiers.saturate = d.take("sat");
  modifiers.nan = d.take("NaN");
  modifiers.relu = d.take("relu");
  modifiers.xorSign = d.take("xorsign");
  modifiers.absolute = d.take("abs");
  modifiers.rounding =
      Rounding(std::max(0, d.takeOneOf({"rn", "rz", "rm", "rp"})));
  return modifiers;
}

/// rcp and rsqrt.approx.ftz.f64: the low words of operand and result are zeros,
/// and so are subnormal numbers (PTX ISA 9.7.3.14, 9.7.3.17).
template <const auto &Op>
Flow ofHighWords(Warp &w, const Inst &i, uint32_t mask) {
  constexpr uint64_t kHighWord = ~uint64_t(0) << 32;
  auto flushed = [](double value) {
    return std::fabs(value) < 0x1p-1022 ? std::copysign(0.0, value) : value;
  };
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  forLanes(mask, [&](int l) {
    double r = flushed(Op(flushed(get<double>(a[l] & kHighWord))));
    d[l] = (r != r ? 0x7fffffffffffffff : put(r)) & kHighWord;
  });
  return Flow::Next;
}

bool decodeFunction(Decoder &d, Inst &i) {
  const std::string &op = d.text().opcode;
  bool approximate = d.take("approx");
  d.take("full");
  const FloatModifiers &modifiers = takeModifiers(d, i);
  Rounding rounding = modifiers.rounding;
  Type type = d.takeType();
  if ((op == "ex2" || op == "tanh") && isPackedType(type))
    return decodePackedFloat(d, i, type, modifiers);
  if (op != "rcp" && op != "sqrt" && !approximate && op != "ex2")
    return d.fail("needs .approx");
  const bool ofWords = approximate && modifiers.flush && type == Type::F64;
  i.fn = op == "rcp"
             ? ofWords ? ofHighWords<kRcp> : pick<kRcp, 1>(type, rounding)
         : op == "rsqrt" ? ofWords ? ofHighWords<kRsqrt> : pick<kRsqrt, 1>(type)
         : op == "sqrt" ? pick<kSqrt, 1>(type, rounding)
         : op == "ex2"   ? pick<kEx2, 1>(type)
         : op == "lg2"   ? pick<kLg2, 1>(type)
         : op == "sin"   ? pick<kSin, 1>(type)
         : op == "cos"   ? pick<kCos, 1>(type)
                         : pick<kTanh, 1>(type);
  return operands(d, i, type, 1);
}

template <typename T>
Flow copysign(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  // copysign.a,b: the sign of a, the magnitude of b.
  setLanes(w.row(i.d[0]), mask, [=](int l) {
    return put(std::copysign(get<T>(b[l]), get<T>(a[l])));
  });
  return Flow::Next;
}

/// Payload of testp.
enum class NumberClass {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal
};

bool belongs(int found, NumberClass asked) {
  switch (asked) {
  case NumberClass::Finite:
    return found != FP_NAN && found != FP_INFINITE;
  case NumberClass::Infinite:
    return found == FP_INFINITE;
  case NumberClass::Number:
    return found != FP_NAN;
  case NumberClass::NotANumber:
    return found == FP_NAN;
  case NumberClass::Normal: // zeros, too (PTX ISA 9.7.3.1)
    return found == FP_NORMAL || found == FP_ZERO;
  case NumberClass::Subnormal:
    return found == FP_SUBNORMAL;
  }
  return false;
}

template <typename T>
Flow testp(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  uint32_t result = 0;
  forLanes(mask, [&](int l) {
    bool r = belongs(std::fpclassify(get<T>(a[l])), i.get<NumberClass>());
    result |= uint32_t(r) << l;
  });
  w.setPredicate(i, 0, mask, result);
  return Flow::Next;
}

} // namespace

bool fp8::sim::decodeFloatArithmetic(Decoder &d, Inst &i) {
  const std::string op = d.text().opcode;
  const bool approximate = d.takeOneOf({"approx", "full"}) == 0;
  const FloatModifiers &modifiers = takeModifiers(d, i);
  Type type = d.takeType();
  if (isPackedType(type))
    return decodePackedFloat(d, i, type, modifiers);
  if (op == "min" || op == "max") {
    i.fn = op == "max" ? pickMinMax<true>(type) : pickMinMax<false>(type);
    return operands(d, i, type, d.operandsLeft() == 4 ? 3 : 2);
  }
  if (op == "abs" || op == "neg") {
    i.fn = op == "neg" ? pickSign<true>(type) : pickSign<false>(type);
    return operands(d, i, type, 1);
  }
  if (modifiers.nan || modifiers.absolute)
    return d.fail("takes neither .NaN nor .abs");
  if (type == Type::F32 && (d.hasQualifier("f16") || d.hasQualifier("bf16")))
    return decodeMixed(d, i, d.takeType());
  unsigned arity = op == "fma" || op == "mad" ? 3 : 2;
  i.fn = op == "add"   ? pick<kAdd, 2>(type, modifiers.rounding)
         : op == "sub" ? pick<kSub, 2>(type, modifiers.rounding)
         : op == "mul" ? pick<kMul, 2>(type, modifiers.rounding)
         : op == "div" && approximate && type == Type::F32
             ? plain<float, kDivApprox, 2>
         : op == "div" ? pick<kDiv, 2>(type, modifiers.rounding)
                       : pickFma(type, modifiers.rounding);
  return operands(d, i, type, arity);
}

void fp8::sim::addFloatOpcodes(OpcodeTable &t) {
  t.add("fma", decodeFloatArithmetic);
  for (const char *name :
       {"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"})
    t.add(name, decodeFunction);
  t.add("copysign", [](Decoder &d, Inst &i) {
    Type type = d.takeType();
    i.fn = type == Type::F32   ? copysign<float>
           : type == Type::F64 ? copysign<double>
                               : nullptr;
    return operands(d, i, type, 2);
  });
  t.add("testp", [](Decoder &d, Inst &i) {
    int what = d.takeOneOf(
        {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
    if (what < 0)
      return d.fail("needs a class such as .finite");
    i.make<NumberClass>() = NumberClass(what);
    Type type = d.takeType();
    i.fn = type == Type::F32   ? testp<float>
           : type == Type::F64 ? testp<double>
                               : nullptr;
    return d.predicateDestination(i) && d.source(i, type);
  });
}
