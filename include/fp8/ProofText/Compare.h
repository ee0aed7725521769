// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The comparison of PTX with the events that are expected of a kernel.
//
// The text is walked for each thread that may act on its own: of each CTA of a
// cluster, of each warp, the elected lane and others. Values that a launch
// decides are unknown, and branches on them are taken both ways. Each event of
// the text must be one that the expected events have next. The walk ends, since
// values and places repeat: what it shows holds for all trip counts.

#ifndef FP8_PROOFTEXT_COMPARE_H
#define FP8_PROOFTEXT_COMPARE_H

#include "fp8/Simulator/PTXModule.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8::prooftext {

/// Where the text does what is not expected.
struct Mismatch {
  unsigned line = 0;   ///< in the PTX, from 1; 0: the entry as a whole
  std::string message; ///< what the text does there
  /// What is expected there: the place in the source, and the event.
  std::vector<std::string> expected;
};

struct Comparison {
  /// One for each kind of thread that goes astray, the first that was met.
  std::vector<Mismatch> mismatches;
  /// Why the two could not be compared; empty if they were.
  std::string obstacle;
  /// The obstacle is in the events, not in the text.
  bool isOfEvents = false;
  /// What the proof of the kernel's protocol says: "proved", "refuted" or
  /// "unknown".
  std::string verdict;
  uint64_t states = 0; ///< different states at joins of control flow
  uint64_t events = 0; ///< comparisons of an event

  bool agrees() const { return mismatches.empty() && obstacle.empty(); }
};

/// Compares an entry with its events, a kernel of the file that
/// `--fp8-prove=json=` writes. Shows first that the events follow the skeleton
/// in that file.
Comparison compare(const sim::PTXModule &module, std::string_view entry,
                   std::string_view events);

} // namespace fp8::prooftext

#endif // FP8_PROOFTEXT_COMPARE_H
