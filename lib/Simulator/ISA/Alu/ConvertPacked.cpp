// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt of packed numbers: of 16 bits, and of the narrow formats (PTX ISA 5.2.3,
// 9.7.9.21).

#include "ISA/Alu/Convert.h"
#include "Machine/Machine.h"

#include <algorithm>
#include <array>
#include <iterator>

using namespace fp8::sim;

namespace {

/// A packed type: a register holds `count` numbers, each in `bits` bits. Those
/// of 6 bits take 8, with zeros above.
struct PackedType {
  Type type;
  FloatFormat format;
  uint8_t count, bits;
  bool isScale; ///< ue8m0, whose numbers are powers of two
};
constexpr PackedType kTypes[] = {
    {Type::F16x2, kF16, 2, 16, false},  {Type::BF16x2, kBF16, 2, 16, false},
    {Type::E4M3x2, kE4M3, 2, 8, false}, {Type::E5M2x2, kE5M2, 2, 8, false},
    {Type::E2M3x2, kE2M3, 2, 8, false}, {Type::E3M2x2, kE3M2, 2, 8, false},
    {Type::E2M1x2, kE2M1, 2, 4, false}, {Type::UE8M0x2, {}, 2, 8, true},
    {Type::E4M3x4, kE4M3, 4, 8, false}, {Type::E5M2x4, kE5M2, 4, 8, false},
    {Type::E2M3x4, kE2M3, 4, 8, false}, {Type::E3M2x4, kE3M2, 4, 8, false},
    {Type::E2M1x4, kE2M1, 4, 4, false},
};
const PackedType *find(Type type) {
  const PackedType *found =
      std::find_if(std::begin(kTypes), std::end(kTypes),
                   [&](const PackedType &p) { return p.type == type; });
  return found == std::end(kTypes) ? nullptr : found;
}
bool isWide(const PackedType &packed) { return packed.bits == 16; }

uint64_t encode(const PackedType &to, const Conversion &c, double value) {
  if (to.isScale)
    return encodeScale(value, c.rounding, c.finite);
  return encodeFloat(to.format, c.clampNegative(value), c.rounding,
                     c.finite || !to.format.hasInfinity);
}

double decode(const PackedType &from, uint64_t bits) {
  uint32_t code = uint32_t(bits & lowBits(from.bits));
  return from.isScale ? decodeScale(uint8_t(code))
                      : decodeFloat(from.format, code);
}

FP8_VECTORISED
void packWide(uint64_t *d, uint32_t mask, const uint64_t *a, const uint64_t *b,
              bool isHalf) {
  auto join = [=](auto round) {
    setLanes(d, mask, [=](int l) {
      return uint64_t(round(get<float>(a[l])) << 16 | round(get<float>(b[l])));
    });
  };
  if (isHalf)
    join([](float value) { return uint32_t(floatToF16(value)); });
  else
    join([](float value) { return uint32_t(floatToBF16(value)); });
}

/// cvt.…x2.f32 d, a, b: a goes to the upper half.
Flow packPair(Warp &w, const Inst &i, uint32_t mask) {
  const Conversion &c = i.get<Conversion>();
  const PackedType &to = *find(c.to);
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  const bool direct =
      isWide(to) && !c.modifies() && c.rounding == Rounding::NearestEven;
  if (direct) {
    packWide(d, mask, a, b, c.to == Type::F16x2);
    return Flow::Next;
  }
  forLanes(mask, [&](int l) {
    d[l] = encode(to, c, get<float>(a[l])) << to.bits |
           encode(to, c, get<float>(b[l]));
  });
  return Flow::Next;
}

/// The codes of `from`, which has at most 8 bits, in a wide type, which has all
/// its numbers.
const uint16_t *wideCodes(const PackedType &from, const PackedType &to) {
  using Codes = std::array<uint16_t, 256>;
  static const auto all = [] {
    std::array<std::array<Codes, std::size(kTypes)>, 2> tables{};
    const Conversion plain{};
    for (size_t wide = 0; wide < 2; ++wide)
      for (size_t n = 2; n < std::size(kTypes); ++n)
        for (uint32_t code = 0; code < 256; ++code)
          tables[wide][n][code] =
              uint16_t(encode(kTypes[wide], plain, decode(kTypes[n], code)));
    return tables;
  }();
  return all[size_t(&to - kTypes)][size_t(&from - kTypes)].data();
}

/// From one pair to another.
Flow convertPair(Warp &w, const Inst &i, uint32_t mask) {
  const Conversion &c = i.get<Conversion>();
  const PackedType &from = *find(c.from), &to = *find(c.to);
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  if (isWide(to) && !c.modifies() && c.rounding == Rounding::NearestEven) {
    const uint16_t *codes = wideCodes(from, to);
    forLanes(mask, [&](int l) {
      d[l] = codes[a[l] & 255] | uint32_t(codes[a[l] >> from.bits & 255]) << 16;
    });
    return Flow::Next;
  }
  forLanes(mask, [&](int l) {
    d[l] = encode(to, c, decode(from, a[l])) |
           encode(to, c, decode(from, a[l] >> from.bits)) << to.bits;
  });
  return Flow::Next;
}

uint32_t reverseByte(uint32_t byte) {
  uint32_t reversed = 0;
  for (int bit = 0; bit < 8; ++bit)
    reversed |= (byte >> bit & 1) << (7 - bit);
  return reversed;
}

/// The random bits of the number at place `n` from the lowest, and how many
/// they are. PTX ISA 9.7.9.21 gives each pair of numbers its bits: of four, the
/// upper and the lower half, or of e2m1 the upper and the lower byte of both
/// halves. That the lower number of a pair takes the upper byte and the other
/// one the lower byte, reversed, was measured of e4m3 by FlashInfer
/// (flashinfer/mamba/conversion.cuh); the other formats are taken to be alike.
std::pair<uint32_t, unsigned> randomBits(const PackedType &to, uint32_t random,
                                         unsigned n) {
  if (to.count == 2) {
    unsigned count = to.format.mantissaBits == kF16.mantissaBits ? 13 : 16;
    return {random >> (16 * n) & ((1u << count) - 1), count};
  }
  bool upperPair = n / 2;
  uint32_t pair = random >> (upperPair ? 16 : 0) & 0xffff;
  if (to.bits == 4) {
    uint32_t shifted = random >> (upperPair ? 8 : 0);
    pair = (shifted >> 8 & 0xff00) | (shifted & 0xff);
  }
  return {n % 2 ? reverseByte(pair & 0xff) : pair >> 8, 8};
}

/// cvt.rs: two numbers as sources, or a list of four, the highest first; then
/// the random bits.
Flow roundStochastically(Warp &w, const Inst &i, uint32_t mask) {
  const Conversion &c = i.get<Conversion>();
  const PackedType &to = *find(c.to);
  const uint32_t *list = &w.machine.program.lists[i.list];
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *random = w.row(i.s[i.sources - 1]);
  auto source = [&](unsigned n) {
    unsigned fromFirst = to.count - 1u - n;
    return w.row(to.count == 4 ? list[fromFirst] : i.s[fromFirst]);
  };
  forLanes(mask, [&](int l) {
    uint64_t result = 0;
    for (unsigned n = 0; n < to.count; ++n) {
      auto [bits, count] = randomBits(to, uint32_t(random[l]), n);
      double value = c.clampNegative(get<float>(source(n)[l]));
      result |=
          uint64_t(encodeStochastically(to.format, value, bits, count,
                                        c.finite || !to.format.hasInfinity))
          << (n * to.bits);
    }
    d[l] = result;
  });
  return Flow::Next;
}

bool decodeStochastic(Decoder &d, Inst &i, const PackedType &to) {
  i.fn = roundStochastically;
  if (!d.destination(i, to.type))
    return false;
  if (to.count == 4) {
    i.elements = {4, to.bits, {}};
    return d.list(i, 4, Type::F32, false) && d.source(i, Type::B32);
  }
  spreadNumbers(i, to.bits);
  return d.source(i, Type::F32) && d.source(i, Type::F32) &&
         d.source(i, Type::B32);
}

} // namespace

