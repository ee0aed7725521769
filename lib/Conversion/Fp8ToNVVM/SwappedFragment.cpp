// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers what is done with fragments of products whose operands were swapped: a
// thread has pairs of neighbouring rows, in every eighth column (PTX ISA, wgmma
// register fragment D).

#include "Fragment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// promote: an A scale for each element of a pair, a B scale for each column.
struct LowerPromoteSwapped
    : public ProductPattern<PromoteOp, /*swapped=*/true> {
  using ProductPattern::ProductPattern;

private:
  void lowerFragment(PromoteOp op, Adaptor operands,
                     ConversionPatternRewriter &rewriter) const override;
  /// The thread's pair of A scales of each eight rows.
  static SmallVector<Value> loadAScales(PromoteOp op, Adaptor operands,
                                        const RoleValues &role,
                                        ConversionPatternRewriter &rewriter);
  /// The B scale of the thread's column of the part, and of the eighth after.
  static std::array<Value, 2> getBScales(PromoteOp op, Adaptor operands,
                                         const FragmentPart &part,
                                         const RoleValues &role,
                                         Instructions &instructions);
};

/// add_tile: element by element, those of a pair from two rows.
struct LowerAddTileSwapped
    : public ProductPattern<AddTileOp, /*swapped=*/true> {
  using ProductPattern::ProductPattern;

private:
  void lowerFragment(AddTileOp op, Adaptor operands,
                     ConversionPatternRewriter &rewriter) const override;
};

/// add_row: one element for all of a column.
struct LowerAddRowSwapped : public ProductPattern<AddRowOp, /*swapped=*/true> {
  using ProductPattern::ProductPattern;

private:
  void lowerFragment(AddRowOp op, Adaptor operands,
                     ConversionPatternRewriter &rewriter) const override;
};

/// store: a warp stages its 16 columns of each part.
struct LowerStoreSwapped : public ProductPattern<StoreOp, /*swapped=*/true> {
  using ProductPattern::ProductPattern;

private:
  void lowerFragment(StoreOp op, Adaptor operands,
                     ConversionPatternRewriter &rewriter) const override;
  /// Writes a part's pairs to a tile of 16 columns.
  static void writeTile(ArrayRef<Value> pairs, TileType tile, Value address,
                        const FragmentPart &part, Value lane,
                        Instructions &instructions);
};

} // namespace

/// An element of a row in shared memory, as f32; the column is an i32.
static Value loadElement(TileType tile, Value address, Value column,
                         Instructions &instructions) {
  Type element = tile.getElementType();
  return instructions.loadSharedFloat(
      instructions.add(address, instructions.mul(column, getBytes(element))),
      element);
}

//===----------------------------------------------------------------------===//
// promote
//===----------------------------------------------------------------------===//

SmallVector<Value>
LowerPromoteSwapped::loadAScales(PromoteOp op, Adaptor operands,
                                 const RoleValues &role,
                                 ConversionPatternRewriter &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value first = getAScaleAddress(op, operands, role, /*rowOffset=*/0, rewriter);
  Instructions early(rewriter, op.getLoc());
  TileType tile = op.getAScale().getType();
  return loadEighths(first, tile.getElementType(), tile.getColumns(), early);
}

std::array<Value, 2> LowerPromoteSwapped::getBScales(
    PromoteOp op, Adaptor operands, const FragmentPart &part,
    const RoleValues &role, Instructions &instructions) {
  FragmentType type = op.getFragment().getType();
  int64_t column = 64 * op.getPart();
  if (TypedValue<TileType> row = op.getBRow()) {
    auto load = [&](int64_t offset) {
      return loadElement(row.getType(), operands.getBRow()[0],
                         instructions.add(part.firstColumn, column + offset),
                         instructions);
    };
    return {load(0), load(8)};
  }
  // A part of a warpgroup's lies within one scale's columns.
  int64_t columnsPerScale = type.getShape()[1] / op.getBScales().size();
  auto getScale = [&](int64_t warpgroup) {
    int64_t first = 64 * type.getNumParts() * warpgroup + column;
    return operands.getBScales()[first / columnsPerScale][0];
  };
  Value scale = getScale(0), warpgroup = instructions.shiftRight(role.warp, 2);
  for (int64_t i = 1; i < type.getWarps() / 4; ++i)
    if (Value other = getScale(i); other != getScale(i - 1))
      scale =
          instructions.select(instructions.atLeast(warpgroup, i), other, scale);
  return {scale, scale};
}

