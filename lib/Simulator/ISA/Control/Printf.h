// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of a printf (CUDA C++ Programming Guide, formatted output).

#ifndef FP8_LIB_SIMULATOR_ISA_CONTROL_PRINTF_H
#define FP8_LIB_SIMULATOR_ISA_CONTROL_PRINTF_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace fp8::sim {

/// Where the values come from.
struct PrintfSource {
  /// The next value, which has 4 or 8 bytes and is aligned to its size.
  std::function<uint64_t(unsigned bytes)> next;
  /// The string at an address.
  std::function<std::string(uint64_t address)> text;
};

struct PrintfResult {
  std::string text;
  uint32_t arguments = 0; ///< values taken
};

/// What C's printf would print. Widths and precisions end at 4095.
PrintfResult formatPrintf(std::string_view format, const PrintfSource &source);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_CONTROL_PRINTF_H
