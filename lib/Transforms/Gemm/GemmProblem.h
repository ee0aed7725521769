// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a GEMM op asks for: everything that no choice can change.

#ifndef FP8_LIB_TRANSFORMS_GEMM_GEMMPROBLEM_H
#define FP8_LIB_TRANSFORMS_GEMM_GEMMPROBLEM_H

#include "fp8/IR/GemmOperands.h"

#include <variant>

namespace mlir::fp8 {

/// What the kernel of a GEMM may take beside the operands of the op.
enum class GemmExtra {
  TilesM,      ///< rows of the grid of tiles
  TilesN,      ///< its columns
  Blocks,      ///< K blocks
  BatchTilesM, ///< of a batch, the rows of the grid that one product takes
  DRest,       ///< D as a memref, where its rows may end within 16 bytes
  Overlap,     ///< rows that the first two rows of tiles share; the edge first
  DFirst,      ///< the map of the rows of D that the first row of tiles stores
  CFirst,      ///< the map of these rows of C
  AIsConstant, ///< whether A and its scales are constant in the launch
  BIsConstant, ///< whether B and its scales are
  ABytes,      ///< the bytes of a box of A, which has no more rows than M
};

/// A parameter of the kernel. The table of operands says which of them the
/// kernel takes as tensor maps; the others are memrefs.
using GemmParameter = std::variant<gemm::Operand, GemmExtra>;

/// The extents that a configuration is chosen for.
struct GemmExtents {
  int64_t m, n, k, batch;
};

class GemmProblem {
public:
  gemm::Scaling scaling; ///< what a scale covers
  bool isBatch;          ///< the operands have a batch extent
  Block *function;       ///< of one element, in the op; null if it has none

  explicit GemmProblem(BlockwiseGemmOp op);

  MLIRContext *getContext() const {
    return getType(gemm::Operand::A).getContext();
  }
  /// The operand's row of the table.
  gemm::OperandInfo getInfo(gemm::Operand operand) const {
    return gemm::getOperand(operand, scaling);
  }
  /// The operand's type in the op; null if the op leaves the operand out.
  MemRefType getType(gemm::Operand operand) const {
    return types[static_cast<size_t>(operand)];
  }
  /// The type of the operand's elements; null if the op leaves it out.
  Type getElementType(gemm::Operand operand) const;
  bool has(gemm::Operand operand) const { return bool(getType(operand)); }
  /// True if tensor cores can apply the scales, which lie in tiles.
  bool hasTilesOfScales() const { return scaling.isMx(); }
  /// True if there is something to load for each tile of D.
  bool hasAddends() const {
    return has(gemm::Operand::C) || has(gemm::Operand::Bias);
  }
  /// True if the sums are stored as they are, but for their type.
  bool storesSums() const {
    return !hasAddends() && !has(gemm::Operand::DScale) && !function;
  }
  /// True if each column has a B scale of its own, which TMA brings.
  bool hasColumnScales() const {
    return scaling.bBlock == 1 && !scaling.isMx();
  }
  /// The first axis of the matrices of a memref, after that of the batch.
  int64_t getMatrixAxis() const { return isBatch; }

  //===--------------------------------------------------------------------===//
  // Parameters of the kernel
  //===--------------------------------------------------------------------===//

  /// What the kernel takes, in order. `loadsEarly`: it does not wait for a
  /// factor that is constant.
  SmallVector<GemmParameter> getParameters(Edge edge, bool loadsEarly) const;
  /// The type of an operand that the kernel takes as a memref.
  MemRefType getMemrefParameter(gemm::Operand operand) const;
  /// The type of `DRest`; null if rows of D are known to end with 16 bytes,
  /// which TMA stores whole.
  MemRefType getRestType() const;

private:
  std::array<MemRefType, gemm::kOperands> types;
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_GEMMPROBLEM_H
