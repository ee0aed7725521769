// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the expected events.

#include "Protocol.h"

#include <algorithm>
#include <stdexcept>

using namespace fp8::prooftext;
using Json = nlohmann::json;
using Step = Script::Step;

std::string Thread::str() const {
  std::string text =
      "warp " + std::to_string(warp) + ", " +
      (elected ? "the elected lane"
               : "lane " + std::to_string(lane) + ", which is not elected");
  return rank ? "CTA " + std::to_string(rank) + ", " + text : text;
}

bool ScriptEvent::isDoneBy(const Thread &thread) const {
  return (!byElected || thread.elected) && thread.lane < below &&
         (everyWarp ? thread.roleWarp % everyWarp == 0 : thread.warp == 0);
}

void Script::advance(unsigned cursor, Cursors &at) const {
  auto [slots, batch] = cursors[cursor];
  unsigned next = at[cursor] + std::max(batch, 1u);
  if (batch) // a store queue: one more batch must fit
    at[cursor] = next + batch > slots ? 0 : next;
  else
    at[cursor] = next % (2 * slots);
}

int64_t Script::evaluate(const Quantity &its, const Thread &thread,
                         const Cursors &at) const {
  int64_t value = its.constant;
  if (its.cursor >= 0) {
    unsigned slots = cursors[its.cursor].slots, number = at[its.cursor];
    if (its.isParity)
      return value ^ (number / slots % 2);
    value += its.stride * (number % slots);
  }
  if (!its.byRank.empty())
    value += its.byRank.at(thread.rank);
  if (!its.byLane.empty())
    value += its.byLane.at(thread.rank).at(thread.lane);
  value += its.warpStride * (thread.roleWarp % its.warpValues);
  return value + its.groupStride * (thread.roleWarp / 4);
}

unsigned Script::getNumLanes() const {
  unsigned lanes = 1;
  for (const ScriptEvent &event : events)
    if (event.below < 32)
      lanes = std::max(lanes, event.below);
  return lanes;
}

bool Script::hasLaneEvents() const {
  return std::any_of(events.begin(), events.end(), [](const ScriptEvent &its) {
    return its.below < 32 && its.everyWarp;
  });
}

namespace {

/// Writes the steps of a role's blocks.
class ScriptReader {
public:
  ScriptReader(Script &script, const std::vector<std::string> &sites)
      : script(script), sites(sites) {}

  void read(const Json &block, ScriptBlock &out) {
    for (const Json &node : block)
      readNode(node, out);
  }
  void end() { add({Step::Kind::End}); }

private:
  uint32_t add(Step step) {
    constexpr size_t kMost = 1 << 20;
    if (script.steps.size() >= kMost)
      throw std::runtime_error("the expected events are too many");
    script.steps.push_back(step);
    return script.steps.size() - 1;
  }
  uint32_t here() const { return script.steps.size(); }
  /// Adds a step that is part of the tree, too.
  void add(Step step, ScriptBlock &out) {
    out.push_back({ScriptNode::Kind::Step, add(step)});
  }
  void readNode(const Json &node, ScriptBlock &out);
  void readEvent(const Json &node, const char *key, Step::Kind kind,
                 ScriptBlock &out);
  void readRepeat(const Json &node, ScriptBlock &out);
  void readChoice(const Json &node, ScriptBlock &out);
  void readRanks(const Json &node, ScriptBlock &out);
  Quantity readQuantity(const Json &its);

