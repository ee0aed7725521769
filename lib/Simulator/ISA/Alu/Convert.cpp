// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt and cvta (PTX ISA 9.7.9).

#include "ISA/Families.h"

#include "ISA/Alu/Convert.h"
#include "ISA/Alu/DoubleNaN.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace fp8::sim;

namespace {

int64_t signExtend(uint64_t value, unsigned bytes) {
  unsigned shift = 64 - bytes * 8;
  return int64_t(value << shift) >> shift;
}

double loadFloat(Type type, uint64_t bits) {
  switch (type) {
  case Type::F16:
    return double(f16ToFloat(uint16_t(bits)));
  case Type::BF16:
    return double(bf16ToFloat(uint16_t(bits)));
  case Type::F64:
    return get<double>(bits);
  default:
    return double(get<float>(bits));
  }
}

uint64_t storeFloat(Type type, double value, Rounding rounding, bool finite) {
  switch (type) {
  case Type::F16:
    return encodeFloat(kF16, value, rounding, finite);
  case Type::BF16:
    return encodeFloat(kBF16, value, rounding, finite);
  case Type::F64:
    return value != value ? 0x7fffffffffffffff : put(value);
  default:
    return value != value ? 0x7fffffff : put(roundToFloat(value, rounding));
  }
}

double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return std::nearbyint(value);
  case Rounding::TowardZero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  }
  return value;
}

/// How many bits of a register are taken, as which integers, and how many of
/// these a register gets, extended by its sign or by zeros.
struct Extension {
  unsigned fromBits;
  bool fromSigned;
  unsigned toBits;
  bool toSigned;
  uint64_t kept;
};

FP8_VECTORISED
void extendLanes(uint64_t *d, const uint64_t *a, uint32_t mask, Extension e) {
  auto extended = [](uint64_t value, unsigned bits, bool isSigned) {
    const uint64_t up = value << (64 - bits);
    return isSigned ? uint64_t(int64_t(up) >> (64 - bits)) : up >> (64 - bits);
  };
  setLanes(d, mask, [=](int l) {
    return extended(extended(a[l], e.fromBits, e.fromSigned), e.toBits,
                    e.toSigned) &
           e.kept;
  });
}

Flow integerToInteger(Warp &w, const Inst &i, uint32_t mask) {
  const Conversion &c = i.get<Conversion>();
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  unsigned fromBytes = typeSize(c.from), toBytes = typeSize(c.to);
  bool fromSigned = isSignedType(c.from), toSigned = isSignedType(c.to);
  uint64_t narrow = lowBits(toBytes * 8), source = lowBits(fromBytes * 8);
  if (!c.saturate) {
    extendLanes(d, a, mask,
                {fromBytes * 8, fromSigned, toBytes * 8,
                 toSigned && toBytes < 8, c.kept});
    return Flow::Next;
  }
  forLanes(mask, [&](int l) {
    __int128 value = fromSigned ? __int128(signExtend(a[l], fromBytes))
                                : __int128(a[l] & source);
    __int128 high = toSigned ? __int128(narrow >> 1) : __int128(narrow);
    __int128 low = toSigned ? -high - 1 : 0;
    value = std::clamp(value, low, high);
    uint64_t bits = uint64_t(value) & narrow;
    if (toSigned && toBytes < 8)
      bits = uint64_t(signExtend(bits, toBytes));
    d[l] = bits & c.kept;
  });
  return Flow::Next;
}

Flow floatToInteger(Warp &w, const Inst &i, uint32_t mask) {
  const Conversion &c = i.get<Conversion>();
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  unsigned bits = typeSize(c.to) * 8;
  bool toSigned = isSignedType(c.to);
  double high = std::ldexp(1.0, int(bits) - (toSigned ? 1 : 0));
  double low = toSigned ? -high : 0;
  forLanes(mask, [&](int l) {
    double value = loadFloat(c.from, a[l]);
    if (c.flush && std::fabs(value) < 0x1p-126)
      value = 0;
    value = roundToInteger(value, c.rounding);
    uint64_t r;
    uint64_t most = lowBits(toSigned ? bits - 1 : bits);
    if (value != value) // NaN becomes 0, or the most negative number from f64
                        // and to 64 bits (PTX ISA 9.7.9.21)
      r = bits == 64 || c.from == Type::F64 ? uint64_t(1) << (bits - 1) : 0;
    else if (value >= high)
      r = most;
    else if (value < low)
      r = toSigned ? ~most : 0;
    else
      r = toSigned ? uint64_t(int64_t(value)) : uint64_t(value);
    d[l] = r & c.kept;
    if (!toSigned)
      d[l] &= lowBits(bits);
  });
  return Flow::Next;
}

