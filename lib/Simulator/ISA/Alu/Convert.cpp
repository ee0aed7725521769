// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt and cvta (PTX ISA 9.7.9).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace fp8::sim;

namespace {

constexpr uint32_t kFtz = 1, kSat = 2, kRelu = 4, kFinite = 8, kInteger = 16;

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

// Inst::aux holds the modifiers, aux2 the types and the rounding, imm the
// destination register's width.
Type from(const Inst &i) { return Type(i.aux2 & 0xff); }
Type to(const Inst &i) { return Type(i.aux2 >> 8 & 0xff); }
Rounding rounding(const Inst &i) { return Rounding(i.aux2 >> 16 & 0xff); }

Flow integerToInteger(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  unsigned fromBytes = typeSize(from(i)), toBytes = typeSize(to(i));
  bool fromSigned = isSignedType(from(i)), toSigned = isSignedType(to(i));
  uint64_t keep = i.imm >= 8 ? ~uint64_t(0) : (uint64_t(1) << i.imm * 8) - 1;
  uint64_t narrow =
      toBytes == 8 ? ~uint64_t(0) : (uint64_t(1) << toBytes * 8) - 1;
  uint64_t source =
      fromBytes == 8 ? ~uint64_t(0) : (uint64_t(1) << fromBytes * 8) - 1;
  forLanes(mask, [&](int l) {
    __int128 value = fromSigned ? __int128(signExtend(a[l], fromBytes))
                                : __int128(a[l] & source);
    if (i.aux & kSat) {
      __int128 high = toSigned ? __int128(narrow >> 1) : __int128(narrow);
      __int128 low = toSigned ? -high - 1 : 0;
      value = std::clamp(value, low, high);
    }
    uint64_t bits = uint64_t(value) & narrow;
    if (toSigned && toBytes < 8)
      bits = uint64_t(signExtend(bits, toBytes));
    d[l] = bits & keep;
  });
  return Flow::Next;
}

Flow floatToInteger(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  unsigned bits = typeSize(to(i)) * 8;
  bool toSigned = isSignedType(to(i));
  double high = std::ldexp(1.0, int(bits) - (toSigned ? 1 : 0));
  double low = toSigned ? -high : 0;
  uint64_t keep = i.imm >= 8 ? ~uint64_t(0) : (uint64_t(1) << i.imm * 8) - 1;
  forLanes(mask, [&](int l) {
    double value = loadFloat(from(i), a[l]);
    if (i.aux & kFtz && std::fabs(value) < 0x1p-126)
      value = 0;
    value = roundToInteger(value, rounding(i));
    uint64_t r;
    uint64_t most = toSigned     ? (uint64_t(1) << (bits - 1)) - 1
                    : bits == 64 ? ~uint64_t(0)
                                 : (uint64_t(1) << bits) - 1;
    if (value != value) // NaN becomes 0, or the most negative number from f64
                        // and to 64 bits (PTX ISA 9.7.9.21)
      r = bits == 64 || from(i) == Type::F64 ? uint64_t(1) << (bits - 1) : 0;
    else if (value >= high)
      r = most;
    else if (value < low)
      r = toSigned ? ~most : 0;
    else
      r = toSigned ? uint64_t(int64_t(value)) : uint64_t(value);
    d[l] = r & keep;
    if (!toSigned && bits < 64)
      d[l] &= (uint64_t(1) << bits) - 1;
  });
  return Flow::Next;
}

Flow integerToFloat(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  unsigned bytes = typeSize(from(i));
  bool fromSigned = isSignedType(from(i));
  uint64_t source = bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << bytes * 8) - 1;
  forLanes(mask, [&](int l) {
    if (bytes == 8 &&
        to(i) == Type::F32) { // not through double: that would round twice
      if (rounding(i) == Rounding::NearestEven) {
        d[l] = fromSigned ? put(float(int64_t(a[l]))) : put(float(a[l]));
        return;
      }
      long double exact =
          fromSigned ? (long double)(int64_t(a[l])) : (long double)(a[l]);
      float r = float(exact);
      long double back = r;
      float up = std::numeric_limits<float>::infinity();
      Rounding mode = rounding(i);
      bool down =
          mode == Rounding::Down || (mode == Rounding::TowardZero && exact > 0);
      if (down && back > exact)
        r = std::nextafter(r, -up);
      if (!down && back < exact)
        r = std::nextafter(r, up);
      d[l] = put(r);
      return;
    }
    double value =
        fromSigned ? double(signExtend(a[l], bytes)) : double(a[l] & source);
    d[l] = storeFloat(to(i), value, rounding(i), false);
  });
  return Flow::Next;
}

Flow floatToFloat(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  forLanes(mask, [&](int l) {
    double value = loadFloat(from(i), a[l]);
    if (i.aux & kFtz && from(i) == Type::F32 && std::fabs(value) < 0x1p-126)
      value = std::copysign(0.0, value);
    if (i.aux & kInteger)
      value = roundToInteger(value, rounding(i));
    if (i.aux & kSat)
      value = value >= 1 ? 1 : value > 0 ? value : 0;
    if (i.aux & kRelu)
      value = value > 0 || value != value ? value : 0;
    uint64_t bits = storeFloat(to(i), value, rounding(i), i.aux & kFinite);
    if (i.aux & kFtz && to(i) == Type::F32 && (bits & 0x7f800000) == 0)
      bits &= 0x80000000;
    d[l] = bits;
  });
  return Flow::Next;
}