  Script &script;
  const std::vector<std::string> &sites;
  std::map<std::string, uint32_t> contents;
};

Quantity ScriptReader::readQuantity(const Json &its) {
  Quantity quantity;
  if (its.is_number()) {
    quantity.constant = its.get<int64_t>();
    return quantity;
  }
  quantity.isParity = its.contains("parity");
  quantity.constant = its.value(quantity.isParity ? "parity" : "plus", 0);
  quantity.cursor = its.value("cursor", -1);
  if (quantity.cursor >= int(script.cursors.size()))
    throw std::runtime_error("an event is of a cursor that there is not");
  quantity.stride = its.value("slot", int64_t(0));
  quantity.byRank = its.value("ranks", quantity.byRank);
  quantity.byLane = its.value("lanes", quantity.byLane);
  if (its.contains("warp")) {
    quantity.warpStride = its["warp"].at(0).get<int64_t>();
    quantity.warpValues =
        std::max<int64_t>(its["warp"].at(1).get<int64_t>(), 1);
  }
  quantity.groupStride = its.value("warpgroup", int64_t(0));
  quantity.parameter = its.value("parameter", -1);
  return quantity;
}

void ScriptReader::readEvent(const Json &node, const char *key, Step::Kind kind,
                             ScriptBlock &out) {
  ScriptEvent event;
  event.kind = node.at(key).get<std::string>();
  event.variant = node.value("variant", "");
  event.site = sites.at(node.at("site").get<size_t>());
  if (node.contains("by")) {
    event.byElected = node["by"].is_string();
    if (!event.byElected)
      event.below = node["by"].get<unsigned>();
  }
  event.everyWarp = node.value("every", 1u);
  const Json fields = node.value("with", Json::object());
  for (const auto &[name, its] : fields.items())
    event.fields[name] = readQuantity(its);
  event.content =
      contents
          .try_emplace(event.kind + " " + event.variant + fields.dump(),
                       contents.size())
          .first->second;
  script.events.push_back(std::move(event));
  add({kind, uint32_t(script.events.size() - 1)}, out);
}

void ScriptReader::readRepeat(const Json &node, ScriptBlock &out) {
  const Json &body = node["repeat"];
  int64_t trips = node.value("trips", int64_t(-1));
  if (trips >= 0 && trips <= kMostTrips) {
    for (int64_t trip = 0; trip < trips; ++trip)
      read(body, out);
    return;
  }
  ScriptNode loop{ScriptNode::Kind::Loop, 0, trips, 0, {{}}};
  uint32_t head = add({Step::Kind::Split});
  read(body, loop.arms[0]);
  add({Step::Kind::Jump, 0, head});
  script.steps[head].target = here();
  out.push_back(std::move(loop));
}

void ScriptReader::readChoice(const Json &node, ScriptBlock &out) {
  if (!node["choice"].is_array() || node["choice"].empty())
    throw std::runtime_error("a choice has no arms");
  ScriptNode choice{ScriptNode::Kind::Choice};
  std::vector<uint32_t> ends;
  for (const Json &arm : node["choice"]) {
    uint32_t split = add({Step::Kind::Split});
    read(arm, choice.arms.emplace_back());
    ends.push_back(add({Step::Kind::Jump}));
    script.steps[split].target = here();
  }
  // Behind the last arm there is no other: that way leads nowhere.
  uint32_t nowhere = here();
  add({Step::Kind::Jump, 0, nowhere});
  for (uint32_t end : ends)
    script.steps[end].target = here();
  out.push_back(std::move(choice));
}

void ScriptReader::readRanks(const Json &node, ScriptBlock &out) {
  ScriptNode its{ScriptNode::Kind::Ranks, 0, -1, 0, {{}}};
  for (unsigned rank : node["ranks"])
    its.ranks |= uint64_t(1) << (rank % 64);
  uint32_t guard = add({Step::Kind::Ranks, 0, 0, its.ranks});
  read(node.at("body"), its.arms[0]);
  script.steps[guard].target = here();
  out.push_back(std::move(its));
}

void ScriptReader::readNode(const Json &node, ScriptBlock &out) {
  if (node.contains("do")) {
    readEvent(node, "do", Step::Kind::Event, out);
  } else if (node.contains("skip")) {
    readEvent(node, "skip", Step::Kind::Skip, out);
  } else if (node.contains("advance")) {
    uint32_t cursor = node["advance"].get<uint32_t>();
    if (cursor >= script.cursors.size())
      throw std::runtime_error("a cursor advances that there is not");
    add({Step::Kind::Advance, cursor}, out);
  } else if (node.contains("repeat")) {
    readRepeat(node, out);
  } else if (node.contains("choice")) {
    readChoice(node, out);
  } else if (node.contains("ranks")) {
    readRanks(node, out);
  } else {
    throw std::runtime_error("an expected event is of no known kind");
  }
}

} // namespace

