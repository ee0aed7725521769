// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grid: which clusters run, and in what order the others follow.

#ifndef FP8_LIB_SIMULATOR_MACHINE_GRID_H
#define FP8_LIB_SIMULATOR_MACHINE_GRID_H

#include "Machine/Snapshot.h"
#include "Machine/TensorMaps.h"
#include "Machine/Workers.h"
#include "Memory/Async.h"
#include "Memory/GlobalMemory.h"
#include "Program/Program.h"
#include "Timing/Trace.h"
#include "fp8/Simulator/Simulator.h"

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace fp8::sim {

class Machine;
using ClusterIndex = std::array<uint32_t, 3>; ///< %ctaid of its first CTA

/// Clusters run in rounds. In a round some of the resident ones run, each until
/// its turns are over or until it must be alone: by atomics, strong accesses
/// and requests for clusters. Then those that wait to be alone go on, one by
/// one. The seed chooses who runs in a round and how long; clusters meet in the
/// order in which they started. So a round may run on several threads, with the
/// same result as on one, if no cluster accesses what another writes in the
/// same round. Where one does, the run is abandoned: undo() takes it back, and
/// the caller runs the grid again on one thread.
class Grid {
public:
  /// `threads`: of the host, at least 1. `printed`: how many texts
  /// Options::onPrint has seen of an abandoned run.
  Grid(Device &device, const Program &program, const LaunchConfig &config,
       const Options &options, Report &report, unsigned threads,
       uint64_t printed = 0);
  ~Grid();

  /// Runs all clusters, several at a time.
  void run();

  /// Ends the run, which counts for nothing. Any cluster may call it.
  void abandon() { abandoned = true; }
  bool isAbandoned() const { return abandoned; }
  void undo() { snapshot.restore(); }
  uint64_t printedTexts() const { return printed; }
  /// A cluster is about to write to the buffer.
  void keep(Buffer &buffer) {
    if (concurrent)
      snapshot.keep(buffer);
  }

  /// Where the cluster that started as the `ordinal`-th begins.
  ClusterIndex clusterIndex(uint32_t ordinal) const { return started[ordinal]; }

  /// Takes a cluster that has not started, which then never will; or nothing
  /// when there is none left.
  std::optional<ClusterIndex> takePending();

  Device &device;
  const Program &program;
  const LaunchConfig &config;
  const Options &options;
  Report &report;
  std::vector<uint8_t> parameters;
  TensorMaps tensorMaps;
  GlobalMemory memory;
  std::deque<Trace> traces; ///< of clusters, where Options::timing is on
  /// Clusters run on several threads.
  const bool concurrent;
  /// Now and then a request for a cluster fails although there are more, as it
  /// does when other work wants the device.
  const bool requestsFailEarly;

private:
  /// A cluster that has started; its machine is made when it first runs.
  struct Resident {
    uint32_t ordinal;
    std::unique_ptr<Machine> machine;
  };
  /// A resident cluster in a round, by its place.
  struct Turn {
    size_t resident;
    unsigned turns;
  };

  Random random;
  const bool inOrder; ///< clusters start in the order of their index
  bool stopped = false;
  std::atomic<bool> abandoned{false};
  Snapshot snapshot;
  Workers workers;
  uint64_t printed, printedBefore;
  std::vector<ClusterIndex> pending; ///< the next at the end
  std::vector<Resident> resident;
  std::vector<ClusterIndex> started;
  /// Clusters that run at the same time, and that the device has room for.
  size_t most = 0, room = 0;
  uint64_t progressOfEnded = 0;
  uint64_t changesSeen = 0;
  unsigned quietRounds = 0; ///< in which nothing has changed
  /// All that has happened when the clusters that were stuck tried again.
  std::optional<uint64_t> progressAtRetry;

  void listClusters();
  void chooseResidents();
  void admit();
  /// Lets twice as many run at the same time. False if no more can start.
  bool admitMore();
  std::vector<Turn> chooseTurns();
  void runTurn(const Turn &turn, bool alone);
  void runRound(const std::vector<Turn> &turns);
  bool overlap(const std::vector<Turn> &turns) const;
  /// Every cluster is stuck: lets them try again or others start, or reports
  /// the deadlock.
  void resolveStuck();
  bool removeEnded();
  /// After a round: where nothing changes, finds out whether it ever will.
  void watchPolls();
  void reportEndlessPolls();
  /// Takes over what a cluster has accessed and reports.
  void collect(Machine &machine);
  void collectMessages(Report &part);
  void reportProgress();
  void finish(Machine &machine);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_GRID_H
