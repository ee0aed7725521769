// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logic, shifts and bit fields (PTX ISA 9.7.1, 9.7.8).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"

using namespace fp8::sim;

namespace {

enum class Logic { And, Or, Xor };

template <Logic L>
FP8_VECTORISED_TEMPLATE Flow logic(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  const uint64_t keep = i.get<KeptBits>().mask;
  setLanes(w.row(i.d[0]), mask, [=](int l) {
    return (L == Logic::And  ? a[l] & b[l]
            : L == Logic::Or ? a[l] | b[l]
                             : a[l] ^ b[l]) &
           keep;
  });
  return Flow::Next;
}

template <Logic L>
Flow logicPredicate(Warp &w, const Inst &i, uint32_t mask) {
  uint32_t a = w.predicate(i, 0), b = w.predicate(i, 1);
  w.setPredicate(i, 0, mask,
                 L == Logic::And  ? a & b
                 : L == Logic::Or ? a | b
                                  : a ^ b);
  return Flow::Next;
}

template <Logic L>
bool decodeLogic(Decoder &d, Inst &i) {
  Type type = d.takeType();
  spreadBits(i);
  if (type == Type::Pred) {
    i.fn = logicPredicate<L>;
    return d.predicateDestination(i) && d.predicateSource(i) &&
           d.predicateSource(i);
  }
  if (type != Type::B16 && type != Type::B32 && type != Type::B64)
    return d.fail("needs type b16, b32, b64 or pred");
  i.fn = logic<L>;
  i.make<KeptBits>() = KeptBits::of(type);
  return operands(d, i, type, 2);
}

FP8_VECTORISED
Flow notBits(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  const uint64_t keep = i.get<KeptBits>().mask;
  setLanes(w.row(i.d[0]), mask, [=](int l) { return ~a[l] & keep; });
  return Flow::Next;
}
Flow notPredicate(Warp &w, const Inst &i, uint32_t mask) {
  w.setPredicate(i, 0, mask, ~w.predicate(i, 0));
  return Flow::Next;
}

/// cnot: 1 for zero, else 0.
FP8_VECTORISED
Flow isZero(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  const uint64_t keep = i.get<KeptBits>().mask;
  setLanes(w.row(i.d[0]), mask,
           [=](int l) { return uint64_t((a[l] & keep) == 0); });
  return Flow::Next;
}

template <typename T, bool Left>
FP8_VECTORISED_TEMPLATE Flow shift(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  constexpr uint32_t bits = sizeof(T) * 8;
  setLanes(w.row(i.d[0]), mask, [=](int l) {
    const uint32_t n = uint32_t(b[l]), within = n & (bits - 1);
    const T value = T(a[l]);
    const T beyond = T(!Left && std::is_signed_v<T> && value < 0 ? -1 : 0);
    const T moved = T(Left ? uint64_t(value) << within : value >> within);
    return put(n >= bits ? beyond : moved);
  });
  return Flow::Next;
}
template <typename T>
struct ShiftLeft {
  static constexpr Handler handler = shift<T, true>;
};
template <typename T>
struct ShiftRight {
  static constexpr Handler handler = shift<T, false>;
};

template <bool Left, bool Wrap>
FP8_VECTORISED_TEMPLATE Flow funnel(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  setLanes(w.row(i.d[0]), mask, [=](int l) {
    uint32_t n = Wrap                  ? uint32_t(c[l]) & 31
                 : uint32_t(c[l]) > 32 ? 32
                                       : uint32_t(c[l]);
    uint64_t both = b[l] << 32 | uint32_t(a[l]);
    return uint64_t(Left ? uint32_t(n == 32 ? both : both << n >> 32)
                         : uint32_t(both >> n));
  });
  return Flow::Next;
}

/// Payload of lop3: bit abc is the result for the bits a, b and c.
struct TruthTable {
  uint64_t bits;
};

FP8_VECTORISED
Flow lop3(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *pa = w.row(i.s[0]), *pb = w.row(i.s[1]), *pc = w.row(i.s[2]);
  const uint64_t table = i.get<TruthTable>().bits;
  uint64_t row[8]; // of the table, as bits for all places
  for (unsigned n = 0; n < 8; ++n)
    row[n] = table >> n & 1 ? 0xffffffff : 0;
  setLanes(w.row(i.d[0]), mask, [&](int l) {
    const uint64_t a = pa[l], b = pb[l], c = pc[l];
    auto ofC = [&](unsigned n) { return (row[n] & ~c) | (row[n + 1] & c); };
    auto ofB = [&](unsigned n) { return (ofC(n) & ~b) | (ofC(n + 2) & b); };
    return (ofB(0) & ~a) | (ofB(4) & a);
  });
  return Flow::Next;
}

/// Payload of prmt: how the bytes are selected.
enum class Prmt { Index, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

FP8_VECTORISED
void permuteByIndex(uint64_t *d, const uint64_t *a, const uint64_t *b,
                    const uint64_t *c, uint32_t mask) {
  setLanes(d, mask, [=](int l) {
    const uint64_t source = b[l] << 32 | uint32_t(a[l]);
    uint64_t r = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const uint64_t s = c[l] >> (4 * k) & 15;
      const uint64_t byte = source >> ((s & 7) * 8) & 0xff;
      r |= (s & 8 ? (byte >> 7) * 0xff : byte) << (8 * k);
    }
    return r;
  });
}

Flow prmt(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  Prmt mode = i.get<Prmt>();
  if (mode == Prmt::Index) {
    permuteByIndex(d, a, b, c, mask);
    return Flow::Next;
  }
  forLanes(mask, [&](int l) {
    uint64_t source = b[l] << 32 | uint32_t(a[l]);
    uint32_t control = uint32_t(c[l]), n = control & 3, r = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      uint32_t s = 0;
      switch (mode) {
      case Prmt::Index:
        break;
      case Prmt::F4e:
        s = n + k;
        break;
      case Prmt::B4e:
        s = (n - k) & 7;
        break;
      case Prmt::Rc8:
        s = n;
        break;
      case Prmt::Ecl:
        s = k > n ? k : n;
        break;
      case Prmt::Ecr:
        s = k < n ? k : n;
        break;
      case Prmt::Rc16:
        s = (n & 1) * 2 + (k & 1);
        break;
      }
      uint32_t byte = uint32_t(source >> ((s & 7) * 8)) & 0xff;
      r |= byte << (8 * k);
    }
    d[l] = r;
  });
  return Flow::Next;
}

