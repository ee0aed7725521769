// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the store queue: fragments are rounded, staged in swizzled tiles, and
// copied out by TMA.
//
// Each warp stages and stores its own rows, so that no warp waits for another;
// a lane writes its part of a row in 16-byte chunks, which the swizzle spreads
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
                                  getPlan<RingPlanAttr>(op).payloadOffset);
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
  /// Writes the thread's columns of a row from `byteColumn` on, an i32;
  /// `isMapped` says that a map made them.
  void writeRow(ArrayRef<Value> pairs, bool isMapped, TileType tile,
                Value address, Value byteColumn, Value lane, Location loc,
                ConversionPatternRewriter &rewriter) const;
};

} // namespace

RowRest::RowRest(Value memref, Instructions &instructions) : memref(memref) {
  if (!memref)
    return;
  auto type = cast<MemRefType>(memref.getType());
  int64_t unit = 16 / getBytes(type.getElementType());
  Value columns = instructions.extent(memref, type.getRank() - 1);
  count = instructions.bitAnd(columns, unit - 1);
  whole = instructions.sub(columns, count);
}

Value RowRest::getBoxColumn(Value column, Instructions &instructions) const {
  if (!memref)
    return column;
  // The map has 16 bytes then: those behind them are nowhere.
  int64_t unit =
      16 / getBytes(cast<MemRefType>(memref.getType()).getElementType());
  return instructions.toIndex(instructions.select(instructions.equal(whole, 0),
                                                  instructions.i32(unit),
                                                  instructions.toI32(column)));
}

void RowRest::store(TileType tile, Value address, ValueRange coordinates,
                    Value thread, int64_t threads,
                    Instructions &instructions) const {
  int64_t rank = coordinates.size();
  SmallVector<Value> place;
  for (Value coordinate : coordinates)
    place.push_back(instructions.toI32(coordinate));
  Value column = instructions.sub(whole, place[rank - 1]),
        firstRow = place[rank - 2];
  place[rank - 1] = whole;
  // A column in front of the box wraps.
  Value hasRest =
      instructions.bitAnd(instructions.below(column, tile.getColumns()),
                          instructions.atLeast(count, 1));
  for (int64_t first = 0; first < tile.getRows(); first += threads) {
    Value row = instructions.add(thread, first);
    place[rank - 2] = instructions.add(firstRow, row);
    Value hasRow = instructions.bitAnd(
        hasRest, instructions.atLeast(instructions.extent(memref, rank - 2),
                                      instructions.add(place[rank - 2], 1)));
    if (tile.getRows() < first + threads)
      hasRow =
          instructions.bitAnd(hasRow, instructions.below(row, tile.getRows()));
    instructions.ifThen(hasRow, [&](Instructions &inner) {
      inner.storeElements(getElementAddress(tile, address, row, column, inner),
                          memref, place, count);
    });
  }
}

Value mlir::fp8::storeWarpTiles(
    StoreOp op, KernelPattern<StoreOp>::Adaptor operands,
    const RoleValues &role, int64_t tiles, int64_t boxes,
    function_ref<void(int64_t tile, Value address)> write,
    function_ref<SmallVector<Value>(int64_t tile, int64_t box)> getPlace,
    Instructions &instructions) {
  StoreQueueType queue = op.getQueue().getType();
  TileType tile = queue.getTile();
  int64_t slotBytes = KernelPlan::getSlotStride(queue);
  Value base = operands.getQueue()[0], slot = operands.getQueue()[1];
  Value warpBase = instructions.add(
      base, instructions.mul(role.warp, queue.getDepth() * slotBytes));
  RowRest rest(op.getRest() ? operands.getRest()[0] : Value(), instructions);
  for (int64_t index = 0; index < tiles; ++index) {
    // The slot was last used `depth` copies ago: all but the latest depth-1 of
    // this warp's copies must have been read.
    instructions.ifThen(role.leader, [&](Instructions &leader) {
      leader.waitStores(queue.getDepth() - 1, /*readOnly=*/true);
    });
    instructions.syncWarp();
    Value address =
        instructions.add(warpBase, instructions.mul(slot, slotBytes));
    write(index, address);
    // The copy reads through the async proxy: every lane's writes are fenced
    // before one lane starts it.
    instructions.fenceAsyncProxy();
    instructions.syncWarp();
    auto getBox = [&](int64_t box, Instructions &inner) {
      return inner.add(address, box * tile.getSizeInBytes());
    };
    instructions.ifThen(role.leader, [&](Instructions &leader) {
      for (int64_t box = 0; box < boxes; ++box) {
        SmallVector<Value> place = getPlace(index, box);
        place.back() = rest.getBoxColumn(place.back(), leader);
        leader.storeTile(getBox(box, leader), operands.getMap()[0], place);
      }
      leader.commitStores();
    });
    for (int64_t box = 0; rest && box < boxes; ++box)
      rest.store(tile, getBox(box, instructions), getPlace(index, box),
                 role.lane, /*threads=*/32, instructions);
    Value next = instructions.add(slot, 1);
    slot = instructions.select(instructions.equal(next, queue.getDepth()),
                               instructions.i32(0), next);
  }
  return slot;
}

