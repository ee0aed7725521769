// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Execution of a text by one thread, where only some bits are known.

#include "Execution.h"

#include "Evaluate.h"

#include <unordered_set>

using namespace fp8::prooftext;
using Op = CodeStep::Op;

State Execution::getStart() const {
  State state;
  state.values.resize(code.tracked.size());
  return state;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Bits Execution::getValue(const State &state, const Source &source) const {
  auto unlessAny = [&](uint64_t value) {
    return thread.isAny ? Bits() : Bits::constant(value);
  };
  switch (source.kind) {
  case Source::Kind::Unknown:
    return {};
  case Source::Kind::Constant:
    return Bits::constant(source.value);
  case Source::Kind::Shared:
    return unlessAny(getSharedMemory(thread.rank) + source.value);
  case Source::Kind::Tid:
    return Bits::constant(32 * thread.warp + thread.lane)
        .restricted(thread.isAny ? ~uint64_t(31) : ~uint64_t(0));
  case Source::Kind::Lane:
    return unlessAny(thread.lane);
  case Source::Kind::Rank:
    return unlessAny(thread.rank);
  case Source::Kind::Cta: {
    unsigned ctas = kernel.clusterSize;
    return unlessAny(thread.rank).restricted(ctas & (ctas - 1) ? 0 : ctas - 1);
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

Bits Execution::compute(const State &state, const CodeStep &step) const {
  std::vector<Bits> sources;
  for (const Source &source : step.sources)
    sources.push_back(getValue(state, source));
  switch (step.op) {
  case Op::Elect:
    return thread.isAny ? Bits() : Bits::constant(thread.elected);
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

Value Execution::getSymbol(const State &state, const CodeStep &step) const {
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

void Execution::set(State &state, const CodeStep &step, Bits bits) const {
  if (step.destination < 0)
    return;
  int32_t place = code.places[step.destination];
  if (place < 0)
    return;
  if (!open.empty() && open[step.instruction]) {
    state.values[place] = {};
    return;
  }
  Value value = getSymbol(state, step);
  // What this step had computed before is another number.
  if (value.symbol == int32_t(step.instruction))
    for (Value &other : state.values)
      if (other.symbol == value.symbol)
        other.symbol = -1;
  value.bits = bits.restricted(code.demanded[step.destination]);
  state.values[place] = value;
}

void Execution::learn(State &state, int32_t place, Bits bits) const {
  Value its = state.values[place];
  for (Value &value : state.values) {
    if (its.symbol < 0 || value.symbol != its.symbol)
      continue;
    uint64_t run = getLowRun(bits.known),
             number = bits.value + (value.offset - its.offset);
    value.bits.value |= number & run & ~value.bits.known & 0xffffffff;
    value.bits.known |= run & 0xffffffff;
  }
  state.values[place].bits = bits;
}

bool Execution::equate(State &state, int32_t first, int32_t second) const {
  Bits a = state.values[first].bits, b = state.values[second].bits,
       both{a.value | b.value, a.known | b.known};
  if ((a.value ^ b.value) & a.known & b.known)
    return false;
  learn(state, first, both);
  learn(state, second, both);
  return true;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::optional<bool> Execution::getGuard(const State &state,
                                        const CodeStep &step) const {
  if (step.guard < 0)
    return true;
  auto value =
      getValue(state, {Source::Kind::Register, uint32_t(step.guard)}).get(1);
  if (!value)
    return std::nullopt;
  return bool(*value) != step.guardNegated;
}

bool Execution::decide(State &state, const CodeStep &step, bool holds) const {
  int32_t place = code.places[step.guard];
  if (place >= 0)
    state.values[place].bits = {uint64_t(holds != step.guardNegated), 1};
  if (holds != step.equalIfTaken)
    return true;
  if (int32_t its = step.isNumber < 0 ? -1 : code.places[step.isNumber];
      its >= 0) {
    Bits known = state.values[its].bits;
    if ((known.value ^ step.number) & known.known)
      return false;
    learn(state, its,
          Bits::constant(step.number).restricted(code.demanded[step.isNumber]));
  }
  if (step.equals[0] < 0)
    return true;
  int32_t first = code.places[step.equals[0]],
          second = code.places[step.equals[1]];
  return first < 0 || second < 0 || equate(state, first, second);
}

void Execution::takeTable(State &state, const CodeStep &step,
                          std::vector<State> &left) {
  auto index = getValue(state, step.sources[0]).get(0xffffffff);
  if (index && *index <= step.others.size()) {
    state.at = *index < step.others.size() ? step.others[*index] : step.target;
    return;
  }
  openTable = code.function->instructions[step.instruction].line;
  for (uint32_t target : step.others) {
    left.push_back(state);
    left.back().at = target;
  }
  state.at = step.target;
}

bool Execution::takeBranch(State &state, const CodeStep &step,
                           std::vector<State> &left) {
  auto follow = [&](State &its) {
    its.at = step.target;
    if (!step.others.empty())
      takeTable(its, step, left);
  };
  std::optional<bool> taken = getGuard(state, step);
  if (!taken) {
    State other = state;
    if (decide(other, step, true)) {
      follow(other);
      left.push_back(std::move(other));
    }
    if (!decide(state, step, false))
      return false;
    taken = false;
  }
  if (*taken)
    follow(state);
  else
    ++state.at;
  return true;
}

void Execution::takeVote(State &state, const CodeStep &step,
                         std::vector<State> &left) const {
  auto own = getValue(state, step.sources[0]).get(1);
  // Other lanes may say no.
  if (!own || *own) {
    State other = state;
    set(other, step, Bits::constant(0));
    ++other.at;
    left.push_back(std::move(other));
  }
  set(state, step, Bits::constant(!own || *own));
  ++state.at;
}

void Execution::takeEvent(State &state, std::vector<State> &left) const {
  const CodeStep &step = code.steps[state.at];
  bool hasOutcome = step.form && step.form->operands.size() &&
                    step.form->operands[0].kind == FormOperand::Kind::Outcome;
  if (hasOutcome) {
    // The phase is not over: nothing has happened.
    State other = state;
    set(other, step, Bits::constant(0));
    ++other.at;
    left.push_back(std::move(other));
  }
  set(state, step, Bits::constant(1));
  ++state.at;
}

Execution::Outcome Execution::take(State &state, std::vector<State> &left) {
  const CodeStep &step = code.steps[state.at];
  if (step.op == Op::Branch) {
    return takeBranch(state, step, left) ? Outcome::GoesOn : Outcome::Never;
  }
  if (step.guard >= 0 && step.matters) {
    std::optional<bool> holds = getGuard(state, step);
    if (!holds) {
      State other = state;
      if (decide(other, step, false)) {
        ++other.at;
        left.push_back(std::move(other));
      }
      if (!decide(state, step, true))
        return Outcome::Never;
    } else if (!*holds) {
      ++state.at;
      return Outcome::GoesOn;
    }
  }
  switch (step.op) {
  case Op::Return:
    return Outcome::Returns;
  case Op::Trap:
    return Outcome::Traps;
  case Op::Event:
    return Outcome::Event;
  case Op::Vote:
    takeVote(state, step, left);
    return Outcome::GoesOn;
  default:
    if (step.matters)
      set(state, step, compute(state, step));
    ++state.at;
    return Outcome::GoesOn;
  }
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

void fp8::prooftext::mix(StateKey &key, uint64_t word) {
  key.first = (key.first ^ word) * 0x9e3779b97f4a7c15;
  key.first ^= key.first >> 29;
  key.second = (key.second + word) * 0xc2b2ae3d27d4eb4f;
  key.second ^= key.second >> 31;
}

StateKey Execution::getKey(State &state) const {
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
  return key;
}

bool Execution::explore(
    size_t mostStates,
    const std::function<void(const State &state, bool isEvent)> &onStep) {
  std::unordered_set<StateKey, HashOfKey> seen;
  std::vector<State> left{getStart()};
  while (!left.empty()) {
    State state = std::move(left.back());
    left.pop_back();
    while (state.at < code.steps.size()) {
      if (code.isJoin[state.at] && !seen.insert(getKey(state)).second)
        break;
      if (seen.size() > mostStates)
        return false;
      onStep(state, /*isEvent=*/false);
      Outcome outcome = take(state, left);
      if (outcome == Outcome::Event) {
        onStep(state, /*isEvent=*/true);
        takeEvent(state, left);
      } else if (outcome != Outcome::GoesOn) {
        break;
      }
    }
  }
  return true;
}
