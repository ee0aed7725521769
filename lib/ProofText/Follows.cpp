// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shows that the expected events of a role follow its protocol.

#include "Protocol.h"

#include <algorithm>
#include <set>
#include <stdexcept>

using namespace fp8::prooftext;
using Part = RingStep::Part;
using StepKind = Script::Step::Kind;

namespace {

/// A step that an event of the script takes part in.
struct Taken {
  RingStep step;
  int cursor = -1; ///< -1: it is taken once
  bool isLeftOut = false;
};

class Follower {
public:
  Follower(const Script &script, const Thread &thread,
           const std::vector<RingBarriers> &rings, const Protocol &protocol);

  /// The steps, and the loops and branches around them, are those of the
  /// protocol.
  void showSteps() const;
  /// The n-th step of an end is of the slot that its cursor has in turn n.
  void showSlots() const;

private:
  std::optional<Taken> getTaken(const ScriptEvent &event) const;
  std::optional<Taken> getTensorMemory(const ScriptEvent &event) const;
  /// The ring and the side of a barrier.
  std::optional<Taken> getPlace(const Quantity &at, bool waits) const;
  void checkParity(const ScriptEvent &event, const Taken &taken) const;
  /// What is done again before the cursor advances is no signal yet.
  bool isLast(uint32_t at) const;
  std::vector<uint32_t> getNext(uint32_t at) const;
  void project(const ScriptBlock &block, ProtocolBlock &out) const;
  void compare(const ProtocolBlock &its, const ProtocolBlock &skeletons) const;
  void showSlots(int cursor) const;
  std::string getWhere(uint32_t at) const;
  [[noreturn]] void fail(const std::string &what) const;

  const Script &script;
  const Thread &thread;
  const std::vector<RingBarriers> &rings;
  const Protocol &protocol;
  /// By step of the script.
  std::vector<std::optional<Taken>> taken;
};

} // namespace

Follower::Follower(const Script &script, const Thread &thread,
                   const std::vector<RingBarriers> &rings,
                   const Protocol &protocol)
    : script(script), thread(thread), rings(rings), protocol(protocol),
      taken(script.steps.size()) {
  for (uint32_t at = 0; at < taken.size(); ++at) {
    const Script::Step &step = script.steps[at];
    bool isEvent = step.kind == StepKind::Event || step.kind == StepKind::Skip;
    if (!isEvent || !script.events[step.index].isDoneBy(thread))
      continue;
    taken[at] = getTaken(script.events[step.index]);
    if (taken[at])
      checkParity(script.events[step.index], *taken[at]);
  }
  std::vector<uint32_t> early;
  for (uint32_t at = 0; at < taken.size(); ++at)
    if (taken[at] && !taken[at]->step.waits && !isLast(at))
      early.push_back(at);
  for (uint32_t at : early)
    taken[at].reset();
}

std::string Follower::getWhere(uint32_t at) const {
  const ScriptEvent &event = script.events[script.steps[at].index];
  return "'" + event.site + ": " + event.kind + "'";
}

void Follower::fail(const std::string &what) const {
  throw std::runtime_error("the events of role \"" + script.name +
                           "\" are not those of its skeleton: " + what);
}

//===----------------------------------------------------------------------===//
// Which events are steps
//===----------------------------------------------------------------------===//

std::optional<Taken> Follower::getPlace(const Quantity &at, bool waits) const {
  for (unsigned ring = 0; ring < rings.size(); ++ring) {
    const RingBarriers &its = rings[ring];
    if (at.cursor < 0 && its.deallocation == at.constant)
      return Taken{{waits, Part::Deallocation, ring, !waits}};
    bool isFull = at.constant == its.full, isEmpty = at.constant == its.empty;
    // A barrier has 8 bytes (PTX ISA, mbarrier).
    if (at.cursor >= 0 && (isFull || isEmpty) && at.stride == 8 &&
        script.cursors[at.cursor].slots == its.slots)
      return Taken{{waits, Part::Slots, ring, waits == isEmpty}, at.cursor};
  }
  return std::nullopt;
}

std::optional<Taken> Follower::getTensorMemory(const ScriptEvent &event) const {
  auto id = event.fields.find("id");
  bool waits = event.kind == "named sync";
  if ((!waits && event.kind != "named arrive") || id == event.fields.end() ||
      id->second.groupStride)
    return std::nullopt;
  for (unsigned ring = 0; ring < rings.size(); ++ring)
    if (rings[ring].allocation == id->second.constant)
      return Taken{{waits, Part::Allocation, ring, !waits}};
  return std::nullopt;
}

std::optional<Taken> Follower::getTaken(const ScriptEvent &event) const {
  // Kinds of events that complete a phase, or have a part in it. A test that
  // succeeds is a wait that is left out later.
  static const std::set<std::string> kSignals = {"arrive",
                                                 "arrive remotely",
                                                 "arrive after copies",
                                                 "commit",
                                                 "commit to several",
                                                 "commit of pair to several",
                                                 "copy",
                                                 "copy to several",
                                                 "copy of pair",
                                                 "copy of pair to several",
                                                 "request",
                                                 "request for all"};
  bool waits = event.kind == "wait";
  if (!waits && !kSignals.count(event.kind))
    return getTensorMemory(event);
  auto at = event.fields.find("at");
  return at == event.fields.end() ? std::nullopt : getPlace(at->second, waits);
}

void Follower::checkParity(const ScriptEvent &event, const Taken &taken) const {
  if (!taken.step.waits || taken.step.part == Part::Allocation)
    return;
  const Quantity &parity = event.fields.at("parity");
  bool ofSlots = taken.step.part == Part::Slots;
  if (parity.constant != (ofSlots && taken.step.fills) ||
      parity.isParity != ofSlots || parity.cursor != taken.cursor)
    throw std::runtime_error("the wait at '" + event.site +
                             "' is for another lap than that of its slot");
}

