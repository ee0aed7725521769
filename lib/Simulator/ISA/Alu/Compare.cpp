// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setp, set, selp, slct (PTX ISA 9.7.6, 9.7.7).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

using namespace fp8::sim;

namespace {

/// How two numbers stand to each other, a bit each.
enum Relation : uint8_t { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

struct Comparison {
  std::string_view name;
  uint8_t holds;   ///< in these relations
  bool ofUnsigned; ///< whatever the type
};
constexpr Comparison kComparisons[] = {
    {"eq", kEqual, false},
    {"ne", kLess | kGreater, false},
    {"lt", kLess, false},
    {"le", kLess | kEqual, false},
    {"gt", kGreater, false},
    {"ge", kGreater | kEqual, false},
    {"lo", kLess, true},
    {"ls", kLess | kEqual, true},
    {"hi", kGreater, true},
    {"hs", kGreater | kEqual, true},
    {"equ", kEqual | kUnordered, false},
    {"neu", kLess | kGreater | kUnordered, false},
    {"ltu", kLess | kUnordered, false},
    {"leu", kLess | kEqual | kUnordered, false},
    {"gtu", kGreater | kUnordered, false},
    {"geu", kGreater | kEqual | kUnordered, false},
    {"num", kLess | kEqual | kGreater, false},
    {"nan", kUnordered, false},
};

enum class Combination : uint8_t { None, And, Or, Xor };

/// Payload of setp and set.
struct Test {
  uint8_t relations;       ///< in which it is true
  bool ofUnsigned;         ///< Comparison::ofUnsigned
  Combination combination; ///< of the result with predicate source 0
  bool flush;              ///< .ftz
  uint64_t truth;          ///< what set writes for true

  uint32_t combine(uint32_t result, uint32_t other) const {
    return combination == Combination::And  ? result & other
           : combination == Combination::Or ? result | other
                                            : result ^ other;
  }
};

/// Compares what the rows have from bit `shift` on.
template <typename T>
FP8_VECTORISED_TEMPLATE uint32_t compareRows(Warp &w, const Inst &i,
                                             uint32_t mask,
                                             unsigned shift = 0) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  const Test &test = i.get<Test>();
  const bool flushes = test.flush;
  auto load = [=](uint64_t bits) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
      bits >>= shift;
      return float(get<T>(flushes ? flushHalf(bits & 0xffff) : bits));
    } else if constexpr (std::is_same_v<T, float>) {
      float v = get<float>(bits);
      return flushes && std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v;
    } else {
      return get<T>(bits);
    }
  };
  const uint32_t less =
      testLanes(mask, [=](int l) { return load(a[l]) < load(b[l]); });
  const uint32_t equal =
      testLanes(mask, [=](int l) { return load(a[l]) == load(b[l]); });
  uint32_t unordered = 0;
  if constexpr (!std::is_integral_v<T>)
    unordered = testLanes(mask, [=](int l) {
      const auto x = load(a[l]), y = load(b[l]);
      return (x != x) | (y != y);
    });
  const uint32_t greater = mask & ~(less | equal | unordered);
  auto where = [&](Relation relation, uint32_t lanes) {
    return test.relations & relation ? lanes : 0;
  };
  return where(kLess, less) | where(kEqual, equal) | where(kGreater, greater) |
         where(kUnordered, unordered);
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
  const uint64_t truth = test.truth;
  setLanes(w.row(i.d[0]), mask,
           [=](int l) { return result >> l & 1 ? truth : 0; });
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
  const uint64_t truth = test.truth;
  setLanes(w.row(i.d[0]), mask, [=](int l) {
    return (low >> l & 1 ? truth : 0) | (high >> l & 1 ? truth << 16 : 0);
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

/// The type as which it is compared.
Type comparedType(Type type, const Test &test) {
  if (!test.ofUnsigned)
    return type;
  return typeSize(type) == 2   ? Type::U16
         : typeSize(type) == 4 ? Type::U32
                               : Type::U64;
}

bool takeComparison(Decoder &d, Test &test) {
  auto found = std::find_if(
      std::begin(kComparisons), std::end(kComparisons),
      [&](const Comparison &comparison) { return d.take(comparison.name); });
  if (found == std::end(kComparisons))
    return d.fail("needs a comparison such as .eq");
  test.relations = found->holds;
  test.ofUnsigned = found->ofUnsigned;
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
  i.fn = type == Type::F16x2    ? setpPair<Half>
         : type == Type::BF16x2 ? setpPair<BFloat>
                                : forType<SetpMaker>(comparedType(type, test));
  if (isPair(type))
    spreadElements(i, 2, 16, 16);
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
    spreadElements(i, 2, 16, 16);
  } else {
    test.truth = truthOf(target);
    i.fn = forType<SetMaker>(comparedType(type, test));
  }
  if (typeSize(target) != 2 && typeSize(target) != 4)
    return d.fail("needs a destination of 16 or 32 bits");
  return d.destination(i, target) && takeCompared(d, i, type);
}

FP8_VECTORISED
Flow selp(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  const uint32_t p = w.predicate(i, 0);
  const uint64_t keep = i.get<KeptBits>().mask;
  setLanes(w.row(i.d[0]), mask,
           [=](int l) { return (p >> l & 1 ? a[l] : b[l]) & keep; });
  return Flow::Next;
}

Flow selectPredicate(Warp &w, const Inst &i, uint32_t mask) {
  uint32_t p = w.predicate(i, 2);
  w.setPredicate(i, 0, mask,
                 (p & w.predicate(i, 0)) | (~p & w.predicate(i, 1)));
  return Flow::Next;
}

/// A flushed selector of f32 is 0, and so selects the first.
template <bool Float, bool Flush = false>
FP8_VECTORISED_TEMPLATE Flow slct(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  setLanes(w.row(i.d[0]), mask, [=](int l) {
    constexpr float kSubnormal = Flush ? 0x1p-126f : 0;
    bool first = Float ? get<float>(c[l]) >= 0 || get<float>(c[l]) > -kSubnormal
                       : int32_t(c[l]) >= 0;
    return first ? a[l] : b[l];
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
    const Handler ofFloat = d.take("ftz") ? slct<true, true> : slct<true>;
    Type type = d.takeType(), selector = d.takeType();
    i.fn = selector == Type::F32   ? ofFloat
           : selector == Type::S32 ? slct<false>
                                   : nullptr;
    spreadBits(i, 4);
    return d.destination(i, type) && d.source(i, type) && d.source(i, type) &&
           d.source(i, selector);
  });
}