/// cvt.…x2.f32 d, a, b: a goes to the upper half.
Flow packPair(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  FloatFormat format = to(i) == Type::F16x2    ? kF16
                       : to(i) == Type::BF16x2 ? kBF16
                       : to(i) == Type::E4M3x2 ? kE4M3
                                               : kE5M2;
  unsigned bits = typeSize(to(i)) * 4;
  auto encode = [&](double value) {
    if (i.aux & kRelu)
      value = value > 0 || value != value ? value : 0;
    return uint64_t(encodeFloat(format, value, rounding(i), i.aux & kFinite));
  };
  if (bits == 16 && !i.aux && rounding(i) == Rounding::NearestEven &&
      to(i) == Type::BF16x2) {
    eachLane(mask, [&](int l) {
      d[l] = uint32_t(floatToBF16(get<float>(a[l]))) << 16 |
             floatToBF16(get<float>(b[l]));
    });
    return Flow::Next;
  }
  forLanes(mask, [&](int l) {
    d[l] = encode(get<float>(a[l])) << bits | encode(get<float>(b[l]));
  });
  return Flow::Next;
}

/// cvt.e4m3x2.f16x2 and the like: both halves of one source.
Flow packedToPair(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  FloatFormat format = to(i) == Type::E4M3x2 ? kE4M3 : kE5M2;
  forLanes(mask, [&](int l) {
    uint64_t r = 0;
    for (int k = 0; k < 2; ++k) {
      double value = loadFloat(from(i) == Type::F16x2 ? Type::F16 : Type::BF16,
                               a[l] >> (16 * k));
      if (i.aux & kRelu)
        value = value > 0 || value != value ? value : 0;
      r |= uint64_t(encodeFloat(format, value, Rounding::NearestEven, true))
           << (8 * k);
    }
    d[l] = r;
  });
  return Flow::Next;
}

/// cvt.rn.f16x2.e4m3x2 and cvt.rn.f16x2.e5m2x2.
Flow pairToHalves(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  const auto &table = from(i) == Type::E4M3x2 ? e4m3Table() : e5m2Table();
  forLanes(mask, [&](int l) {
    uint64_t r = 0;
    for (int k = 0; k < 2; ++k) {
      double value = table[a[l] >> (8 * k) & 0xff];
      if (i.aux & kRelu)
        value = value > 0 || value != value ? value : 0;
      r |= uint64_t(doubleToF16(value)) << (16 * k);
    }
    d[l] = r;
  });
  return Flow::Next;
}

Flow toTF32(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  forLanes(mask, [&](int l) {
    uint32_t bits = uint32_t(a[l]);
    if ((bits & 0x7fffffff) > 0x7f800000)
      bits = 0x7fffffff;
    else if (i.aux2 >> 16 == 0)
      bits = (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
    else if (i.aux2 >> 16 == 4) // .rna: ties away from zero
      bits = (bits + 0x1000) & 0xffffe000;
    else
      bits &= 0xffffe000;
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

bool isPair(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2 || type == Type::E4M3x2 ||
         type == Type::E5M2x2;
}

bool decodeCvt(Decoder &d, Inst &i) {
  int mode = d.takeOneOf({"rn", "rz", "rm", "rp", "rna"});
  int integral = mode < 0 ? d.takeOneOf({"rni", "rzi", "rmi", "rpi"}) : -1;
  i.aux |= d.take("ftz") ? kFtz : 0;
  i.aux |= d.take("sat") ? kSat : 0;
  i.aux |= d.take("satfinite") ? kFinite : 0;
  i.aux |= d.take("relu") ? kRelu : 0;
  i.aux |= integral >= 0 ? kInteger : 0;
  Type target = d.takeType(), source = d.takeType();
  i.aux2 = uint32_t(source) | uint32_t(target) << 8 |
           uint32_t(std::max({mode, integral, 0})) << 16;
  if (target == Type::TF32) {
    i.fn = toTF32;
    return source == Type::F32 && operands(d, i, Type::B32, 1);
  }
  if (mode == 4)
    return d.fail("takes .rna only to tf32");
  if (isPair(target) && source == Type::F32) {
    i.fn = packPair;
    return d.destination(i, target) && d.source(i, Type::F32) &&
           d.source(i, Type::F32);
  }
  if ((target == Type::E4M3x2 || target == Type::E5M2x2) &&
      (source == Type::F16x2 || source == Type::BF16x2)) {
    i.fn = packedToPair;
    return d.destination(i, target) && d.source(i, source);
  }
  if (target == Type::F16x2 &&
      (source == Type::E4M3x2 || source == Type::E5M2x2)) {
    i.fn = pairToHalves;
    return d.destination(i, target) && d.source(i, source);
  }
  bool fromInteger = isInteger(source), toInteger = isInteger(target);
  if ((!fromInteger && !isFloatType(source)) ||
      (!toInteger && !isFloatType(target)))
    return d.fail("is not supported between these types");
  i.fn = fromInteger ? (toInteger ? integerToInteger : integerToFloat)
                     : (toInteger ? floatToInteger : floatToFloat);
  const ast::Operand *operand = d.peekOperand();
  i.imm = operand ? d.registerBytes(*operand) : 0;
  return d.destination(i, target) && d.source(i, source);
}

} // namespace

void fp8::sim::addConvertOpcodes(OpcodeTable &t) { t.add("cvt", decodeCvt); }
