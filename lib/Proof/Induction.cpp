// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns of loops, and the induction by which they are left behind.

#include "SymbolicRun.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/SaveAndRestore.h"

#define DEBUG_TYPE "fp8-prove"

using namespace fp8::proof;

std::optional<std::vector<State>> SymbolicRun::turn(State state,
                                                    const Head &head) {
  if (++numTurns > kMostTurnsInAll) {
    fail("it takes too many steps", head.loop->site);
    return std::nullopt;
  }
  state.facts.add(*machine.getGuard(state, head.process));
  state.decisions.clear();
  state.runaways.clear();
  machine.step(state, head.process);
  contexts.push_back({head, {}, {}});
  bool holds = explore(std::move(state));
  States arrived = std::move(contexts.back().arrived);
  contexts.pop_back();
  if (!holds)
    return std::nullopt;
  return arrived;
}

bool SymbolicRun::goesOn(const State &state, const Head &head) {
  std::optional<Linear> guard = machine.getGuard(state, head.process);
  return guard && state.facts.implies(*guard);
}

std::pair<State, std::optional<State>>
SymbolicRun::decideGuard(const State &state, const Head &head) {
  State on = state, ended = state;
  std::optional<Linear> guard = machine.getGuard(state, head.process);
  if (!guard || state.facts.implies(*guard))
    return {std::move(on), std::nullopt};
  ended.facts.add(Linear(-1) - *guard);
  witness.fork(state, *guard, on, ended);
  return {std::move(on), std::move(ended)};
}

std::optional<std::vector<State>> SymbolicRun::turns(const State &state,
                                                     const Head &head,
                                                     unsigned number,
                                                     States &between) {
  States states = {state};
  for (unsigned count = 0; count < number; ++count) {
    States next;
    for (State &from : states) {
      if (count) {
        auto [on, ended] = decideGuard(from, head);
        from = std::move(on);
        if (ended)
          between.push_back(std::move(*ended));
      }
      std::optional<States> arrived = turn(from, head);
      if (!arrived)
        return std::nullopt;
      llvm::append_range(next, *arrived);
    }
    states = std::move(next);
  }
  return states;
}

/// The facts of a state that the one before it did not have.
static std::vector<Linear> getLearnt(const State &before, const State &state) {
  std::vector<Linear> learnt;
  for (const Linear &fact : state.facts.get())
    if (!llvm::is_contained(before.facts.get(), fact))
      learnt.push_back(fact);
  return learnt;
}

using Terms = decltype(Linear::terms);

/// Of the facts that differ by a constant, the one that says most.
static std::map<Terms, Linear> getStrongest(const State &state) {
  std::map<Terms, Linear> strongest;
  for (const Linear &fact : state.facts.get()) {
    auto [it, isNew] = strongest.try_emplace(fact.terms, fact);
    if (!isNew && fact < it->second)
      it->second = fact;
  }
  return strongest;
}

std::vector<std::pair<Linear, Linear>>
SymbolicRun::guessInvariants(const State *previous, const State &state,
                             const State &next) const {
  std::vector<std::pair<Linear, Linear>> invariants;
  if (!previous) {
    std::map<Terms, Linear> before = getStrongest(state);
    for (auto &[terms, second] : getStrongest(next))
      if (auto first = before.find(terms); first != before.end() &&
                                           !(first->second == second) &&
                                           !atoms.hasAnswers(second))
        invariants.push_back({first->second, second - first->second});
    return invariants;
  }
  for (const Linear &first : getLearnt(*previous, state))
    for (const Linear &second : getLearnt(state, next))
      if (first.terms == second.terms && !atoms.hasAnswers(first))
        invariants.push_back({first, second - first});
  return invariants;
}

bool SymbolicRun::falls(const State &any, const State &after,
                        const Head &head) {
  if (head.loop->kind == Statement::Kind::For)
    return true;
  std::optional<Linear> first = machine.getGuard(any, head.process),
                        second = machine.getGuard(after, head.process);
  return first && second && any.facts.implies(*first - *second - Linear(1));
}

