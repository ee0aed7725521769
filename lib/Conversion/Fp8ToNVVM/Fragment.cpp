// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers fragments: accumulators leave tensor memory, tiles and rows in shared
// memory are added to them, and regions are computed on them.
//
// A thread owns part of a row, as pairs of f32: Blackwell multiplies and adds
// two f32 in one instruction (PTX ISA, fma.rn.f32x2).

#include "Fragment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// What one access to shared memory moves, and a swizzle moves as a whole.
static constexpr int64_t kChunkBytes = 16;

/// The columns of one load. Narrow loads let ptxas start the next as soon as a
/// few registers are free; wide ones are fewer, which is better where all fit
/// beside the sums, and where hardly two do.
static int64_t getLoadColumns(int64_t columns) {
  int64_t load = columns > 64 && columns <= 160 ? 16 : 32;
  while (columns % load)
    load /= 2;
  return load;
}

SmallVector<Value> mlir::fp8::readAccumulator(Value address,
                                              const FragmentPart &part,
                                              Instructions &instructions) {
  address = instructions.add(address, part.tmemOffset);
  // All loads, then one wait: a wait waits for all that were started, so that
  // loads overlap only between two. ptxas starts them as registers come free,
  // and makes each use wait for its own load alone.
  int64_t load = getLoadColumns(part.columns);
  SmallVector<Value> loads;
  for (int64_t column = 0; column < part.columns; column += load)
    loads.push_back(instructions.startTmemLoad(
        instructions.add(address, column), load, part.laneHalfDistance));
  return instructions.finishTmemLoads(loads);
}

/// Bits 7.. of the offset within the swizzle's pattern are XORed into bits 4..
/// (PTX ISA, swizzling modes).
Value mlir::fp8::getSwizzleBits(Value rowOffset, Swizzle swizzle,
                                Instructions &instructions) {
  int64_t mask = (int64_t(1) << static_cast<uint32_t>(swizzle)) - 1;
  return instructions.shiftLeft(
      instructions.bitAnd(instructions.shiftRight(rowOffset, 7), mask), 4);
}

Value mlir::fp8::getElementAddress(TileType tile, Value address, Value row,
                                   Value column, Instructions &instructions) {
  Value rowOffset = instructions.mul(row, tile.getRowBytes());
  Value offset = instructions.add(
      rowOffset, instructions.mul(column, getBytes(tile.getElementType())));
  return instructions.add(
      address,
      instructions.bitXor(
          offset, getSwizzleBits(rowOffset, tile.getSwizzle(), instructions)));
}

SmallVector<Value> mlir::fp8::readTileRow(TileType tile, Value address,
                                          Value rowOffset, Value byteColumn,
                                          int64_t count,
                                          Instructions &instructions) {
  int64_t perChunk =
      kChunkBytes * 8 / tile.getElementType().getIntOrFloatBitWidth();
  Value swizzle = getSwizzleBits(rowOffset, tile.getSwizzle(), instructions);
  Value start = instructions.add(rowOffset, byteColumn);
  SmallVector<Value> pairs;
  for (int64_t column = 0; column < count; column += perChunk) {
    Value offset = instructions.bitXor(
        instructions.add(start, column / perChunk * kChunkBytes), swizzle);
    llvm::append_range(
        pairs, instructions.loadSharedPairs(instructions.add(address, offset),
                                            tile.getElementType(), perChunk));
  }
  return pairs;
}

/// Combines each pair with what the row of a tile holds beside it: chunk by
/// chunk, and before anything that follows, so that no more of the row than
/// there are registers for need wait beside the pairs. The arguments are those
/// of readTileRow.
static void addTileRow(TileType tile, Value address, Value rowOffset,
                       Value byteColumn, MutableArrayRef<Value> pairs,
                       Instructions &instructions,
                       function_ref<Value(Value pair, Value added)> combine) {
  int64_t elementBytes = getBytes(tile.getElementType());
  size_t perChunk = kChunkBytes / elementBytes / 2;
  for (size_t first = 0; first < pairs.size(); first += perChunk) {
    MutableArrayRef<Value> chunk = pairs.slice(first, perChunk);
    SmallVector<Value> added =
        readTileRow(tile, address, rowOffset,
                    instructions.add(byteColumn, 2 * first * elementBytes),
                    2 * perChunk, instructions);
    for (auto [pair, value] : llvm::zip(chunk, added))
      pair = combine(pair, value);
  }
  // Else LLVM moves all of it to where the sums are used, past the hand-over of
  // the tile.
  instructions.pin(pairs);
}

