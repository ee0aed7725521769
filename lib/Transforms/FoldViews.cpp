// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes accesses to elements of views to the arrays that the views are of.

#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8FOLDVIEWS
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;

namespace {

/// An element of an array.
struct Element {
  Value array;
  SmallVector<Value> indices;
};

} // namespace

/// first + index * stride
static Value getPlace(OpBuilder &builder, Location loc, OpFoldResult first,
                      Value index, OpFoldResult stride) {
  if (!isOneInteger(stride))
    index = arith::MulIOp::create(
        builder, loc, index,
        getValueOrCreateConstantIndexOp(builder, loc, stride));
  if (isZeroInteger(first))
    return index;
  return arith::AddIOp::create(
      builder, loc, index,
      getValueOrCreateConstantIndexOp(builder, loc, first));
}

/// The element of the source that is this one of the view. Axes that the view
/// drops have one place.
static Element getOfSource(OpBuilder &builder, Location loc,
                           memref::SubViewOp view, ArrayRef<Value> indices) {
  Element element{view.getSource(), {}};
  llvm::SmallBitVector dropped = view.getDroppedDims();
  const Value *index = indices.begin();
  for (auto [axis, first, stride] :
       llvm::enumerate(view.getMixedOffsets(), view.getMixedStrides()))
    element.indices.push_back(
        dropped[axis] ? getValueOrCreateConstantIndexOp(builder, loc, first)
                      : getPlace(builder, loc, first, *index++, stride));
  return element;
}

/// Takes the element to the array that no view leads to.
static void fold(OpBuilder &builder, Location loc, Element &element) {
  for (;;) {
    Operation *op = element.array.getDefiningOp();
    if (auto view = dyn_cast_if_present<memref::SubViewOp>(op))
      element = getOfSource(builder, loc, view, element.indices);
    else if (auto cast = dyn_cast_if_present<memref::CastOp>(op);
             cast && isa<MemRefType>(cast.getSource().getType()))
      element.array = cast.getSource();
    else
      return;
  }
}

/// Lets the op access the array itself.
static void fold(Operation *op, OpOperand &array, MutableOperandRange indices) {
  Element element{array.get(), SmallVector<Value>(ValueRange(indices))};
  OpBuilder builder(op);
  fold(builder, op->getLoc(), element);
  if (element.array == array.get())
    return;
  array.set(element.array);
  indices.assign(element.indices);
}

namespace {

struct FoldViewsPass : public mlir::fp8::impl::Fp8FoldViewsBase<FoldViewsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> views;
    getOperation()->walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<memref::LoadOp, memref::StoreOp>([](auto access) {
            fold(access, access.getMemrefMutable(), access.getIndicesMutable());
          })
          .Case<memref::SubViewOp, memref::CastOp>(
              [&](Operation *view) { views.push_back(view); });
    });
    for (Operation *view : llvm::reverse(views))
      if (view->use_empty())
        view->erase();
  }
};

} // namespace
