// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters take turns. PTX promises neither an order of clusters nor that two
// run at the same time, so the seed decides both.

#include "Machine/Grid.h"

#include "Machine/BarrierLog.h"
#include "Machine/Machine.h"
#include "Memory/Overlaps.h"
#include "Timing/Waves.h"

#include <algorithm>
#include <utility>

using namespace fp8::sim;

namespace {
/// CTAs that run at a time when the launch does not say.
constexpr uint32_t kResidentCtas = 16;
constexpr uint32_t kResidentClusters = 8;
/// Of so many rounds a cluster sits out one, on average.
constexpr unsigned kSitsOut = 64;
/// The least and the most turns of a cluster in a round.
constexpr unsigned kLeastTurns = 200, kMostTurns = 256;
/// Turns of a cluster that is alone, between two reports of progress.
constexpr unsigned kTurnsAlone = 1 << 8;
/// Rounds after which a cluster that could not go on tries again: another may
/// have written what it polls.
constexpr unsigned kRetry = 16;
/// Rounds in which no cluster ends, after which more start: a GPU runs all that
/// it has room for, and those that run may poll what one of the others writes.
constexpr unsigned kPatience = 4;
/// Rounds in which nothing changes, after which clusters watch for polls; a
/// power of two.
constexpr unsigned kQuietRounds = 4;
} // namespace

Grid::Grid(Device &device, const Program &program, const LaunchConfig &config,
           const Options &options, Report &report, unsigned threads,
           uint64_t printed)
    : device(device), program(program), config(config), options(options),
      report(report), concurrent(threads > 1),
      requestsFailEarly(options.scheduleSeed % 3 == 2),
      random(options.scheduleSeed * 2 + 1),
      inOrder(options.scheduleSeed % 2 == 0), workers(threads), printed(0),
      printedBefore(printed) {}

Grid::~Grid() = default;

void Grid::listClusters() {
  const auto &grid = config.grid, &cluster = config.cluster;
  for (uint32_t z = 0; z < grid[2]; z += cluster[2])
    for (uint32_t y = 0; y < grid[1]; y += cluster[1])
      for (uint32_t x = 0; x < grid[0]; x += cluster[0])
        pending.push_back({x, y, z});
  // Three stand for all: the first, one whose tiles lie elsewhere, and the
  // last, whose tiles may reach beyond the tensors.
  if (options.timing) {
    const size_t count = pending.size();
    std::swap(pending[1 % count],
              pending[size_t(double(count) * kSecondCluster)]);
    std::swap(pending[std::min<size_t>(2, count - 1)], pending.back());
    pending.resize(std::min<size_t>(3, count));
  }
  std::reverse(pending.begin(), pending.end());
}

std::optional<ClusterIndex> Grid::takePending() {
  if (pending.empty())
    return std::nullopt;
  if (!inOrder)
    std::swap(pending.back(), pending[random.below(pending.size())]);
  ClusterIndex index = pending.back();
  pending.pop_back();
  return index;
}

void Grid::chooseResidents() {
  most = room = options.residentClusters;
  if (most)
    return;
  const auto &cluster = config.cluster;
  uint32_t ctas = cluster[0] * cluster[1] * cluster[2];
  uint64_t fit =
      uint64_t(options.multiprocessorCount) * options.ctasPerMultiprocessor;
  uint32_t first = uint32_t(std::min<uint64_t>(kResidentCtas, fit)) / ctas;
  most = 1 + random.below(std::clamp(first, 1u, kResidentClusters));
  room = std::max<size_t>(most, fit / ctas);
}

bool Grid::admitMore() {
  if (pending.empty() || most == room)
    return false;
  most = std::min(2 * most, room);
  return true;
}

void Grid::admit() {
  while (resident.size() < most)
    if (std::optional<ClusterIndex> index = takePending()) {
      resident.push_back({uint32_t(started.size()), nullptr});
      started.push_back(*index);
    } else {
      break;
    }
}

/// In the order in which the clusters started; empty where all are stuck.
std::vector<Grid::Turn> Grid::chooseTurns() {
  std::vector<Turn> able, chosen;
  for (size_t i = 0; i < resident.size(); ++i)
    if (!resident[i].machine || !resident[i].machine->isStuck())
      able.push_back({i, resident.size() > 1
                             ? kLeastTurns + unsigned(random.below(
                                                 kMostTurns - kLeastTurns + 1))
                             : kTurnsAlone});
  for (const Turn &turn : able)
    if (able.size() == 1 || random.below(kSitsOut))
      chosen.push_back(turn);
  return chosen.empty() ? able : chosen;
}

void Grid::runTurn(const Turn &turn, bool alone) {
  Resident &cluster = resident[turn.resident];
  if (!cluster.machine)
    cluster.machine = std::make_unique<Machine>(*this, started[cluster.ordinal],
                                                cluster.ordinal);
  cluster.machine->run(turn.turns, alone);
}

