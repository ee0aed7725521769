// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When warps have read shared memory, in phases that they had waited for. A
// thread that waits behind a load has its words: in machine code the loop
// around the wait waits for loads that are under way.

#ifndef FP8_LIB_SIMULATOR_MEMORY_READMARKS_H
#define FP8_LIB_SIMULATOR_MEMORY_READMARKS_H

#include "Memory/WarpOrder.h"

#include <algorithm>
#include <vector>

namespace fp8::sim {

class ReadMarks {
public:
  explicit ReadMarks(uint32_t warpsInCluster) : marks(warpsInCluster) {}

  /// The warp reads.
  void note(const WarpOrder &warp) {
    std::vector<Mark> &own = marks[warp.globalIndex];
    if (own.empty() || own.back().time != warp.time())
      own.push_back({warp.time(), warp.waited()});
    else
      own.back().waits = warp.waited();
  }

  /// Whether `warp` knows that `reader` has waited for a phase since its last
  /// read at that time of its own.
  bool hasWaitedSince(const WarpOrder &warp, uint32_t reader,
                      uint32_t time) const {
    const std::vector<Mark> &its = marks[reader];
    auto mark = std::lower_bound(
        its.begin(), its.end(), time,
        [](const Mark &m, uint32_t other) { return m.time < other; });
    return mark != its.end() && mark->time == time &&
           warp.clocks().waits.get(WarpOrder::waitAgentOfLanes(reader)) >
               mark->waits;
  }

private:
  struct Mark {
    uint32_t time;  ///< of the warp
    uint32_t waits; ///< that had succeeded by its last read then
  };
  std::vector<std::vector<Mark>> marks; ///< by warp of the cluster, in order
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_READMARKS_H