RoleValues mlir::fp8::getRoleAfterSums(const KernelLowering &lowering,
                                       Operation *op,
                                       Instructions &instructions) {
  RoleValues role = lowering.getRole(op);
  if (role.promotes)
    role.lane = instructions.keepInLoop(role.lane);
  return role;
}

/// Adds the ops that a map made for the value, operands first: all without
/// effects up to those that take an element out of a pair.
static void collectOfMap(Value value, llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || !isMemoryEffectFree(op) || ops.contains(op))
    return;
  bool takesElement =
      !isa<VectorType>(value.getType()) &&
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<VectorType>);
  if (!takesElement)
    for (Value operand : op->getOperands())
      collectOfMap(operand, ops);
  ops.insert(op);
}

void mlir::fp8::computeHere(ValueRange ofMap,
                            ConversionPatternRewriter &rewriter) {
  llvm::SetVector<Operation *> ops;
  for (Value value : ofMap)
    collectOfMap(value, ops);
  // The values themselves have no users yet; else another op needs them before.
  llvm::SmallPtrSet<Operation *, 16> moved;
  for (Operation *op : llvm::reverse(ops))
    if (llvm::all_of(op->getUsers(),
                     [&](Operation *user) { return moved.contains(user); }))
      moved.insert(op);
  for (Operation *op : ops)
    if (moved.contains(op))
      rewriter.moveOpBefore(op, rewriter.getInsertionBlock(),
                            rewriter.getInsertionPoint());
}

namespace {

//===----------------------------------------------------------------------===//
// zero, read
//===----------------------------------------------------------------------===//

/// zero: pairs of zeros.
struct LowerZero : public KernelPattern<ZeroOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ZeroOp op, Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    auto pairType = VectorType::get(2, rewriter.getF32Type());
    Value zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                           rewriter.getZeroAttr(pairType));
    SmallVector<Value> pairs(
        op.getFragment().getType().getColumnsPerThread() / 2, zero);
    rewriter.replaceOpWithMultiple(op, {pairs});
    return success();
  }
};

