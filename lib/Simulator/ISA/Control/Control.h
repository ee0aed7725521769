// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where lanes go on, and what the CUDA driver defines for kernels to call.

#ifndef FP8_LIB_SIMULATOR_ISA_CONTROL_CONTROL_H
#define FP8_LIB_SIMULATOR_ISA_CONTROL_CONTROL_H

#include "Machine/Machine.h"

#include <array>
#include <string_view>

namespace fp8::sim {

class Decoder;

/// The lanes of the current group go on, each at its target.
Flow jump(Warp &warp, uint32_t mask, const std::array<uint32_t, 32> &targets);

/// The lanes end.
Flow exitThread(Warp &warp, const Inst &inst, uint32_t mask);

/// Payload of call: an index into Program::calls.
struct CalledSite {
  uint32_t index;
};

/// A function that the driver defines (CUDA C++ Programming Guide: formatted
/// output, assertion, allocation, dynamic parallelism).
struct SystemFunction {
  std::string_view name;
  std::initializer_list<uint64_t> parameterBytes;
  uint64_t resultBytes;
  Handler run;
  std::string_view cure; ///< where a call is an error: what to do instead
};
/// Null for any other function.
const SystemFunction *findSystemFunction(std::string_view name);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_CONTROL_CONTROL_H
