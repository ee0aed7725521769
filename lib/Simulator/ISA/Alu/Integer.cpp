// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic (PTX ISA 9.7.1, 9.7.2): add sub mul mad div rem abs neg
// min max, with carry, sad, dp4a.

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"

#include <algorithm>
#include <limits>

using namespace fp8::sim;

namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;
template <typename T>
using Wide =
    std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    return T(Unsigned<T>(a) + Unsigned<T>(b));
  }
};
struct Sub {
  template <typename T>
  static T apply(T a, T b) {
    return T(Unsigned<T>(a) - Unsigned<T>(b));
  }
};
struct MulLo {
  template <typename T>
  static T apply(T a, T b) {
    return T(uint64_t(a) * uint64_t(b));
  }
};
struct MulHi {
  template <typename T>
  static T apply(T a, T b) {
    return T((Wide<T>(a) * Wide<T>(b)) >> (sizeof(T) * 8));
  }
};
/// Division by zero is machine-dependent in PTX; it gives all ones here, as the
/// hardware's integer division does.
struct Div {
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return T(Unsigned<T>(0) - Unsigned<T>(a));
    return T(a / b);
  }
};
struct Rem {
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return T(a % b);
  }
};
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    return std::min(a, b);
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    return std::max(a, b);
  }
};
struct Abs {
  template <typename T>
  static T apply(T a) {
    return a < 0 ? T(Unsigned<T>(0) - Unsigned<T>(a)) : a;
  }
};
struct Neg {
  template <typename T>
  static T apply(T a) {
    return T(Unsigned<T>(0) - Unsigned<T>(a));
  }
};
struct MadLo {
  template <typename T>
  static T apply(T a, T b, T c) {
    return T(uint64_t(a) * uint64_t(b) + uint64_t(c));
  }
};
struct MadHi {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulHi::apply(a, b), c);
  }
};
struct AddSat {
  template <typename T>
  static T apply(T a, T b) {
    return T(std::clamp<int64_t>(int64_t(a) + int64_t(b),
                                 std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()));
  }
};
struct SubSat {
  template <typename T>
  static T apply(T a, T b) {
    return T(std::clamp<int64_t>(int64_t(a) - int64_t(b),
                                 std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()));
  }
};

struct MadHiSat {
  template <typename T>
  static T apply(T a, T b, T c) {
    return AddSat::apply(MulHi::apply(a, b), c);
  }
};
struct Sad {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(c, a < b ? Sub::apply(b, a) : Sub::apply(a, b));
  }
};
template <typename Op, unsigned Arity>
struct With {
  template <typename T>
  struct Maker {
    static Flow handler(Warp &w, const Inst &i, uint32_t mask) {
      if constexpr (Arity == 1)
        return unary<T, Op>(w, i, mask);
      else if constexpr (Arity == 2)
        return binary<T, Op>(w, i, mask);
      else
        return ternary<T, Op>(w, i, mask);
    }
  };
};

/// mul.wide and mad.wide: the product, and the addend, have twice the width.
template <typename T, typename W, bool Addend>
FP8_VECTORISED_TEMPLATE Flow mulWide(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]),
                 *c = w.row(i.s[Addend ? 2 : 0]);
  setLanes(w.row(i.d[0]), mask, [=](int l) {
    uint64_t product = uint64_t(W(get<T>(a[l]))) * uint64_t(W(get<T>(b[l])));
    return put(W(Addend ? product + c[l] : product));
  });
  return Flow::Next;
}

template <bool Addend>
Handler wideHandler(Type type) {
  switch (type) {
  case Type::U16:
    return mulWide<uint16_t, uint32_t, Addend>;
  case Type::S16:
    return mulWide<int16_t, int32_t, Addend>;
  case Type::U32:
    return mulWide<uint32_t, uint64_t, Addend>;
  case Type::S32:
    return mulWide<int32_t, int64_t, Addend>;
  default:
    return nullptr;
  }
}

Type doubled(Type type) {
  return type == Type::U16   ? Type::U32
         : type == Type::S16 ? Type::S32
         : type == Type::U32 ? Type::U64
                             : Type::S64;
}

template <typename Op>
bool decodeBinary(Decoder &d, Inst &i) {
  Type type = d.takeType();
  i.fn = forInteger<With<Op, 2>::template Maker>(type);
  return operands(d, i, type, 2);
}
/// min and max: .relu makes what is negative 0.
template <typename Op>
struct Relu {
  template <typename T>
  static T apply(T a, T b) {
    return std::max<T>(Op::apply(a, b), 0);
  }
};
template <typename Op>
bool decodeMinMax(Decoder &d, Inst &i) {
  if (!d.take("relu"))
    return decodeBinary<Op>(d, i);
  i.fn = binary<int32_t, Relu<Op>>;
  return d.take("s32") ? operands(d, i, Type::S32, 2)
                       : d.fail("takes .relu only with s32 and s16x2");
}
template <typename Op>
bool decodeUnary(Decoder &d, Inst &i) {
  Type type = d.takeType();
  i.fn = forInteger<With<Op, 1>::template Maker>(type);
  return operands(d, i, type, 1);
}

