// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order of a program's instructions in which lanes that have parted meet
// again.

#ifndef FP8_LIB_SIMULATOR_PROGRAM_FLOWORDER_H
#define FP8_LIB_SIMULATOR_PROGRAM_FLOWORDER_H

#include <cstdint>
#include <vector>

namespace fp8::sim {

struct Program;

/// By instruction: its place in a reverse postorder of the control flow. What
/// leads to a place is in front of it, apart from the ends of loops, wherever
/// the compiler has put it.
std::vector<uint32_t> flowOrder(const Program &program);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PROGRAM_FLOWORDER_H
