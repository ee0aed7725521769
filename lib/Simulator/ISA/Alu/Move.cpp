// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mov, cvta, isspacep, mapa: values and addresses from place to place (PTX
// ISA 9.7.9).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "Machine/Machine.h"

using namespace fp8::sim;
using ast::Operand;

namespace {

Flow move(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  eachLane(mask, [&](int l) { d[l] = a[l] & i.imm; });
  return Flow::Next;
}

Flow move128(Warp &w, const Inst &i, uint32_t mask) {
  for (uint32_t half = 0; half < 2; ++half) {
    uint64_t *d = w.row(i.d[0] + half);
    const uint64_t *a = w.row(i.s[0] + half);
    eachLane(mask, [&](int l) { d[l] = a[l]; });
  }
  return Flow::Next;
}

Flow movePredicate(Warp &w, const Inst &i, uint32_t mask) {
  w.setPredicate(i, 0, mask, w.predicate(i, 0));
  return Flow::Next;
}
Flow setPredicateConstant(Warp &w, const Inst &i, uint32_t mask) {
  w.setPredicate(i, 0, mask, i.imm ? ~0u : 0);
  return Flow::Next;
}

/// mov.b64 d, {a, b}: element 0 goes to the low bits. aux: bits of an element.
Flow pack(Warp &w, const Inst &i, uint32_t mask) {
  const uint32_t *rows = &w.machine.program.lists[i.list];
  uint64_t keep = i.aux >= 64 ? ~uint64_t(0) : (uint64_t(1) << i.aux) - 1;
  uint64_t *d = w.row(i.d[0]), *high = w.row(i.d[0] + 1);
  bool wide = i.aux * i.listCount > 64;
  forLanes(mask, [&](int l) {
    unsigned __int128 value = 0;
    for (uint32_t n = 0; n < i.listCount; ++n)
      value |= (unsigned __int128)(w.row(rows[n])[l] & keep) << (n * i.aux);
    d[l] = uint64_t(value);
    if (wide)
      high[l] = uint64_t(value >> 64);
  });
  return Flow::Next;
}

Flow unpack(Warp &w, const Inst &i, uint32_t mask) {
  const uint32_t *rows = &w.machine.program.lists[i.list];
  uint64_t keep = i.aux >= 64 ? ~uint64_t(0) : (uint64_t(1) << i.aux) - 1;
  const uint64_t *a = w.row(i.s[0]), *high = w.row(i.s[0] + 1);
  bool wide = i.aux * i.listCount > 64;
  forLanes(mask, [&](int l) {
    unsigned __int128 value = a[l];
    if (wide)
      value |= (unsigned __int128)high[l] << 64;
    for (uint32_t n = 0; n < i.listCount; ++n)
      w.row(rows[n])[l] = uint64_t(value >> (n * i.aux)) & keep;
  });
  return Flow::Next;
}

Flow moveClock(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  uint64_t now = w.machine.now;
  eachLane(mask, [&](int l) {
    d[l] = i.aux == 1 ? now >> 32 : i.aux == 2 ? now : now & 0xffffffff;
  });
  return Flow::Next;
}

bool decodeMov(Decoder &d, Inst &i) {
  Type type = d.takeType();
  if (type == Type::Pred) {
    if (!d.predicateDestination(i))
      return false;
    const Operand *operand = d.peekOperand();
    if (operand && operand->kind == Operand::Kind::Integer) {
      i.fn = setPredicateConstant;
      return d.immediate(i.imm);
    }
    i.fn = movePredicate;
    return d.predicateSource(i);
  }
  const Operand *first = d.peekOperand();
  if (!first)
    return d.fail("lacks operands");
  unsigned bits = typeSize(type) * 8;
  i.copies = true;
  if (first->kind == Operand::Kind::Vector) {
    unsigned count = unsigned(first->elements.size());
    if (count < 2 || bits % count)
      return d.fail("cannot split its source into that many registers");
    i.fn = unpack;
    i.aux = bits / count;
    Type element = i.aux == 64   ? Type::B64
                   : i.aux == 32 ? Type::B32
                   : i.aux == 16 ? Type::B16
                                 : Type::B8;
    return d.list(i, count, element, true) && d.source(i, type);
  }
  if (!d.destination(i, type))
    return false;
  const Operand *second = d.peekOperand();
  if (!second)
    return d.fail("lacks a source");
  if (second->kind == Operand::Kind::Vector) {
    unsigned count = unsigned(second->elements.size());
    if (count < 2 || bits % count)
      return d.fail("cannot pack that many registers");
    i.fn = pack;
    i.aux = bits / count;
    Type element = i.aux == 64   ? Type::B64
                   : i.aux == 32 ? Type::B32
                   : i.aux == 16 ? Type::B16
                                 : Type::B8;
    return d.list(i, count, element, false);
  }
  if (second->kind == Operand::Kind::Special &&
      (second->name.rfind("%clock", 0) == 0 ||
       second->name.rfind("%globaltimer", 0) == 0)) {
    i.fn = moveClock;
    i.aux = second->name == "%clock64" || second->name == "%globaltimer"
                ? 2
                : second->name.find("_hi") != std::string::npos;
    d.takeOperand();
    return true;
  }
  if (type == Type::B128) {
    i.fn = move128;
    return d.source(i, type);
  }
  i.fn = move;
  i.imm = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return d.source(i, type);
}

/// imm: what is added to (aux 0), or taken from (aux 1), the address.
Flow cvta(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  eachLane(mask, [&](int l) {
    uint64_t value = a[l] + uint64_t(i.offset);
    d[l] = i.aux ? value - i.imm : value + i.imm;
    if (i.imm && i.aux)
      d[l] &= 0xffffffff;
  });
  return Flow::Next;
}

int takeSpace(Decoder &d, uint64_t &window) {
  int space = d.takeOneOf({"global", "shared", "local", "const", "param",
                           "shared::cta", "shared::cluster", "param::entry"});
  static const uint64_t windows[] = {0,
                                     kSharedWindow,
                                     kLocalWindow,
                                     0,
                                     kParamWindow,
                                     kSharedWindow,
                                     kSharedWindow,
                                     kParamWindow};
  if (space >= 0)
    window = windows[space];
  return space;
}

bool decodeCvta(Decoder &d, Inst &i) {
  i.aux = d.take("to");
  if (takeSpace(d, i.imm) < 0)
    return d.fail("needs a state space");
  Type type = d.takeType();
  i.fn = cvta;
  // The 32-bit forms belong to 32-bit addressing; module text says 64.
  return d.destination(i, type) && d.source(i, type);
}

Flow isspacep(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  uint32_t result = 0;
  forLanes(mask, [&](int l) {
    uint64_t address = a[l];
    bool in;
    if (i.aux == 0) // global: what lies in no window
      in = address < kParamWindow;
    else if (i.aux == 3)
      in = false;
    else
      in = address >= i.imm && address - i.imm < kWindowSize;
    if (in && (i.aux == 1 || i.aux == 5)) // shared means the CTA's own
      in = (address - kSharedWindow) >> kSharedRankShift == w.cta.rank;
    result |= uint32_t(in) << l;
  });
  w.setPredicate(i, 0, mask, result);
  return Flow::Next;
}

Flow mapa(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]), *b = w.row(i.s[1]);
  forLanes(mask, [&](int l) {
    uint64_t rank = uint32_t(b[l]);
    if (rank >= w.machine.ctas.size()) {
      w.machine.error(ErrorKind::OutOfBounds,
                      "'mapa' names CTA rank " + std::to_string(rank) +
                          " of a cluster of " +
                          std::to_string(w.machine.ctas.size()),
                      &w, &i, l, true);
      return;
    }
    uint64_t address = a[l] - i.imm;
    d[l] = ((address & kSharedOffsetMask) | rank << kSharedRankShift) + i.imm;
  });
  return Flow::Next;
}

