// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile family: TMA load, MMA, promotion and store.

#include "BindingRegion.h"

using namespace mlir;
using namespace mlir::fp8;

static LogicalResult verifyCoordinates(Operation *op, size_t count) {
  if (count != 2)
    return op->emitOpError()
           << "expected two coordinates, row and column, but got " << count;
  return success();
}

LogicalResult TmaLoadOp::verify() {
  if (failed(verifyCoordinates(*this, getCoordinates().size())))
    return failure();
  auto ring = dyn_cast<PipelineType>(getStage().getType().getRing());
  TileType tile = ring ? ring.getTile(getName()) : TileType();
  if (!tile)
    return emitOpError() << "the stage of " << getStage().getType().getRing()
                         << " has no tile '" << getName() << "'";
  if (tile != getMap().getType().getTile())
    return emitOpError() << "the map's box " << getMap().getType().getTile()
                         << " must be the stage's tile " << tile << " (M1)";
  return success();
}

LogicalResult MmaOp::verify() {
  TileType a = getA().getType(), b = getB().getType();
  for (TileType tile : {a, b}) {
    if (!isa<Float8E4M3FNType>(tile.getElementType()) ||
        tile.getSwizzle() != Swizzle::B128)
      return emitOpError()
             << "operand tiles must be f8E4M3FN and swizzle_128b (A1), but got "
             << tile;
    if (tile.getRowBytes() != 128)
      return emitOpError() << "a row of an operand tile must be 128 bytes, the "
                              "span of its swizzle (A3), but got "
                           << tile.getRowBytes();
    if (tile.getRows() % 8)
      return emitOpError() << "operand tiles must have a multiple of 8 rows, "
                              "those of a swizzle atom, but got "
                           << tile.getRows();
  }
  ArrayRef<int64_t> shape = getAccumulator().getType().getShape();
  if (shape[0] != a.getRows() || shape[1] != b.getRows())
    return emitOpError() << "the product of " << a.getRows()
                         << " rows of A and " << b.getRows() << " rows of B is "
                         << a.getRows() << 'x' << b.getRows()
                         << " (A2), but the accumulator is " << shape[0] << 'x'
                         << shape[1];
  return success();
}

LogicalResult PromoteOp::verify() {
  FragmentType fragment = getFragment().getType();
  if (fragment.getShape() != getPartial().getType().getShape())
    return emitOpError()
           << "the accumulator must have the fragment's shape (S1), but got "
           << getPartial().getType() << " and " << fragment;
  TileType scale = getAScale().getType();
  if (scale.getRows() != 1 || scale.getColumns() != fragment.getShape()[0] ||
      !scale.getElementType().isF32() || scale.getSwizzle() != Swizzle::None)
    return emitOpError() << "the A scales must be an unswizzled tile of 1x"
                         << fragment.getShape()[0] << "xf32 (S2), but got "
                         << scale;
  size_t scales = getBScales().size();
  if (scales < 1 || scales > 2)
    return emitOpError() << "expected one or two B scales (S3), but got "
                         << scales;
  if ((scales == 2) != bool(getSplit()))
    return emitOpError() << "'split' goes with two B scales (S3)";
  return success();
}

LogicalResult StoreQueueOp::verify() { return verifyInEntryBlock(*this, "P3"); }

LogicalResult StoreOp::verify() {
  if (failed(verifyCoordinates(*this, getCoordinates().size())))
    return failure();
  StoreQueueType queue = getQueue().getType();
  TileType tile = queue.getTile();
  FragmentType fragment = getFragment().getType();
  if (getMap().getType().getTile() != tile)
    return emitOpError() << "the map's box " << getMap().getType().getTile()
                         << " must be the queue's tile " << tile << " (Q1)";
  if (!tile.getElementType().isF32() && !tile.getElementType().isBF16() &&
      !tile.getElementType().isF16())
    return emitOpError() << "stores bf16, f16 or f32, but got "
                         << tile.getElementType();
  if (fragment.getColumnsPerThread() % tile.getColumns())
    return emitOpError() << "the tile's " << tile.getColumns()
                         << " columns must divide the "
                         << fragment.getColumnsPerThread()
                         << " that a thread owns (Q2)";
  if (queue.getWarps() != fragment.getWarps())
    return emitOpError() << "the queue is for " << queue.getWarps()
                         << " warps, but the fragment is held by "
                         << fragment.getWarps() << " (Q3)";
  return success();
}
