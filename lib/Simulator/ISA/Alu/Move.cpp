// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mov, cvta, isspacep, mapa: values and addresses from place to place (PTX
// ISA 9.7.9).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "Machine/Machine.h"
#include "Numerics/Vectorised.h"

#include <algorithm>

using namespace fp8::sim;
using ast::Operand;

namespace {

FP8_VECTORISED
Flow move(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  const uint64_t keep = i.get<KeptBits>().mask;
  setLanes(w.row(i.d[0]), mask, [=](int l) { return a[l] & keep; });
  return Flow::Next;
}

Flow move128(Warp &w, const Inst &i, uint32_t mask) {
  for (uint32_t half = 0; half < 2; ++half) {
    const uint64_t *a = w.row(i.s[0] + half);
    setLanes(w.row(i.d[0] + half), mask, [=](int l) { return a[l]; });
  }
  return Flow::Next;
}

Flow movePredicate(Warp &w, const Inst &i, uint32_t mask) {
  w.setPredicate(i, 0, mask, w.predicate(i, 0));
  return Flow::Next;
}
/// Payload of mov.pred with a number as source.
struct PredicateValue {
  uint64_t value;
};

Flow setPredicateConstant(Warp &w, const Inst &i, uint32_t mask) {
  w.setPredicate(i, 0, mask, i.get<PredicateValue>().value ? ~0u : 0);
  return Flow::Next;
}

/// Payload of mov of vectors: element 0 lies in the low bits.
struct Elements {
  unsigned bits; ///< of one
};

/// Of all lanes.
FP8_VECTORISED
void insertBits(uint64_t *__restrict to, const uint64_t *__restrict from,
                uint64_t keep, unsigned shift) {
  for (int l = 0; l < 32; ++l)
    to[l] |= (from[l] & keep) << shift;
}
FP8_VECTORISED
void extractBits(uint64_t *to, uint32_t mask, const uint64_t *from,
                 uint64_t keep, unsigned shift) {
  setLanes(to, mask, [=](int l) { return from[l] >> shift & keep; });
}

/// Two elements.
FP8_VECTORISED
void joinBits(uint64_t *to, uint32_t mask, const uint64_t *low,
              const uint64_t *high, uint64_t keep, unsigned shift) {
  setLanes(to, mask,
           [=](int l) { return (low[l] & keep) | (high[l] & keep) << shift; });
}

/// mov.b64 d, {a, b}.
Flow pack(Warp &w, const Inst &i, uint32_t mask) {
  const uint32_t *rows = &w.machine.program.lists[i.list];
  unsigned bits = i.get<Elements>().bits;
  uint64_t keep = lowBits(bits);
  uint64_t *d = w.row(i.d[0]), *high = w.row(i.d[0] + 1);
  if (i.listCount == 2 && bits <= 32) {
    joinBits(d, mask, w.row(rows[0]), w.row(rows[1]), keep, bits);
    return Flow::Next;
  }
  if (bits * i.listCount <= 64) {
    uint64_t values[32] = {};
    for (uint32_t n = 0; n < i.listCount; ++n)
      insertBits(values, w.row(rows[n]), keep, n * bits);
    setLanes(d, mask, [&](int l) { return values[l]; });
    return Flow::Next;
  }
  forLanes(mask, [&](int l) {
    unsigned __int128 value = 0;
    for (uint32_t n = 0; n < i.listCount; ++n)
      value |= (unsigned __int128)(w.row(rows[n])[l] & keep) << (n * bits);
    d[l] = uint64_t(value);
    high[l] = uint64_t(value >> 64);
  });
  return Flow::Next;
}

Flow unpack(Warp &w, const Inst &i, uint32_t mask) {
  const uint32_t *rows = &w.machine.program.lists[i.list];
  unsigned bits = i.get<Elements>().bits;
  uint64_t keep = lowBits(bits);
  const uint64_t *a = w.row(i.s[0]), *high = w.row(i.s[0] + 1);
  if (bits * i.listCount <= 64) {
    uint64_t values[32];
    std::copy_n(a, 32, values);
    for (uint32_t n = 0; n < i.listCount; ++n)
      extractBits(w.row(rows[n]), mask, values, keep, n * bits);
    return Flow::Next;
  }
  forLanes(mask, [&](int l) {
    unsigned __int128 value = a[l] | (unsigned __int128)high[l] << 64;
    for (uint32_t n = 0; n < i.listCount; ++n)
      w.row(rows[n])[l] = uint64_t(value >> (n * bits)) & keep;
  });
  return Flow::Next;
}

/// mov.v4 of a special register that is a vector.
Flow moveVector(Warp &w, const Inst &i, uint32_t mask) {
  const uint32_t *to = &w.machine.program.lists[i.list],
                 *from = &w.machine.program.lists[i.sourceList];
  for (uint32_t n = 0; n < i.listCount; ++n) {
    const uint64_t *a = w.row(from[n]);
    setLanes(w.row(to[n]), mask, [=](int l) { return a[l]; });
  }
  return Flow::Next;
}

/// mov.pred of %is_explicit_cluster.
Flow testSpecial(Warp &w, const Inst &i, uint32_t mask) {
  w.setPredicate(i, 0, mask, w.row(i.s[0])[0] ? ~0u : 0);
  return Flow::Next;
}

/// Payload of mov from a clock: the part of it.
enum class ClockPart { Low, High, Whole };

Flow moveClock(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t now = w.machine.readClock();
  ClockPart part = i.get<ClockPart>();
  uint64_t value = part == ClockPart::High  ? now >> 32
                   : part == ClockPart::Low ? now & 0xffffffff
                                            : now;
  setLanes(w.row(i.d[0]), mask, [=](int) { return value; });
  return Flow::Next;
}

/// The vector of a mov.
bool elements(Decoder &d, Inst &i, unsigned count, unsigned bits,
              bool isDestination) {
  i.make<Elements>().bits = bits;
  Type type = bits == 64   ? Type::B64
              : bits == 32 ? Type::B32
              : bits == 16 ? Type::B16
                           : Type::B8;
  return d.list(i, count, type, isDestination);
}

bool isSpecialVector(const Operand &operand) {
  return operand.kind == Operand::Kind::Vector && !operand.elements.empty() &&
         operand.elements[0].kind == Operand::Kind::Special;
}

bool decodeMov(Decoder &d, Inst &i) {
  Type type = d.takeType();
  if (d.take("v4")) {
    i.fn = moveVector;
    return d.list(i, 4, type, true) &&
           (d.peekOperand() && isSpecialVector(*d.peekOperand())
                ? d.sourceList(i, 4, type)
                : d.fail("takes .v4 only from a special register"));
  }
  if (type == Type::Pred) {
    if (!d.predicateDestination(i))
      return false;
    const Operand *operand = d.peekOperand();
    if (operand && operand->kind == Operand::Kind::Integer) {
      i.fn = setPredicateConstant;
      return d.immediate(i.make<PredicateValue>().value);
    }
    if (operand && operand->kind == Operand::Kind::Special) {
      i.fn = testSpecial;
      return d.source(i, Type::U32);
    }
    i.fn = movePredicate;
    spreadBits(i);
    return d.predicateSource(i);
  }
  const Operand *first = d.peekOperand();
  if (!first)
    return d.fail("lacks operands");
  unsigned bits = typeSize(type) * 8;
  spreadBits(i);
  if (first->kind == Operand::Kind::Vector) {
    unsigned count = unsigned(first->elements.size());
    if (count < 2 || bits % count)
      return d.fail("cannot split its source into that many registers");
    i.fn = unpack;
    return elements(d, i, count, bits / count, true) && d.source(i, type);
  }
  if (!d.destination(i, type))
    return false;
  const Operand *second = d.peekOperand();
  if (!second)
    return d.fail("lacks a source");
  if (isSpecialVector(*second))
    return d.fail("reads a register of four components; read one of them, such "
                  "as .x, or use .v4");
  if (second->kind == Operand::Kind::Vector) {
    unsigned count = unsigned(second->elements.size());
    if (count < 2 || bits % count)
      return d.fail("cannot pack that many registers");
    i.fn = pack;
    return elements(d, i, count, bits / count, false);
  }
  if (second->kind == Operand::Kind::Special &&
      (second->name.rfind("%clock", 0) == 0 ||
       second->name.rfind("%globaltimer", 0) == 0)) {
    i.fn = moveClock;
    i.make<ClockPart>() =
        second->name == "%clock64" || second->name == "%globaltimer"
            ? ClockPart::Whole
        : second->name.find("_hi") != std::string::npos ? ClockPart::High
                                                        : ClockPart::Low;
    d.takeOperand();
    return true;
  }
  if (type == Type::B128) {
    i.fn = move128;
    return d.source(i, type);
  }
  i.fn = move;
  i.make<KeptBits>() = KeptBits::of(type);
  return d.source(i, type);
}

/// Payload of what converts addresses: the window of a state space within the
/// generic space.
struct Window {
  uint64_t base;
  bool leave; ///< cvta.to: from generic addresses to those of the space
};

FP8_VECTORISED
Flow cvta(Warp &w, const Inst &i, uint32_t mask) {
  const Window window = i.get<Window>();
  const uint64_t *a = w.row(i.s[0]);
  const uint64_t added =
      uint64_t(i.offset) + (window.leave ? -window.base : window.base);
  const uint64_t keep = window.base && window.leave ? 0xffffffff : ~uint64_t(0);
  setLanes(w.row(i.d[0]), mask, [=](int l) { return (a[l] + added) & keep; });
  return Flow::Next;
}

enum class SpaceName {
  Global,
  Shared,
  Local,
  Const,
  Param,
  SharedCta,
  SharedCluster,
  ParamEntry
};

bool takeSpace(Decoder &d, SpaceName &space, uint64_t &window) {
  int name = d.takeOneOf({"global", "shared", "local", "const", "param",
                          "shared::cta", "shared::cluster", "param::entry"});
  if (name < 0)
    return d.fail("needs a state space");
  static const uint64_t windows[] = {0,
                                     kSharedWindow,
                                     kLocalWindow,
                                     0,
                                     kParamWindow,
                                     kSharedWindow,
                                     kSharedWindow,
                                     kParamWindow};
  space = SpaceName(name);
  window = windows[name];
  return true;
}

bool decodeCvta(Decoder &d, Inst &i) {
  Window &window = i.make<Window>();
  window.leave = d.take("to");
  SpaceName space;
  if (!takeSpace(d, space, window.base))
    return false;
  Type type = d.takeType();
  i.fn = cvta;
  // The 32-bit forms belong to 32-bit addressing; module text says 64.
  return d.destination(i, type) && d.source(i, type);
}

bool isConstant(const Program &program, uint64_t address) {
  return std::any_of(program.globals.begin(), program.globals.end(),
                     [&](const Program::Global &variable) {
                       return variable.isConstant &&
                              address - variable.address < variable.bytes;
                     });
}

/// Payload of isspacep.
struct SpaceQuery {
  SpaceName space;
  uint64_t window;