static Script readRole(const Json &events, const Json &role,
                       const std::vector<std::string> &sites) {
  Script script;
  script.name = role.at("name").get<std::string>();
  script.firstWarp = role.at("warps").at(0).get<unsigned>();
  script.warps = role.at("warps").at(1).get<unsigned>();
  for (const Json &cursor : role.at("cursors"))
    script.cursors.push_back({std::max(cursor.at("slots").get<unsigned>(), 1u),
                              cursor.value("batch", 0u)});
  constexpr unsigned kMostSlots = 128;
  for (const Script::Cursor &cursor : script.cursors)
    if (cursor.slots > kMostSlots)
      throw std::runtime_error("a ring has more than 128 slots");
  if (script.cursors.size() > kMaxCursors)
    throw std::runtime_error("role '" + script.name + "' works on more than " +
                             std::to_string(kMaxCursors) + " rings");
  ScriptReader reader(script, sites);
  reader.read(events.at("start"), script.body);
  reader.read(role.at("body"), script.body);
  reader.read(events.at("end"), script.body);
  reader.end();
  return script;
}

static RingBarriers readRing(const Json &ring) {
  RingBarriers barriers{
      ring.at("slots").get<unsigned>(), ring.at("full").get<int64_t>(),
      ring.at("empty").get<int64_t>(), std::nullopt, std::nullopt};
  if (ring.contains("deallocation"))
    barriers.deallocation = ring["deallocation"].get<int64_t>();
  if (ring.contains("allocation"))
    barriers.allocation = ring["allocation"].get<int64_t>();
  return barriers;
}

/// The events of each role are steps of the skeleton, in all CTAs and warps.
static void showThatFollow(const KernelScript &kernel, const Json &skeleton,
                           const Json &rings) {
  std::vector<RingBarriers> barriers;
  for (const Json &ring : rings)
    barriers.push_back(readRing(ring));
  for (const Protocol &protocol : readProtocols(skeleton)) {
    const Script &script = kernel.roles.at(protocol.role);
    for (unsigned rank : protocol.ranks)
      for (unsigned warp = 0; warp < script.warps; ++warp)
        showThatFollows(
            script, {rank, script.firstWarp + warp, warp, 0, /*elected=*/true},
            barriers, protocol);
  }
}

KernelScript fp8::prooftext::readScript(const Json &file,
                                        const std::string &kernel) {
  const Json *found = nullptr;
  for (const Json &its : file.at("kernels"))
    if (its.at("kernel") == kernel)
      found = &its;
  if (!found)
    throw std::runtime_error("there are no events of kernel '" + kernel + "'");
  if (found->contains("events_obstacle"))
    throw std::runtime_error((*found)["events_obstacle"].get<std::string>());
  const Json &events = found->at("events");
  KernelScript script;
  script.clusterSize = events.at("cluster").get<unsigned>();
  script.warps = events.at("warps").get<unsigned>();
  auto sites = events.at("sites").get<std::vector<std::string>>();
  for (const Json &word : events.at("tensor_memory"))
    script.tensorMemory[word.at(0).get<uint64_t>()] =
        word.at(1).get<uint64_t>();
  unsigned withRole = 0;
  for (const Json &role : events.at("roles")) {
    script.roles.push_back(readRole(events, role, sites));
    withRole = std::max(withRole, script.roles.back().firstWarp +
                                      script.roles.back().warps);
  }
  showThatFollow(script, found->at("protocol"), events.at("rings"));
  script.verdict = found->at("properties").at("progress").at("verdict");
  // Idle warps come behind those of the roles.
  if (script.warps > withRole)
    script.roles.push_back(
        readRole(events,
                 Json{{"name", ""},
                      {"warps", {withRole, script.warps - withRole}},
                      {"cursors", Json::array()},
                      {"body", events.at("idle")}},
                 sites));
  return script;
}