bool decodeMul(Decoder &d, Inst &i) {
  int part = d.takeOneOf({"lo", "hi", "wide"});
  Type type = d.takeType();
  if (part == 2) {
    i.fn = wideHandler<false>(type);
    return i.fn && d.destination(i, doubled(type)) && d.source(i, type) &&
           d.source(i, type);
  }
  i.fn = part == 1   ? forInteger<With<MulHi, 2>::Maker>(type)
         : part == 0 ? forInteger<With<MulLo, 2>::Maker>(type)
                     : nullptr;
  return operands(d, i, type, 2);
}

/// Payload of what carries: the row of the flag, which no register uses.
struct CarryFlag {
  uint32_t row;
};

/// Behind the operands: the flag as a further source, and destination.
bool takeCarryFlag(Decoder &d, Inst &i, bool in, bool out) {
  uint32_t flag = i.make<CarryFlag>().row = d.scratchRow() + 1;
  if (in)
    i.s[i.sources++] = flag;
  if (out)
    i.d[i.destinations++] = flag;
  return true;
}

template <typename T, bool Subtract, bool In, bool Out>
Flow carry(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  uint64_t *flag = w.row(i.get<CarryFlag>().row);
  forLanes(mask, [&](int l) {
    // A subtraction adds the complement, so that the flag is clear after a
    // borrow. ptxas folds `sub.cc` in front of `addc` so, and nvcc's division
    // of 128 bits relies on it.
    unsigned __int128 x = T(a[l]), y = T(Subtract ? ~b[l] : b[l]),
                      in = In ? flag[l] & 1 : Subtract, r = x + y + in;
    d[l] = uint64_t(T(r));
    if (Out)
      flag[l] = uint64_t(r >> (sizeof(T) * 8)) & 1;
  });
  return Flow::Next;
}

template <typename T>
Handler carryHandler(bool subtract, bool in, bool out) {
  if (subtract)
    return in ? (out ? carry<T, true, true, true> : carry<T, true, true, false>)
              : carry<T, true, false, true>;
  return in ? (out ? carry<T, false, true, true> : carry<T, false, true, false>)
            : carry<T, false, false, true>;
}

bool decodeCarry(Decoder &d, Inst &i, bool subtract, bool in) {
  bool out = d.take("cc");
  Type type = d.takeType();
  if (typeSize(type) == 4)
    i.fn = carryHandler<uint32_t>(subtract, in, out);
  else if (typeSize(type) == 8)
    i.fn = carryHandler<uint64_t>(subtract, in, out);
  return operands(d, i, type, 2) && takeCarryFlag(d, i, in, out);
}

template <typename T, bool Hi, bool In, bool Out>
Flow madCarry(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  uint64_t *flag = w.row(i.get<CarryFlag>().row);
  forLanes(mask, [&](int l) {
    T product =
        Hi ? MulHi::apply(T(a[l]), T(b[l])) : MulLo::apply(T(a[l]), T(b[l]));
    using U = Unsigned<T>;
    unsigned __int128 r =
        (unsigned __int128)U(product) + U(c[l]) + (In ? flag[l] & 1 : 0);
    d[l] = uint64_t(U(r));
    if (Out)
      flag[l] = uint64_t(r >> (sizeof(T) * 8)) & 1;
  });
  return Flow::Next;
}
template <typename T>
Handler madCarryHandler(bool hi, bool in, bool out) {
  if (hi)
    return in ? (out ? madCarry<T, true, true, true>
                     : madCarry<T, true, true, false>)
              : madCarry<T, true, false, true>;
  return in ? (out ? madCarry<T, false, true, true>
                   : madCarry<T, false, true, false>)
            : madCarry<T, false, false, true>;
}
bool decodeMadCarry(Decoder &d, Inst &i, bool in) {
  int part = d.takeOneOf({"lo", "hi"});
  bool out = d.take("cc");
  Type type = d.takeType();
  i.fn = type == Type::S32     ? madCarryHandler<int32_t>(part == 1, in, out)
         : type == Type::S64   ? madCarryHandler<int64_t>(part == 1, in, out)
         : typeSize(type) == 4 ? madCarryHandler<uint32_t>(part == 1, in, out)
         : typeSize(type) == 8 ? madCarryHandler<uint64_t>(part == 1, in, out)
                               : nullptr;
  return operands(d, i, type, 3) && takeCarryFlag(d, i, in, out);
}