/// Whether a cluster has accessed what another has written in the same round.
bool Grid::overlap(const std::vector<Turn> &turns) const {
  Overlaps overlaps;
  bool any = false;
  for (const Turn &turn : turns)
    any |= overlaps.addWrites(uint32_t(turn.resident),
                              resident[turn.resident].machine->accesses);
  for (const Turn &turn : turns)
    any |= overlaps.hasReads(uint32_t(turn.resident),
                             resident[turn.resident].machine->accesses);
  return any;
}

void Grid::runRound(const std::vector<Turn> &turns) {
  const bool alone = resident.size() == 1;
  const bool together = concurrent && turns.size() > 1;
  if (together) {
    workers.forEach(turns.size(), [&](size_t i) { runTurn(turns[i], alone); });
    if (abandoned || overlap(turns))
      return abandon();
  }
  for (const Turn &turn : turns) {
    if (!together)
      runTurn(turn, alone);
    collect(*resident[turn.resident].machine);
  }
  for (const Turn &turn : turns)
    if (Machine &machine = *resident[turn.resident].machine;
        machine.wantsToBeAlone() && !stopped) {
      machine.runAlone();
      collect(machine);
    }
}

/// Every cluster is stuck: lets them try again, or reports the deadlock.
void Grid::resolveStuck() {
  uint64_t progress = progressOfEnded;
  for (const Resident &cluster : resident)
    progress += cluster.machine->progressMade();
  if (progressAtRetry == progress) {
    if (admitMore())
      return;
    Machine &first = *resident.front().machine;
    first.reportDeadlock();
    collect(first);
    return;
  }
  progressAtRetry = progress;
  for (Resident &cluster : resident)
    cluster.machine->retry();
}

/// Whether there are some.
bool Grid::removeEnded() {
  const size_t before = resident.size();
  auto ended = [this](const Resident &cluster) {
    if (!cluster.machine || !cluster.machine->finished())
      return false;
    progressOfEnded += cluster.machine->progressMade();
    finish(*cluster.machine);
    return true;
  };
  resident.erase(std::remove_if(resident.begin(), resident.end(), ended),
                 resident.end());
  return resident.size() < before;
}

/// A poll may end when something changes: a store, a copy, a cluster that
/// starts or ends. If nothing does for some rounds, the clusters watch whether
/// their warps repeat themselves.
void Grid::watchPolls() {
  uint64_t changes = progressOfEnded + started.size();
  for (const Resident &cluster : resident)
    changes += cluster.machine ? cluster.machine->changesMade() : 0;
  if (changes != std::exchange(changesSeen, changes)) {
    if (quietRounds >= kQuietRounds)
      for (Resident &cluster : resident)
        if (cluster.machine)
          cluster.machine->watch.end();
    quietRounds = 0;
    return;
  }
  ++quietRounds;
  auto repeats = [](const Resident &cluster) {
    return cluster.machine &&
           (cluster.machine->isStuck() || cluster.machine->repeats());
  };
  if (quietRounds > kQuietRounds &&
      std::all_of(resident.begin(), resident.end(), repeats)) {
    if (!admitMore())
      reportEndlessPolls();
    return;
  }
  // A warp may have come to its loop since.
  if (quietRounds >= kQuietRounds && !(quietRounds & (quietRounds - 1)))
    for (Resident &cluster : resident)
      if (cluster.machine)
        cluster.machine->beginWatch();
}

void Grid::reportEndlessPolls() {
  auto polls = [](const Resident &cluster) { return cluster.machine->polls(); };
  auto first = std::find_if(resident.begin(), resident.end(), polls);
  if (first == resident.end()) { // waits for mbarriers that time out
    resident.front().machine->reportDeadlock();
    return collect(*resident.front().machine);
  }
  SimulationError &error = first->machine->reportEndlessPoll(pending.size());
  for (const Resident &cluster : resident)
    cluster.machine->describeWaiters(error);
  collect(*first->machine);
}

void Grid::run() {
  listClusters();
  chooseResidents();
  unsigned sinceEnd = 0;
  for (unsigned round = 1; !stopped; ++round) {
    admit();
    if (resident.empty())
      break;
    std::vector<Turn> turns = chooseTurns();
    if (turns.empty()) {
      resolveStuck();
      continue;
    }
    runRound(turns);
    if (abandoned)
      return;
    watchPolls();
    const bool anyEnded = removeEnded();
    sinceEnd = anyEnded ? 0 : sinceEnd + 1;
    if (sinceEnd == kPatience && admitMore())
      sinceEnd = 0;
    if (anyEnded || round % kRetry == 0)
      for (Resident &cluster : resident)
        if (cluster.machine)
          cluster.machine->retry();
    reportProgress();
  }
  for (const Resident &cluster : resident)
    if (cluster.machine)
      finish(*cluster.machine);
  sortBarriers(report.barriers);
}