void LowerStore::writeRow(ArrayRef<Value> pairs, bool isMapped, TileType tile,
                          Value address, Value byteColumn, Value lane,
                          Location loc,
                          ConversionPatternRewriter &rewriter) const {
  Instructions instructions(rewriter, loc);
  Type element = tile.getElementType();
  int64_t pairBytes = 2 * getBytes(element);
  // A store of 16 bytes takes four registers in a row: where they are the sums
  // themselves, ptxas moves sums about in the K loop to that end.
  bool storesSums = element.isF32();
  // Two threads that share a row may meet in the middle of a chunk.
  bool isWhole = pairs.size() * pairBytes % 16 == 0;
  int64_t pieceBytes = isWhole && !storesSums ? 16 : 8;
  int64_t pairsPerPiece = pieceBytes / pairBytes;
  Value rowOffset = instructions.mul(lane, tile.getRowBytes());
  Value swizzle = getSwizzleBits(rowOffset, tile.getSwizzle(), instructions);
  Value begin =
      byteColumn ? instructions.add(rowOffset, byteColumn) : rowOffset;
  for (size_t first = 0; first < pairs.size(); first += pairsPerPiece) {
    if (isMapped)
      computeHere(pairs.slice(first, pairsPerPiece), rewriter);
    Value piece =
        instructions.roundAndPack(pairs.slice(first, pairsPerPiece), element);
    Value offset = instructions.bitXor(
        instructions.add(begin, first / pairsPerPiece * pieceBytes), swizzle);
    instructions.storeShared(instructions.add(address, offset), piece,
                             /*alone=*/storesSums);
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
  FragmentPart part(op.getFragment().getType(), role, instructions);
  // The outer ones, which say the matrix of a batch, then row and column.
  SmallVector<Value> coordinates;
  for (ValueRange coordinate : operands.getCoordinates())
    coordinates.push_back(coordinate[0]);
  Value firstColumn = coordinates.pop_back_val();
  coordinates.back() = arith::AddIOp::create(
      rewriter, loc, coordinates.back(), instructions.toIndex(part.firstRow));
  // A tile takes all columns of a row, or some of one thread's. In the latter
  // case, where each half of the lanes has columns of its own, so has each half
  // of the slot.
  bool takesRows = tile.getColumns() > columns;
  int64_t boxes = takesRows ? 1 : 32 / tile.getRows();
  // Where a thread stores is not worth registers while it sums up in others.
  Value lane = role.lane, byteColumn;
  if (role.promotes)
    lane = instructions.keepInLoop(lane);
  if (takesRows) {
    lane = instructions.bitAnd(lane, tile.getRows() - 1);
    byteColumn =
        instructions.mul(part.firstColumn, getBytes(tile.getElementType()));
  } else if (boxes == 1) {
    // The copies do not follow the thread's column otherwise.
    firstColumn = arith::AddIOp::create(rewriter, loc, firstColumn,
                                        instructions.toIndex(part.firstColumn));
  }

  SmallVector<Value> pairs(operands.getFragment());
  bool isMapped = op.getFragment().getDefiningOp<MapOp>() != nullptr;
  auto write = [&](int64_t index, Value address) {
    int64_t share = std::min(columns, tile.getColumns());
    writeRow(ArrayRef(pairs).slice(index * tile.getColumns() / 2, share / 2),
             isMapped, tile, address, byteColumn, lane, loc, rewriter);
  };
  auto getPlace = [&](int64_t index, int64_t box) {
    Value step = arith::ConstantIndexOp::create(
        rewriter, loc, index * tile.getColumns() + box * columns);
    SmallVector<Value> place(coordinates);
    place.push_back(arith::AddIOp::create(rewriter, loc, firstColumn, step));
    return place;
  };
  Value slot = storeWarpTiles(op, operands, role,
                              llvm::divideCeil(columns, tile.getColumns()),
                              boxes, write, getPlace, instructions);
  rewriter.replaceOpWithMultiple(op, {{operands.getQueue()[0], slot}});
  return success();
}

void mlir::fp8::populateStorePatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      const KernelLowering &lowering) {
  patterns.add<LowerStoreQueue, LowerStore>(converter, patterns.getContext(),
                                            lowering);
}
