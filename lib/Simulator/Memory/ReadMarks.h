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
    const Mark mark{warp.time(), warp.waited()};
    if (!own.empty() &&
        (own.back().time == mark.time || own.back().waits == mark.waits)) {
      own.back() = mark;
      return;
    }
    if (own.size() == kMost)
      own.erase(own.begin(), own.begin() + kMost / 2);
    own.push_back(mark);
  }

  /// Whether `warp` knows that `reader` has waited for a phase since its last
  /// read at that time of its own.
  bool hasWaitedSince(const WarpOrder &warp, uint32_t reader,
                      uint32_t time) const {
    const std::vector<Mark> &its = marks[reader];
    // The mark of a later read asks for more, where its own is gone.
    auto mark = std::lower_bound(
        its.begin(), its.end(), time,
        [](const Mark &m, uint32_t other) { return m.time < other; });
    return mark != its.end() &&
           warp.clocks().waits.get(WarpOrder::waitAgentOfLanes(reader)) >
               mark->waits;
  }

  /// The most marks that a warp has. Those who overwrite what it read so many
  /// waits ago know of its later ones.
  static constexpr size_t kMost = 1024;
  size_t size(uint32_t reader) const { return marks[reader].size(); }

private:
  struct Mark {
    uint32_t time;  ///< of the warp
    uint32_t waits; ///< that had succeeded by its last read then
  };
  std::vector<std::vector<Mark>> marks; ///< by warp of the cluster, in order
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_READMARKS_H
