// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a GEMM op asks for: everything that no choice can change.

#ifndef FP8_LIB_TRANSFORMS_GEMM_GEMMPROBLEM_H
#define FP8_LIB_TRANSFORMS_GEMM_GEMMPROBLEM_H

#include "fp8/IR/Fp8.h"

namespace mlir::fp8 {

/// What the kernel of a GEMM may take.
enum class GemmParameter {
  AMap,      ///< the tensor map of A
  AScaleMap, ///< that of A's scales
  BMap,
  DMap,
  BScale,      ///< the B scales, a memref
  BScaleMap,   ///< the tensor map of B scales for each column
  TilesM,      ///< rows of the grid of tiles
  TilesN,      ///< its columns
  Blocks,      ///< K blocks
  BatchTilesM, ///< of a batch, the rows of the grid that one product takes
  CMap,
  BiasMap,
  Beta, ///< a memref, as `DScale` is
  DScale,
  DRest, ///< D itself, whose rows end within 16 bytes
};

/// What follows the sums; what the op leaves out is null.
struct GemmEpilogue {
  Type residual; ///< the type of C's elements
  Type bias;
  MemRefType beta, scale;
  Block *function = nullptr; ///< of one element, in the op

  /// True if there is something to load for each tile.
  bool hasAddends() const { return residual || bias; }
  /// True if the sums are stored as they are, but for their type.
  bool isEmpty() const { return !hasAddends() && !scale && !function; }
};

/// The extents that a configuration is chosen for.
struct GemmExtents {
  int64_t m, n, k, batch;
};

struct GemmProblem {
  Type outputType;       ///< of an element of D
  MemRefType bScaleType; ///< as the kernel takes them
  /// D as the kernel takes it, if its rows may end within the 16 bytes that TMA
  /// stores whole; else null.
  MemRefType restType;
  Type aScaleElement;
  int64_t bBlock; ///< N columns that share a B scale
  bool isBatch;   ///< the operands have a batch extent
  GemmEpilogue epilogue;

  static GemmProblem get(BlockwiseGemmOp op);

  MLIRContext *getContext() const { return outputType.getContext(); }
  /// True if each column has a B scale of its own, which TMA brings.
  bool hasColumnScales() const { return bBlock == 1; }
  /// The first axis of the matrices of a memref, after that of the batch.
  int64_t getMatrixAxis() const { return isBatch; }
  /// What the kernel takes, in order.
  SmallVector<GemmParameter> getParameters() const;
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_GEMMPROBLEM_H
