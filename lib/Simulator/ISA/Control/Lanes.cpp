// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions between the lanes of a warp: shfl, vote, match, redux, elect,
// activemask (PTX ISA 9.7.9, 9.7.13).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "Machine/Machine.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

namespace {

/// Payload of shfl.
enum class Shuffle { Up, Down, Butterfly, Index };

Flow shfl(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  uint64_t source[32];
  std::copy_n(w.row(i.s[0]), 32, source);
  const uint64_t *b = w.row(i.s[1]), *c = w.row(i.s[2]);
  uint32_t valid = 0;
  forLanes(mask, [&](int l) {
    uint32_t segment = uint32_t(c[l]) >> 8 & 31, clamp = uint32_t(c[l]) & 31,
             n = uint32_t(b[l]) & 31;
    uint32_t lane = uint32_t(l);
    uint32_t maxLane = (lane & segment) | (clamp & ~segment);
    uint32_t minLane = lane & segment;
    uint32_t from = lane;
    bool in = false;
    switch (i.get<Shuffle>()) {
    case Shuffle::Up:
      from = lane - n;
      in = int32_t(from) >= int32_t(maxLane);
      break;
    case Shuffle::Down:
      from = lane + n;
      in = from <= maxLane;
      break;
    case Shuffle::Butterfly:
      from = lane ^ n;
      in = from <= maxLane;
      break;
    case Shuffle::Index:
      from = minLane | (n & ~segment);
      in = from <= maxLane;
      break;
    }
    if (!in)
      from = lane;
    valid |= uint32_t(in) << l;
    // The lane gets something, and may leave it unused (PTX ISA 9.7.9.6).
    if (!(mask >> from & 1))
      w.leaveUndefined(i.d[0], l,
                       UndefinedBits::all(w.machine.origins.add(
                           ErrorKind::UninitialisedRegister, i, i.d[0], [&] {
                             return "'" + Machine::mnemonic(&i) +
                                    "' reads lane " + std::to_string(from) +
                                    ", which does not execute it";
                           })));
    d[l] = source[from];
  });
  if (i.predicateDestinations)
    w.setPredicate(i, 0, mask, valid);
  return Flow::Next;
}

bool decodeShfl(Decoder &d, Inst &i) {
  if (!d.take("sync"))
    return d.fail("needs .sync");
  int mode = d.takeOneOf({"up", "down", "bfly", "idx"});
  if (mode < 0 || !d.take("b32"))
    return d.fail("needs a mode and .b32");
  i.make<Shuffle>() = Shuffle(mode);
  const ast::Operand *target = d.takeOperand();
  if (!target)
    return false;
  if (target->kind == ast::Operand::Kind::Pair) {
    const ast::Operand &p = target->elements[1];
    i.predicateDestinations = 1;
    if (p.kind == ast::Operand::Kind::Register)
      i.pd[0] = int32_t(p.index);
    target = &target->elements[0];
  }
  if (!d.destinationRow(*target, Type::B32, i.d[0]))
    return false;
  i.destinations = 1;
  i.fn = shfl;
  // What is undefined goes where the value goes.
  i.computes = true;
  i.needed = 14;
  spreadBits(i, 14);
  i.convergence = Convergence::Members;
  return d.source(i, Type::B32) && d.source(i, Type::B32) &&
         d.source(i, Type::B32) && d.source(i, Type::B32);
}

/// Payload of vote.
enum class Vote { All, Any, Uniform, Ballot };

Flow vote(Warp &w, const Inst &i, uint32_t mask) {
  uint32_t p = w.predicate(i, 0) & mask;
  Vote kind = i.get<Vote>();
  if (kind == Vote::Ballot) {
    uint64_t *d = w.row(i.d[0]);
    forLanes(mask, [&](int l) { d[l] = p; });
    return Flow::Next;
  }
  bool result = kind == Vote::All   ? p == mask
                : kind == Vote::Any ? p != 0
                                    : p == 0 || p == mask;
  w.setPredicate(i, 0, mask, result ? ~0u : 0);
  return Flow::Next;
}

bool decodeVote(Decoder &d, Inst &i) {
  if (!d.take("sync"))
    return d.fail("needs .sync");
  int mode = d.takeOneOf({"all", "any", "uni", "ballot"});
  if (mode < 0)
    return d.fail("needs a mode");
  i.make<Vote>() = Vote(mode);
  i.fn = vote;
  i.convergence = Convergence::Members;
  bool ok = mode == 3 ? d.take("b32") && d.destination(i, Type::B32)
                      : d.take("pred") && d.predicateDestination(i);
  return ok && d.predicateSource(i) && d.source(i, Type::B32);
}

template <typename T, bool All>
Flow match(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  uint64_t a[32];
  std::copy_n(w.row(i.s[0]), 32, a);
  bool same = true;
  forLanes(mask, [&](int l) { same &= T(a[l]) == T(a[__builtin_ctz(mask)]); });
  forLanes(mask, [&](int l) {
    uint32_t equal = 0;
    forLanes(mask, [&](int k) { equal |= uint32_t(T(a[k]) == T(a[l])) << k; });
    d[l] = All ? (same ? mask : 0) : equal;
  });
  if (All && i.predicateDestinations)
    w.setPredicate(i, 0, mask, same ? ~0u : 0);
  return Flow::Next;
}

bool decodeMatch(Decoder &d, Inst &i) {
  int mode = d.takeOneOf({"any", "all"});
  if (mode < 0 || !d.take("sync"))
    return d.fail("needs .any or .all, and .sync");
  Type type = d.takeType();
  const ast::Operand *target = d.takeOperand();
  if (!target)
    return false;
  if (target->kind == ast::Operand::Kind::Pair) {
    i.predicateDestinations = 1;
    if (target->elements[1].kind == ast::Operand::Kind::Register)
      i.pd[0] = int32_t(target->elements[1].index);
    target = &target->elements[0];
  }
  if (!d.destinationRow(*target, Type::B32, i.d[0]))
    return false;
  i.destinations = 1;
  bool wide = typeSize(type) == 8;
  i.fn = mode == 0 ? (wide ? match<uint64_t, false> : match<uint32_t, false>)
                   : (wide ? match<uint64_t, true> : match<uint32_t, true>);
  i.convergence = Convergence::Members;
  return d.source(i, type) && d.source(i, Type::B32);
}

/// Payload of redux.
enum class Redux { Add, Min, Max, And, Or, Xor };
template <typename T>
Flow redux(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *a = w.row(i.s[0]);
  uint64_t *d = w.row(i.d[0]);
  T r = T(a[__builtin_ctz(mask)]);
  forLanes(mask & (mask - 1), [&](int l) {
    T x = T(a[l]);
    switch (i.get<Redux>()) {
    case Redux::Add:
      r = T(uint32_t(r) + uint32_t(x));
      break;
    case Redux::Min:
      r = std::min(r, x);
      break;
    case Redux::Max:
      r = std::max(r, x);
      break;
    case Redux::And:
      r &= x;
      break;
    case Redux::Or:
      r |= x;
      break;
    case Redux::Xor:
      r ^= x;
      break;
    }
  });
  forLanes(mask, [&](int l) { d[l] = uint32_t(r); });
  return Flow::Next;
}

/// Payload of redux of f32.
struct FloatRedux {
  bool max, absolute, nan; ///< .max, .abs, .NaN
};

/// NaN counts only with .NaN; -0 is less than 0.
Flow reduxFloat(Warp &w, const Inst &i, uint32_t mask) {
  const FloatRedux &redux = i.get<FloatRedux>();
  const uint64_t *a = w.row(i.s[0]);
  uint64_t *d = w.row(i.d[0]);
  float r = std::nanf("");
  bool sawNaN = false;
  forLanes(mask, [&](int l) {
    float x = get<float>(a[l]);
    if (redux.absolute)
      x = std::fabs(x);
    sawNaN |= x != x;
    bool before = redux.max ? x > r || (x == r && !std::signbit(x))
                            : x < r || (x == r && std::signbit(x));
    if (r != r || before)
      r = x;
  });
  uint64_t bits = r != r || (redux.nan && sawNaN) ? 0x7fffffff : put(r);
  forLanes(mask, [&](int l) { d[l] = bits; });
  return Flow::Next;
}

bool decodeRedux(Decoder &d, Inst &i) {
  if (!d.take("sync"))
    return d.fail("needs .sync");
  int op = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  if (op < 0)
    return d.fail("needs an operation");
  Type type = d.takeType();
  i.convergence = Convergence::Members;
  if (type == Type::F32) {
    if (Redux(op) != Redux::Min && Redux(op) != Redux::Max)
      return d.fail("takes .min or .max with .f32");
    i.make<FloatRedux>() = {Redux(op) == Redux::Max, d.take("abs"),
                            d.take("NaN")};
    i.fn = reduxFloat;
    return d.destination(i, type) && d.source(i, type) &&
           d.source(i, Type::B32);
  }
  i.make<Redux>() = Redux(op);
  i.fn = type == Type::S32                        ? redux<int32_t>
         : type == Type::U32 || type == Type::B32 ? redux<uint32_t>
                                                  : nullptr;
  return d.destination(i, type) && d.source(i, type) && d.source(i, Type::B32);
}

/// The elected lane is the lowest that takes part, as on the hardware.
Flow elect(Warp &w, const Inst &i, uint32_t mask) {
  int leader = __builtin_ctz(mask);
  uint64_t *d = w.row(i.d[0]);
  forLanes(mask, [&](int l) { d[l] = uint64_t(leader); });
  w.setPredicate(i, 0, mask, 1u << leader);
  return Flow::Next;
}

bool decodeElect(Decoder &d, Inst &i) {
  if (!d.take("sync"))
    return d.fail("needs .sync");
  const ast::Operand *target = d.takeOperand();
  if (!target || target->kind != ast::Operand::Kind::Pair)
    return d.fail("needs a destination d|p");
  const ast::Operand &p = target->elements[1];
  if (!d.destinationRow(target->elements[0], Type::B32, i.d[0]))
    return false;
  if (p.kind != ast::Operand::Kind::Register ||
      d.function.registers[p.index].bits != 1)
    return d.fail("needs a predicate as second destination");
  i.destinations = 1;
  i.predicateDestinations = 1;
  i.pd[0] = int32_t(p.index);
  i.fn = elect;
  i.convergence = Convergence::Members;
  return d.source(i, Type::B32);
}

Flow activemask(Warp &w, const Inst &i, uint32_t mask) {
  uint64_t *d = w.row(i.d[0]);
  forLanes(mask, [&](int l) { d[l] = mask; });
  return Flow::Next;
}

} // namespace

void fp8::sim::addLanesOpcodes(OpcodeTable &t) {
  t.add("shfl", decodeShfl);
  t.add("vote", decodeVote);
  t.add("match", decodeMatch);
  t.add("redux", decodeRedux);
  t.add("elect", decodeElect);
  t.add("activemask", [](Decoder &d, Inst &i) {
    i.fn = activemask;
    return d.take("b32") && d.destination(i, Type::B32);
  });
}