template <bool ASigned, bool BSigned>
Flow dp4a(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  forLanes(mask, [&](int l) {
    int64_t sum = int32_t(c[l]);
    for (int n = 0; n < 32; n += 8) {
      int x = ASigned ? int8_t(a[l] >> n) : int(uint8_t(a[l] >> n));
      int y = BSigned ? int8_t(b[l] >> n) : int(uint8_t(b[l] >> n));
      sum += x * y;
    }
    d[l] = uint32_t(sum);
  });
  return Flow::Next;
}
bool decodeDp4a(Decoder &d, Inst &i) {
  Type a = d.takeType(), b = d.takeType();
  bool as = a == Type::S32, bs = b == Type::S32;
  i.fn = as ? (bs ? dp4a<true, true> : dp4a<true, false>)
            : (bs ? dp4a<false, true> : dp4a<false, false>);
  return operands(d, i, Type::B32, 3);
}

} // namespace

/// Whether the last type qualifier belongs to another family.
static bool isFloating(Decoder &d) {
  for (const char *type :
       {"f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "f32x2"})
    if (d.hasQualifier(type))
      return true;
  return false;
}
static bool isPacked(Decoder &d) {
  return d.hasQualifier("u16x2") || d.hasQualifier("s16x2");
}

static bool decodeMad(Decoder &d, Inst &i) {
  if (isFloating(d))
    return decodeFloatArithmetic(d, i);
  if (d.hasQualifier("cc"))
    return decodeMadCarry(d, i, false);
  int part = d.takeOneOf({"lo", "hi", "wide"});
  if (part == 1 && d.take("sat")) {
    i.fn = ternary<int32_t, MadHiSat>;
    return d.take("s32") && operands(d, i, Type::S32, 3);
  }
  Type type = d.takeType();
  if (part == 2) {
    i.fn = wideHandler<true>(type);
    return i.fn && d.destination(i, doubled(type)) && d.source(i, type) &&
           d.source(i, type) && d.source(i, doubled(type));
  }
  i.fn = part == 1   ? forInteger<With<MadHi, 3>::Maker>(type)
         : part == 0 ? forInteger<With<MadLo, 3>::Maker>(type)
                     : nullptr;
  return operands(d, i, type, 3);
}

void fp8::sim::addIntegerOpcodes(OpcodeTable &t) {
  t.add("add", [](Decoder &d, Inst &i) {
    if (isFloating(d))
      return decodeFloatArithmetic(d, i);
    if (isPacked(d))
      return decodePackedInteger(d, i);
    if (d.hasQualifier("cc"))
      return decodeCarry(d, i, false, false);
    if (d.take("sat")) {
      i.fn = binary<int32_t, AddSat>;
      return d.take("s32") && operands(d, i, Type::S32, 2);
    }
    return decodeBinary<Add>(d, i);
  });
  t.add("sub", [](Decoder &d, Inst &i) {
    if (isFloating(d))
      return decodeFloatArithmetic(d, i);
    if (d.hasQualifier("cc"))
      return decodeCarry(d, i, true, false);
    if (d.take("sat")) {
      i.fn = binary<int32_t, SubSat>;
      return d.take("s32") && operands(d, i, Type::S32, 2);
    }
    return decodeBinary<Sub>(d, i);
  });
  t.add("addc",
        [](Decoder &d, Inst &i) { return decodeCarry(d, i, false, true); });
  t.add("subc",
        [](Decoder &d, Inst &i) { return decodeCarry(d, i, true, true); });
  t.add("mul", [](Decoder &d, Inst &i) {
    return isFloating(d) ? decodeFloatArithmetic(d, i) : decodeMul(d, i);
  });
  t.add("mad", decodeMad);
  t.add("madc", [](Decoder &d, Inst &i) { return decodeMadCarry(d, i, true); });
  t.add("div", [](Decoder &d, Inst &i) {
    return isFloating(d) ? decodeFloatArithmetic(d, i)
                         : decodeBinary<Div>(d, i);
  });
  t.add("rem", decodeBinary<Rem>);
  t.add("min", [](Decoder &d, Inst &i) {
    return isFloating(d) ? decodeFloatArithmetic(d, i)
           : isPacked(d) ? decodePackedInteger(d, i)
                         : decodeMinMax<Min>(d, i);
  });
  t.add("max", [](Decoder &d, Inst &i) {
    return isFloating(d) ? decodeFloatArithmetic(d, i)
           : isPacked(d) ? decodePackedInteger(d, i)
                         : decodeMinMax<Max>(d, i);
  });
  t.add("abs", [](Decoder &d, Inst &i) {
    return isFloating(d) ? decodeFloatArithmetic(d, i) : decodeUnary<Abs>(d, i);
  });
  t.add("neg", [](Decoder &d, Inst &i) {
    return isFloating(d) ? decodeFloatArithmetic(d, i) : decodeUnary<Neg>(d, i);
  });
  t.add("sad", [](Decoder &d, Inst &i) {
    Type type = d.takeType();
    i.fn = forInteger<With<Sad, 3>::Maker>(type);
    return operands(d, i, type, 3);
  });
  t.add("dp4a", decodeDp4a);
}
