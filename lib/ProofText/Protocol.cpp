// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the protocols of roles from a skeleton.

#include "Protocol.h"

#include <algorithm>
#include <stdexcept>

using namespace fp8::prooftext;
using Json = nlohmann::json;
using Part = RingStep::Part;

std::string RingStep::str() const {
  std::string what = part == Part::Allocation     ? "the allocation of"
                     : part == Part::Deallocation ? "the end of"
                     : waits == fills             ? "an empty slot of"
                                                  : "a full slot of";
  return (waits ? "a wait for " : "a signal of ") + what +
         (part == Part::Slots ? " ring " : " the tensor memory of ring ") +
         std::to_string(ring);
}

std::string ProtocolNode::str() const {
  if (kind == Kind::Step)
    return step.str();
  if (kind == Kind::Choice)
    return "a choice of " + std::to_string(arms.size());
  return trips < 0 ? "a loop" : "a loop of " + std::to_string(trips) + " turns";
}

void fp8::prooftext::addNode(ProtocolNode node, ProtocolBlock &block) {
  bool areEqual = node.kind != ProtocolNode::Kind::Step &&
                  std::all_of(node.arms.begin(), node.arms.end(),
                              [&](const ProtocolBlock &arm) {
                                return arm == node.arms.front();
                              });
  if (areEqual && node.arms.front().empty())
    return;
  if (areEqual && node.kind == ProtocolNode::Kind::Choice)
    for (ProtocolNode &its : node.arms.front())
      block.push_back(std::move(its));
  else
    block.push_back(std::move(node));
}

namespace {

/// Reads the statements of a process.
class ProtocolReader {
public:
  explicit ProtocolReader(const Json &skeleton) : skeleton(skeleton) {}

  void read(const Json &block, ProtocolBlock &out);

private:
  using Kind = ProtocolNode::Kind;

  void readFor(const Json &statement, ProtocolBlock &out);
  void readWhile(const Json &statement, ProtocolBlock &out);
  void readBranch(const Json &statement, ProtocolBlock &out);
  void readStep(const Json &statement, ProtocolBlock &out);
  ProtocolBlock readArm(const Json &statement, const char *key) {
    ProtocolBlock block;
    if (statement.contains(key))
      read(statement[key], block);
    return block;
  }
  std::optional<int64_t> evaluate(const Json &number) const;

  const Json &skeleton;
};

} // namespace

std::optional<int64_t> ProtocolReader::evaluate(const Json &number) const {
  const Json &expression = skeleton.at("expressions").at(number.get<size_t>());
  if (expression.at(0) == "constant")
    return expression.at(1).get<int64_t>();
  if (expression.at(0) != "add")
    return std::nullopt;
  auto first = evaluate(expression.at(1)), second = evaluate(expression.at(2));
  if (!first || !second)
    return std::nullopt;
  return *first + *second;
}

void ProtocolReader::readFor(const Json &statement, ProtocolBlock &out) {
  const Json &bounds = statement.at("bounds");
  auto lower = evaluate(bounds.at(0)), upper = evaluate(bounds.at(1)),
       step = evaluate(bounds.at(2));
  ProtocolBlock body = readArm(statement, "first");
  int64_t trips = -1;
  if (lower && upper && step && *step > 0)
    trips = std::max<int64_t>(0, (*upper - *lower + *step - 1) / *step);
  if (trips < 0 || trips > kMostTrips)
    return addNode({Kind::Loop, {}, trips, {std::move(body)}}, out);
  for (int64_t trip = 0; trip < trips; ++trip)
    out.insert(out.end(), body.begin(), body.end());
}

void ProtocolReader::readWhile(const Json &statement, ProtocolBlock &out) {
  ProtocolBlock before = readArm(statement, "first"),
                turn = readArm(statement, "second");
  turn.insert(turn.end(), before.begin(), before.end());
  out.insert(out.end(), before.begin(), before.end());
  addNode({Kind::Loop, {}, -1, {std::move(turn)}}, out);
}

void ProtocolReader::readBranch(const Json &statement, ProtocolBlock &out) {
  ProtocolNode node{Kind::Choice};
  node.arms.push_back(readArm(statement, "first"));
  node.arms.push_back(readArm(statement, "second"));
  addNode(std::move(node), out);
}

void ProtocolReader::readStep(const Json &statement, ProtocolBlock &out) {
  auto number = evaluate(statement.at("end"));
  if (!number)
    throw std::runtime_error("a role works on an end of a ring that is chosen "
                             "while it runs");
  const Json &end = skeleton.at("ends").at(size_t(*number)),
             &channel =
                 skeleton.at("channels").at(end.at("channel").get<size_t>());
  const std::string &kind = statement.at("do").get_ref<const std::string &>(),
                    &part = channel.at("part").get_ref<const std::string &>();
  ProtocolNode node{Kind::Step};
  node.step.waits = kind != "signal";
  node.step.part = part == "slots"        ? Part::Slots
                   : part == "allocation" ? Part::Allocation
                                          : Part::Deallocation;
  node.step.ring = channel.at("ring").get<unsigned>();
  node.step.fills = end.at("fills").get<bool>();
  // All slots come back, one after the other. Empty ones do so by themselves.
  size_t times = kind != "drain" ? 1
                 : channel.at("data").get<bool>()
                     ? channel.at("slots").get<size_t>()
                     : 0;
  out.insert(out.end(), times, node);
}

void ProtocolReader::read(const Json &block, ProtocolBlock &out) {
  for (const Json &statement : block) {
    const std::string &kind = statement.at("do").get_ref<const std::string &>();
    if (kind == "for")
      readFor(statement, out);
    else if (kind == "while")
      readWhile(statement, out);
    else if (kind == "if")
      readBranch(statement, out);
    else if (kind == "wait" || kind == "signal" || kind == "drain")
      readStep(statement, out);
  }
}

std::vector<Protocol> fp8::prooftext::readProtocols(const Json &skeleton) {
  std::vector<Protocol> protocols;
  for (const Json &process : skeleton.at("processes")) {
    Protocol &protocol = protocols.emplace_back();
    protocol.role = process.at("role").get<unsigned>();
    protocol.ranks = process.at("ranks").get<std::vector<unsigned>>();
    ProtocolReader(skeleton).read(process.at("body"), protocol.body);
  }
  return protocols;
}
