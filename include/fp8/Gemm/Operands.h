// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of the blockwise-scaled GEMM, fp8.blockwise_gemm: the only table
// of their names, extents and types. The op's verifier, the conversion from
// linalg, kernels and their launches, fp8-run and the Python package use it.
// docs/Semantics.md has the rules.
#ifndef FP8_GEMM_OPERANDS_H
#define FP8_GEMM_OPERANDS_H

#include "fp8/Tensor/ElementType.h"

namespace fp8::gemm {

/// Elements along K that share a scale.
constexpr int64_t kScaleBlock = 128;

/// The scales of MXFP8: one for each of so many elements along K, of each row
/// of A and of B (OCP Microscaling Formats). In memory they lie in tiles of 512
/// bytes, (ceil(rows/128), ceil(K/128), 32, 16): the scale of row r and block
/// kb is in tile (r/128, kb/4), there in row r%32 and column r%128/32*4 + kb%4
/// (PTX ISA, tcgen05.mma scale factors). Scales of blocks beyond K multiply
/// zeros, and must not be NaN.
constexpr int64_t kMxBlock = 32;
constexpr int64_t kMxTileRows = 128, kMxTileBlocks = 4;
/// A tile of scales in memory.
constexpr std::array<int64_t, 2> kMxTile = {32, 16};

/// M, N, K and the batch extent are below this, the range of TMA coordinates.
constexpr int64_t kExtentLimit = int64_t(1) << 31;

/// K is a multiple of this: rows of A and B are multiples of 16 bytes.
constexpr int64_t kStepOfK = 16;

/// The rows of B that may share a scale.
constexpr std::array<int64_t, 3> kBBlocks = {128, 64, 1};
constexpr int64_t kDefaultBBlock = 128;

/// What a scale covers.
struct Scaling {
  int64_t bBlock = kDefaultBBlock; ///< rows of B
  int64_t kBlock = kScaleBlock;    ///< elements along K, of A and of B

  static constexpr Scaling mx() { return {1, kMxBlock}; }
  bool isMx() const { return kBlock == kMxBlock; }
};

/// In the order of the op's operands.
enum class Operand : unsigned {
  A,
  AScale,
  B,
  BScale,
  C,
  Beta,
  Bias,
  D,
  DScale
};

/// The axis that an extent of an operand covers.
enum class Axis { One, M, N, K };

/// The number of blocks that cover an axis: 1, N, ceil(K/128).
struct Extent {
  Axis axis = Axis::One;
  int64_t block = 1;

  /// "M", "ceil(K/128)"; "1" of `Axis::One`.
  std::string str() const;
};

/// How many operands there are.
constexpr size_t kOperands = static_cast<size_t>(Operand::DScale) + 1;

struct OperandInfo {
  Operand operand;
  std::string_view name; ///< of the op, in manifests and in Python
  Extent rows, columns;  ///< of a matrix; rows are contiguous
  tensor::ElementTypes types;
  std::string_view rule; ///< its label in docs/Semantics.md
  bool optional;
  bool batched; ///< has a matrix for each product of a batch
  bool byTma;   ///< TMA copies it, so its rows are multiples of 16 bytes apart
  bool written; ///< by the kernel; it reads the others
  bool tiled = false; ///< rows and columns count tiles of `kMxTile` scales

  /// The extents of a matrix.
  int64_t getRank() const { return tiled ? 4 : 2; }
  bool isNumber() const {
    return rows.axis == Axis::One && columns.axis == Axis::One;
  }
};

/// All operands, in the op's order. Where each row of B has its own scales,
/// these are laid out as A's.
std::array<OperandInfo, kOperands> getOperands(Scaling scaling = {});

OperandInfo getOperand(Operand operand, Scaling scaling = {});

} // namespace fp8::gemm

#endif // FP8_GEMM_OPERANDS_H
