// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic on parts of a word (PTX ISA 9.7.1): mul24, mad24, dp2a,
// szext, fns, and cvt.pack (9.7.9.22).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"

#include <algorithm>
#include <limits>

using namespace fp8::sim;

namespace {

/// Payload of mul24 and mad24.
struct Product24 {
  bool isSigned, high, saturates;

  /// Bits 0-31, or 16-47, of the product of the low 24 bits.
  uint32_t of(uint64_t a, uint64_t b) const {
    auto extend = [&](uint64_t bits) {
      return isSigned ? int64_t(bits << 40) >> 40 : int64_t(bits & 0xffffff);
    };
    return uint32_t(extend(a) * extend(b) >> (high ? 16 : 0));
  }
};

Flow mul24(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  const Product24 &product = i.get<Product24>();
  forLanes(mask, [&](int l) { d[l] = product.of(a[l], b[l]); });
  return Flow::Next;
}

Flow mad24(Warp &w, const Inst &i, uint32_t mask) {
  using Limits = std::numeric_limits<int32_t>;
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  const Product24 &product = i.get<Product24>();
  forLanes(mask, [&](int l) {
    int64_t sum = int64_t(int32_t(product.of(a[l], b[l]))) + int32_t(c[l]);
    if (product.saturates)
      sum = std::clamp<int64_t>(sum, Limits::min(), Limits::max());
    d[l] = uint32_t(sum);
  });
  return Flow::Next;
}

template <bool Adds>
bool decode24(Decoder &d, Inst &i) {
  Product24 &product = i.make<Product24>();
  int part = d.takeOneOf({"lo", "hi"});
  product.high = part == 1;
  product.saturates = Adds && part == 1 && d.take("sat");
  Type type = d.takeType();
  product.isSigned = type == Type::S32;
  if (part < 0 || (type != Type::U32 && type != Type::S32) ||
      (product.saturates && !product.isSigned))
    return d.fail("needs .lo or .hi, and u32 or s32");
  i.fn = Adds ? mad24 : mul24;
  return operands(d, i, type, Adds ? 3 : 2);
}

/// Payload of dp2a.
struct Halves {
  bool aSigned, bSigned;
  uint8_t first; ///< byte of b: 0, or with .hi 2
};

Flow dp2a(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  const Halves form = i.get<Halves>();
  forLanes(mask, [&](int l) {
    int64_t sum = int32_t(c[l]);
    for (int n = 0; n < 2; ++n) {
      uint64_t x = a[l] >> (16 * n), y = b[l] >> (8 * (form.first + n));
      sum += int64_t(form.aSigned ? int16_t(x) : int32_t(uint16_t(x))) *
             (form.bSigned ? int8_t(y) : int32_t(uint8_t(y)));
    }
    d[l] = uint32_t(sum);
  });
  return Flow::Next;
}

bool decodeDp2a(Decoder &d, Inst &i) {
  Halves &form = i.make<Halves>();
  int part = d.takeOneOf({"lo", "hi"});
  if (part < 0)
    return d.fail("needs .lo or .hi");
  form.first = uint8_t(2 * part);
  form.aSigned = d.takeType() == Type::S32;
  form.bSigned = d.takeType() == Type::S32;
  i.fn = dp2a;
  return operands(d, i, Type::B32, 3);
}

/// Extends the low `b` bits: of more than 31 all, or with .wrap b modulo 32.
template <bool Signed, bool Clamp>
Flow szext(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  forLanes(mask, [&](int l) {
    uint32_t count =
        Clamp ? std::min<uint32_t>(uint32_t(b[l]), 32) : uint32_t(b[l]) & 31;
    uint32_t value = uint32_t(a[l] & lowBits(count));
    if (Signed && count && count < 32 && value >> (count - 1) & 1)
      value |= ~0u << count;
    d[l] = value;
  });
  return Flow::Next;
}

bool decodeSzext(Decoder &d, Inst &i) {
  int mode = d.takeOneOf({"clamp", "wrap"});
  Type type = d.takeType();
  if (mode < 0 || (type != Type::U32 && type != Type::S32))
    return d.fail("needs .clamp or .wrap, and u32 or s32");
  bool isSigned = type == Type::S32;
  i.fn = isSigned ? (mode == 0 ? szext<true, true> : szext<true, false>)
                  : (mode == 0 ? szext<false, true> : szext<false, false>);
  return d.destination(i, type) && d.source(i, type) && d.source(i, Type::U32);
}

/// The position of the n-th set bit from `base` on, upward, or for a negative n
/// downward; all ones where there is none. With 0 whether `base` itself is set.
Flow fns(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  forLanes(mask, [&](int l) {
    uint32_t bits = uint32_t(a[l]);
    int64_t base = uint32_t(b[l]), count = int32_t(c[l]);
    int64_t step = count < 0 ? -1 : 1,
            wanted = std::max<int64_t>(1, count < 0 ? -count : count);
    d[l] = ~0u;
    for (int64_t at = base; at >= 0 && at < 32; at += step) {
      if ((bits >> at & 1) && --wanted == 0)
        d[l] = uint32_t(at);
      if (wanted == 0 || count == 0)
        break;
    }
  });
  return Flow::Next;
}

/// Payload of cvt.pack: the width of the numbers, and their limits.
struct Pack {
  uint8_t bits;
  bool shifts; ///< c comes above the two numbers
  int32_t low, high;
};

Flow pack(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]),
                 *c = w.row(i.s[i.sources > 2 ? 2 : 0]);
  const Pack form = i.get<Pack>();
  forLanes(mask, [&](int l) {
    auto narrow = [&](uint64_t bits) {
      return uint32_t(std::clamp(int32_t(bits), form.low, form.high)) &
             uint32_t(lowBits(form.bits));
    };
    uint32_t pair = narrow(b[l]) | narrow(a[l]) << form.bits;
    d[l] = form.shifts ? pair | uint32_t(c[l]) << (2 * form.bits) : pair;
  });
  return Flow::Next;
}

} // namespace