void LowerPromoteSwapped::lowerFragment(
    PromoteOp op, Adaptor operands, ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Instructions instructions(rewriter, loc);
  const RoleValues &role = lowering.getRole(op);
  FragmentPart place(op.getFragment().getType(), role, instructions);
  SmallVector<Value> aScales = loadAScales(op, operands, role, rewriter);
  std::array<Value, 2> bScales =
      getBScales(op, operands, place, role, instructions);
  SmallVector<Value> sums(operands.getFragment());
  ValueRange product = operands.getPartial();
  MutableArrayRef<Value> part = MutableArrayRef(sums).slice(
      op.getPart() * product.size(), product.size());
  for (auto [i, aScale] : llvm::enumerate(aScales)) {
    Value scale;
    for (size_t half : {0, 1}) {
      if (half == 0 || bScales[1] != bScales[0])
        scale = arith::MulFOp::create(rewriter, loc, aScale,
                                      instructions.splatPair(bScales[half]));
      Value &sum = part[2 * i + half];
      sum = instructions.fma(product[2 * i + half], scale, sum);
    }
  }
  if (isBeforeProduct(op))
    instructions.pinProduct(part);
  rewriter.replaceOpWithMultiple(op, {sums});
}

//===----------------------------------------------------------------------===//
// add_tile, add_row
//===----------------------------------------------------------------------===//

void LowerAddTileSwapped::lowerFragment(
    AddTileOp op, Adaptor operands, ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Instructions instructions(rewriter, loc);
  FragmentType type = op.getFragment().getType();
  FragmentPart part(type, lowering.getRole(op), instructions);
  TileType tile = op.getTile().getType();
  Value scale;
  if (op.getScale())
    scale = instructions.splatPair(operands.getScale()[0]);
  SmallVector<Value> sums(operands.getFragment());
  SmallVector<PairOffset> offsets = getPairOffsets(type);
  size_t perPart = sums.size() / type.getNumParts();
  auto add = [&](size_t first, Instructions &inner) {
    SmallVector<Value> results;
    for (size_t i = first; i < first + perPart; ++i) {
      Value column = inner.add(part.firstColumn,
                               offsets[i].column - int64_t(op.getColumn())),
            added = inner.undefPair();
      for (int64_t j : {0, 1}) {
        Value row = inner.add(part.row, offsets[i].row + j);
        Value address =
            getElementAddress(tile, operands.getTile()[0], row, column, inner);
        added = inner.insert(
            added, inner.loadSharedFloat(address, tile.getElementType()), j);
      }
      results.push_back(scale ? inner.fma(added, scale, sums[i])
                              : inner.addPair(added, sums[i]));
    }
    return results;
  };
  // A warp has 16 columns of a part: all of them are the tile's, or none.
  for (int64_t i = 0; i < type.getNumParts(); ++i) {
    MutableArrayRef<Value> ofPart =
        MutableArrayRef(sums).slice(i * perPart, perPart);
    auto store = [&](ValueRange values) { llvm::copy(values, ofPart.begin()); };
    if (tile.getColumns() == type.getShape()[1]) {
      store(add(i * perPart, instructions));
      continue;
    }
    Value isOwner = instructions.below(
        instructions.add(part.warpColumn, 64 * i - int64_t(op.getColumn())),
        tile.getColumns());
    auto branch = scf::IfOp::create(
        rewriter, loc, isOwner,
        [&](OpBuilder &builder, Location) {
          Instructions inner(builder, loc);
          scf::YieldOp::create(builder, loc, add(i * perPart, inner));
        },
        [&](OpBuilder &builder, Location) {
          scf::YieldOp::create(builder, loc, ofPart);
        });
    store(branch.getResults());
  }
  rewriter.replaceOpWithMultiple(op, {sums});
}

