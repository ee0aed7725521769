// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store family: the queue of staging tiles and the copy out of it.

#include "BindingRegion.h"
#include "OpRules.h"
#include "fp8/IR/GemmOperands.h"
#include "fp8/IR/RegisterLayout.h"

using namespace mlir;
using namespace mlir::fp8;

LogicalResult StoreQueueOp::verify() { return verifyInEntryBlock(*this, "P3"); }

LogicalResult mlir::fp8::verifyStore(Operation *op, FragmentType fragment,
                                     TensorMapType map, ValueRange coordinates,
                                     Value rest, StoreQueueType queue) {
  if (failed(verifyCoordinates(op, coordinates, map, BoxUse::Store)))
    return failure();
  TileType tile = queue.getTile();
  if (map.getTile() != tile)
    return op->emitOpError() << "the map's box " << map.getTile()
                             << " must be the queue's tile " << tile << " (Q1)";
  Type element = tile.getElementType();
  auto stored = gemm::getOperand(gemm::Operand::D).types;
  auto elementType = getElementType(element);
  if (!elementType || !stored.contains(*elementType))
    return op->emitOpError()
           << "stores " << stored.str("or") << " (Q4), but got " << element;
  if (rest) {
    auto type = dyn_cast<MemRefType>(rest.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || type.getRank() != map.getRank() ||
        type.getElementType() != element || type.getMemorySpace() ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return op->emitOpError() << "the rest must be a " << map.getRank()
                               << "-D memref of " << element
                               << " with contiguous rows and without a memory "
                                  "space (Q5), but got "
                               << rest.getType();
  }
  RegisterLayout layout(fragment);
  RegisterLayout::Unit stager = layout.getStager();
  int64_t rows = layout.getRun(RegisterLayout::Row, stager);
  if (tile.getRows() != rows)
    return op->emitOpError()
           << "the tile must have as many rows as a "
           << (stager == RegisterLayout::Unit::Warp ? "warpgroup's part"
                                                    : "warp holds")
           << " of the fragment (Q1), " << rows << ", but got "
           << tile.getRows();
  bool ofWarpgroups = stager == RegisterLayout::Unit::Warp;
  if (queue.isOfWarpgroups() != ofWarpgroups)
    return op->emitOpError()
           << (ofWarpgroups ? "a warpgroup stages the tile (Q1); remove "
                              "'of_warps' from the queue's type"
                            : "a warp stages the tile of 64 rows (Q1); write "
                              "'of_warps' in the queue's type");
  int64_t columns = tile.getColumns(), block = layout.getColumnBlock();
  if (fragment.isSwapped() && columns != block)
    return op->emitOpError()
           << "the tile must have the " << block
           << " columns that a warp holds (Q2), but got " << columns;
  // Both threads of a row may stage it as one.
  bool isOfWarp = columns == layout.getRun(RegisterLayout::Column,
                                           RegisterLayout::Unit::Lane);
  if (block % columns && !isOfWarp)
    return op->emitOpError()
           << "the tile's " << columns << " columns must divide the " << block
           << (layout.isOneRow() ? " that a thread owns (Q2)"
                                 : " of the fragment (Q2)");
  if (!layout.isOneRow() && columns % layout.getColumnStep())
    return op->emitOpError()
           << "the tile's " << columns
           << " columns must be whole eights of a warpgroup's "
              "fragment (Q2)";
  if (queue.getWarps() != fragment.getWarps())
    return op->emitOpError() << "the queue is for " << queue.getWarps()
                             << " warps, but the fragment is held by "
                             << fragment.getWarps() << " (Q3)";
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyStore(*this, getFragment().getType(), getMap().getType(),
                     getCoordinates(), getRest(), getQueue().getType());
}
