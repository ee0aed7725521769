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

Number Execution::getLane(uint64_t first) const {
  if (thread.isAny)
    return {first, ~uint64_t(31), {first, first + 31}};
  uint64_t low = first + thread.lane, high = low + thread.lanes - 1,
           known = ~upTo(low ^ high);
  return {low & known, known, {low, high}};
}

Number Execution::getValue(const State &state, const Source &source) const {
  auto unlessAny = [&](uint64_t value) {
    return thread.isAny ? Number() : Number::constant(value);
  };
  switch (source.kind) {
  case Source::Kind::Unknown:
  case Source::Kind::Parameter:
    return {};
  case Source::Kind::Constant:
    return Number::constant(source.value);
  case Source::Kind::Shared:
    return unlessAny(getSharedMemory(thread.rank) + source.value);
  case Source::Kind::Tid:
    return getLane(32 * thread.warp);
  case Source::Kind::Lane:
    return getLane(0);
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
  Number value = state.values[place].number;
  if (source.negated)
    value = {~value.value & value.known, value.known};
  if (!source.value)
    return value;
  uint64_t run = getLowRun(value.known);
  return {(value.value + source.value) & run, run};
}

Number Execution::compute(const State &state, const CodeStep &step) const {
  std::vector<Number> sources;
  sources.reserve(step.sources.size());
  for (const Source &source : step.sources)
    sources.push_back(getValue(state, source));
  switch (step.op) {
  case Op::Elect:
    return thread.isAny ? Number() : Number::constant(thread.elected);
  case Op::Broadcast:
    return sources[0];
  case Op::MapToCta: {
    auto address = sources[0].get(0xffffffff),
         rank = sources[1].get(0xffffffff);
    if (!address || !rank)
      return {};
    return Number::constant((*rank << kRankShift) |
                            (*address & getMask(kRankShift)));
  }
  case Op::LoadShared: {
    auto address = sources[0].get(0xffffffff);
    if (!address)
      return {};
    auto word =
        kernel.tensorMemory.find(*address - getSharedMemory(thread.rank));
    return word == kernel.tensorMemory.end() ? Number{}
                                             : Number::constant(word->second);
  }
  default:
    return step.decides ? evaluate(step, sources) : Number{};
  }
}

Value Execution::getSymbol(const State &state, const CodeStep &step) const {
  const Source &base = step.sources.empty() ? Source() : step.sources[0];
  bool adds = step.op == Op::Add || step.op == Op::Subtract,
       // The opposite of a predicate is one more, modulo two.
      flips = step.op == Op::Not && step.width == 1,
       hasSymbol = step.width == 32 || step.width == 1;
  if ((step.op == Op::Move || adds || flips) && hasSymbol &&
      base.kind == Source::Kind::Register && !base.value && !base.negated &&
      code.places[base.number] >= 0) {
    Value value = state.values[code.places[base.number]];
    bool isConstant = adds && step.sources[1].kind == Source::Kind::Constant;
    if (value.symbol >= 0 && (!adds || isConstant)) {
      if (adds)
        value.offset +=
            step.op == Op::Add ? step.sources[1].value : -step.sources[1].value;
      value.offset ^= flips;
      return value;
    }
  }
  Value value;
  if (step.isSymbol && hasSymbol)
    value.symbol = step.instruction;
  return value;
}

void Execution::set(State &state, const CodeStep &step, Number number) const {
  for (uint32_t reg : step.unknowns)
    state.values[code.places[reg]] = {};
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
  value.number = number.restricted(code.demanded[step.destination]);
  state.values[place] = value;
}

void Execution::learn(State &state, int32_t place, Number number) const {
  Value its = state.values[place];
  for (Value &value : state.values) {
    if (its.symbol < 0 || value.symbol != its.symbol)
      continue;
    uint64_t run = getLowRun(number.known),
             other = number.value + (value.offset - its.offset);
    value.number.value |= other & run & ~value.number.known & 0xffffffff;
    value.number.known |= run & 0xffffffff;
  }
  state.values[place].number = number;
}

bool Execution::relate(State &state, int32_t place, const Number &other,
                       bool areEqual) const {
  uint32_t reg = code.tracked[place];
  const Number &its = state.values[place].number;
  auto both = areEqual ? its.intersected(other)
                       : its.without(other, code.function->registers[reg].bits);
  if (both && !(*both == its))
    learn(state, place, both->restricted(code.demanded[reg]));
  return both.has_value();
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
    learn(state, place,
          Number::constant(holds != step.guardNegated).restricted(1));
  bool areEqual = holds == step.equalIfTaken;
  auto getPlace = [&](int32_t reg) { return reg < 0 ? -1 : code.places[reg]; };
  if (int32_t its = getPlace(step.isNumber);
      its >= 0 && !relate(state, its, Number::constant(step.number), areEqual))
    return false;
  int32_t first = getPlace(step.equals[0]), second = getPlace(step.equals[1]);
  if (first < 0 || second < 0)
    return true;
  Number one = state.values[first].number, other = state.values[second].number;
  return relate(state, first, other, areEqual) &&
         relate(state, second, one, areEqual);
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
    set(other, step, Number::constant(0));
    ++other.at;
    left.push_back(std::move(other));
  }
  set(state, step, Number::constant(!own || *own));
  ++state.at;
}

void Execution::takeEvent(State &state, std::vector<State> &left) const {
  const CodeStep &step = code.steps[state.at];
  bool hasOutcome = step.form && step.form->operands.size() &&
                    step.form->operands[0].kind == FormOperand::Kind::Outcome;
  if (hasOutcome) {
    // The phase is not over: nothing has happened.
    State other = state;
    set(other, step, Number::constant(0));
    ++other.at;
    left.push_back(std::move(other));
  }
  set(state, step, Number::constant(1));
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

/// Mixes a value. Of most, nothing or only bits are known: `parts` says what is
/// mixed.
static void mixValue(StateKey &key, const Value &value, uint64_t &parts) {
  const Number &number = value.number;
  const bool hasBits = number.known,
             hasMore = number.range.low || number.range.high != ~uint64_t(0) ||
                       value.symbol >= 0;
  parts = parts << 2 | uint64_t(hasBits) << 1 | uint64_t(hasMore);
  if (hasBits) {
    mix(key, number.value);
    mix(key, number.known);
  }
  if (hasMore) {
    mix(key, number.range.low);
    mix(key, number.range.high);
    mix(key, uint64_t(uint32_t(value.symbol)) << 32 | value.offset);
  }
}

StateKey Execution::getKey(State &state) const {
  StateKey key{state.at, state.positions.size()};
  uint32_t block = code.blockOf[state.at];
  uint64_t parts = 0;
  unsigned count = 0;
  for (uint32_t place : code.livePlaces[block]) {
    uint64_t live = code.live[block][place];
    Value value = state.values[place];
    value.number = value.number.restricted(live);
    if (value.number.known == live)
      value.symbol = -1;
    if (value.symbol < 0)
      value.offset = 0;
    mixValue(key, value, parts);
    state.values[place] = value;
    if (++count % 32 == 0)
      mix(key, parts);
  }
  mix(key, parts);
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