FP8_VECTORISED
void wordsToFloat(uint64_t *d, const uint64_t *a, uint32_t mask,
                  bool isSigned) {
  if (isSigned)
    setLanes(d, mask, [=](int l) { return put(float(int32_t(a[l]))); });
  else
    setLanes(d, mask, [=](int l) { return put(float(uint32_t(a[l]))); });
}

/// The number of the type next to an integer of 64 bits in the direction.
template <typename T>
T roundTo(long double exact, Rounding rounding) {
  T nearest = T(exact);
  if (rounding == Rounding::NearestEven || nearest == exact)
    return nearest;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  bool down = rounding == Rounding::Down ||
              (rounding == Rounding::TowardZero && exact > 0);
  if (down == (nearest > exact))
    return std::nextafter(nearest, down ? -kInfinity : kInfinity);
  return nearest;
}

/// The same rounded to odd: what is then rounded to 16 bits was rounded once.
double roundToOdd(long double exact) {
  const double cut = roundTo<double>(exact, Rounding::TowardZero);
  return cut == exact ? cut : bitCast<double>(bitCast<uint64_t>(cut) | 1);
}

/// An integer of 64 bits. Not through double, which would round twice, or to
/// the nearest.
uint64_t wideToFloat(Type to, long double exact, Rounding rounding) {
  return to == Type::F32   ? put(roundTo<float>(exact, rounding))
         : to == Type::F64 ? put(roundTo<double>(exact, rounding))
                           : storeFloat(to, roundToOdd(exact), rounding, false);
}

Flow integerToFloat(Warp &w, const Inst &i, uint32_t mask) {
  const Conversion &c = i.get<Conversion>();
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  unsigned bytes = typeSize(c.from);
  bool fromSigned = isSignedType(c.from);
  uint64_t source = lowBits(bytes * 8);
  if (bytes == 4 && c.to == Type::F32 && c.rounding == Rounding::NearestEven) {
    wordsToFloat(d, a, mask, fromSigned);
    return Flow::Next;
  }
  forLanes(mask, [&](int l) {
    if (bytes == 8) {
      d[l] = wideToFloat(
          c.to, fromSigned ? (long double)(int64_t(a[l])) : (long double)(a[l]),
          c.rounding);
      return;
    }
    double value =
        fromSigned ? double(signExtend(a[l], bytes)) : double(a[l] & source);
    d[l] = storeFloat(c.to, value, c.rounding, false);
  });
  return Flow::Next;
}

// Conversions of numbers that nothing modifies, to the nearest.
uint64_t canonicalWord(float value) {
  return value != value ? 0x7fffffff : bitCast<uint32_t>(value);
}
constexpr auto kToF16 = [](uint64_t a) { return floatToF16(get<float>(a)); };
constexpr auto kToBF16 = [](uint64_t a) { return floatToBF16(get<float>(a)); };
constexpr auto kFromF16 = [](uint64_t a) {
  return canonicalWord(f16ToFloat(uint16_t(a)));
};
constexpr auto kFromBF16 = [](uint64_t a) {
  return canonicalWord(bf16ToFloat(uint16_t(a)));
};
template <const auto &Convert>
FP8_VECTORISED_TEMPLATE Flow direct(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  setLanes(w.row(i.d[0]), mask, [=](int l) { return uint64_t(Convert(a[l])); });
  return Flow::Next;
}
/// Null for other conversions.
Handler findDirect(const Conversion &c) {
  if (c.modifies() || c.rounding != Rounding::NearestEven)
    return nullptr;
  const bool fromFloat = c.from == Type::F32, toFloat = c.to == Type::F32;
  return fromFloat && c.to == Type::F16    ? direct<kToF16>
         : fromFloat && c.to == Type::BF16 ? direct<kToBF16>
         : toFloat && c.from == Type::F16  ? direct<kFromF16>
         : toFloat && c.from == Type::BF16 ? direct<kFromBF16>
                                           : nullptr;
}

/// Between f64 and f32, and within f64.
bool keepsPayload(const Conversion &c) {
  auto isWide = [](Type type) {
    return type == Type::F64 || type == Type::F32;
  };
  return isWide(c.from) && isWide(c.to) &&
         typeSize(c.from) + typeSize(c.to) > 8;
}

