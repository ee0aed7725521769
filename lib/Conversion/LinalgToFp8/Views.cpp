// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices through ops that give the same elements another shape.

#include "Views.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

Value fromlinalg::getViewSource(Value view) {
  Operation *op = view.getDefiningOp();
  if (isa_and_nonnull<memref::ExpandShapeOp, memref::CollapseShapeOp,
                      memref::TransposeOp, tensor::ExpandShapeOp,
                      tensor::CollapseShapeOp>(op))
    return op->getOperand(0);
  if (isa_and_nonnull<memref::CastOp, tensor::CastOp>(op) &&
      isa<ShapedType>(op->getOperand(0).getType()) &&
      cast<ShapedType>(op->getOperand(0).getType()).hasRank() &&
      cast<ShapedType>(view.getType()).hasRank())
    return op->getOperand(0);
  return nullptr;
}

Value fromlinalg::getBase(Value view) {
  while (Value source = getViewSource(view))
    view = source;
  return view;
}

/// The index of an element in a row-major group of axes. An extent of one takes
/// no part, and that of the first axis that does is not asked for.
static FailureOr<AffineExpr> linearize(ArrayRef<AffineExpr> parts,
                                       ArrayRef<int64_t> extents,
                                       MLIRContext *context) {
  AffineExpr whole;
  for (auto [part, extent] : llvm::zip_equal(parts, extents)) {
    if (extent == 1)
      continue;
    if (whole && ShapedType::isDynamic(extent))
      return failure();
    whole = whole ? whole * extent + part : part;
  }
  return whole ? simplify(whole) : getAffineConstantExpr(0, context);
}

/// The reverse.
static LogicalResult delinearize(AffineExpr whole, ArrayRef<int64_t> extents,
                                 Indices &parts) {
  SmallVector<unsigned> axes;
  for (auto [axis, extent] : llvm::enumerate(extents))
    if (extent != 1)
      axes.push_back(axis);
  Indices result(extents.size(), getAffineConstantExpr(0, whole.getContext()));
  for (unsigned axis : llvm::reverse(axes)) {
    int64_t extent = extents[axis];
    bool isFirst = axis == axes.front();
    if (!isFirst && ShapedType::isDynamic(extent))
      return failure();
    result[axis] = simplify(isFirst ? whole : whole % extent);
    if (!isFirst)
      whole = simplify(whole.floorDiv(extent));
  }
  parts.append(result);
  return success();
}

/// Indices into the collapsed shape, of those into the expanded one.
static LogicalResult collapse(ArrayRef<ReassociationIndices> groups,
                              ShapedType expanded, Indices &indices,
                              MLIRContext *context) {
  Indices collapsed;
  for (const ReassociationIndices &group : groups) {
    Indices parts;
    SmallVector<int64_t> extents;
    for (int64_t axis : group) {
      parts.push_back(indices[axis]);
      extents.push_back(expanded.getDimSize(axis));
    }
    FailureOr<AffineExpr> whole = linearize(parts, extents, context);
    if (failed(whole))
      return failure();
    collapsed.push_back(*whole);
  }
  indices = collapsed;
  return success();
}

/// The reverse.
static LogicalResult expand(ArrayRef<ReassociationIndices> groups,
                            ShapedType expanded, Indices &indices,
                            MLIRContext *context) {
  Indices result;
  for (auto [group, index] : llvm::zip_equal(groups, indices)) {
    SmallVector<int64_t> extents;
    for (int64_t axis : group)
      extents.push_back(expanded.getDimSize(axis));
    if (failed(delinearize(index, extents, result)))
      return failure();
  }
  // Of a shape without axes all expanded extents are one.
  if (groups.empty())
    result.append(expanded.getRank(), getAffineConstantExpr(0, context));
  indices = result;
  return success();
}

/// Between the indices into a view and into its source, either way.
static LogicalResult step(Value view, Indices &indices, bool isToSource) {
  Operation *op = view.getDefiningOp();
  MLIRContext *context = op->getContext();
  auto move = [&](auto groups, Value expanded, bool isCollapse) {
    auto type = cast<ShapedType>(expanded.getType());
    return isCollapse ? collapse(groups, type, indices, context)
                      : expand(groups, type, indices, context);
  };
  if (auto reshape = dyn_cast<memref::ExpandShapeOp>(op))
    return move(reshape.getReassociationIndices(), view, isToSource);
  if (auto reshape = dyn_cast<tensor::ExpandShapeOp>(op))
    return move(reshape.getReassociationIndices(), view, isToSource);
  if (auto reshape = dyn_cast<memref::CollapseShapeOp>(op))
    return move(reshape.getReassociationIndices(), reshape.getSrc(),
                !isToSource);
  if (auto reshape = dyn_cast<tensor::CollapseShapeOp>(op))
    return move(reshape.getReassociationIndices(), reshape.getSrc(),
                !isToSource);
  if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    // Axis i of the view is axis permutation[i] of the source.
    Indices moved(indices.size());
    for (auto [axis, expression] :
         llvm::enumerate(transpose.getPermutation().getResults())) {
      unsigned source = cast<AffineDimExpr>(expression).getPosition();
      (isToSource ? moved[source] : moved[axis]) =
          isToSource ? indices[axis] : indices[source];
    }
    indices = moved;
  }
  return success();
}

LogicalResult fromlinalg::toSource(Value view, Indices &indices) {
  return step(view, indices, /*isToSource=*/true);
}

LogicalResult fromlinalg::fromBase(Value view, Indices &indices) {
  SmallVector<Value> views;
  while (Value source = getViewSource(view)) {
    views.push_back(view);
    view = source;
  }
  for (Value each : llvm::reverse(views))
    if (failed(step(each, indices, /*isToSource=*/false)))
      return failure();
  return success();
}

/// x, if the two are q (x floordiv q) and x mod q; null if not.
static AffineExpr joinParts(AffineExpr multiple, AffineExpr rest) {
  auto product = dyn_cast<AffineBinaryOpExpr>(multiple);
  auto modulo = dyn_cast<AffineBinaryOpExpr>(rest);
  if (!product || product.getKind() != AffineExprKind::Mul || !modulo ||
      modulo.getKind() != AffineExprKind::Mod ||
      product.getRHS() != modulo.getRHS() ||
      product.getLHS() != modulo.getLHS().floorDiv(modulo.getRHS()))
    return nullptr;
  return modulo.getLHS();
}

AffineExpr fromlinalg::simplify(AffineExpr expression) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return expression;
  AffineExpr left = simplify(binary.getLHS());
  AffineExpr right = simplify(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    if (AffineExpr whole = joinParts(left, right))
      return whole;
    if (AffineExpr whole = joinParts(right, left))
      return whole;
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::Mod:
    return left % right;
  case AffineExprKind::FloorDiv:
    return left.floorDiv(right);
  default:
    return left.ceilDiv(right);
  }
}