template <typename T>
Flow bfe(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  constexpr int bits = sizeof(T) * 8;
  forLanes(mask, [&](int l) {
    int pos = int(b[l] & 0xff), len = int(c[l] & 0xff);
    T value = T(a[l]);
    bool sign = std::is_signed_v<T> && len &&
                (value >> std::min(pos + len - 1, bits - 1) & 1);
    uint64_t r = 0;
    for (int k = 0; k < bits; ++k) {
      bool bit = k < len && pos + k < bits ? value >> (pos + k) & 1 : sign;
      r |= uint64_t(bit) << k;
    }
    d[l] = r;
  });
  return Flow::Next;
}

template <typename T>
Flow bfi(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]),
                 *e = w.row(i.s[3]);
  constexpr int bits = sizeof(T) * 8;
  forLanes(mask, [&](int l) {
    int pos = int(c[l] & 0xff), len = int(e[l] & 0xff);
    T r = T(b[l]);
    for (int k = 0; k < len && pos + k < bits; ++k) {
      T bit = T(T(1) << (pos + k));
      r = T((r & ~bit) | (T(a[l]) >> k & 1 ? bit : 0));
    }
    d[l] = r;
  });
  return Flow::Next;
}

template <typename T, bool Amount>
Flow bfind(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  constexpr int bits = sizeof(T) * 8;
  forLanes(mask, [&](int l) {
    T value = T(a[l]);
    if (value < 0)
      value = T(~value);
    int found = -1;
    for (int k = bits - 1; k >= 0 && found < 0; --k)
      if (value >> k & 1)
        found = k;
    d[l] = uint32_t(found < 0 ? -1 : Amount ? bits - 1 - found : found);
  });
  return Flow::Next;
}