/// read: load and wait.
struct LowerRead : public KernelPattern<ReadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ReadOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    FragmentPart part(op.getFragment().getType(), lowering.getRole(op),
                      instructions);
    rewriter.replaceOpWithMultiple(
        op,
        {readAccumulator(operands.getAccumulator()[0], part, instructions)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// add_tile, add_row
//===----------------------------------------------------------------------===//

/// add_tile: each thread reads its part of a row.
struct LowerAddTile : public KernelPattern<AddTileOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(AddTileOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override;

private:
  /// fragment + scale * tile for the columns that the tile and this thread
  /// share; `byteColumn` is the first of them, in bytes from the tile's first.
  SmallVector<Value> add(AddTileOp op, Adaptor operands,
                         const FragmentPart &part, ValueRange pairs,
                         Value byteColumn, Instructions &instructions) const;
};

/// add_row: all threads of a warp read the same.
struct LowerAddRow : public KernelPattern<AddRowOp> {
  using KernelPattern::KernelPattern;

  /// Columns of the row that are in registers beside the sums. With all of 128
  /// in f32 ptxas would fill every register, and spill.
  static constexpr int64_t kRowColumns = 32;

  LogicalResult lower(AddRowOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    FragmentPart part(op.getFragment().getType(),
                      getRoleAfterSums(lowering, op, instructions),
                      instructions);
    TileType tile = op.getRow().getType();
    int64_t bytes = getBytes(tile.getElementType());
    Value byteColumn = instructions.mul(part.firstColumn, bytes);
    SmallVector<Value> sums(operands.getFragment());
    MutableArrayRef<Value> rest = sums;
    while (!rest.empty()) {
      size_t count = std::min<size_t>(rest.size(), kRowColumns / 2);
      addTileRow(tile, operands.getRow()[0], instructions.i32(0), byteColumn,
                 rest.take_front(count), instructions,
                 [&](Value pair, Value value) {
                   return instructions.addPair(value, pair);
                 });
      rest = rest.drop_front(count);
      byteColumn = instructions.add(byteColumn, kRowColumns * bytes);
      // ptxas moves no load across it.
      if (!rest.empty())
        instructions.syncWarp();
    }
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

/// map: the body, once for each element.
struct LowerMap : public KernelPattern<MapOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(MapOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    SmallVector<Value> results;
    for (size_t i = 0, e = operands.getInits()[0].size(); i < e; ++i) {
      Value pair;
      for (int64_t position : {0, 1}) {
        SmallVector<Value> elements;
        for (ValueRange pairs : operands.getInits())
          elements.push_back(instructions.extract(pairs[i], position));
        Value value = clone(op, elements, rewriter);
        pair = instructions.insert(pair ? pair : instructions.undefPair(),
                                   value, position);
      }
      results.push_back(pair);
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  static Value clone(MapOp op, ValueRange elements,
                     ConversionPatternRewriter &rewriter) {
    Block &body = op.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), elements);
    for (Operation &inner : body.without_terminator()) {
      SmallVector<Value> operands;
      for (Value operand : inner.getOperands())
        operands.push_back(mapping.lookupOrDefault(operand));
      if (Value value =
              Instructions(rewriter, inner.getLoc())
                  .computeMath(inner.getName().getStringRef(), operands))
        mapping.map(inner.getResult(0), value);
      else
        rewriter.clone(inner, mapping);
    }
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  }
};

} // namespace

SmallVector<Value> LowerAddTile::add(AddTileOp op, Adaptor operands,
                                     const FragmentPart &part, ValueRange pairs,
                                     Value byteColumn,
                                     Instructions &instructions) const {
  TileType tile = op.getTile().getType();
  Value scale;
  if (op.getScale())
    scale = instructions.splatPair(operands.getScale()[0]);
  SmallVector<Value> sums(pairs);
  addTileRow(tile, operands.getTile()[0],
             instructions.mul(part.row, tile.getRowBytes()), byteColumn, sums,
             instructions, [&](Value pair, Value value) {
               return scale ? instructions.fma(value, scale, pair)
                            : instructions.addPair(value, pair);
             });
  return sums;
}

LogicalResult LowerAddTile::lower(AddTileOp op, Adaptor operands,
                                  ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Instructions instructions(rewriter, loc);
  FragmentPart part(op.getFragment().getType(),
                    getRoleAfterSums(lowering, op, instructions), instructions);
  TileType tile = op.getTile().getType();
  int64_t bytes = getBytes(tile.getElementType());
  int64_t first = op.getColumn(), end = first + tile.getColumns();
  int64_t firstGroup = first / part.columns,
          lastGroup = (end - 1) / part.columns;
  // The thread's pairs that the tile has columns for: all of them, unless the
  // tile is within one thread's.
  int64_t begin = firstGroup == lastGroup ? (first % part.columns) / 2 : 0;
  int64_t count =
      (firstGroup == lastGroup ? tile.getColumns() : part.columns) / 2;
  SmallVector<Value> pairs(operands.getFragment());
  ArrayRef<Value> shared = ArrayRef(pairs).slice(begin, count);
  auto build = [&](Instructions &inner) {
    Value byteColumn = inner.i32(0);
    if (firstGroup != lastGroup)
      byteColumn = inner.mul(inner.add(part.firstColumn, -first), bytes);
    return add(op, operands, part, shared, byteColumn, inner);
  };

  SmallVector<Value> sums;
  int64_t groups = op.getFragment().getType().getShape()[1] / part.columns;
  if (lastGroup - firstGroup + 1 == groups) {
    sums = build(instructions);
  } else {
    // The other threads own none of the tile's columns.
    Value isOwner = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ult,
        instructions.add(part.firstColumn, -firstGroup * part.columns),
        instructions.i32((lastGroup - firstGroup + 1) * part.columns));
    auto branch = scf::IfOp::create(
        rewriter, loc, isOwner,
        [&](OpBuilder &builder, Location) {
          Instructions inner(builder, loc);
          scf::YieldOp::create(builder, loc, build(inner));
        },
        [&](OpBuilder &builder, Location) {
          scf::YieldOp::create(builder, loc, shared);
        });
    sums.assign(branch.result_begin(), branch.result_end());
  }
  llvm::copy(sums, pairs.begin() + begin);
  rewriter.replaceOpWithMultiple(op, {pairs});
  return success();
}

namespace {

/// read_element: the same load in every thread.
struct LowerReadElement : public KernelPattern<ReadElementOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ReadElementOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    constexpr int64_t kBytes = 4;
    Value address =
        instructions.add(operands.getRow()[0], kBytes * op.getColumn());
    rewriter.replaceOp(
        op, instructions.loadShared(address, op.getElement().getType()));
    return success();
  }
};

} // namespace

void mlir::fp8::populateFragmentPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelLowering &lowering) {
  patterns.add<LowerZero, LowerRead, LowerAddTile, LowerAddRow,
               LowerReadElement, LowerMap>(converter, patterns.getContext(),
                                           lowering);
}
