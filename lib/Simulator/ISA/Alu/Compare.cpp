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

template <typename T>
uint32_t compareRows(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  Comparison comparison = Comparison(i.aux & 0xff);
  uint32_t result = 0;
  auto load = [&](uint64_t bits) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
      return float(get<T>(bits));
    } else if constexpr (std::is_same_v<T, float>) {
      float v = get<float>(bits);
      return i.aux >> 16 & 1 && std::fabs(v) < 0x1p-126f
                 ? std::copysign(0.0f, v)
                 : v;
    } else {
      return get<T>(bits);
    }
  };
  forLanes(mask, [&](int l) {
    result |= uint32_t(compare(comparison, load(a[l]), load(b[l]))) << l;
  });
  return result;
}

/// aux bits 8-9: how the result is combined with predicate source 0 (0: not).
template <typename T>
Flow setp(Warp &w, const Inst &i, uint32_t mask) {
  uint32_t result = compareRows<T>(w, i, mask), inverse = ~result;
  if (uint32_t op = i.aux >> 8 & 3) {
    uint32_t c = w.predicate(i, 0);
    result = op == 1 ? result & c : op == 2 ? result | c : result ^ c;
    inverse = op == 1 ? inverse & c : op == 2 ? inverse | c : inverse ^ c;
  }
  w.setPredicate(i, 0, mask, result);
  if (i.predicateDestinations > 1)
    w.setPredicate(i, 1, mask, inverse);
  return Flow::Next;
}

template <typename T>
Flow set(Warp &w, const Inst &i, uint32_t mask) {
  uint32_t result = compareRows<T>(w, i, mask);
  if (uint32_t op = i.aux >> 8 & 3) {
    uint32_t c = w.predicate(i, 0);
    result = op == 1 ? result & c : op == 2 ? result | c : result ^ c;
  }
  uint64_t *d = w.row(i.d[0]);
  forLanes(mask, [&](int l) { d[l] = result >> l & 1 ? i.imm : 0; });
  return Flow::Next;
}

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

bool takeComparison(Decoder &d, Inst &i) {
  int comparison = d.takeOneOf(kComparisons);
  if (comparison < 0)
    return d.fail("needs a comparison such as .eq");
  int combine = d.takeOneOf({"and", "or", "xor"}) + 1;
  i.aux = uint32_t(comparison) | uint32_t(combine) << 8 |
          uint32_t(d.take("ftz")) << 16;
  return true;
}

/// `c` of a combined comparison.
bool takeCombined(Decoder &d, Inst &i) {
  return !(i.aux >> 8 & 3) || d.predicateSource(i);
}

bool decodeSetp(Decoder &d, Inst &i) {
  if (!takeComparison(d, i))
    return false;
  Type type = d.takeType();
  i.fn = forType<SetpMaker>(asUnsigned(type, Comparison(i.aux & 0xff)));
  return d.predicateDestination(i) && d.source(i, type) && d.source(i, type) &&
         takeCombined(d, i);
}

bool decodeSet(Decoder &d, Inst &i) {
  if (!takeComparison(d, i))
    return false;
  Type target = d.takeType(), type = d.takeType();
  i.imm = target == Type::F32 ? 0x3f800000 : 0xffffffff;
  if (typeSize(target) != 4)
    return d.fail("needs a 32-bit destination");
  i.fn = forType<SetMaker>(asUnsigned(type, Comparison(i.aux & 0xff)));
  return d.destination(i, target) && d.source(i, type) && d.source(i, type) &&
         takeCombined(d, i);
}

Flow selp(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  uint64_t *d = w.row(i.d[0]);
  uint32_t p = w.predicate(i, 0);
  eachLane(mask, [&](int l) { d[l] = (p >> l & 1 ? a[l] : b[l]) & i.imm; });
  // Only what was chosen needs to be defined.
  uint32_t defined = (p & w.ready[i.s[0]]) | (~p & w.ready[i.s[1]]);
  w.ready[i.d[0]] = (w.ready[i.d[0]] & ~mask) | (defined & mask);
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
      return d.predicateDestination(i) && d.predicateSource(i) &&
             d.predicateSource(i) && d.predicateSource(i);
    }
    i.fn = selp;
    i.copies = true;
    i.keepsReady = true;
    i.imm = typeSize(type) == 8 ? ~uint64_t(0)
                                : (uint64_t(1) << typeSize(type) * 8) - 1;
    return operands(d, i, type, 2) && d.predicateSource(i);
  });
  t.add("slct", [](Decoder &d, Inst &i) {
    d.take("ftz");
    Type type = d.takeType(), selector = d.takeType();
    i.fn = selector == Type::F32   ? slct<true>
           : selector == Type::S32 ? slct<false>
                                   : nullptr;
    return d.destination(i, type) && d.source(i, type) && d.source(i, type) &&
           d.source(i, selector);
  });
}
