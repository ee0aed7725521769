// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races of small launches.

#include "RaceFinder.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

RaceFinder::RaceFinder(const Skeleton &skeleton, int64_t clusterSize)
    : Refuter(skeleton, clusterSize) {
  // Accesses that meet do so in small launches.
  mostRuns = 400;
  mostSteps = 200'000;
  // Accesses are made by all threads.
  triesThreads = false;
}

/// How to change the kernel.
static std::string getCure(const Race &race, const Access &access) {
  if (!race.earlier)
    return "write it in each lap in which it is read, or read it where it was "
           "written";
  if (access.isInSlot)
    return "let one copy write it in each lap";
  if (!access.extents.empty())
    return "store to boxes that have nothing in common";
  return "let one side hand a slot of a ring over behind its access, and the "
         "other wait for that slot before its own";
}

std::string RaceFinder::getOther(const Race &race,
                                 llvm::StringRef where) const {
  const Race::Party &earlier = *race.earlier, &later = race.later;
  const char *verb =
      skeleton.accesses[earlier.access].writes ? "writes" : "reads";
  if (earlier.process != later.process)
    return ", which " + skeleton.processes[earlier.process].name + " " + verb +
           where.str();
  if (!where.empty())
    return std::string(", which it ") + verb + where.str() + ", too";
  if (earlier.warp != later.warp)
    return std::string(", which another of its warps ") + verb + ", too";
  if (earlier.site == later.site &&
      skeleton.accesses[later.access].agent == Access::Agent::Warps)
    return ", with another value in each of several lanes";
  return std::string(", which it ") + verb + " once more";
}

void RaceFinder::describe(const Race &race, llvm::StringRef where,
                          Outcome &outcome) const {
  auto getAccess = [&](const Race::Party &party) -> const Access & {
    return skeleton.accesses[party.access];
  };
  auto getVerb = [&](const Race::Party &party) {
    return getAccess(party).writes ? "writes" : "reads";
  };
  auto getRole = [&](const Race::Party &party) {
    return skeleton.processes[party.process].name;
  };
  auto addStop = [&](const Race::Party &party, llvm::StringRef where) {
    std::string text = getVerb(party) + std::string(" ") + race.place;
    if (party.slot)
      text += ", in slot " + std::to_string(party.slot->first) + " in lap " +
              std::to_string(party.slot->second);
    outcome.stops.push_back({party.process, party.site, text + where.str()});
  };
  outcome.stops.clear();
  outcome.reason =
      getRole(race.later) + " " + getVerb(race.later) + " " + race.place;
  addStop(race.later, where.empty() ? "" : " in another CTA");
  if (!race.earlier) {
    outcome.reason += ", which nobody has written";
  } else {
    outcome.reason += getOther(race, where) + ", and nothing orders the two";
    if (race.earlier->site != race.later.site)
      addStop(*race.earlier, where);
  }
  outcome.site = race.later.site;
  outcome.cure = Cure{race.later.site, getCure(race, getAccess(race.later))};
}

bool RaceFinder::describeFailure(const Machine &machine,
                                 Outcome &outcome) const {
  if (!machine.race)
    return false;
  describe(*machine.race, "", outcome);
  return true;
}

/// True if both have read the same, so that they write the same.
static bool readAlike(const std::vector<AccessLog::Print> &a,
                      const std::vector<AccessLog::Print> &b) {
  auto getReads = [](const std::vector<AccessLog::Print> &prints) {
    std::set<std::pair<unsigned, std::vector<int64_t>>> reads;
    for (const AccessLog::Print &print : prints)
      if (!print.writes)
        reads.insert({print.place, print.indices});
    return reads;
  };
  return getReads(a) == getReads(b);
}

bool RaceFinder::judge(Machine &machine, const State &state, bool isDecided,
                       Outcome &outcome) {
  if (!isDecided)
    return false;
  const Prints &prints = state.log->getPrints();
  if (runsFirst)
    ofFirst = prints;
  if (runsFirst || !ofFirst || readAlike(*ofFirst, prints))
    return false;
  // Of elements it is not known whether CTAs write different values.
  for (const AccessLog::Print &later : prints)
    for (const AccessLog::Print &earlier : *ofFirst) {
      bool areZero = later.value && later.value == earlier.value &&
                     later.value->isConstant();
      if (later.extents.empty() || !later.writes || areZero ||
          !AccessLog::overlap(earlier, later))
        continue;
      Race race{later.party, earlier.party,
                AccessLog::getPlaceName(skeleton.accesses[later.party.access],
                                        later.indices)};
      describe(race, " in CTA 0", outcome);
      return true;
    }
  return false;
}

bool RaceFinder::runLaunch(const Arguments &arguments, Outcome &outcome) {
  Arguments first = arguments;
  bool isFirst = true;
  for (auto &[number, value] : first)
    if (skeleton.expressions.getParameters()[number].scope == Scope::Cta) {
      isFirst &= value == 0;
      value = 0;
    }
  ofFirst.reset();
  if (!isFirst) {
    Outcome ignored;
    runsFirst = true;
    bool goesWrong = Refuter::runLaunch(first, ignored);
    runsFirst = false;
    if (goesWrong)
      return false; // It was tried by itself.
  }
  return Refuter::runLaunch(arguments, outcome);
}
