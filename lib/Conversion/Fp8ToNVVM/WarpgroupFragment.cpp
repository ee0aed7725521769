// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers what is done with fragments that warpgroups hold: a thread has pairs
// of neighbouring columns, in every eighth row (PTX ISA, wgmma register
// fragment D).

#include "Fragment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// promote: the rows of a part, of which a thread has two.
struct LowerPromoteProduct
    : public ProductPattern<PromoteOp, /*swapped=*/false> {
  using ProductPattern::ProductPattern;

private:
  void lowerFragment(PromoteOp op, Adaptor operands,
                     ConversionPatternRewriter &rewriter) const override;
  /// The B scales of the thread's pairs, one for each eight columns.
  SmallVector<Value> getBScales(PromoteOp op, Adaptor operands,
                                ConversionPatternRewriter &rewriter) const;
};

/// add_tile: the tile's columns, pair by pair.
struct LowerAddTileProduct
    : public ProductPattern<AddTileOp, /*swapped=*/false> {
  using ProductPattern::ProductPattern;

private:
  void lowerFragment(AddTileOp op, Adaptor operands,
                     ConversionPatternRewriter &rewriter) const override;
};

/// add_row: the same pair for all of a thread's rows.
struct LowerAddRowProduct : public ProductPattern<AddRowOp, /*swapped=*/false> {
  using ProductPattern::ProductPattern;

private:
  void lowerFragment(AddRowOp op, Adaptor operands,
                     ConversionPatternRewriter &rewriter) const override;
};

/// store: a warpgroup stages tiles of 64 rows, as many at a time as half the
/// queue has slots, while those in the other half are copied out.
struct LowerStoreProduct : public ProductPattern<StoreOp, /*swapped=*/false> {
  using ProductPattern::ProductPattern;

private:
  void lowerFragment(StoreOp op, Adaptor operands,
                     ConversionPatternRewriter &rewriter) const override;
  /// Writes the warp's 16 rows of a tile.
  static void writeTile(ArrayRef<Value> pairs, TileType tile, Value address,
                        const FragmentPart &part, const RoleValues &role,
                        Instructions &instructions);
};

} // namespace

bool mlir::fp8::isBeforeProduct(PromoteOp op) {
  return llvm::any_of(
      llvm::make_range(std::next(op->getIterator()), op->getBlock()->end()),
      [](Operation &later) { return isa<WarpgroupMmaOp>(later); });
}

SmallVector<Value> mlir::fp8::loadEighths(Value address, Type element,
                                          int64_t count,
                                          Instructions &instructions) {
  SmallVector<Value> pairs;
  for (int64_t i = 0; i < count; i += 8)
    llvm::append_range(
        pairs, instructions.loadSharedPairs(
                   instructions.add(address, i * getBytes(element)), element,
                   /*count=*/2));
  return pairs;
}

/// The thread's pair of each eight columns of a row in shared memory.
static SmallVector<Value> loadRow(TileType tile, Value address,
                                  const FragmentPart &part,
                                  Instructions &instructions) {
  Type element = tile.getElementType();
  Value first = instructions.add(
      address, instructions.mul(part.firstColumn, getBytes(element)));
  return loadEighths(first, element, tile.getColumns(), instructions);
}

SmallVector<Value>
LowerPromoteProduct::getBScales(PromoteOp op, Adaptor operands,
                                ConversionPatternRewriter &rewriter) const {
  Instructions instructions(rewriter, op.getLoc());
  FragmentType type = op.getFragment().getType();
  if (TypedValue<TileType> row = op.getBRow())
    return loadRow(row.getType(), operands.getBRow()[0],
                   FragmentPart(type, lowering.getRole(op), instructions),
                   instructions);
  int64_t eights = type.getShape()[1] / 8;
  int64_t perScale = eights / op.getBScales().size();
  SmallVector<Value> scales;
  for (int64_t i = 0; i < eights; ++i)
    scales.push_back(operands.getBScales()[i / perScale][0]);
  return scales;
}

