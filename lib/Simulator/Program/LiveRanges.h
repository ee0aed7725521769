// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in the code the values of registers are needed.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_LIVERANGES_H
#define FP8_LIB_SIMULATOR_PROGRAM_LIVERANGES_H

#include "Program/Program.h"

#include <algorithm>
#include <vector>

namespace fp8::sim {

/// From the first to the last instruction at which a lane may need a register's
/// value, or something may write it. Elsewhere no lane needs it, whatever other
/// lanes do. A range of no instruction is empty.
struct LiveRange {
  uint32_t first = ~0u, last = 0;

  bool isEmpty() const { return first > last; }
  void add(uint32_t instruction) {
    first = std::min(first, instruction);
    last = std::max(last, instruction);
  }
};

/// By register of the decoded program. The range is the whole code for
/// - a register of an instruction of a whole warp, which may read lanes that do
///   not execute it, except for the destinations of tcgen05.ld;
/// - a register that an instruction has, and does not list as read or written;
/// - every register of a program with calls.
/// Where an instruction reports an error, it may leave a register unwritten
/// whose range begins there.
std::vector<LiveRange> findLiveRanges(const Program &program);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_LIVERANGES_H