Flow getctarank(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  const uint64_t *a = w.row(i.s[0]);
  forLanes(mask,
           [&](int l) { d[l] = (a[l] - i.imm) >> kSharedRankShift & 0xff; });
  return Flow::Next;
}

} // namespace

void fp8::sim::addMoveOpcodes(OpcodeTable &t) {
  t.add("mov", decodeMov);
  t.add("cvta", decodeCvta);
  t.add("isspacep", [](Decoder &d, Inst &i) {
    int space = takeSpace(d, i.imm);
    if (space < 0)
      return d.fail("needs a state space");
    i.aux = uint32_t(space);
    i.fn = isspacep;
    return d.predicateDestination(i) && d.source(i, Type::B64);
  });
  t.add("mapa", [](Decoder &d, Inst &i) {
    i.imm = d.takeOneOf({"shared::cluster"}) == 0 ? 0 : kSharedWindow;
    Type type = d.takeType();
    i.fn = mapa;
    return d.destination(i, type) && d.source(i, type) &&
           d.source(i, Type::U32);
  });
  t.add("getctarank", [](Decoder &d, Inst &i) {
    i.imm = d.takeOneOf({"shared::cluster"}) == 0 ? 0 : kSharedWindow;
    Type type = d.takeType();
    i.fn = getctarank;
    return d.destination(i, Type::U32) && d.source(i, type);
  });
}