void LowerPromoteProduct::lowerFragment(
    PromoteOp op, Adaptor operands, ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Instructions instructions(rewriter, loc);
  const RoleValues &role = lowering.getRole(op);
  SmallVector<Value> bScales = getBScales(op, operands, rewriter);
  SmallVector<Value> sums(operands.getFragment());
  ValueRange product = operands.getPartial();
  MutableArrayRef<Value> part = MutableArrayRef(sums).slice(
      op.getPart() * product.size(), product.size());
  for (size_t half : {0, 1}) {
    Value aScale =
        loadAScale(op, operands, role, 64 * op.getPart() + 8 * half, rewriter);
    llvm::SmallDenseMap<Value, Value> scaled;
    for (size_t i = half; i < product.size(); i += 2) {
      Value bScale = bScales[i / 2], &scale = scaled[bScale];
      if (!scale && isa<VectorType>(bScale.getType()))
        scale = arith::MulFOp::create(rewriter, loc, bScale,
                                      instructions.splatPair(aScale));
      else if (!scale)
        scale = instructions.splatPair(
            arith::MulFOp::create(rewriter, loc, aScale, bScale));
      part[i] = instructions.fma(product[i], scale, part[i]);
    }
  }
  // Else LLVM sinks the additions past a later product, which takes these
  // registers, and has to keep what is in them.
  if (isBeforeProduct(op))
    instructions.pinProduct(part);
  rewriter.replaceOpWithMultiple(op, {sums});
}

void LowerAddTileProduct::lowerFragment(
    AddTileOp op, Adaptor operands, ConversionPatternRewriter &rewriter) const {
  Instructions instructions(rewriter, op.getLoc());
  FragmentType type = op.getFragment().getType();
  FragmentPart part(type, lowering.getRole(op), instructions);
  TileType tile = op.getTile().getType();
  Type element = tile.getElementType();
  int64_t first = op.getColumn();
  Value scale;
  if (op.getScale())
    scale = instructions.splatPair(operands.getScale()[0]);
  SmallVector<Value> sums(operands.getFragment());
  for (auto [sum, place] : llvm::zip(sums, getPairOffsets(type))) {
    if (place.column < first || place.column >= first + tile.getColumns())
      continue;
    Value address = getElementAddress(
        tile, operands.getTile()[0], instructions.add(part.row, place.row),
        instructions.add(part.firstColumn, place.column - first), instructions);
    Value added =
        instructions.loadSharedPairs(address, element, /*count=*/2)[0];
    sum = scale ? instructions.fma(added, scale, sum)
                : instructions.addPair(added, sum);
  }
  rewriter.replaceOpWithMultiple(op, {sums});
}

void LowerAddRowProduct::lowerFragment(
    AddRowOp op, Adaptor operands, ConversionPatternRewriter &rewriter) const {
  Instructions instructions(rewriter, op.getLoc());
  FragmentType type = op.getFragment().getType();
  SmallVector<Value> row = loadRow(
      op.getRow().getType(), operands.getRow()[0],
      FragmentPart(type, lowering.getRole(op), instructions), instructions);
  SmallVector<Value> sums(operands.getFragment());
  for (auto [sum, place] : llvm::zip(sums, getPairOffsets(type)))
    sum = instructions.addPair(row[place.column / 8], sum);
  rewriter.replaceOpWithMultiple(op, {sums});
}

void LowerStoreProduct::writeTile(ArrayRef<Value> pairs, TileType tile,
                                  Value address, const FragmentPart &part,
                                  const RoleValues &role,
                                  Instructions &instructions) {
  Type element = tile.getElementType();
  Value lane = role.lane,
        warpRow = instructions.mul(instructions.bitAnd(role.warp, 3), 16);
  auto getAddress = [&](Value row, Value column) {
    return getElementAddress(tile, address, row, column, instructions);
  };
  if (element.getIntOrFloatBitWidth() == 16) {
    // Four matrices: rows 0 to 7 and 8 to 15 of eight columns, and of the next.
    Value row = instructions.add(warpRow, instructions.bitAnd(lane, 15)),
          chunk = instructions.mul(instructions.shiftRight(lane, 4), 8);
    for (size_t first = 0; first < pairs.size(); first += 4) {
      SmallVector<Value> matrices;
      for (Value pair : pairs.slice(first).take_front(4))
        matrices.push_back(instructions.roundPair(pair, element));
      instructions.storeMatrices(
          getAddress(row, instructions.add(chunk, first / 2 * 8)), matrices);
    }
    return;
  }
  Value row = instructions.add(warpRow, instructions.shiftRight(lane, 2));
  for (auto [i, pair] : llvm::enumerate(pairs))
    instructions.storeShared(
        getAddress(instructions.add(row, i % 2 * 8),
                   instructions.add(part.firstColumn, i / 2 * 8)),
        instructions.roundPair(pair, element));
}

