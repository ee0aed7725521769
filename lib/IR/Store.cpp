// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store family: the queue of staging tiles and the copy out of it.

#include "BindingRegion.h"
#include "fp8/IR/GemmOperands.h"

using namespace mlir;
using namespace mlir::fp8;

LogicalResult StoreQueueOp::verify() { return verifyInEntryBlock(*this, "P3"); }

LogicalResult StoreOp::verify() {
  if (failed(verifyCoordinates(*this, getCoordinates(), getMap().getType())))
    return failure();
  StoreQueueType queue = getQueue().getType();
  TileType tile = queue.getTile();
  FragmentType fragment = getFragment().getType();
  if (getMap().getType().getTile() != tile)
    return emitOpError() << "the map's box " << getMap().getType().getTile()
                         << " must be the queue's tile " << tile << " (Q1)";
  Type element = tile.getElementType();
  auto stored = gemm::getOperand(gemm::Operand::D).types;
  auto elementType = getElementType(element);
  if (!elementType || !stored.contains(*elementType))
    return emitOpError() << "stores " << stored.str("or") << " (Q4), but got "
                         << element;
  if (Value rest = getRest()) {
    auto type = dyn_cast<MemRefType>(rest.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || type.getRank() != getMap().getType().getRank() ||
        type.getElementType() != element || type.getMemorySpace() ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return emitOpError() << "the rest must be a "
                           << getMap().getType().getRank() << "-D memref of "
                           << element
                           << " with contiguous rows and without a memory "
                              "space (Q5), but got "
                           << rest.getType();
  }
  bool ofWarpgroups = fragment.isOfWarpgroups() && !fragment.isSwapped();
  int64_t rows = ofWarpgroups ? 64 : fragment.getRowsPerWarp();
  if (tile.getRows() != rows)
    return emitOpError() << "the tile must have as many rows as a "
                         << (ofWarpgroups ? "warpgroup's part" : "warp holds")
                         << " of the fragment (Q1), " << rows << ", but got "
                         << tile.getRows();
  if (fragment.isSwapped() && tile.getColumns() != 16)
    return emitOpError() << "the tile must have the 16 columns that a warp "
                            "holds of a part (Q2), but got "
                         << tile.getColumns();
  int64_t owned = fragment.isOfWarpgroups() ? fragment.getShape()[1]
                                            : fragment.getColumnsPerThread();
  bool isWholeRow = fragment.getLayout() == FragmentLayout::LaneHalves &&
                    tile.getColumns() == 2 * owned;
  if (owned % tile.getColumns() && !isWholeRow)
    return emitOpError() << "the tile's " << tile.getColumns()
                         << " columns must divide the " << owned
                         << (fragment.isOfWarpgroups() ? " of the fragment (Q2)"
                                                       : " that a thread owns "
                                                         "(Q2)");
  if (fragment.isOfWarpgroups() && tile.getColumns() % 8)
    return emitOpError() << "the tile's " << tile.getColumns()
                         << " columns must be whole eights of a warpgroup's "
                            "fragment (Q2)";
  if (queue.getWarps() != fragment.getWarps())
    return emitOpError() << "the queue is for " << queue.getWarps()
                         << " warps, but the fragment is held by "
                         << fragment.getWarps() << " (Q3)";
  return success();
}
