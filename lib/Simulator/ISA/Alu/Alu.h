// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How arithmetic handlers are made: an operation on values, applied to all
// lanes of a mask.

#ifndef FP8_LIB_SIMULATOR_ISA_ALU_ALU_H
#define FP8_LIB_SIMULATOR_ISA_ALU_ALU_H

#include "Machine/Warp.h"
#include "Numerics/Formats.h"
#include "Numerics/Vectorised.h"
#include "Program/Decoder.h"

#include <cfenv>
#include <cmath>
#include <type_traits>

namespace fp8::sim {

/// 16-bit formats as types, computed with in f32.
struct Half {
  uint16_t bits;
  operator float() const { return f16ToFloat(bits); }
  static Half from(double value) { return {doubleToF16(value)}; }
};
struct BFloat {
  uint16_t bits;
  operator float() const { return bf16ToFloat(bits); }
  static BFloat from(double value) { return {doubleToBF16(value)}; }
};

/// A register's bits as a value, and back (zero-extended).
template <typename T>
inline T get(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return bitCast<float>(uint32_t(bits));
  else if constexpr (std::is_same_v<T, double>)
    return bitCast<double>(bits);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
    return T{uint16_t(bits)};
  else
    return T(bits);
}
template <typename T>
inline uint64_t put(T value) {
  if constexpr (std::is_same_v<T, float>)
    return bitCast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return bitCast<uint64_t>(value);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
    return value.bits;
  else
    return uint64_t(std::make_unsigned_t<T>(value));
}

/// Ones in the lowest `count` bits.
inline uint64_t lowBits(unsigned count) {
  return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1;
}

/// Payload of what keeps only the bits that the type has: a wider register may
/// stand as source.
struct KeptBits {
  uint64_t mask;
  static KeptBits of(Type type) { return {lowBits(typeSize(type) * 8)}; }
};

/// Payload of floating-point arithmetic: the modifiers.
struct FloatModifiers {
  bool flush = false;    ///< .ftz
  bool saturate = false; ///< .sat
  bool nan = false;      ///< .NaN
  bool relu = false;
  bool absolute = false; ///< .abs
  bool xorSign = false;  ///< .xorsign.abs
  Rounding rounding = Rounding::NearestEven;

  bool any() const {
    return flush || saturate || nan || relu || absolute || xorSign;
  }
};

/// The host rounds in the direction while this lives.
class RoundingMode {
public:
  explicit RoundingMode(Rounding rounding) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                FE_UPWARD};
    std::fesetround(modes[size_t(rounding)]);
  }
  ~RoundingMode() { std::fesetround(FE_TONEAREST); }
  RoundingMode(const RoundingMode &) = delete;
  RoundingMode &operator=(const RoundingMode &) = delete;
};

/// A number of f16 with .ftz: subnormal ones are zeros of their sign.
inline uint64_t flushHalf(uint64_t bits) {
  return bits & 0x7c00 ? bits : bits & 0x8000;
}

/// The larger or the smaller of two numbers. NaN loses, and +0 is larger than
/// -0 (PTX ISA 9.7.3, min and max).
template <bool Max, typename T>
inline T chooseNumber(T a, T b) {
  if (a != a || b != b)
    return a != a ? b : a;
  if (a == b)
    return std::signbit(a) == Max ? b : a;
  return (a > b) == Max ? a : b;
}

/// d[lane] = f(lane) for the lanes of the mask. Most often all are there. The
/// loop vectorises, so that f is called for others, too; it must do no more
/// than compute, of row elements at `lane`.
template <typename F>
inline __attribute__((always_inline)) void setLanes(uint64_t *d, uint32_t mask,
                                                    F f) {
  if (!(mask & (mask - 1)))
    return forLanes(mask, [&](int lane) { d[lane] = f(lane); });
  uint64_t some[32];
  uint64_t *to = mask == ~0u ? d : some;
  FP8_INDEPENDENT
  for (int lane = 0; lane < 32; ++lane)
    to[lane] = f(lane);
  if (to == some)
    for (int lane = 0; lane < 32; ++lane)
      d[lane] = mask >> lane & 1 ? some[lane] : d[lane];
}

/// A bit for each lane of the mask of which the predicate holds; `holds` is as
/// f of setLanes().
template <typename F>
inline __attribute__((always_inline)) uint32_t testLanes(uint32_t mask,
                                                         F holds) {
  uint32_t result = 0;
  for (int lane = 0; lane < 32; ++lane)
    result |= uint32_t(holds(lane)) << lane;
  return result & mask;
}

template <typename T, typename Op>
FP8_VECTORISED_TEMPLATE Flow unary(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  setLanes(w.row(i.d[0]), mask,
           [=](int l) { return put(Op::apply(get<T>(a[l]))); });
  return Flow::Next;
}

template <typename T, typename Op>
FP8_VECTORISED_TEMPLATE Flow binary(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  setLanes(w.row(i.d[0]), mask,
           [=](int l) { return put(Op::apply(get<T>(a[l]), get<T>(b[l]))); });
  return Flow::Next;
}

template <typename T, typename Op>
FP8_VECTORISED_TEMPLATE Flow ternary(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  setLanes(w.row(i.d[0]), mask, [=](int l) {
    return put(Op::apply(get<T>(a[l]), get<T>(b[l]), get<T>(c[l])));
  });
  return Flow::Next;
}

/// The handler `Maker<T>` for an integer type; null for others.
template <template <typename> class Maker>
Handler forInteger(Type type) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return Maker<uint16_t>::handler;
  case Type::S16:
    return Maker<int16_t>::handler;
  case Type::U32:
  case Type::B32:
    return Maker<uint32_t>::handler;
  case Type::S32:
    return Maker<int32_t>::handler;
  case Type::U64:
  case Type::B64:
    return Maker<uint64_t>::handler;
  case Type::S64:
    return Maker<int64_t>::handler;
  default:
    return nullptr;
  }
}

/// One destination and `count` sources of `type`.
inline bool operands(Decoder &d, Inst &i, Type type, unsigned count) {
  if (!d.destination(i, type))
    return false;
  for (unsigned n = 0; n < count; ++n)
    if (!d.source(i, type))
      return false;
  return true;
}

/// Each bit of the result depends on one bit at most of each source (and of the
/// list). `choosers`: sources, a bit each, that choose which.
inline void spreadBits(Inst &i, uint8_t choosers = 0) {
  i.bitwise = true;
  i.choosers = choosers;
}

/// Each of `count` elements of the result, of `bits` bits, depends on those at
/// the same place in the sources, which have `sourceBits` bits.
inline void spreadElements(Inst &i, unsigned count, unsigned bits,
                           unsigned sourceBits) {
  i.elements = {uint8_t(count), uint8_t(bits), {}};
  for (Elements::Source &source : i.elements.sources)
    source = {uint8_t(sourceBits), 0};
}
/// The same of two numbers, each in a source of its own, the upper one first.
/// The third source decides all elements.
inline void spreadNumbers(Inst &i, unsigned bits) {
  i.elements = {2, uint8_t(bits), {{64, 1}, {64, 0}, {}}};
}

// Families share opcodes: `add` is decoded by the family of integers, which
// leaves other types to these.
bool decodeFloatArithmetic(Decoder &decoder, Inst &inst);
bool decodePackedFloat(Decoder &decoder, Inst &inst, Type type,
                       const FloatModifiers &modifiers);
bool decodePackedInteger(Decoder &decoder, Inst &inst);
/// cvt.pack.
bool decodePack(Decoder &decoder, Inst &inst);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_ALU_ALU_H