struct LeadingZeros {
  static unsigned apply(uint32_t v) {
    return v ? unsigned(__builtin_clz(v)) : 32;
  }
  static unsigned apply(uint64_t v) {
    return v ? unsigned(__builtin_clzll(v)) : 64;
  }
};
struct Ones {
  static unsigned apply(uint64_t v) {
    return unsigned(__builtin_popcountll(v));
  }
};
struct Reversed {
  template <typename T>
  static T apply(T v) {
    T r = 0;
    for (unsigned k = 0; k < sizeof(T) * 8; ++k)
      r = T(r << 1 | (v >> k & 1));
    return r;
  }
};

template <bool Clamp>
Flow bmsk(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  forLanes(mask, [&](int l) {
    uint32_t pos = uint32_t(a[l]), len = uint32_t(b[l]);
    if (!Clamp) {
      pos &= 31;
      len &= 31;
    }
    uint64_t ones = len >= 32 ? 0xffffffff : (uint64_t(1) << len) - 1;
    d[l] = pos >= 32 ? 0 : uint32_t(ones << pos);
  });
  return Flow::Next;
}

/// lop3.or and lop3.and: besides, whether any bit is set, combined with a
/// predicate.
template <bool Or>
Flow lop3Predicate(Warp &w, const Inst &i, uint32_t mask) {
  lop3(w, i, mask);
  const uint64_t *d = w.row(i.d[0]);
  uint32_t any = 0, q = w.predicate(i, 0);
  forLanes(mask, [&](int l) { any |= uint32_t(uint32_t(d[l]) != 0) << l; });
  w.setPredicate(i, 0, mask, Or ? any | q : any & q);
  return Flow::Next;
}

bool decodeLop3(Decoder &d, Inst &i) {
  int combination = d.takeOneOf({"or", "and"});
  if (!d.take("b32"))
    return d.fail("needs .b32");
  if (combination < 0) {
    i.fn = lop3;
    spreadBits(i);
    return operands(d, i, Type::B32, 3) &&
           d.immediate(i.make<TruthTable>().bits);
  }
  i.fn = combination == 0 ? lop3Predicate<true> : lop3Predicate<false>;
  const ast::Operand *target = d.takeOperand();
  if (!target || target->kind != ast::Operand::Kind::Pair)
    return d.fail("needs a register and a predicate as destination");
  // A sink takes what no instruction reads.
  const ast::Operand &word = target->elements[0], &p = target->elements[1];
  i.destinations = 1;
  i.d[0] = d.scratchRow();
  if (word.kind != ast::Operand::Kind::Sink &&
      !d.destinationRow(word, Type::B32, i.d[0]))
    return false;
  i.predicateDestinations = 1;
  if (p.kind == ast::Operand::Kind::Register)
    i.pd[0] = int32_t(p.index);
  for (int n = 0; n < 3; ++n)
    if (!d.source(i, Type::B32))
      return false;
  return d.immediate(i.make<TruthTable>().bits) && d.predicateSource(i);
}

template <template <typename> class Maker>
bool decodeShift(Decoder &d, Inst &i) {
  Type type = d.takeType();
  i.fn = forInteger<Maker>(type);
  spreadBits(i, 2);
  return d.destination(i, type) && d.source(i, type) && d.source(i, Type::U32);
}

template <Handler F32, Handler F64>
bool decodeCount(Decoder &d, Inst &i) {
  Type type = d.takeType();
  i.fn = type == Type::B64 ? F64 : type == Type::B32 ? F32 : nullptr;
  return d.destination(i, Type::U32) && d.source(i, type);
}

bool decodeBfe(Decoder &d, Inst &i) {
  Type type = d.takeType();
  i.fn = type == Type::U32   ? bfe<uint32_t>
         : type == Type::S32 ? bfe<int32_t>
         : type == Type::U64 ? bfe<uint64_t>
         : type == Type::S64 ? bfe<int64_t>
                             : nullptr;
  spreadBits(i, 6);
  return d.destination(i, type) && d.source(i, type) &&
         d.source(i, Type::U32) && d.source(i, Type::U32);
}

