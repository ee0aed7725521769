// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lanes of a warp have issued to the tensor core. It runs what one
// thread issues in order where the two are pipelined (PTX ISA 9.7.16.6.2), and
// a commit tells of its own thread's operations only.

#ifndef FP8_LIB_SIMULATOR_MEMORY_TENSORISSUES_H
#define FP8_LIB_SIMULATOR_MEMORY_TENSORISSUES_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

namespace fp8::sim {

/// An operation: who issued it, and of an MMA what a later one must have in
/// common with it to be pipelined.
struct TensorIssue {
  int lane = 0;
  uint32_t accumulator = 0; ///< its address in tensor memory
  uint32_t m = 0, n = 0;
  uint8_t kind = 0;    ///< MmaKind
  bool sparse = false; ///< K is twice as large

  bool operator==(const TensorIssue &other) const {
    return lane == other.lane && accumulator == other.accumulator &&
           m == other.m && n == other.n && kind == other.kind &&
           sparse == other.sparse;
  }
};

/// Those of a warp, in order. Their times count from 1: they are the times of
/// its lanes in Role::Mma.
class TensorIssues {
public:
  /// Returns its time.
  uint32_t add(const TensorIssue &issue) {
    ++latest;
    if (runs.empty() || !(runs.back().issue == issue)) {
      if (runs.size() == kMost)
        runs.erase(runs.begin(), runs.begin() + kMost / 2);
      runs.push_back({latest, issue});
    }
    return latestOf[size_t(issue.lane)] = latest;
  }
  /// The time of the lane's latest; 0: it has issued none.
  uint32_t lastOf(int lane) const { return latestOf[size_t(lane)]; }
  /// The one of this time, which add() has returned; null: it was so long ago
  /// that it is forgotten.
  const TensorIssue *at(uint32_t time) const {
    auto next = std::upper_bound(
        runs.begin(), runs.end(), time,
        [](uint32_t time, const Run &run) { return time < run.first; });
    return next == runs.begin() ? nullptr : &std::prev(next)->issue;
  }

  /// The most runs of equal ones that are kept.
  static constexpr size_t kMost = 1 << 14;
  size_t size() const { return runs.size(); }

private:
  uint32_t latest = 0;
  std::array<uint32_t, 32> latestOf{};
  /// Equal ones in a row, from the time `first` on.
  struct Run {
    uint32_t first;
    TensorIssue issue;
  };
  std::vector<Run> runs;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_TENSORISSUES_H
