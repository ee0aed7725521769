// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk of one thread.

#include "Walk.h"

#include <algorithm>
#include <cstring>

using namespace fp8::prooftext;
using StepKind = Script::Step::Kind;

bool Walk::takeEvent(State &state, const CodeStep &step) {
  ++numEvents;
  Positions positions;
  bool mayBeExpected = false;
  auto isReading = [&](const Position &position) {
    if (!focus.readings)
      return true;
    auto readings = focus.readings->find(state.at);
    return readings != focus.readings->end() &&
           readings->second.count(position.step);
  };
  for (const Position &position : state.positions) {
    if (!isReading(position))
      continue;
    Agreement agreement =
        matcher.compare(execution, state, step, position, focus);
    mayBeExpected |= agreement == Agreement::Open;
    if (agreement != Agreement::Yes)
      continue;
    const Positions &more =
        successors.get({position.step + 1, position.cursors});
    positions.insert(positions.end(), more.begin(), more.end());
  }
  if (positions.empty() && mayBeExpected) {
    unknown = &code.function->instructions[step.instruction];
    return false;
  }
  if (positions.empty()) {
    report(state, &step, describe(execution, state, step, *code.function));
    return false;
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()),
                  positions.end());
  // What has not happened yet is expected as before.
  execution.takeEvent(state, left);
  state.positions = std::move(positions);
  return true;
}

bool Walk::take(State &state) {
  switch (execution.take(state, left)) {
  case Execution::Outcome::GoesOn:
    return true;
  case Execution::Outcome::Traps:
    report(state, &code.steps[state.at], "the thread traps");
    return false;
  case Execution::Outcome::Never:
    return false;
  case Execution::Outcome::Event:
    return takeEvent(state, code.steps[state.at]);
  case Execution::Outcome::Returns:
    break;
  }
  bool isEnd = std::any_of(
      state.positions.begin(), state.positions.end(), [&](const Position &its) {
        return script.steps[its.step].kind == StepKind::End;
      });
  if (!isEnd)
    report(state, &code.steps[state.at], "the thread ends");
  ending.push_back(state.node);
  return false;
}

bool Walk::isNew(State &state) {
  StateKey key = execution.getKey(state);
  for (const Position &position : state.positions) {
    uint64_t words[2];
    static_assert(sizeof(words) == sizeof(Position));
    std::memcpy(words, &position, sizeof(words));
    mix(key, words[0]);
    mix(key, words[1]);
  }
  auto [entry, isNew] = seen.try_emplace(key, seen.size());
  if (entry->second < numSeen) {
    ending.push_back(state.node);
    return false;
  }
  uint32_t node = entry->second - numSeen + 1;
  if (isNew)
    nodes.push_back({state.at, {}});
  nodes[node].before.push_back(state.node);
  state.node = node;
  return isNew;
}

void Walk::requireEnds() {
  std::vector<bool> ends(nodes.size());
  for (std::vector<uint32_t> left = ending; !left.empty();) {
    uint32_t node = left.back();
    left.pop_back();
    if (ends[node])
      continue;
    ends[node] = true;
    left.insert(left.end(), nodes[node].before.begin(),
                nodes[node].before.end());
  }
  // The last one is the nearest to what keeps them.
  auto endless = std::find(ends.rbegin(), ends.rend(), false);
  if (endless == ends.rend())
    return;
  State state;
  state.at = nodes[ends.rend() - endless - 1].at;
  report(state, &code.steps[state.at], "no way leads from here to an end");
}

void Walk::follow(State state) {
  while (!isOver()) {
    if (state.at >= code.steps.size())
      return report(state, nullptr, "the text ends without 'ret'");
    if (code.isJoin[state.at] && !isNew(state))
      return;
    if (!take(state))
      return;
  }
}

std::optional<Mismatch> Walk::run() {
  left.push_back(execution.getStart());
  left.back().positions = successors.get({});
  while (!left.empty() && !isOver()) {
    State state = std::move(left.back());
    left.pop_back();
    follow(std::move(state));
  }
  if (!isOver())
    requireEnds();
  return mismatch;
}

void Walk::report(const State &state, const CodeStep *step,
                  std::string message) {
  mismatch.emplace();
  mismatch->line =
      step ? code.function->instructions[step->instruction].line : 0;
  std::string who = script.name.empty() ? "a warp without a role"
                                        : "role \"" + script.name + "\"";
  mismatch->message = who + " (" + thread.str() + "): " + message;
  for (const Position &position : state.positions) {
    std::string text = describe(script, thread, position);
    auto &expected = mismatch->expected;
    if (std::find(expected.begin(), expected.end(), text) == expected.end())
      expected.push_back(std::move(text));
  }
}