std::vector<uint32_t> Follower::getNext(uint32_t at) const {
  const Script::Step &step = script.steps[at];
  switch (step.kind) {
  case StepKind::End:
    return {};
  case StepKind::Split:
    return {at + 1, step.target};
  case StepKind::Jump:
    return {step.target};
  case StepKind::Ranks:
    return {step.ranks >> thread.rank & 1 ? at + 1 : step.target};
  default:
    return {at + 1};
  }
}

bool Follower::isLast(uint32_t start) const {
  std::set<uint32_t> visited;
  std::vector<uint32_t> left = getNext(start);
  while (!left.empty()) {
    uint32_t at = left.back();
    left.pop_back();
    if (!visited.insert(at).second)
      continue;
    const Script::Step &step = script.steps[at];
    if (step.kind == StepKind::Advance &&
        int(step.index) == taken[start]->cursor)
      continue;
    if (taken[at] && taken[at]->step == taken[start]->step)
      return false;
    for (uint32_t next : getNext(at))
      left.push_back(next);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

void Follower::project(const ScriptBlock &block, ProtocolBlock &out) const {
  for (const ScriptNode &node : block) {
    if (node.kind == ScriptNode::Kind::Step) {
      if (const auto &its = taken[node.step])
        out.push_back(
            {ProtocolNode::Kind::Step, its->step, -1, {}, getWhere(node.step)});
      continue;
    }
    if (node.kind == ScriptNode::Kind::Ranks) {
      if (node.ranks >> thread.rank & 1)
        project(node.arms[0], out);
      continue;
    }
    std::vector<ProtocolBlock> arms(node.arms.size());
    for (size_t i = 0; i < arms.size(); ++i)
      project(node.arms[i], arms[i]);
    if (node.kind == ScriptNode::Kind::Loop) {
      addNode({ProtocolNode::Kind::Loop, {}, node.trips, std::move(arms)}, out);
      continue;
    }
    // A choice of several is a chain of choices of two.
    ProtocolBlock rest = std::move(arms.back());
    for (arms.pop_back(); !arms.empty(); arms.pop_back()) {
      ProtocolBlock chain;
      addNode({ProtocolNode::Kind::Choice,
               {},
               -1,
               {std::move(arms.back()), std::move(rest)}},
              chain);
      rest = std::move(chain);
    }
    for (ProtocolNode &its : rest)
      out.push_back(std::move(its));
  }
}

/// The first event in a block; empty if there is none.
static std::string getFirst(const ProtocolBlock &block) {
  for (const ProtocolNode &node : block) {
    if (node.kind == ProtocolNode::Kind::Step)
      return " at " + node.where;
    for (const ProtocolBlock &arm : node.arms)
      if (std::string first = getFirst(arm); !first.empty())
        return first;
  }
  return "";
}

void Follower::compare(const ProtocolBlock &its,
                       const ProtocolBlock &skeletons) const {
  for (size_t i = 0; i < std::max(its.size(), skeletons.size()); ++i) {
    if (i < std::min(its.size(), skeletons.size())) {
      const ProtocolNode &one = its[i], &other = skeletons[i];
      if (one == other)
        continue;
      if (one.kind == other.kind && one.trips == other.trips &&
          one.kind != ProtocolNode::Kind::Step) {
        for (size_t arm = 0; arm < one.arms.size(); ++arm)
          compare(one.arms[arm], other.arms[arm]);
        continue;
      }
    }
    std::string where = i < its.size() ? getFirst({its[i]})
                        : i ? " behind the event" + getFirst({its[i - 1]})
                            : "";
    auto say = [&](const ProtocolBlock &block) {
      return i < block.size() ? block[i].str() : "nothing more";
    };
    fail("they have " + say(its) + where + ", and it has " + say(skeletons));
  }
}

void Follower::showSteps() const {
  ProtocolBlock body;
  project(script.body, body);
  compare(body, protocol.body);
}

void Follower::showSlots(int cursor) const {
  // How many more waits, and signals, there were than advances.
  using Place = std::tuple<uint32_t, int, int>;
  bool has[2] = {};
  for (const auto &its : taken)
    if (its && its->cursor == cursor)
      has[its->step.waits] = true;
  int most = 2 * script.cursors[cursor].slots;
  std::set<Place> visited;
  std::vector<Place> left{{0, 0, 0}};
  while (!left.empty()) {
    auto [at, signals, waits] = left.back();
    left.pop_back();
    if (std::min(signals, waits) < -most ||
        !visited.insert({at, signals, waits}).second)
      continue;
    const Script::Step &step = script.steps[at];
    if (step.kind == StepKind::Advance && int(step.index) == cursor) {
      signals -= has[false];
      waits -= has[true];
    }
    if (const auto &its = taken[at]; its && its->cursor == cursor) {
      int &count = its->step.waits ? waits : signals;
      if (count++)
        fail(getWhere(at) + " is " + its->step.str() +
             ", but not of the slot that is next");
    }
    for (uint32_t next : getNext(at))
      left.push_back({next, signals, waits});
  }
}

void Follower::showSlots() const {
  for (size_t cursor = 0; cursor < script.cursors.size(); ++cursor)
    showSlots(cursor);
}

void fp8::prooftext::showThatFollows(const Script &script, const Thread &thread,
                                     const std::vector<RingBarriers> &rings,
                                     const Protocol &protocol) {
  Follower follower(script, thread, rings, protocol);
  follower.showSteps();
  follower.showSlots();
}
