// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector clocks of warps and engines.

#include "AccessLog.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

/// Each process has two engines in front of its warps.
static constexpr unsigned kEngines = 2;

AccessLog::AccessLog(const Skeleton &skeleton) : skeleton(&skeleton) {
  unsigned number = 0;
  for (const Process &process : skeleton.processes) {
    firstAgent.push_back(number);
    number += kEngines + process.numWarps;
  }
  firstAgent.push_back(number);
  times.resize(number);
  known.resize(number, Clock(number));
}

void AccessLog::join(Clock &into, const Clock &from) {
  for (auto [mine, theirs] : llvm::zip(into, from))
    mine = std::max(mine, theirs);
}

unsigned AccessLog::getAgent(unsigned process, Access::Agent agent,
                             unsigned warp) const {
  switch (agent) {
  case Access::Agent::Copies:
    return firstAgent[process];
  case Access::Agent::Mma:
    return firstAgent[process] + 1;
  case Access::Agent::Warps:
    return firstAgent[process] + kEngines + warp;
  }
  llvm_unreachable("all agents are handled");
}

AccessLog::Clock AccessLog::getKnown(unsigned process, Access::Agent agent,
                                     unsigned warp) const {
  unsigned its = getAgent(process, agent, warp);
  if (agent == Access::Agent::Warps)
    return known[its];
  // An engine knows what the role knew when it issued the work.
  Clock clock(times.size());
  for (unsigned other = firstAgent[process] + kEngines;
       other < firstAgent[process + 1]; ++other)
    join(clock, known[other]);
  // Products follow one another, copies do not.
  if (agent == Access::Agent::Mma)
    clock[its] = times[its];
  return clock;
}

AccessLog::Clock AccessLog::getDone(unsigned process) const {
  Clock clock(times.size());
  for (unsigned agent = firstAgent[process]; agent < firstAgent[process + 1];
       ++agent) {
    join(clock, known[agent]);
    clock[agent] = times[agent];
  }
  return clock;
}

void AccessLog::signal(unsigned process, unsigned end, int64_t slot,
                       bool isByCopies) {
  Clock clock = getDone(process);
  if (auto it = taken.find({end, slot}); isByCopies && it != taken.end()) {
    unsigned copies = getAgent(process, Access::Agent::Copies, 0);
    it->second[copies] = clock[copies];
    clock = std::move(it->second);
  }
  taken.erase({end, slot});
  handedOver[{end, slot}] = std::move(clock);
}

void AccessLog::wait(unsigned process, unsigned end, int64_t slot) {
  auto it = handedOver.find({end, slot});
  if (it == handedOver.end())
    return;
  for (unsigned agent = firstAgent[process] + kEngines;
       agent < firstAgent[process + 1]; ++agent)
    join(known[agent], it->second);
}

void AccessLog::settle(unsigned process) {
  for (unsigned agent = firstAgent[process] + kEngines;
       agent < firstAgent[process + 1]; ++agent)
    for (unsigned engine = 0; engine < kEngines; ++engine)
      known[agent][firstAgent[process] + engine] =
          times[firstAgent[process] + engine];
}

static bool overlap(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> aExtents,
                    llvm::ArrayRef<int64_t> b,
                    llvm::ArrayRef<int64_t> bExtents) {
  for (unsigned axis = 0; axis < std::min(a.size(), b.size()); ++axis) {
    int64_t mine = axis < aExtents.size() ? aExtents[axis] : 1,
            its = axis < bExtents.size() ? bExtents[axis] : 1;
    if (a[axis] + mine <= b[axis] || b[axis] + its <= a[axis])
      return false;
  }
  return true;
}

bool AccessLog::overlap(const Print &a, const Print &b) {
  return a.place == b.place &&
         ::overlap(a.indices, a.extents, b.indices, b.extents);
}

std::string AccessLog::getPlaceName(const Access &access,
                                    llvm::ArrayRef<int64_t> indices) {
  std::string text, name = access.name;
  size_t place = name.find("{}");
  if (place == std::string::npos)
    return name;
  for (int64_t index : indices)
    text += (text.empty() ? "" : ", ") + std::to_string(index);
  return name.replace(place, 2, text);
}

bool AccessLog::isKnownToDiffer(const Access &access,
                                const std::optional<Linear> &a,
                                const std::optional<Linear> &b) {
  if (!a || !b)
    return access.isInSlot;
  // Of fragments it is known which are zero.
  return !(*a == *b) &&
         (access.extents.empty() || a->isConstant() != b->isConstant());
}

std::optional<Race> AccessLog::record(const Request &request, bool isOfSame) {
  const Access &access = request.access;
  unsigned process = request.party.process,
           agent = getAgent(process, access.agent, request.party.warp);
  Clock clock = getKnown(process, access.agent, request.party.warp);
  std::vector<int64_t> indices = request.indices;
  int64_t slot = 0;
  if (access.isInSlot) {
    slot = indices.front() % skeleton->channels[request.channel].slots;
    indices.erase(indices.begin());
  } else if (!isOfSame) {
    prints.push_back({request.party, access.place, indices, access.extents,
                      access.writes, request.value});
  }
  auto &its = events[{access.isInSlot, access.isInSlot ? request.channel : 0,
                      access.place, slot}];
  auto makeRace = [&](const Event *earlier) {
    Race race{request.party, std::nullopt, getPlaceName(access, indices)};
    if (earlier)
      race.earlier = earlier->party;
    return race;
  };
  bool wasWritten = false, isSettled = false;
  const Event *latest = nullptr;
  for (const Event &event : its) {
    if (!::overlap(event.indices, event.extents, indices, access.extents))
      continue;
    wasWritten |= event.writes;
    if (event.writes)
      latest = &event;
  }
  // A write of what is there changes nothing.
  isSettled = access.writes && latest &&
              !isKnownToDiffer(access, latest->value, request.value);
  for (const Event &event : its) {
    if (isSettled || !(event.writes || access.writes) ||
        !::overlap(event.indices, event.extents, indices, access.extents))
      continue;
    bool isOther =
        isOfSame && event.agent == agent && event.time == times[agent];
    if (isOther || !knows(clock, event))
      return makeRace(&event);
  }
  if (access.isInSlot && !access.writes && !wasWritten)
    return makeRace(nullptr);
  if (!isOfSame)
    ++times[agent];
  if (access.agent == Access::Agent::Warps)
    known[agent][agent] = times[agent];
  // What is known to all who write here need not be kept.
  if (access.writes)
    llvm::erase_if(its, [&](const Event &event) {
      return knows(clock, event) && event.indices == indices &&
             event.extents == access.extents;
    });
  its.push_back({agent, times[agent], request.party, std::move(indices),
                 access.extents, request.value, access.writes});
  return std::nullopt;
}