void LowerStoreProduct::lowerFragment(
    StoreOp op, Adaptor operands, ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Instructions instructions(rewriter, loc);
  FragmentType type = op.getFragment().getType();
  StoreQueueType queue = op.getQueue().getType();
  TileType tile = queue.getTile();
  // Pairs of one byte have as many addresses as a row of the tile has pairs.
  // LLVM would keep them in registers while the role adds up.
  RoleValues role = getBytes(tile.getElementType()) == 1
                        ? getRoleAfterSums(lowering, op, instructions)
                        : lowering.getRole(op);
  FragmentPart part(type, role, instructions);
  int64_t slotBytes = KernelPlan::getSlotStride(queue);
  Value base = operands.getQueue()[0], slot = operands.getQueue()[1],
        warpgroup = instructions.shiftRight(role.warp, 2);
  base = instructions.add(
      base, instructions.mul(warpgroup, queue.getDepth() * slotBytes));
  // One thread issues all of the warpgroup's copies: groups are a thread's own.
  Value leader = instructions.bitAnd(
      role.leader, instructions.equal(instructions.bitAnd(role.warp, 3), 0));
  auto meet = [&] {
    instructions.syncNamedBarrier(
        instructions.add(warpgroup, getPlan<RingPlanAttr>(op).namedBarrier),
        /*threads=*/128);
  };
  SmallVector<Value> coordinates;
  for (ValueRange coordinate : operands.getCoordinates())
    coordinates.push_back(coordinate[0]);
  Value firstColumn = coordinates.pop_back_val(),
        firstRow =
            arith::AddIOp::create(rewriter, loc, coordinates.pop_back_val(),
                                  instructions.toIndex(instructions.mul(
                                      warpgroup, 64 * type.getNumParts())));
  auto shifted = [&](Value index, int64_t by) -> Value {
    return arith::AddIOp::create(
        rewriter, loc, index,
        arith::ConstantIndexOp::create(rewriter, loc, by));
  };

  RowRest rest(op.getRest() ? operands.getRest()[0] : Value(), instructions);
  Value thread = instructions.add(
      instructions.mul(instructions.bitAnd(role.warp, 3), 32), role.lane);
  int64_t tilesPerPart = type.getShape()[1] / tile.getColumns(),
          tiles = type.getNumParts() * tilesPerPart,
          batch = std::max<int64_t>(queue.getDepth() / 2, 1);
  size_t pairsPerTile = tile.getColumns() / 4;
  SmallVector<Value> pairs(operands.getFragment());
  for (int64_t first = 0; first < tiles; first += batch) {
    int64_t count = std::min(batch, tiles - first);
    // The slots were last used one lap ago.
    instructions.ifThen(leader, [&](Instructions &inner) {
      inner.waitStores(queue.getDepth() / batch - 1, /*readOnly=*/true);
    });
    meet();
    Value address = instructions.add(base, instructions.mul(slot, slotBytes));
    for (int64_t i = 0; i < count; ++i)
      writeTile(ArrayRef(pairs).slice((first + i) * pairsPerTile, pairsPerTile),
                tile, instructions.add(address, i * slotBytes), part, role,
                instructions);
    // The copies read through the async proxy: every thread's writes are fenced
    // before one starts them.
    instructions.fenceAsyncProxy();
    meet();
    auto getPlace = [&](int64_t i) {
      int64_t group = (first + i) / tilesPerPart,
              column = (first + i) % tilesPerPart * tile.getColumns();
      SmallVector<Value> place(coordinates);
      place.push_back(shifted(firstRow, 64 * group));
      place.push_back(shifted(firstColumn, column));
      return place;
    };
    instructions.ifThen(leader, [&](Instructions &inner) {
      // Were it a constant, ptxas would keep the addresses of the K loop in
      // vector registers, and move them over for each product.
      Value source = inner.keepInLoop(address);
      for (int64_t i = 0; i < count; ++i) {
        SmallVector<Value> place = getPlace(i);
        place.back() = rest.getBoxColumn(place.back(), inner);
        inner.storeTile(inner.add(source, i * slotBytes), operands.getMap()[0],
                        place);
      }
      inner.commitStores();
    });
    for (int64_t i = 0; rest && i < count; ++i)
      rest.store(tile, instructions.add(address, i * slotBytes), getPlace(i),
                 thread, /*threads=*/128, instructions);
    Value next = instructions.add(slot, batch);
    slot = instructions.select(
        instructions.atLeast(next, queue.getDepth() - batch + 1),
        instructions.i32(0), next);
  }
  rewriter.replaceOpWithMultiple(op, {{operands.getQueue()[0], slot}});
}

void mlir::fp8::populateWarpgroupFragmentPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    const KernelLowering &lowering) {
  patterns.add<LowerPromoteProduct, LowerAddTileProduct, LowerAddRowProduct,
               LowerStoreProduct>(converter, patterns.getContext(), lowering);
}
