// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One replay of a trace: the engines, and the warps that feed them.

#ifndef FP8_LIB_SIMULATOR_TIMING_REPLAYER_H
#define FP8_LIB_SIMULATOR_TIMING_REPLAYER_H

#include "Timing/Ahead.h"
#include "Timing/Engines.h"
#include "Timing/MemoryShares.h"
#include "Timing/Replay.h"
#include "Timing/WarpState.h"

#include <optional>
#include <vector>

namespace fp8::sim {

class Replayer {
public:
  Replayer(const Trace &trace, const Costs &costs, const fp8::chip::Timing &t,
           const TracedLaunch &launch);
  std::optional<KernelTime> run();

private:
  static constexpr uint32_t kWarpsOfGroup = 4, kMostGroups = 8; ///< of a CTA

  const Trace &trace;
  const Costs &costs;
  const fp8::chip::Timing &t;
  const TracedLaunch &launch;
  std::vector<Multiprocessor> sms;
  std::vector<Phase> phases;
  std::vector<Products> groups; ///< by CTA and warpgroup
  std::vector<WarpState> warps;
  const MemoryShares memory;
  double end = 0;
  /// When the dependent kernel may start, and the first product.
  double nextStarts = 1e300, firstProduct = 1e300;
  Ahead ahead;

  double loadLatency(const TraceEvent &event) const {
    return event.count
               ? t.issue[size_t(fp8::chip::IssueClass::GlobalLoad)].latency
               : t.l1LatencyCycles;
  }
  double arrivalCycles(const TraceEvent &event) const {
    return event.isRemote ? t.remoteCycles : t.arriveCycles;
  }
  void runWarp(uint32_t index, double until);
  bool execute(uint32_t warp, uint32_t inst, double until);
  bool handle(uint32_t warp, const TraceEvent &event);
  void arrive(const WarpState &warp, uint32_t phase, double at);
  double load(WarpState &warp, Multiprocessor &sm, const TraceEvent &event);
  double loadShared(WarpState &warp, Multiprocessor &sm, double at,
                    uint32_t registers);
  void startProduct(uint32_t warp, const TraceEvent &event);
  double productCycles(const TraceEvent &event) const;
  double multiply(Multiprocessor &sm, double at, const TraceEvent &event);
  void startTensorWork(uint32_t warp, const TraceEvent &event);
  void transfer(uint32_t warp, const TraceEvent &event);
  bool waitForProducts(uint32_t warp, const TraceEvent &event);
  Products &groupOf(uint32_t warp) {
    return groups[trace.warps[warp].cta * kMostGroups +
                  trace.warps[warp].id / kWarpsOfGroup];
  }
  KernelTime result() const;
  double overlap(double all, double memory) const;
  double lastWaveCycles(uint64_t ctas) const;
  Ahead getAhead() const;
  void noteProduct(const WarpState &warp);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_REPLAYER_H
