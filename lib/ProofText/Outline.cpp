// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a text as expected events, without the slots of rings.

#include "Outline.h"

#include <algorithm>

using namespace fp8::prooftext;
using StepKind = Script::Step::Kind;

Outline::Outline(const Code &code, const Counters &counters,
                 const KernelScript &kernel, const Script &script,
                 Matcher &matcher, const Thread &thread)
    : code(code), counters(counters), script(script), matcher(matcher),
      thread(thread),
      addresses(code, counters, kernel, script, matcher, thread),
      focus{Focus::kNone, counters.getSteps(addresses.getCounters())},
      execution(code, kernel, thread, focus.open),
      successors(script, thread, Focus::kAll) {
  for (uint32_t at = 0; at < script.steps.size(); ++at)
    if (script.steps[at].kind == StepKind::Event)
      stepsOfKind[script.events[script.steps[at].index].kind].push_back(at);
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

uint32_t Outline::addNode() {
  nodes.emplace_back();
  return nodes.size() - 1;
}

std::vector<uint32_t> Outline::getCandidates(const State &state,
                                             const CodeStep &step) {
  std::vector<uint32_t> steps;
  if (!step.form)
    return steps;
  for (uint32_t at : stepsOfKind[step.form->kind])
    if (matcher.compare(execution, state, step, {at, {}}, focus) !=
            Agreement::No &&
        addresses.mayBe(execution, step, at))
      steps.push_back(at);
  return steps;
}

void Outline::follow(State state) {
  auto enter = [&](uint32_t node) {
    Node &from = nodes[state.node];
    (state.isBehind ? from.behind : from.next).push_back(node);
    state.node = node;
    state.isBehind = false;
  };
  while (state.at < code.steps.size() && nodes.size() < kMostNodes) {
    if (code.isJoin[state.at]) {
      auto [join, isNew] =
          joins.try_emplace(execution.getKey(state), nodes.size());
      if (isNew)
        addNode();
      enter(join->second);
      if (!isNew)
        return;
    }
    switch (execution.take(state, left)) {
    case Execution::Outcome::GoesOn:
      break;
    case Execution::Outcome::Traps:
    case Execution::Outcome::Never:
      return;
    case Execution::Outcome::Returns:
      enter(addNode());
      nodes.back().returns = true;
      return;
    case Execution::Outcome::Event: {
      const CodeStep &step = code.steps[state.at];
      enter(addNode());
      nodes.back().event = &step;
      nodes.back().candidates = getCandidates(state, step);
      execution.takeEvent(state, left);
      state.isBehind = true;
    }
    }
  }
}

bool Outline::readText() {
  left.push_back(execution.getStart());
  addNode();
  while (!left.empty() && nodes.size() < kMostNodes) {
    State state = std::move(left.back());
    left.pop_back();
    follow(std::move(state));
  }
  return nodes.size() < kMostNodes && !execution.getOpenTable();
}

//===----------------------------------------------------------------------===//
// Its readings
//===----------------------------------------------------------------------===//

uint32_t Outline::getPair(Pair pair) {
  auto [entry, isNew] = numbers.try_emplace(pair, pairs.size());
  if (isNew)
    pairs.push_back({pair, {}, false});
  return entry->second;
}

bool Outline::pairUp() {
  getPair({0, 0});
  for (uint32_t number = 0; number < pairs.size(); ++number) {
    auto [at, step] = pairs[number].pair;
    const Node &node = nodes[at];
    if (pairs.size() > kMostNodes)
      return false;
    std::vector<std::pair<uint32_t, int32_t>> found;
    for (uint32_t to : node.next)
      found.push_back({getPair({to, step}), -1});
    for (const Position &position : successors.get({step, {}})) {
      uint32_t expected = position.step;
      pairs[number].leadsToEnd |=
          node.returns && script.steps[expected].kind == StepKind::End;
      if (std::binary_search(node.candidates.begin(), node.candidates.end(),
                             expected))
        for (uint32_t to : node.behind)
          found.push_back({getPair({to, expected + 1}), expected});
    }
    pairs[number].next = std::move(found);
  }
  return true;
}

void Outline::findEnds() {
  std::vector<std::vector<uint32_t>> before(pairs.size());
  std::vector<uint32_t> ends;
  for (uint32_t number = 0; number < pairs.size(); ++number) {
    if (pairs[number].leadsToEnd)
      ends.push_back(number);
    for (auto [to, event] : pairs[number].next)
      before[to].push_back(number);
  }
  while (!ends.empty()) {
    uint32_t number = ends.back();
    ends.pop_back();
    for (uint32_t from : before[number])
      if (!pairs[from].leadsToEnd) {
        pairs[from].leadsToEnd = true;
        ends.push_back(from);
      }
  }
}

bool Outline::leadsToEnd(uint32_t node, uint32_t step) const {
  auto entry = numbers.find({node, step});
  return entry != numbers.end() && pairs[entry->second].leadsToEnd;
}

bool Outline::goOn(const Twin &twin, std::vector<Twin> &next) {
  auto [at, first, second] = twin;
  const Node &node = nodes[at];
  for (uint32_t to : node.next)
    if (leadsToEnd(to, first) && leadsToEnd(to, second))
      next.push_back({to, first, second});
  auto isCandidate = [&](const Position &position) {
    return std::binary_search(node.candidates.begin(), node.candidates.end(),
                              position.step);
  };
  auto getContent = [&](const Position &position) {
    return script.events[script.steps[position.step].index].content;
  };
  // Positions begin at the same slots, so that they differ by what the cursors
  // have advanced.
  for (const Position &one : successors.get({first, {}}))
    for (const Position &other : successors.get({second, {}})) {
      if (!isCandidate(one) || !isCandidate(other))
        continue;
      for (uint32_t to : node.behind) {
        if (!leadsToEnd(to, one.step + 1) || !leadsToEnd(to, other.step + 1))
          continue;
        if (getContent(one) != getContent(other) ||
            one.cursors != other.cursors)
          return false;
        next.push_back({to, one.step + 1, other.step + 1});
      }
    }
  return true;
}

bool Outline::haveReadingsOneMeaning() {
  std::set<Twin> seen;
  std::vector<Twin> next{{0, 0, 0}};
  while (!next.empty()) {
    Twin twin = next.back();
    next.pop_back();
    if (!seen.insert(twin).second)
      continue;
    if (seen.size() > kMostNodes || !goOn(twin, next))
      return false;
  }
  return pairs.front().leadsToEnd;
}

Readings Outline::getReadings() const {
  Readings readings;
  for (const Node &node : nodes)
    if (node.event)
      readings[node.event->instruction];
  for (const PairNode &its : pairs)
    for (auto [to, event] : its.next)
      if (event >= 0 && pairs[to].leadsToEnd)
        readings[nodes[its.pair.node].event->instruction].insert(event);
  return readings;
}

std::vector<Counters::Numbers>
Outline::getCountersOfCursors(const Readings &readings) const {
  std::vector<Counters::Numbers> ofCursors(script.cursors.size());
  for (const auto &[at, events] : readings)
    for (uint32_t event : events) {
      const CodeStep &step = code.steps[at];
      for (const Matcher::Field &field :
           matcher.get(script.steps[event].index, *step.form).fields)
        if (int cursor = field.quantity->cursor; cursor >= 0)
          counters.addOf(at, field.operand, ofCursors[cursor]);
    }
  return ofCursors;
}

std::vector<Focus> Outline::getFoci() {
  if (!readText() || !pairUp())
    return {};
  findEnds();
  if (!haveReadingsOneMeaning())
    return {};
  auto readings = std::make_shared<const Readings>(getReadings());
  std::vector<Counters::Numbers> ofCursors = getCountersOfCursors(*readings);
  Counters::Numbers all;
  for (const Counters::Numbers &its : ofCursors)
    all.insert(its.begin(), its.end());
  std::vector<Focus> foci;
  for (size_t cursor = 0; cursor < ofCursors.size(); ++cursor) {
    Counters::Numbers others;
    for (uint32_t number : all)
      if (!ofCursors[cursor].count(number))
        others.insert(number);
    foci.push_back({int(cursor), counters.getSteps(others), readings});
  }
  return foci;
}