bool decodeBfind(Decoder &d, Inst &i) {
  bool amount = d.take("shiftamt");
  Type type = d.takeType();
  switch (type) {
  case Type::U32:
    i.fn = amount ? bfind<uint32_t, true> : bfind<uint32_t, false>;
    break;
  case Type::S32:
    i.fn = amount ? bfind<int32_t, true> : bfind<int32_t, false>;
    break;
  case Type::U64:
    i.fn = amount ? bfind<uint64_t, true> : bfind<uint64_t, false>;
    break;
  case Type::S64:
    i.fn = amount ? bfind<int64_t, true> : bfind<int64_t, false>;
    break;
  default:
    break;
  }
  return d.destination(i, Type::U32) && d.source(i, type);
}

} // namespace

void fp8::sim::addBitsOpcodes(OpcodeTable &t) {
  t.add("and", decodeLogic<Logic::And>);
  t.add("or", decodeLogic<Logic::Or>);
  t.add("xor", decodeLogic<Logic::Xor>);
  t.add("not", [](Decoder &d, Inst &i) {
    Type type = d.takeType();
    spreadBits(i);
    if (type == Type::Pred) {
      i.fn = notPredicate;
      return d.predicateDestination(i) && d.predicateSource(i);
    }
    i.fn = notBits;
    i.make<KeptBits>() = KeptBits::of(type);
    return operands(d, i, type, 1);
  });
  t.add("cnot", [](Decoder &d, Inst &i) {
    Type type = d.takeType();
    if (type != Type::B16 && type != Type::B32 && type != Type::B64)
      return d.fail("needs type b16, b32 or b64");
    i.fn = isZero;
    i.make<KeptBits>() = KeptBits::of(type);
    return operands(d, i, type, 1);
  });
  t.add("shl", decodeShift<ShiftLeft>);
  t.add("shr", decodeShift<ShiftRight>);
  t.add("shf", [](Decoder &d, Inst &i) {
    int side = d.takeOneOf({"l", "r"}), mode = d.takeOneOf({"wrap", "clamp"});
    if (side < 0 || mode < 0 || !d.take("b32"))
      return d.fail("needs .l or .r, .wrap or .clamp, and .b32");
    i.fn = side == 0 ? (mode == 0 ? funnel<true, true> : funnel<true, false>)
                     : (mode == 0 ? funnel<false, true> : funnel<false, false>);
    spreadBits(i, 4);
    return operands(d, i, Type::B32, 3);
  });
  t.add("lop3", decodeLop3);
  t.add("prmt", [](Decoder &d, Inst &i) {
    i.fn = prmt;
    spreadBits(i, 4);
    i.make<Prmt>() =
        Prmt(d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1);
    return d.take("b32") && operands(d, i, Type::B32, 3);
  });
  t.add("bfe", decodeBfe);
  t.add("bfi", [](Decoder &d, Inst &i) {
    Type type = d.takeType();
    i.fn = type == Type::B32   ? bfi<uint32_t>
           : type == Type::B64 ? bfi<uint64_t>
                               : nullptr;
    spreadBits(i, 12);
    return d.destination(i, type) && d.source(i, type) && d.source(i, type) &&
           d.source(i, Type::U32) && d.source(i, Type::U32);
  });
  t.add("bfind", decodeBfind);
  t.add("brev", [](Decoder &d, Inst &i) {
    Type type = d.takeType();
    i.fn = type == Type::B32   ? unary<uint32_t, Reversed>
           : type == Type::B64 ? unary<uint64_t, Reversed>
                               : nullptr;
    spreadBits(i);
    return operands(d, i, type, 1);
  });
  t.add("clz", decodeCount<unary<uint32_t, LeadingZeros>,
                           unary<uint64_t, LeadingZeros>>);
  t.add("popc", decodeCount<unary<uint32_t, Ones>, unary<uint64_t, Ones>>);
  t.add("bmsk", [](Decoder &d, Inst &i) {
    i.fn = d.takeOneOf({"clamp", "wrap"}) == 0 ? bmsk<true> : bmsk<false>;
    return d.take("b32") && operands(d, i, Type::B32, 2);
  });
}