bool SymbolicRun::endsSoon(const State &state, const Shift &shift) const {
  for (const auto &[process, its] : llvm::enumerate(state.processes))
    for (const Frame &frame : its.stack) {
      bool runs = frame.atGuard || &frame != &its.stack.back();
      if (frame.isDone() || !runs || frame.get().kind != Statement::Kind::For)
        continue;
      const Statement &loop = frame.get();
      Linear left = *its.values[loop.bound] - *its.values[loop.variable];
      if (left.isConstant() && !(shift.values[process][loop.bound] ==
                                 shift.values[process][loop.variable]))
        return true;
    }
  return false;
}

bool SymbolicRun::endsAlike(const State &state, const State &next,
                            const Head &head) {
  if (head.loop->kind != Statement::Kind::For || !getShift(state, next))
    return false;
  Linear guard = *machine.getGuard(state, head.process),
         fall = guard - *machine.getGuard(next, head.process);
  return fall.isConstant() && fall.constant > 0 &&
         state.facts.implies(guard + fall);
}

bool SymbolicRun::induct(const States &past, const State &next, unsigned period,
                         const Head &head, bool mayBeOver,
                         const Growths &growths) {
  const State &state = past[past.size() - period];
  std::optional<Shift> shift = getShift(state, next);
  for (const Growth &growth : growths)
    for (auto [process, variable] : growth.variables)
      shift->values[process][variable] = Linear();
  unsigned &tried = trialsOf[{head.loop, head.entry}];
  if (!shift || endsSoon(state, *shift) || tried == kMostTrialsInside)
    return false;
  llvm::SaveAndRestore inside(tried, tried + 1);
  Linear number = atoms.getCount();
  State any = state;
  move(any, *shift, number);
  generalise(any, growths);
  any.facts.forgetAnswers();
  if (!machine.getGuard(any, head.process))
    return false;
  // Facts that differ by a constant now say nothing of what grows.
  decltype(guessInvariants(nullptr, state, next)) invariants;
  if (growths.empty())
    invariants = guessInvariants(
        past.size() >= 2 * period ? &past[past.size() - 2 * period] : nullptr,
        state, next);
  for (auto &[fact, by] : invariants)
    any.facts.add(fact + atoms.multiply(by, number));
  // The loop was entered. A run that forgot it would follow ways that no launch
  // takes, and whoever replays it could not, having that fact.
  if (std::optional<Linear> guard = machine.getGuard(state, head.process);
      guard && !mayBeOver && !atoms.hasAnswers(*guard))
    any.facts.add(*guard);
  State after = any;
  move(after, *shift, Linear(1));
  if (growths.empty() && !falls(any, after, head))
    return false;
  auto isAsExpected = [&](const State &its) {
    if (!growths.empty())
      return growsOn(any, after, its, growths, head);
    return isSame(after, its) && llvm::all_of(invariants, [&](auto &invariant) {
             auto &[fact, by] = invariant;
             return its.facts.implies(fact +
                                      atoms.multiply(by, number + Linear(1)));
           });
  };
  // What arrives elsewhere, or was explored, counts only if all goes as
  // expected.
  std::vector<std::pair<size_t, size_t>> sizes;
  for (Context &context : contexts)
    sizes.push_back({context.arrived.size(), context.seen.size()});
  ++trials;
  size_t mark = witness.mark();
  Witness::Loop record{number, {}, {}, {}, {}, 0, 0};
  record.rank = *machine.getGuard(any, head.process);
  record.turn = witness.begin(any);
  bool holds = [&] {
    States between;
    std::optional<States> arrived = turns(any, head, period, between);
    if (!arrived || llvm::none_of(*arrived, isAsExpected))
      return false;
    bool mayEnd = mayBeOver || !goesOn(next, head);
    for (const State &its : *arrived)
      if (isAsExpected(its)) {
        mayEnd |= !goesOn(its, head);
        witness.back(its, state);
      } else if (!leaveBehind(its, head.process))
        return false;
    for (const State &its : between)
      if (!explore(its))
        return false;
    // Else all ways out of the loop lead through a turn.
    if (!mayEnd)
      return true;
    State last = afterLast(state, any, head, number, *shift, mayBeOver, growths,
                           record.last);
    last.trail = state.trail;
    record.after = witness.begin(last);
    return explore(std::move(last));
  }();
  --trials;
  LDBG() << std::string(depth, ' ') << "the induction over " << period
         << " turns " << (holds ? "holds" : "fails");
  if (holds && !growths.empty()) {
    witness.lose();
    return true;
  }
  if (holds) {
    for (auto &[fact, by] : invariants)
      record.invariants.push_back(fact + atoms.multiply(by, number));
    recordInduction(std::move(record), state, head, *shift,
                    !mayBeOver && !goesOn(state, head));
    return true;
  }
  witness.forgetFrom(mark);
  for (auto [context, size] : llvm::zip(contexts, sizes)) {
    context.arrived.resize(size.first, state);
    context.seen.resize(size.second, state);
  }
  return false;
}

