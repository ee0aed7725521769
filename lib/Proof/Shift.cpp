// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By how much states differ.

#include "SymbolicRun.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

/// True if somebody has still to read the answer of that channel and slot.
static bool isUnread(const State &state, std::pair<unsigned, int64_t> place,
                     const Skeleton &skeleton) {
  return llvm::any_of(
      skeleton.channels[place.first].consumers,
      [&](unsigned end) { return state.ends[end].signals <= place.second; });
}

/// True if both states have the same positions, and channels as full.
static bool haveSamePlaces(const State &a, const State &b,
                           const Skeleton &skeleton) {
  for (auto [left, right] : llvm::zip(a.processes, b.processes))
    if (left.stack != right.stack)
      return false;
  for (const Channel &channel : skeleton.channels) {
    std::optional<int64_t> distance;
    auto isMoved = [&](unsigned end) {
      int64_t waits = b.ends[end].waits - a.ends[end].waits,
              signals = b.ends[end].signals - a.ends[end].signals;
      if (!distance)
        distance = waits;
      return waits == *distance && signals == *distance;
    };
    if (!llvm::all_of(channel.producers, isMoved) ||
        !llvm::all_of(channel.consumers, isMoved))
      return false;
  }
  std::vector<bool> answers[2];
  for (auto [state, list] :
       {std::pair(&a, &answers[0]), std::pair(&b, &answers[1])}) {
    for (auto [place, answer] : state->answers)
      if (isUnread(*state, place, skeleton))
        list->push_back(answer);
    for (const Channel &channel : skeleton.channels)
      if (channel.isOfQuestions)
        for (unsigned end : channel.producers)
          list->push_back(Machine::mayAsk(*state, skeleton, end));
  }
  return answers[0] == answers[1];
}

std::optional<SymbolicRun::Pairs> SymbolicRun::getPairs(const State &from,
                                                        const State &to) const {
  Pairs pairs;
  for (unsigned process = 0; process < from.processes.size(); ++process) {
    const ProcessState &a = from.processes[process], &b = to.processes[process];
    for (unsigned variable = 0; variable < a.values.size(); ++variable) {
      const auto &left = a.values[variable], &right = b.values[variable];
      bool isAlive = lifetimes.isAlive(process, variable, a.stack);
      if (isAlive && left.has_value() != right.has_value())
        return std::nullopt;
      bool has = isAlive && left;
      pairs.push_back({has ? &*left : nullptr, has ? &*right : nullptr});
    }
  }
  if (from.fields.size() != to.fields.size())
    return std::nullopt;
  for (auto &[place, value] : from.fields) {
    auto [channel, slot, field] = place;
    unsigned end = skeleton.channels[channel].producers.front();
    auto it = to.fields.find(
        {channel, slot + to.ends[end].signals - from.ends[end].signals, field});
    if (it == to.fields.end())
      return std::nullopt;
    pairs.push_back({&value, &it->second});
  }
  return pairs;
}

bool SymbolicRun::matchAnswers(const State &from, const State &to,
                               const Pairs &pairs,
                               std::map<AtomId, Linear> &names) {
  llvm::SmallVector<AtomId> left, right;
  // Those that somebody has still to read, which come in the same order.
  for (auto [state, list] : {std::pair(&from, &left), std::pair(&to, &right)})
    for (auto [place, more] : state->answers)
      if (isUnread(*state, place, skeleton))
        list->push_back(machine.getAnswer(place).terms[0].first);
  for (auto [a, b] : pairs)
    if (a) {
      atoms.collectAnswers(*a, left);
      atoms.collectAnswers(*b, right);
      if (left.size() != right.size())
        return false;
    }
  std::map<AtomId, AtomId> back;
  for (auto [a, b] : llvm::zip(left, right))
    if (!(names.insert({b, Linear::of(a)}).first->second == Linear::of(a)) ||
        back.insert({a, b}).first->second != b)
      return false;
  return true;
}

Linear SymbolicRun::rename(const Linear &sum,
                           const std::map<AtomId, Linear> &names) {
  return names.empty() ? sum : atoms.substitute(sum, names);
}

std::optional<SymbolicRun::Shift> SymbolicRun::getShift(const State &from,
                                                        const State &to) {
  if (!haveSamePlaces(from, to, skeleton))
    return std::nullopt;
  std::optional<Pairs> pairs = getPairs(from, to);
  Shift shift;
  if (!pairs || !matchAnswers(from, to, *pairs, shift.names))
    return std::nullopt;
  auto next = pairs->begin();
  auto take = [&] {
    auto [left, right] = *next++;
    return left ? rename(*right, shift.names) - *left : Linear();
  };
  for (const ProcessState &process : from.processes) {
    auto &values = shift.values.emplace_back(process.values.size());
    std::generate(values.begin(), values.end(), take);
  }
  shift.fields.resize(from.fields.size());
  std::generate(shift.fields.begin(), shift.fields.end(), take);
  return shift;
}

void SymbolicRun::move(State &state, const Shift &shift, const Linear &turns) {
  for (unsigned process = 0; process < state.processes.size(); ++process) {
    ProcessState &its = state.processes[process];
    for (unsigned variable = 0; variable < its.values.size(); ++variable) {
      auto &value = its.values[variable];
      if (!lifetimes.isAlive(process, variable, its.stack))
        value.reset();
      else if (value)
        value = *value + atoms.multiply(shift.values[process][variable], turns);
    }
  }
  for (auto [field, by] : llvm::zip(state.fields, shift.fields))
    field.second = field.second + atoms.multiply(by, turns);
}

bool SymbolicRun::isZero(const Shift &shift) {
  auto isZero = [](const std::vector<Linear> &values) {
    return llvm::all_of(values,
                        [](const Linear &value) { return value == Linear(); });
  };
  return isZero(shift.fields) && llvm::all_of(shift.values, isZero);
}

bool SymbolicRun::isSame(const State &a, const State &b) {
  std::optional<Shift> shift = getShift(a, b);
  return shift && isZero(*shift);
}

bool SymbolicRun::covers(const State &before, const State &state) {
  std::optional<Shift> shift = getShift(before, state);
  if (!shift || !isZero(*shift))
    return false;
  std::map<AtomId, Linear> names;
  for (auto &[its, other] : shift->names)
    names[other.terms[0].first] = Linear::of(its);
  return llvm::all_of(before.facts.get(), [&](const Linear &fact) {
    return state.facts.implies(rename(fact, names));
  });
}
