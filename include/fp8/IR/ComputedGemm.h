// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel computes, as an attribute of the kernel.

#ifndef FP8_IR_COMPUTEDGEMM_H
#define FP8_IR_COMPUTEDGEMM_H

#include "fp8/IR/GemmOperands.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir::fp8 {

/// The GEMM that a kernel computes from its arguments. The attribute
/// `fp8.computes` of a kernel says it: a dictionary with the numbers of the
/// arguments by the names of the op's operands, as
/// `{a = 0, a_scale = 1, b = 2, d = 3, b_scale = 4, blocks = 7, b_block =
/// 128}`.
struct ComputedGemm {
  static constexpr llvm::StringLiteral kAttrName = "fp8.computes";

  /// What a scale covers.
  gemm::Scaling scaling;
  /// The numbers of the arguments for the operands that the kernel takes, as a
  /// tensor map or as a memref. D may be both.
  SmallVector<std::pair<int64_t, gemm::Operand>> operands;
  /// Where the first row of tiles shares rows with the next: the maps of the
  /// rows of C and D that the first row of tiles reads and stores.
  SmallVector<std::pair<int64_t, gemm::Operand>> firsts;
  /// The argument that says how many blocks of `gemm::kScaleBlock` K has.
  int64_t blocks = -1;
  /// In a batch, the argument that says how many tiles the rows of one matrix
  /// have: whole clusters. -1 if there is none.
  int64_t batchTiles = -1;
  /// Where CTAs divide K, each has the same multiple of so many blocks, but for
  /// what lies behind the end of K.
  int64_t kGroup = 1;

  /// The attribute of the kernel; none if the kernel does not have it.
  static std::optional<ComputedGemm> get(Operation *kernel);
  DictionaryAttr toAttribute(MLIRContext *context) const;

  /// The operand that the argument is of.
  std::optional<gemm::OperandInfo> getOperand(int64_t argument) const;
  bool has(gemm::Operand operand) const;
  /// True if products are scaled.
  bool hasScales() const { return has(gemm::Operand::AScale); }
  /// True if the argument is the map of the rows of the first row of tiles.
  bool isFirst(int64_t argument) const;
  /// True if the operand has such a map.
  bool hasFirst(gemm::Operand operand) const;
};

/// Verifies the attribute `fp8.computes` of an op.
LogicalResult verifyComputedGemm(Operation *op, Attribute value);

} // namespace mlir::fp8

#endif // FP8_IR_COMPUTEDGEMM_H