Flow floatToFloat(Warp &w, const Inst &i, uint32_t mask) {
  const Conversion &c = i.get<Conversion>();
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  forLanes(mask, [&](int l) {
    double value = loadFloat(c.from, a[l]);
    if (c.flush && c.from == Type::F32 && std::fabs(value) < 0x1p-126)
      value = std::copysign(0.0, value);
    if (c.integral)
      value = roundToInteger(value, c.rounding);
    if (c.saturate)
      value = value >= 1 ? 1 : value > 0 ? value : 0;
    value = c.clampNegative(value);
    uint64_t bits = storeFloat(c.to, value, c.rounding, c.finite);
    if (value != value && keepsPayload(c))
      bits = convertedNaN(c.to, value);
    if (c.flush && c.to == Type::F32 && (bits & 0x7f800000) == 0)
      bits &= 0x80000000;
    d[l] = bits;
  });
  return Flow::Next;
}

Flow toTF32(Warp &w, const Inst &i, uint32_t mask) {
  const Conversion &c = i.get<Conversion>();
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  forLanes(mask, [&](int l) {
    uint32_t bits = uint32_t(a[l]);
    bool isNaN = (bits & 0x7fffffff) > 0x7f800000;
    // An H200 keeps sign and payload with .rna only.
    if (isNaN)
      bits = c.tiesAway ? bits & 0xffffe000 : 0x7fffe000;
    else if (!c.tiesAway && c.rounding == Rounding::NearestEven)
      bits = (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
    else if (c.tiesAway)
      bits = (bits + 0x1000) & 0xffffe000;
    else
      bits &= 0xffffe000;
    if (c.relu && bits >> 31 && !isNaN)
      bits = 0;
    // The largest finite number; its bits beyond those of tf32 are zeros.
    if (c.finite && (bits & 0x7fffffff) == 0x7f800000)
      bits = (bits & 0x80000000) | 0x7f7fe000;
    d[l] = bits;
  });
  return Flow::Next;
}

bool isInteger(Type type) {
  switch (type) {
  case Type::U8:
  case Type::S8:
  case Type::U16:
  case Type::S16:
  case Type::U32:
  case Type::S32:
  case Type::U64:
  case Type::S64:
    return true;
  default:
    return false;
  }
}

bool decodeCvt(Decoder &d, Inst &i) {
  if (d.hasQualifier("pack"))
    return decodePack(d, i);
  int mode = d.takeOneOf({"rn", "rz", "rm", "rp", "rna", "rs"});
  int integral = mode < 0 ? d.takeOneOf({"rni", "rzi", "rmi", "rpi"}) : -1;
  Conversion &c = i.make<Conversion>();
  c.flush = d.take("ftz");
  c.saturate = d.take("sat");
  c.finite = d.take("satfinite");
  c.relu = d.take("relu");
  c.integral = integral >= 0;
  c.tiesAway = mode == 4;
  c.stochastic = mode == 5;
  c.rounding = c.tiesAway || c.stochastic
                   ? Rounding::NearestEven
                   : Rounding(std::max({mode, integral, 0}));
  Type target = c.to = d.takeType(), source = c.from = d.takeType();
  if (target == Type::TF32) {
    i.fn = toTF32;
    return source == Type::F32 && operands(d, i, Type::B32, 1);
  }
  if (isPacked(target) || isPacked(source))
    return decodePackedConversion(d, i);
  if (c.stochastic)
    return d.fail("takes .rs only with packed destination types");
  if (c.tiesAway)
    return d.fail("takes .rna only with the destination type tf32");
  bool fromInteger = isInteger(source), toInteger = isInteger(target);
  if ((!fromInteger && !isFloatType(source)) ||
      (!toInteger && !isFloatType(target)))
    return d.fail("is not supported between these types");
  i.fn = fromInteger ? (toInteger ? integerToInteger : integerToFloat)
                     : (toInteger ? floatToInteger : floatToFloat);
  if (i.fn == integerToInteger && !c.saturate)
    spreadBits(i);
  if (Handler handler = findDirect(c))
    i.fn = handler;
  const ast::Operand *operand = d.peekOperand();
  c.kept = lowBits(operand ? d.registerBytes(*operand) * 8 : 0);
  return d.destination(i, target) && d.source(i, source);
}

} // namespace

void fp8::sim::addConvertOpcodes(OpcodeTable &t) { t.add("cvt", decodeCvt); }
