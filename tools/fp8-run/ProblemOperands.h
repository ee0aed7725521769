// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of "blockwise_gemm" for given sizes, and how they lie in memory.
#ifndef FP8_TOOLS_FP8RUN_PROBLEMOPERANDS_H
#define FP8_TOOLS_FP8RUN_PROBLEMOPERANDS_H

#include "Problem.h"

namespace fp8::run {

/// An operand of the problem, with its extents.
struct Operand {
  std::string_view name;
  int64_t rows, columns;
  tensor::ElementTypes types;
  bool padded; ///< its rows are padded to 16 bytes, as TMA wants them
  bool common; ///< all products of a batch have it in common
  bool optional;
  bool tiled = false; ///< in tiles, as the scales of MXFP8 lie
};

std::vector<Operand> operandsOf(const GemmSizes &sizes);

/// "a, a_scale, b, b_scale or b_scale_row, and d, and may have c and d_scale".
std::string listOperands(const std::vector<Operand> &operands);

/// The argument without contents: its shape, strides and elements. Adds its
/// bytes to `memory`; past the limit that is an error.
launch::Expected<PreparedArgument>
layOut(const launch::ArgumentSpec &spec, const Operand &operand,
       std::optional<int64_t> batch, uint64_t memoryLimit, uint64_t &memory);

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_PROBLEMOPERANDS_H