void SymbolicRun::recordInduction(Witness::Loop record, const State &state,
                                  const Head &head, const Shift &shift,
                                  bool mayExit) {
  if (!witness.isOn())
    return;
  for (const auto &[process, its] : llvm::enumerate(state.processes))
    for (unsigned variable = 0; variable < its.values.size(); ++variable)
      if (its.values[variable] &&
          lifetimes.isAlive(process, variable, its.stack))
        record.kept.push_back(
            {process, variable, shift.values[process][variable]});
  witness.leaveBehind(state, mayExit, std::move(record));
}

State SymbolicRun::afterLast(const State &state, const State &any,
                             const Head &head, const Linear &turns,
                             const Shift &shift, bool mayBeOver,
                             const Growths &growths,
                             std::optional<Linear> &number) {
  Linear guard = *machine.getGuard(state, head.process);
  AtomId count = turns.terms[0].first;
  State last = any;
  Linear pivot = *machine.getGuard(any, head.process), rest = pivot;
  auto *term =
      llvm::find_if(rest.terms, [&](auto term) { return term.first == count; });
  int64_t fall = 0;
  if (term != rest.terms.end()) {
    fall = -term->second;
    rest.terms.erase(term);
  }
  if (fall > 0 && rest == guard) {
    // The guard falls by a constant in each turn, so that it tells how many
    // turns there are.
    last = state;
    number = atoms.floorDivide(rest, fall) + Linear(1);
    move(last, shift, *number);
    generalise(last, growths);
    if (!mayBeOver)
      last.facts.add(guard);
    return last;
  }
  State previous = any;
  move(previous, shift, Linear(-1));
  last.facts.add(Linear(-1) - pivot);
  // What has grown was less before, and nothing says by how much.
  if (std::optional<Linear> before = machine.getGuard(previous, head.process);
      before && growths.empty())
    last.facts.add(*before);
  last.facts.add(turns - Linear(1));
  return last;
}

bool SymbolicRun::leaveBehind(State state, unsigned process) {
  Head head = Head::of(state, process);
  if (depth == kMostDepth)
    return fail("it takes too many steps", head.loop->site);
  llvm::SaveAndRestore deeper(depth, depth + 1);
  States past;
  for (unsigned count = 0; count <= kMostTurns; ++count) {
    std::optional<Linear> guard = machine.getGuard(state, process);
    if (!guard)
      break;
    if (!state.facts.implies(*guard) &&
        machine.undecided(*head.loop, *guard).kind == StepKind::Failed)
      return fail(machine.failure, machine.failureSite);
    auto [on, ended] = decideGuard(state, head);
    if (!count && holdsAsForecast(state, head, ended.has_value()))
      return true;
    std::optional<States> next = turn(std::move(on), head);
    if (!next)
      return false;
    LDBG() << std::string(depth, ' ') << "turn " << count << " of a loop of "
           << skeleton.processes[process].name << " with guard "
           << atoms.print(*guard) << " comes back in " << next->size()
           << " ways";
    past.push_back(state);
    // How the loop ends now may be one of the ways in which it ends after some
    // turns.
    for (const State &candidate : *next)
      if (ended && endsAlike(state, candidate, head) &&
          induct(past, candidate, 1, head, /*mayBeOver=*/true))
        return true;
    if (ended && !explore(std::move(*ended)))
      return false;
    if (next->empty())
      return true;
    for (const State &candidate : *next)
      for (unsigned period = 1;
           period <= std::min<size_t>(past.size(), kLongestPeriod); ++period)
        if (induct(past, candidate, period, head))
          return true;
    for (const State &candidate : *next)
      if (inductGrowth(past, candidate, head))
        return true;
    // The state has still to settle.
    for (State &other : llvm::drop_begin(*next))
      if (!leaveBehind(other, process))
        return false;
    state = next->front();
  }
  return fail("the state at the head of the loop does not settle within " +
                  std::to_string(kMostTurns) + " turns",
              head.loop->site);
}