  /// Whether the generic address lies in the space; shared means that of CTA
  /// `rank`.
  bool covers(const Program &program, uint64_t address, uint32_t rank) const {
    switch (space) {
    case SpaceName::Global: // what lies in no window
      return address < kParamWindow && !isConstant(program, address);
    case SpaceName::Const:
      return isConstant(program, address);
    case SpaceName::Shared:
    case SpaceName::SharedCta:
      if ((address - kSharedWindow) >> kSharedRankShift != rank)
        return false;
      break;
    default:
      break;
    }
    return address >= window && address - window < kWindowSize;
  }
};

Flow isspacep(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  const SpaceQuery &query = i.get<SpaceQuery>();
  uint32_t result = 0;
  forLanes(mask, [&](int l) {
    result |= uint32_t(query.covers(w.machine.program, a[l], w.cta.rank)) << l;
  });
  w.setPredicate(i, 0, mask, result);
  return Flow::Next;
}

bool decodeIsspacep(Decoder &d, Inst &i) {
  SpaceQuery &query = i.make<SpaceQuery>();
  if (!takeSpace(d, query.space, query.window))
    return false;
  i.fn = isspacep;
  return d.predicateDestination(i) && d.source(i, Type::B64);
}

Flow mapa(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t window = i.get<Window>().base;
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  forLanes(mask, [&](int l) {
    uint64_t rank = uint32_t(b[l]);
    if (rank >= w.machine.ctas.size()) {
      w.machine.error(ErrorKind::OutOfBounds,
                      "'mapa' names CTA rank " + std::to_string(rank) +
                          ", but the cluster has " +
                          std::to_string(w.machine.ctas.size()) + " CTAs",
                      &w, &i, l, true);
      return;
    }
    uint64_t address = a[l] - window;
    d[l] = ((address & kSharedOffsetMask) | rank << kSharedRankShift) + window;
  });
  return Flow::Next;
}

Flow getctarank(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t window = i.get<Window>().base;
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  forLanes(mask,
           [&](int l) { d[l] = (a[l] - window) >> kSharedRankShift & 0xff; });
  return Flow::Next;
}

} // namespace

void fp8::sim::addMoveOpcodes(OpcodeTable &t) {
  t.add("mov", decodeMov);
  t.add("cvta", decodeCvta);
  t.add("isspacep", decodeIsspacep);
  t.add("mapa", [](Decoder &d, Inst &i) {
    i.make<Window>().base = d.take("shared::cluster") ? 0 : kSharedWindow;
    Type type = d.takeType();
    i.fn = mapa;
    i.needed = 2;
    return d.destination(i, type) && d.source(i, type) &&
           d.source(i, Type::U32);
  });
  t.add("getctarank", [](Decoder &d, Inst &i) {
    i.make<Window>().base = d.take("shared::cluster") ? 0 : kSharedWindow;
    Type type = d.takeType();
    i.fn = getctarank;
    return d.destination(i, Type::U32) && d.source(i, type);
  });
}
