// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grid: which clusters run, and in what order the others follow.

#ifndef FP8_LIB_SIMULATOR_MACHINE_GRID_H
#define FP8_LIB_SIMULATOR_MACHINE_GRID_H

#include "Machine/BarrierLog.h"
#include "Machine/TensorMaps.h"
#include "Memory/Async.h"
#include "Memory/GlobalMemory.h"
#include "Program/Program.h"
#include "fp8/Simulator/Simulator.h"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace fp8::sim {

class Machine;
using ClusterIndex = std::array<uint32_t, 3>; ///< %ctaid of its first CTA

class Grid {
public:
  Grid(Device &device, const Program &program, const LaunchConfig &config,
       const Options &options, Report &report);
  ~Grid();

  /// Runs all clusters, several at a time.
  void run();

  /// Where the cluster that started as the `ordinal`-th begins.
  ClusterIndex clusterIndex(uint32_t ordinal) const { return started[ordinal]; }
  /// Calls Options::progress, which may end the run.
  void reportProgress();

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
  BarrierLog barrierLog;
  GlobalMemory memory;
  bool stopped = false;
  /// Now and then a request for a cluster fails although there are more, as it
  /// does when other work wants the device.
  bool requestsFailEarly;

private:
  Random random;
  bool inOrder; ///< clusters start in the order of their index
  std::vector<ClusterIndex> pending; ///< the next at the end
  std::vector<std::unique_ptr<Machine>> resident;
  std::vector<ClusterIndex> started;

  void listClusters();
  size_t residents();
  Machine *pick();
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_GRID_H
