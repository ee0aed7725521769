// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setp, set, selp, slct (PTX ISA 9.7.6, 9.7.7).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"

#include <cmath>

using namespace fp8::sim;

namespace {

enum class Comparison : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Lo,
  Ls,
  Hi,
  Hs,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};
const std::initializer_list<std::string_view> kComparisons = {
    "eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
    "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

enum class Combination : uint8_t { None, And, Or, Xor };

/// Payload of setp and set.
struct Test {
  Comparison comparison;
  Combination combination; ///< of the result with predicate source 0
  bool flush;              ///< .ftz
  uint64_t truth;          ///< what set writes for true

  uint32_t combine(uint32_t result, uint32_t other) const {
    return combination == Combination::And  ? result & other
           : combination == Combination::Or ? result | other
                                            : result ^ other;
  }
};

template <typename T>
bool compare(Comparison comparison, T a, T b) {
  bool unordered = a != a || b != b;
  switch (comparison) {
  case Comparison::Eq:
    return a == b;
  case Comparison::Ne:
    return !unordered && a != b;
  case Comparison::Lt:
  case Comparison::Lo:
    return a < b;
  case Comparison::Le:
  case Comparison::Ls:
    return a <= b;
  case Comparison::Gt:
  case Comparison::Hi:
    return a > b;
  case Comparison::Ge:
  case Comparison::Hs:
    return a >= b;
  case Comparison::Equ:
    return unordered || a == b;
  case Comparison::Neu:
    return unordered || a != b;
  case Comparison::Ltu:
    return unordered || a < b;
  case Comparison::Leu:
    return unordered || a <= b;
  case Comparison::Gtu:
    return unordered || a > b;
  case Comparison::Geu:
    return unordered || a >= b;
  case Comparison::Num:
    return !unordered;
  case Comparison::Nan:
    return unordered;
  }
  return false;
}

/// Compares what the rows have from bit `shift` on.
template <typename T>
uint32_t compareRows(Warp &w, const Inst &i, uint32_t mask,
                     unsigned shift = 0) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  const Test &test = i.get<Test>();
  uint32_t result = 0;
  auto load = [&](uint64_t bits) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
      bits >>= shift;
      return float(get<T>(test.flush ? flushHalf(bits & 0xffff) : bits));
    } else if constexpr (std::is_same_v<T, float>) {
      float v = get<float>(bits);
      return test.flush && std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v)
                                                    : v;
    } else {
      return get<T>(bits);
    }
  };
  forLanes(mask, [&](int l) {
    result |= uint32_t(compare(test.comparison, load(a[l]), load(b[l]))) << l;
  });
  return result;
}

template <typename T>
Flow setp(Warp &w, const Inst &i, uint32_t mask) {
  const Test &test = i.get<Test>();
  uint32_t result = compareRows<T>(w, i, mask), inverse = ~result;
  if (test.combination != Combination::None) {
    uint32_t c = w.predicate(i, 0);
    result = test.combine(result, c);
    inverse = test.combine(inverse, c);
  }
  w.setPredicate(i, 0, mask, result);
  if (i.predicateDestinations > 1)
    w.setPredicate(i, 1, mask, inverse);
  return Flow::Next;
}

template <typename T>
Flow set(Warp &w, const Inst &i, uint32_t mask) {
  const Test &test = i.get<Test>();
  uint32_t result = compareRows<T>(w, i, mask);
  if (test.combination != Combination::None)
    result = test.combine(result, w.predicate(i, 0));
  uint64_t *d = w.row(i.d[0]);
  forLanes(mask, [&](int l) { d[l] = result >> l & 1 ? test.truth : 0; });
  return Flow::Next;
}

/// setp of pairs: a predicate for each half.
template <typename T>
Flow setpPair(Warp &w, const Inst &i, uint32_t mask) {
  const Test &test = i.get<Test>();
  // A destination may be the predicate that is combined.
  const bool combines = test.combination != Combination::None;
  const uint32_t c = combines ? w.predicate(i, 0) : 0;
  for (unsigned half = 0; half < i.predicateDestinations; ++half) {
    uint32_t result = compareRows<T>(w, i, mask, 16 * half);
    w.setPredicate(i, half, mask, combines ? test.combine(result, c) : result);
  }
  return Flow::Next;
}

/// set of pairs: 16 bits for each half.
template <typename T>
Flow setPair(Warp &w, const Inst &i, uint32_t mask) {
  const Test &test = i.get<Test>();
  uint32_t low = compareRows<T>(w, i, mask),
           high = compareRows<T>(w, i, mask, 16);
  if (test.combination != Combination::None) {
    low = test.combine(low, w.predicate(i, 0));
    high = test.combine(high, w.predicate(i, 0));
  }
  uint64_t *d = w.row(i.d[0]);
  forLanes(mask, [&](int l) {
    d[l] = (low >> l & 1 ? test.truth : 0) |
           (high >> l & 1 ? test.truth << 16 : 0);
  });
  return Flow::Next;
}

bool isPair(Type type) { return type == Type::F16x2 || type == Type::BF16x2; }

