// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls that a lane is in. Each has a frame in the lane's local memory.

#ifndef FP8_LIB_SIMULATOR_MACHINE_CALLSTACK_H
#define FP8_LIB_SIMULATOR_MACHINE_CALLSTACK_H

#include "Memory/Undefined.h"
#include "Program/Program.h"

#include <cstdint>
#include <vector>

namespace fp8::sim {

/// An argument or result of one lane.
struct CallBytes {
  std::vector<uint8_t> bytes;
  std::vector<OriginId> origins; ///< by byte; 0: it is defined
};

struct Call {
  const Function *function;
  const CallSite *site;
  uint32_t returnTo;
  uint64_t frame;     ///< where it begins
  uint64_t callerTop; ///< CallStack::top before the call
  /// What a recursive function's registers held before: for each its two rows,
  /// its predicate and whether these are defined; then the frame rows.
  std::vector<uint64_t> saved;
};

struct CallStack {
  std::vector<Call> calls;
  /// The first free byte of local memory, once there was a call; the entry's
  /// frame is at its start.
  uint64_t top = 0;

  uint64_t frame() const { return calls.empty() ? 0 : calls.back().frame; }
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_CALLSTACK_H
