// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters take turns. PTX promises neither an order of clusters nor that two
// run at the same time, so the seed decides both.

#include "Machine/Grid.h"

#include "Machine/Machine.h"

#include <algorithm>

using namespace fp8::sim;

namespace {
/// CTAs that run at a time when the launch does not say.
constexpr uint32_t kResidentCtas = 16;
constexpr uint32_t kResidentClusters = 4;
/// Turns after which a cluster that could not go on tries again: another may
/// have written what it polls.
constexpr unsigned kRetry = 64;
/// Turns of a cluster that is alone, before others get a turn.
constexpr unsigned kTurnsAlone = 1 << 12;
} // namespace

Grid::Grid(Device &device, const Program &program, const LaunchConfig &config,
           const Options &options, Report &report)
    : device(device), program(program), config(config), options(options),
      report(report), barrierLog(report.barriers, program),
      random(options.scheduleSeed * 2 + 1),
      inOrder(options.scheduleSeed % 2 == 0) {
  requestsFailEarly = options.scheduleSeed % 3 == 2;
}

Grid::~Grid() = default;

void Grid::listClusters() {
  const auto &grid = config.grid, &cluster = config.cluster;
  for (uint32_t z = 0; z < grid[2]; z += cluster[2])
    for (uint32_t y = 0; y < grid[1]; y += cluster[1])
      for (uint32_t x = 0; x < grid[0]; x += cluster[0])
        pending.push_back({x, y, z});
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

size_t Grid::residents() {
  const auto &cluster = config.cluster;
  uint32_t ctas = cluster[0] * cluster[1] * cluster[2];
  if (options.residentClusters)
    return options.residentClusters;
  uint32_t most = std::min(kResidentCtas, options.multiprocessorCount) / ctas;
  return 1 + random.below(std::clamp(most, 1u, kResidentClusters));
}

/// A cluster that can go on, or null.
Machine *Grid::pick() {
  size_t first = random.below(resident.size());
  for (size_t i = 0; i < resident.size(); ++i) {
    Machine *machine = resident[(first + i) % resident.size()].get();
    if (!machine->isStuck())
      return machine;
  }
  return nullptr;
}

void Grid::reportProgress() {
  const auto &[x, y, z] = config.grid;
  if (stopped || !options.progress ||
      options.progress(report.statistics.blocks, uint64_t(x) * y * z))
    return;
  SimulationError error{ErrorKind::LimitExceeded};
  error.message = "the caller ended the run before the kernel ended";
  report.errors.push_back(std::move(error));
  stopped = true;
}

void Grid::run() {
  listClusters();
  size_t most = residents();
  unsigned turns = 0;
  while (!stopped) {
    while (resident.size() < most)
      if (std::optional<ClusterIndex> index = takePending()) {
        resident.push_back(
            std::make_unique<Machine>(*this, *index, uint32_t(started.size())));
        started.push_back(*index);
      } else {
        break;
      }
    if (resident.empty())
      break;
    if (++turns % kRetry == 0)
      for (auto &machine : resident)
        machine->retry();
    Machine *machine = pick();
    if (!machine) {
      resident.front()->reportDeadlock();
      break;
    }
    machine->run(resident.size() > 1 ? 1 + unsigned(random.below(64))
                                     : kTurnsAlone);
    reportProgress();
    if (!machine->finished())
      continue;
    turns = kRetry - 1;
    resident.erase(
        std::find_if(resident.begin(), resident.end(), [&](const auto &other) {
          return other.get() == machine;
        }));
  }
  barrierLog.finish();
}