void LowerAddRowSwapped::lowerFragment(
    AddRowOp op, Adaptor operands, ConversionPatternRewriter &rewriter) const {
  Instructions instructions(rewriter, op.getLoc());
  FragmentType type = op.getFragment().getType();
  FragmentPart part(type, lowering.getRole(op), instructions);
  llvm::SmallDenseMap<int64_t, Value> loaded;
  SmallVector<Value> sums(operands.getFragment());
  for (auto [sum, place] : llvm::zip(sums, getPairOffsets(type))) {
    Value &added = loaded[place.column];
    if (!added)
      added = instructions.splatPair(loadElement(
          op.getRow().getType(), operands.getRow()[0],
          instructions.add(part.firstColumn, place.column), instructions));
    sum = instructions.addPair(added, sum);
  }
  rewriter.replaceOpWithMultiple(op, {sums});
}

//===----------------------------------------------------------------------===//
// store
//===----------------------------------------------------------------------===//

void LowerStoreSwapped::writeTile(ArrayRef<Value> pairs, TileType tile,
                                  Value address, const FragmentPart &part,
                                  Value lane, Instructions &instructions) {
  Type element = tile.getElementType();
  auto getAddress = [&](Value row, Value column) {
    return getElementAddress(tile, address, row, column, instructions);
  };
  if (element.getIntOrFloatBitWidth() == 16) {
    // Matrices of eight rows, both of a row's; of as many rows as there are,
    // two of them at a time.
    Value row = instructions.add(
              instructions.mul(instructions.shiftRight(lane, 4), 8),
              instructions.bitAnd(lane, 7)),
          column = instructions.bitAnd(lane, 8);
    for (size_t first = 0; first < pairs.size(); first += 4) {
      SmallVector<Value> matrices;
      for (Value pair : pairs.drop_front(first).take_front(4))
        matrices.push_back(instructions.roundPair(pair, element));
      instructions.storeMatrices(
          getAddress(instructions.add(row, first / 2 * 8), column), matrices,
          /*transposed=*/true);
    }
    return;
  }
  Value column = instructions.shiftRight(lane, 2);
  for (auto [i, pair] : llvm::enumerate(pairs))
    for (auto [j, value] :
         llvm::enumerate(instructions.roundApart(pair, element)))
      instructions.storeShared(
          getAddress(instructions.add(part.row, i / 2 * 8 + j),
                     instructions.add(column, i % 2 * 8)),
          value);
}

void LowerStoreSwapped::lowerFragment(
    StoreOp op, Adaptor operands, ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Instructions instructions(rewriter, loc);
  const RoleValues &role = lowering.getRole(op);
  FragmentType type = op.getFragment().getType();
  FragmentPart part(type, role, instructions);
  SmallVector<Value> pairs(operands.getFragment()), coordinates;
  for (ValueRange coordinate : operands.getCoordinates())
    coordinates.push_back(coordinate[0]);
  Value firstColumn =
      arith::AddIOp::create(rewriter, loc, coordinates.pop_back_val(),
                            instructions.toIndex(part.warpColumn));
  size_t perPart = pairs.size() / type.getNumParts();
  auto write = [&](int64_t index, Value address) {
    writeTile(ArrayRef(pairs).slice(index * perPart, perPart),
              op.getQueue().getType().getTile(), address, part, role.lane,
              instructions);
  };
  auto getPlace = [&](int64_t index, int64_t) {
    Value step = arith::ConstantIndexOp::create(rewriter, loc, 64 * index);
    SmallVector<Value> place(coordinates);
    place.push_back(arith::AddIOp::create(rewriter, loc, firstColumn, step));
    return place;
  };
  Value slot = storeWarpTiles(op, operands, role, type.getNumParts(),
                              /*boxes=*/1, write, getPlace, instructions);
  rewriter.replaceOpWithMultiple(op, {{operands.getQueue()[0], slot}});
}

void mlir::fp8::populateSwappedFragmentPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    const KernelLowering &lowering) {
  patterns.add<LowerPromoteSwapped, LowerAddTileSwapped, LowerAddRowSwapped,
               LowerStoreSwapped>(converter, patterns.getContext(), lowering);
}
