// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops do to the contents of a memref, and which memrefs share contents.

#include "Access.h"
#include "Views.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

/// True if an effect may be one on the memref.
static bool concerns(const MemoryEffects::EffectInstance &effect, Value memref,
                     AliasAnalysis &aliases) {
  Value value = effect.getValue();
  return !value || !isa<MemRefType>(value.getType()) ||
         !aliases.alias(getBase(value), memref).isNo();
}

bool fromlinalg::onlyComputes(linalg::LinalgOp op) {
  return llvm::all_of(*op.getBlock(), [](Operation &inner) {
    return isMemoryEffectFree(&inner);
  });
}

ModRefResult fromlinalg::getAccess(Operation *op, Value memref,
                                   AliasAnalysis &aliases) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !onlyComputes(linalgOp))
    return aliases.getModRef(op, memref);
  SmallVector<MemoryEffects::EffectInstance> effects;
  cast<MemoryEffectOpInterface>(op).getEffects(effects);
  ModRefResult result = ModRefResult::getNoModRef();
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (concerns(effect, memref, aliases))
      result = result.merge(isa<MemoryEffects::Read>(effect.getEffect())
                                ? ModRefResult::getRef()
                                : ModRefResult::getMod());
  return result;
}

bool fromlinalg::frees(Operation *op, Value memref, AliasAnalysis &aliases) {
  auto effects = getEffectsRecursively(op);
  return effects &&
         llvm::any_of(*effects, [&](MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Free>(effect.getEffect()) &&
                  concerns(effect, memref, aliases);
         });
}

Value fromlinalg::getViewed(Value view) {
  if (Value source = getViewSource(view))
    return source;
  Operation *op = view.getDefiningOp();
  if (auto viewLike = dyn_cast_or_null<ViewLikeOpInterface>(op))
    return viewLike.getViewDest() == view ? viewLike.getViewSource() : nullptr;
  if (isa_and_nonnull<bufferization::ToTensorOp, bufferization::ToBufferOp,
                      tensor::ExtractSliceOp>(op))
    return op->getOperand(0);
  return nullptr;
}

/// The value and all that it is a view of.
static llvm::SetVector<Value> getViews(Value value) {
  llvm::SetVector<Value> views;
  for (; value; value = getViewed(value))
    views.insert(value);
  return views;
}

bool fromlinalg::overlap(Value left, Value right) {
  llvm::SetVector<Value> lefts = getViews(left), rights = getViews(right);
  if (lefts.back() != rights.back())
    return false;
  // Down to where they part.
  while (!lefts.empty() && !rights.empty() && lefts.back() == rights.back()) {
    lefts.pop_back();
    rights.pop_back();
  }
  if (lefts.empty() || rights.empty())
    return true;
  auto one = lefts.back().getDefiningOp<memref::SubViewOp>();
  auto other = rights.back().getDefiningOp<memref::SubViewOp>();
  if (!one || !other)
    return true;
  FailureOr<bool> overlapping = ValueBoundsConstraintSet::areOverlappingSlices(
      left.getContext(), HyperrectangularSlice(one),
      HyperrectangularSlice(other));
  return failed(overlapping) || *overlapping;
}