template <template <typename> class Maker>
Handler forType(Type type) {
  switch (type) {
  case Type::F32:
    return Maker<float>::handler;
  case Type::F64:
    return Maker<double>::handler;
  case Type::F16:
    return Maker<Half>::handler;
  case Type::BF16:
    return Maker<BFloat>::handler;
  default:
    return forInteger<Maker>(type);
  }
}
template <typename T>
struct SetpMaker {
  static constexpr Handler handler = setp<T>;
};
template <typename T>
struct SetMaker {
  static constexpr Handler handler = set<T>;
};

Type asUnsigned(Type type, Comparison comparison) {
  bool isUnsigned =
      comparison >= Comparison::Lo && comparison <= Comparison::Hs;
  if (!isUnsigned)
    return type;
  return typeSize(type) == 2   ? Type::U16
         : typeSize(type) == 4 ? Type::U32
                               : Type::U64;
}

bool takeComparison(Decoder &d, Test &test) {
  int comparison = d.takeOneOf(kComparisons);
  if (comparison < 0)
    return d.fail("needs a comparison such as .eq");
  test.comparison = Comparison(comparison);
  test.combination = Combination(d.takeOneOf({"and", "or", "xor"}) + 1);
  test.flush = d.take("ftz");
  return true;
}

/// What is compared, and `c` of a combined comparison.
bool takeCompared(Decoder &d, Inst &i, Type type) {
  return d.source(i, type) && d.source(i, type) &&
         (i.get<Test>().combination == Combination::None ||
          d.predicateSource(i));
}

bool decodeSetp(Decoder &d, Inst &i) {
  Test &test = i.make<Test>();
  if (!takeComparison(d, test))
    return false;
  Type type = d.takeType();
  i.fn = type == Type::F16x2 ? setpPair<Half>
         : type == Type::BF16x2
             ? setpPair<BFloat>
             : forType<SetpMaker>(asUnsigned(type, test.comparison));
  return d.predicateDestination(i) && takeCompared(d, i, type);
}

/// What set writes for true: 1 in a floating-point type, else all ones; of a
/// pair in each half.
uint64_t truthOf(Type type) {
  switch (type) {
  case Type::F32:
    return 0x3f800000;
  case Type::F16:
  case Type::F16x2:
    return 0x3c00;
  case Type::BF16:
  case Type::BF16x2:
    return 0x3f80;
  default:
    return lowBits(typeSize(type) * 8);
  }
}

bool decodeSet(Decoder &d, Inst &i) {
  Test &test = i.make<Test>();
  if (!takeComparison(d, test))
    return false;
  Type target = d.takeType(), type = d.takeType();
  if (isPair(type)) {
    test.truth = truthOf(isPair(target) ? target : Type::U16);
    i.fn = type == Type::F16x2 ? setPair<Half> : setPair<BFloat>;
  } else {
    test.truth = truthOf(target);
    i.fn = forType<SetMaker>(asUnsigned(type, test.comparison));
  }
  if (typeSize(target) != 2 && typeSize(target) != 4)
    return d.fail("needs a destination of 16 or 32 bits");
  return d.destination(i, target) && takeCompared(d, i, type);
}

Flow selp(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  uint64_t *d = w.row(i.d[0]);
  uint32_t p = w.predicate(i, 0);
  uint64_t keep = i.get<KeptBits>().mask;
  eachLane(mask, [&](int l) { d[l] = (p >> l & 1 ? a[l] : b[l]) & keep; });
  return Flow::Next;
}

Flow selectPredicate(Warp &w, const Inst &i, uint32_t mask) {
  uint32_t p = w.predicate(i, 2);
  w.setPredicate(i, 0, mask,
                 (p & w.predicate(i, 0)) | (~p & w.predicate(i, 1)));
  return Flow::Next;
}

template <bool Float>
Flow slct(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  uint64_t *d = w.row(i.d[0]);
  forLanes(mask, [&](int l) {
    bool first = Float ? get<float>(c[l]) >= 0 : int32_t(c[l]) >= 0;
    d[l] = first ? a[l] : b[l];
  });
  return Flow::Next;
}

} // namespace

void fp8::sim::addCompareOpcodes(OpcodeTable &t) {
  t.add("setp", decodeSetp);
  t.add("set", decodeSet);
  t.add("selp", [](Decoder &d, Inst &i) {
    Type type = d.takeType();
    if (type == Type::Pred) {
      i.fn = selectPredicate;
      spreadBits(i);
      i.choosingPredicates = 4;
      return d.predicateDestination(i) && d.predicateSource(i) &&
             d.predicateSource(i) && d.predicateSource(i);
    }
    i.fn = selp;
    spreadBits(i);
    i.choosingPredicates = 1;
    i.make<KeptBits>() = KeptBits::of(type);
    return operands(d, i, type, 2) && d.predicateSource(i);
  });
  t.add("slct", [](Decoder &d, Inst &i) {
    d.take("ftz");
    Type type = d.takeType(), selector = d.takeType();
    i.fn = selector == Type::F32   ? slct<true>
           : selector == Type::S32 ? slct<false>
                                   : nullptr;
    spreadBits(i, 4);
    return d.destination(i, type) && d.source(i, type) && d.source(i, type) &&
           d.source(i, selector);
  });
}
