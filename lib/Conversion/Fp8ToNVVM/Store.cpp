// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the store queue: fragments are rounded, staged in swizzled tiles, and
// copied out by TMA.
//
// Each warp stages and stores its own 32 rows, so that no warp waits for
// another; a lane writes its row in 16-byte chunks, which the swizzle spreads
// over the banks.

#include "Fragment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// store_queue: where its tiles begin, and the slot to use next.
struct LowerStoreQueue : public KernelPattern<StoreQueueOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(StoreQueueOp op, Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    Value base = instructions.add(lowering.sharedMemory,
                                  lowering.plan.getQueueOffset(op));
    rewriter.replaceOpWithMultiple(op, {{base, instructions.i32(0)}});
    return success();
  }
};

/// store: for each tile of the thread's columns, stage and copy.
struct LowerStore : public KernelPattern<StoreOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(StoreOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override;

private:
  void writeRow(ArrayRef<Value> pairs, TileType tile, Value address, Value lane,
                Location loc, ConversionPatternRewriter &rewriter) const;
};

} // namespace

void LowerStore::writeRow(ArrayRef<Value> pairs, TileType tile, Value address,
                          Value lane, Location loc,
                          ConversionPatternRewriter &rewriter) const {
  Instructions instructions(rewriter, loc);
  Type element = tile.getElementType();
  int64_t pairsPerChunk = 16 * 8 / (2 * element.getIntOrFloatBitWidth());
  Value rowOffset = instructions.mul(lane, tile.getRowBytes());
  Value swizzle = getSwizzleBits(rowOffset, tile.getSwizzle(), instructions);
  for (size_t first = 0; first < pairs.size(); first += pairsPerChunk) {
    Value chunk =
        instructions.roundAndPack(pairs.slice(first, pairsPerChunk), element);
    Value offset = instructions.bitXor(
        instructions.add(rowOffset, first / pairsPerChunk * 16), swizzle);
    instructions.storeShared(instructions.add(address, offset), chunk);
  }
}

LogicalResult LowerStore::lower(StoreOp op, Adaptor operands,
                                ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Instructions instructions(rewriter, loc);
  const RoleValues &role = lowering.getRole(op);
  StoreQueueType queue = op.getQueue().getType();
  TileType tile = queue.getTile();
  int64_t columns = op.getFragment().getType().getColumnsPerThread();
  int64_t slotBytes = KernelPlan::getSlotStride(queue);

  Value base = operands.getQueue()[0], slot = operands.getQueue()[1];
  Value warpBase = instructions.add(
      base, instructions.mul(role.warp, queue.getDepth() * slotBytes));
  FragmentPart part(op.getFragment().getType(), role, instructions);
  Value row =
      arith::AddIOp::create(rewriter, loc, operands.getCoordinates()[0][0],
                            instructions.toIndex(part.firstRow));
  // Where each half of the lanes has columns of its own, so has each half of
  // the slot, and the copies do not follow the thread's column.
  int64_t boxes = 32 / tile.getRows();
  Value firstColumn = operands.getCoordinates()[1][0];
  if (boxes == 1)
    firstColumn = arith::AddIOp::create(rewriter, loc, firstColumn,
                                        instructions.toIndex(part.firstColumn));

  SmallVector<Value> pairs(operands.getFragment());
  for (int64_t column = 0; column < columns; column += tile.getColumns()) {
    // The slot was last used `depth` copies ago: all but the latest depth-1 of
    // this warp's copies must have been read.
    instructions.ifThen(role.leader, [&](Instructions &leader) {
      leader.waitStores(queue.getDepth() - 1, /*readOnly=*/true);
    });
    instructions.syncWarp();
    Value address =
        instructions.add(warpBase, instructions.mul(slot, slotBytes));
    writeRow(ArrayRef(pairs).slice(column / 2, tile.getColumns() / 2), tile,
             address, role.lane, loc, rewriter);
    // The copy reads through the async proxy: every lane's writes are fenced
    // before one lane starts it.
    instructions.fenceAsyncProxy();
    instructions.syncWarp();
    instructions.ifThen(role.leader, [&](Instructions &leader) {
      for (int64_t box = 0; box < boxes; ++box) {
        Value step = arith::ConstantIndexOp::create(rewriter, loc,
                                                    column + box * columns);
        Value boxColumn =
            arith::AddIOp::create(rewriter, loc, firstColumn, step);
        leader.storeTile(leader.add(address, box * tile.getSizeInBytes()),
                         operands.getMap()[0], {row, boxColumn});
      }
      leader.commitStores();
    });
    Value next = instructions.add(slot, 1);
    slot = instructions.select(instructions.equal(next, queue.getDepth()),
                               instructions.i32(0), next);
  }
  rewriter.replaceOpWithMultiple(op, {{base, slot}});
  return success();
}

void fp8::populateStorePatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns,
                                const KernelLowering &lowering) {
  patterns.add<LowerStoreQueue, LowerStore>(converter, patterns.getContext(),
                                            lowering);
}
