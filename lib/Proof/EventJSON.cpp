// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events as JSON.

#include "fp8/Proof/EventJSON.h"

#include "JSONArray.h"

using namespace fp8::proof;
namespace json = llvm::json;

/// A constant is a number.
static json::Value toJSON(const Quantity &its) {
  json::Object object;
  if (its.cursor)
    object["cursor"] = *its.cursor;
  if (its.isParity)
    object["parity"] = its.constant;
  else if (its.constant)
    object["plus"] = its.constant;
  if (its.stride)
    object["slot"] = its.stride;
  if (!its.byRank.empty())
    object["ranks"] = toNumbers(its.byRank);
  if (!its.byLane.empty())
    object["lanes"] =
        toArray(its.byLane, [](auto &lane) { return toNumbers(lane); });
  if (its.warpStride)
    object["warp"] = json::Array{its.warpStride, its.warpValues};
  if (its.groupStride)
    object["warpgroup"] = its.groupStride;
  if (its.parameter)
    object["parameter"] = *its.parameter;
  if (object.empty() || (object.size() == 1 && object.get("plus")))
    return its.constant;
  return object;
}

static json::Array toJSON(const EventBlock &block);

static void addEvent(const Event &event, llvm::StringRef key,
                     json::Object &object) {
  object[key] = event.kind;
  if (!event.variant.empty())
    object["variant"] = event.variant;
  if (event.doers.lanes == Doers::Lanes::Elected)
    object["by"] = "elected";
  else if (event.doers.lanes == Doers::Lanes::Below)
    object["by"] = event.doers.below;
  if (event.doers.everyWarp != 1)
    object["every"] = event.doers.everyWarp;
  json::Object fields;
  for (const auto &[name, quantity] : event.fields)
    fields[name] = toJSON(quantity);
  if (!fields.empty())
    object["with"] = std::move(fields);
}

static json::Value toJSON(const EventNode &node) {
  using Kind = EventNode::Kind;
  json::Object object{{"site", node.site}};
  auto arms = [&] {
    return toArray(node.arms,
                   [](const EventBlock &its) { return toJSON(its); });
  };
  switch (node.kind) {
  case Kind::Event:
    addEvent(node.event, "do", object);
    break;
  case Kind::Skip:
    addEvent(node.event, "skip", object);
    break;
  case Kind::Advance:
    object["advance"] = node.cursor;
    break;
  case Kind::Move:
    break;
  case Kind::Repeat:
    object["repeat"] = toJSON(node.arms.front());
    if (node.trips)
      object["trips"] = *node.trips;
    break;
  case Kind::Choice:
    object["choice"] = arms();
    break;
  case Kind::Ranks:
    object["body"] = toJSON(node.arms.front());
    object["ranks"] = toNumbers(node.ranks);
    break;
  }
  return object;
}

static json::Array toJSON(const EventBlock &block) {
  return toArray(block, [](const EventNode &its) { return toJSON(its); });
}

static json::Value toJSON(const Cursor &cursor) {
  json::Object object{{"slots", cursor.slots}};
  if (cursor.batch)
    object["batch"] = cursor.batch;
  return object;
}

static json::Value toJSON(const RingBarriers &ring) {
  json::Object object{
      {"slots", ring.slots}, {"full", ring.full}, {"empty", ring.empty}};
  if (ring.deallocation)
    object["deallocation"] = *ring.deallocation;
  if (ring.allocation)
    object["allocation"] = *ring.allocation;
  return object;
}

static json::Value toJSON(const RoleEvents &role) {
  return json::Object{
      {"name", role.name},
      {"warps", json::Array{role.firstWarp, role.warps}},
      {"cursors",
       toArray(role.cursors, [](const Cursor &its) { return toJSON(its); })},
      {"body", toJSON(role.body)}};
}

json::Object fp8::proof::toJSON(const KernelEvents &events) {
  return json::Object{
      {"cluster", events.clusterSize},
      {"warps", events.warps},
      {"start", ::toJSON(events.start)},
      {"idle", ::toJSON(events.idle)},
      {"roles", toArray(events.roles,
                        [](const RoleEvents &its) { return ::toJSON(its); })},
      {"end", ::toJSON(events.end)},
      {"rings", toArray(events.rings,
                        [](const RingBarriers &its) { return ::toJSON(its); })},
      {"tensor_memory", toArray(events.tensorMemory,
                                [](const std::pair<int64_t, int64_t> &its) {
                                  return json::Array{its.first, its.second};
                                })},
      {"sites",
       toArray(events.sites, [](const std::string &its) { return its; })}};
}