bool fp8::sim::decodePack(Decoder &d, Inst &i) {
  struct Target {
    const char *name;
    uint8_t bits;
    bool isSigned;
  };
  static constexpr Target targets[] = {
      {"s16", 16, true}, {"u16", 16, false}, {"s8", 8, true}, {"u8", 8, false},
      {"s4", 4, true},   {"u4", 4, false},   {"s2", 2, true}, {"u2", 2, false}};
  d.take("pack");
  const Target *target = nullptr;
  for (const Target &t : targets)
    if (!target && d.take(t.name))
      target = &t;
  if (!target || !d.take("sat") || !d.take("s32"))
    return d.fail("needs .sat, a type from s2 to u16, and .s32");
  Pack &form = i.make<Pack>();
  form.bits = target->bits;
  form.high = int32_t(lowBits(target->isSigned ? form.bits - 1u : form.bits));
  form.low = target->isSigned ? -form.high - 1 : 0;
  form.shifts = form.bits < 16;
  if (form.shifts && !d.take("b32"))
    return d.fail("needs .b32, the type of its third source");
  i.fn = pack;
  const uint8_t count = form.shifts ? uint8_t(32 / form.bits) : 2;
  i.elements = {count, form.bits, {{64, 1}, {64, 0}, {form.bits, 2}}};
  return operands(d, i, Type::B32, form.shifts ? 3 : 2);
}

void fp8::sim::addNarrowOpcodes(OpcodeTable &t) {
  t.add("mul24", decode24<false>);
  t.add("mad24", decode24<true>);
  t.add("dp2a", decodeDp2a);
  t.add("szext", decodeSzext);
  t.add("fns", [](Decoder &d, Inst &i) {
    i.fn = fns;
    return d.take("b32") && operands(d, i, Type::B32, 3);
  });
}
