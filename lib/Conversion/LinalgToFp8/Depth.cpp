// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a sum of products runs through all of K.

#include "Depth.h"
#include "Views.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

/// True for the index of a loop, or of two as in `outer * 128 + inner`, where
/// inner runs through 128: what is read so has the loops' extent.
static bool isOfLoops(AffineExpr index, ArrayRef<int64_t> ranges) {
  if (isa<AffineDimExpr>(index))
    return true;
  auto sum = dyn_cast<AffineBinaryOpExpr>(index);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return false;
  for (auto [outer, inner] : {std::pair(sum.getLHS(), sum.getRHS()),
                              std::pair(sum.getRHS(), sum.getLHS())}) {
    auto product = dyn_cast<AffineBinaryOpExpr>(outer);
    auto within = dyn_cast<AffineDimExpr>(inner);
    if (!product || !within || product.getKind() != AffineExprKind::Mul)
      continue;
    auto depth = dyn_cast<AffineConstantExpr>(product.getRHS());
    if (depth && isa<AffineDimExpr>(product.getLHS()) &&
        ranges[within.getPosition()] == depth.getValue())
      return true;
  }
  return false;
}

/// True if the loops of the op have the extents of what it reads, but for
/// scales: these are read in blocks.
static bool readsByLoops(Operation *operation,
                         ArrayRef<const Element *> scales) {
  auto op = dyn_cast<linalg::LinalgOp>(operation);
  if (!op)
    return true;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto getRoot = [](Value value) {
    while (Value source = getViewSource(value))
      value = source;
    return value;
  };
  auto isScale = [&](Value value) {
    return llvm::any_of(scales, [&](const Element *scale) {
      return getRoot(scale->value) == getRoot(value);
    });
  };
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    return !isa<ShapedType>(operand->get().getType()) ||
           isScale(operand->get()) ||
           llvm::all_of(
               op.getMatchingIndexingMap(operand).getResults(),
               [&](AffineExpr index) { return isOfLoops(index, ranges); });
  });
}

LogicalResult fromlinalg::checkDepth(const Product &product,
                                     linalg::LinalgOp op, int64_t depth,
                                     ArrayRef<const Element *> scales,
                                     Refusal &refusal) {
  for (auto [operand, name] :
       {std::pair(gemm::Operand::A, "A"), std::pair(gemm::Operand::B, "B")}) {
    const Operand &read = product.operands[operand];
    int64_t extent = cast<ShapedType>(read.element->value.getType())
                         .getDimSize(read.order.back());
    bool isKnown =
        !ShapedType::isDynamic(depth) && !ShapedType::isDynamic(extent);
    auto isByLoops = [&](Operation *each) {
      return readsByLoops(each, scales);
    };
    if (isKnown ? depth == extent
                : isByLoops(op) && llvm::all_of(product.ops, isByLoops))
      continue;
    auto print = [](int64_t number) {
      return ShapedType::isDynamic(number) ? std::string("?")
                                           : std::to_string(number);
    };
    return refusal.because(
        "its reductions run through " + print(depth) + " elements of K, and " +
            name + " has " + print(extent) +
            (isKnown ? "" : ", so that they may end before") +
            "; the GEMM op adds up all of K",
        read.element->getLoc(), "read here");
  }
  return success();
}