bool fp8::sim::isPacked(Type type) { return find(type); }

bool fp8::sim::decodePackedConversion(Decoder &d, Inst &i) {
  const Conversion &c = i.get<Conversion>();
  const PackedType *from = find(c.from), *to = find(c.to);
  if (c.stochastic) {
    if (c.from != Type::F32 || !to || to->isScale ||
        (to->count == 2 && !isWide(*to)))
      return d.fail("takes .rs only from f32 to f16x2, bf16x2 or four numbers");
    return decodeStochastic(d, i, *to);
  }
  if (!to || to->count != 2)
    return d.fail("is not supported between these types");
  if (to->isScale && c.rounding != Rounding::TowardZero &&
      c.rounding != Rounding::Up)
    return d.fail("takes .rz or .rp to ue8m0");
  if (c.from == Type::F32) {
    i.fn = packPair;
    spreadNumbers(i, to->bits);
    return d.destination(i, c.to) && d.source(i, Type::F32) &&
           d.source(i, Type::F32);
  }
  if (!from || from->count != 2 || isWide(*from) == isWide(*to))
    return d.fail("is not supported between these types");
  i.fn = convertPair;
  spreadElements(i, 2, to->bits, from->bits);
  return d.destination(i, c.to) && d.source(i, c.from);
}
