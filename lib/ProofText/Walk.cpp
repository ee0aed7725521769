// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk of one thread.

#include "Walk.h"

#include "Evaluate.h"

#include <algorithm>
#include <cstring>

using namespace fp8::prooftext;
using Op = CodeStep::Op;

uint64_t Walk::getSharedMemory(unsigned rank) const {
  return (uint64_t(rank) << kRankShift) + kFirstByte;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Bits Walk::getValue(const State &state, const Source &source) const {
  switch (source.kind) {
  case Source::Kind::Unknown:
    return {};
  case Source::Kind::Constant:
    return Bits::constant(source.value);
  case Source::Kind::Shared:
    return Bits::constant(getSharedMemory(thread.rank) + source.value);
  case Source::Kind::Tid:
    return Bits::constant(32 * thread.warp + thread.lane);
  case Source::Kind::Lane:
    return Bits::constant(thread.lane);
  case Source::Kind::Rank:
    return Bits::constant(thread.rank);
  case Source::Kind::Cta: {
    unsigned ctas = kernel.clusterSize;
    return Bits::constant(thread.rank)
        .restricted(ctas & (ctas - 1) ? 0 : ctas - 1);
  }
  case Source::Kind::Register:
    break;
  }
  int32_t place = code.places[source.number];
  if (place < 0)
    return {};
  Bits value = state.values[place].bits;
  if (source.negated)
    value = {~value.value & value.known, value.known};
  if (!source.value)
    return value;
  uint64_t run = getLowRun(value.known);
  return {(value.value + source.value) & run, run};
}

Bits Walk::compute(const State &state, const CodeStep &step) const {
  std::vector<Bits> sources;
  for (const Source &source : step.sources)
    sources.push_back(getValue(state, source));
  switch (step.op) {
  case Op::Elect:
    return Bits::constant(thread.elected);
  case Op::Broadcast:
    return sources[0];
  case Op::MapToCta: {
    auto address = sources[0].get(0xffffffff),
         rank = sources[1].get(0xffffffff);
    if (!address || !rank)
      return {};
    return Bits::constant((*rank << kRankShift) |
                          (*address & getMask(kRankShift)));
  }
  case Op::LoadShared: {
    auto address = sources[0].get(0xffffffff);
    if (!address)
      return {};
    auto word =
        kernel.tensorMemory.find(*address - getSharedMemory(thread.rank));
    return word == kernel.tensorMemory.end() ? Bits{}
                                             : Bits::constant(word->second);
  }
  default:
    return step.decides ? evaluate(step, sources) : Bits{};
  }
}

Value Walk::getSymbol(const State &state, const CodeStep &step) const {
  const auto &sources = step.sources;
  bool adds = step.op == Op::Add || step.op == Op::Subtract;
  if ((step.op == Op::Move || adds) && step.width == 32 &&
      sources[0].kind == Source::Kind::Register && !sources[0].value &&
      code.places[sources[0].number] >= 0) {
    Value value = state.values[code.places[sources[0].number]];
    bool isConstant = adds && sources[1].kind == Source::Kind::Constant;
    if (value.symbol >= 0 && (!adds || isConstant)) {
      if (adds)
        value.offset +=
            step.op == Op::Add ? sources[1].value : -sources[1].value;
      return value;
    }
  }
  Value value;
  if (step.isSymbol && step.width == 32)
    value.symbol = step.instruction;
  return value;
}

void Walk::set(State &state, const CodeStep &step, Bits bits) const {
  if (step.destination < 0)
    return;
  int32_t place = code.places[step.destination];
  if (place < 0)
    return;
  Value value = getSymbol(state, step);
  // What this step had computed before is another number.
  if (value.symbol == int32_t(step.instruction))
    for (Value &other : state.values)
      if (other.symbol == value.symbol)
        other.symbol = -1;
  value.bits = bits.restricted(code.demanded[step.destination]);
  state.values[place] = value;
}

void Walk::equate(State &state, int32_t first, int32_t second) const {
  Value a = state.values[first], b = state.values[second];
  Bits both{a.bits.value | b.bits.value, a.bits.known | b.bits.known};
  for (Value &value : state.values)
    for (const Value &its : {a, b}) {
      if (its.symbol < 0 || value.symbol != its.symbol)
        continue;
      uint64_t run = getLowRun(both.known),
               number = both.value + (value.offset - its.offset);
      value.bits.value |= number & run & ~value.bits.known & 0xffffffff;
      value.bits.known |= run & 0xffffffff;
    }
  state.values[first].bits = state.values[second].bits = both;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::optional<bool> Walk::getGuard(const State &state,
                                   const CodeStep &step) const {
  if (step.guard < 0)
    return true;
  auto value =
      getValue(state, {Source::Kind::Register, uint32_t(step.guard)}).get(1);
  if (!value)
    return std::nullopt;
  return bool(*value) != step.guardNegated;
}

void Walk::decide(State &state, const CodeStep &step, bool holds) const {
  int32_t place = code.places[step.guard];
  if (place >= 0)
    state.values[place].bits = {uint64_t(holds != step.guardNegated), 1};
  if (step.equals[0] < 0 || holds != step.equalIfTaken)
    return;
  int32_t first = code.places[step.equals[0]],
          second = code.places[step.equals[1]];
  if (first >= 0 && second >= 0)
    equate(state, first, second);
}

bool Walk::takeBranch(State &state, const CodeStep &step) {
  for (uint32_t target : step.others) {
    State other = state;
    other.at = target;
    left.push_back(std::move(other));
  }
  std::optional<bool> taken = getGuard(state, step);
  if (!taken) {
    State other = state;
    decide(other, step, true);
    other.at = step.target;
    left.push_back(std::move(other));
    decide(state, step, false);
    taken = false;
  }
  state.at = *taken ? step.target : state.at + 1;
  return true;
}

bool Walk::takeEvent(State &state, const CodeStep &step) {
  bool hasOutcome = step.form && step.form->operands.size() &&
                    step.form->operands[0].kind == FormOperand::Kind::Outcome;
  if (hasOutcome) {
    // The phase is not over: nothing has happened.
    State other = state;
    set(other, step, Bits::constant(0));
    ++other.at;
    left.push_back(std::move(other));
  }
  ++numEvents;
  Positions positions;
  for (const Position &position : state.positions)
    if (matches(state, step, position)) {
      Position behind{position.step + 1, position.cursors};
      const Positions &more = getNext(behind);
      positions.insert(positions.end(), more.begin(), more.end());
    }
  if (positions.empty() && mayMatch(state, step)) {
    unknown = &code.function->instructions[step.instruction];
    return false;
  }
  if (positions.empty()) {
    report(state, &step, describe(state, step));
    return false;
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()),
                  positions.end());
  state.positions = std::move(positions);
  set(state, step, Bits::constant(1));
  ++state.at;
  return true;
}

bool Walk::take(State &state) {
  const CodeStep &step = code.steps[state.at];
  if (step.op == Op::Branch)
    return takeBranch(state, step);
  if (step.guard >= 0 && step.matters) {
    std::optional<bool> holds = getGuard(state, step);
    if (!holds) {
      State other = state;
      decide(other, step, false);
      ++other.at;
      left.push_back(std::move(other));
      decide(state, step, true);
    } else if (!*holds) {
      ++state.at;
      return true;
    }
  }
  switch (step.op) {
  case Op::Return:
    if (std::none_of(state.positions.begin(), state.positions.end(),
                     [&](const Position &its) {
                       return script.steps[its.step].kind ==
                              Script::Step::Kind::End;
                     }))
      report(state, &step, "the thread ends");
    return false;
  case Op::Trap:
    return false;
  case Op::Event:
    return takeEvent(state, step);
  case Op::Vote: {
    // Other lanes may say no.
    auto own = getValue(state, step.sources[0]).get(1);
    if (!own || *own) {
      State other = state;
      set(other, step, Bits::constant(0));
      ++other.at;
      left.push_back(std::move(other));
    }
    if (own && !*own) {
      set(state, step, Bits::constant(0));
    } else {
      set(state, step, Bits::constant(1));
    }
    break;
  }
  default:
    if (step.matters)
      set(state, step, compute(state, step));
    break;
  }
  ++state.at;
  return true;
}

/// Mixes a word into both halves of a key.
static void mix(StateKey &key, uint64_t word) {
  key.first = (key.first ^ word) * 0x9e3779b97f4a7c15;
  key.first ^= key.first >> 29;
  key.second = (key.second + word) * 0xc2b2ae3d27d4eb4f;
  key.second ^= key.second >> 31;
}

bool Walk::isNew(State &state) {
  StateKey key{state.at, state.positions.size()};
  uint32_t block = code.blockOf[state.at];
  for (uint32_t place : code.livePlaces[block]) {
    uint64_t live = code.live[block][place];
    Value &value = state.values[place];
    value.bits = value.bits.restricted(live);
    if (value.bits.known == live)
      value.symbol = -1;
    if (value.symbol < 0)
      value.offset = 0;
    mix(key, value.bits.value);
    mix(key, value.bits.known);
    mix(key, uint64_t(uint32_t(value.symbol)) << 32 | value.offset);
  }
  for (const Position &position : state.positions) {
    uint64_t words[2];
    static_assert(sizeof(words) == sizeof(Position));
    std::memcpy(words, &position, sizeof(words));
    mix(key, words[0]);
    mix(key, words[1]);
  }
  return seen.insert(key).second;
}

void Walk::follow(State state) {
  while (!mismatch && !unknown && !isTooLong()) {
    if (state.at >= code.steps.size())
      return report(state, nullptr, "the text ends without 'ret'");
    if (code.isJoin[state.at] && !isNew(state))
      return;
    if (!take(state))
      return;
  }
}

std::optional<Mismatch> Walk::run() {
  State start;
  start.values.resize(code.tracked.size());
  start.positions = getNext({});
  left.push_back(std::move(start));
  while (!left.empty() && !mismatch && !unknown && !isTooLong()) {
    State state = std::move(left.back());
    left.pop_back();
    follow(std::move(state));
  }
  return mismatch;
}
