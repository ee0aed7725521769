// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers what adds shared memory to a fragment: tiles and rows.

#include "Fragment.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// The columns of a tile that is added, and where threads hold them.
struct TileColumns {
  TileColumns(AddTileOp op, const RegisterLayout &layout);

  int64_t first;
  /// The columns that the same threads hold; a tile has whole blocks of them,
  /// or lies within one.
  int64_t block;
  bool isWithinBlock;
  /// The columns of the blocks that the tile has a part in.
  int64_t begin, end;
  /// The registers of each block, by the block's offset from the thread's
  /// first: one of each pair.
  llvm::MapVector<int64_t, SmallVector<int64_t>> registers;
};

/// add_tile: each thread reads what the tile has beside its registers.
struct LowerAddTile : public KernelPattern<AddTileOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(AddTileOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override;

private:
  /// Adds the tile's columns to these registers, one of each pair. The thread's
  /// first element lies beside `row` and `column` of the tile's first column.
  static SmallVector<Value> add(AddTileOp op, Adaptor operands,
                                const RegisterLayout &layout,
                                const TileColumns &columns, Value row,
                                Value column, ArrayRef<int64_t> registers,
                                Instructions &instructions);
};

/// add_row: a thread reads each of its columns once, for all of its rows.
struct LowerAddRow : public KernelPattern<AddRowOp> {
  using KernelPattern::KernelPattern;

  /// Columns of the row that are in registers beside the sums of a thread that
  /// holds one row. With all of 128 in f32 ptxas would fill every register, and
  /// spill.
  static constexpr int64_t kRowColumns = 32;

  LogicalResult lower(AddRowOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// The place of a thread that adds: one that holds a row has as many sums as
/// registers allow.
static FragmentPart getPart(FragmentType type, Operation *op,
                            Instructions &instructions) {
  return FragmentPart(type,
                      RegisterLayout(type).isOneRow()
                          ? getRoleAfterSums(op, instructions)
                          : getRole(op),
                      instructions);
}

//===----------------------------------------------------------------------===//
// add_tile
//===----------------------------------------------------------------------===//

TileColumns::TileColumns(AddTileOp op, const RegisterLayout &layout)
    : first(op.getColumn()), block(layout.getColumnBlock()) {
  int64_t count = op.getTile().getType().getColumns();
  begin = llvm::alignDown(first, block);
  end = llvm::alignTo(first + count, block);
  isWithinBlock = count < block;
  for (int64_t reg = 0; reg < layout.getNumRegisters(); reg += 2) {
    int64_t column = layout.getOffset(reg).column, within = column % block;
    if (!isWithinBlock ||
        (within >= first - begin && within < first - begin + count))
      registers[column - within].push_back(reg);
  }
}

SmallVector<Value> LowerAddTile::add(AddTileOp op, Adaptor operands,
                                     const RegisterLayout &layout,
                                     const TileColumns &columns, Value row,
                                     Value column, ArrayRef<int64_t> registers,
                                     Instructions &instructions) {
  TileType tile = op.getTile().getType();
  Value scale;
  if (op.getScale())
    scale = instructions.splatPair(operands.getScale()[0]);
  TileAddresses addresses(tile, operands.getTile()[0], row, column,
                          instructions);
  int64_t start = columns.first - (columns.isWithinBlock ? columns.begin : 0);
  int64_t width = layout.getAccessColumns(getBytes(tile.getElementType()));
  SmallVector<Value> sums;
  auto getPlace = [&](int64_t reg) {
    RegisterLayout::Place place = layout.getOffset(reg);
    return RegisterLayout::Place{place.row, place.column - start};
  };
  while (sums.size() < registers.size()) {
    int64_t reg = registers[sums.size()];
    for (Value added :
         addresses.loadPairs(getPlace(reg), getPlace(reg + 1), width)) {
      Value sum = operands.getFragment()[registers[sums.size()] / 2];
      sums.push_back(scale ? instructions.fma(added, scale, sum)
                           : instructions.addPair(added, sum));
    }
  }
  // Else LLVM moves all of it to where the sums are used, past the hand-over of
  // the tile.
  if (layout.isOneRow())
    instructions.pin(sums);
  return sums;
}

LogicalResult LowerAddTile::lower(AddTileOp op, Adaptor operands,
                                  ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  Instructions instructions(rewriter, loc);
  FragmentType type = op.getFragment().getType();
  FragmentPart part = getPart(type, op, instructions);
  TileColumns columns(op, part.layout);
  // Within a block all threads that read begin at its first column.
  Value row = part.getPlace(RegisterLayout::Row),
        column = part.getPlace(
            RegisterLayout::Column, kThreadUnits, instructions, /*from=*/1,
            columns.isWithinBlock ? columns.block : INT64_MAX);
  SmallVector<Value> pairs(operands.getFragment());
  for (auto &[offset, registers] : columns.registers) {
    SmallVector<Value> sums;
    for (int64_t reg : registers)
      sums.push_back(pairs[reg / 2]);
    auto build = [&, &registers = registers](Instructions &inner) {
      return add(op, operands, part.layout, columns, row, column, registers,
                 inner);
    };
    if (columns.end - columns.begin == type.getShape()[1]) {
      sums = build(instructions);
    } else {
      // The other threads own none of the tile's columns.
      Value isOwner = instructions.below(
          instructions.add(part.getPlace(RegisterLayout::Column, kThreadUnits,
                                         instructions, columns.block),
                           offset - columns.begin),
          columns.end - columns.begin);
      auto branch = scf::IfOp::create(
          rewriter, loc, isOwner,
          [&](OpBuilder &builder, Location) {
            Instructions inner(builder, loc);
            scf::YieldOp::create(builder, loc, build(inner));
          },
          [&](OpBuilder &builder, Location) {
            scf::YieldOp::create(builder, loc, sums);
          });
      sums = branch.getResults();
    }
    for (auto [reg, sum] : llvm::zip(registers, sums))
      pairs[reg / 2] = sum;
  }
  rewriter.replaceOpWithMultiple(op, {pairs});
  return success();
}

//===----------------------------------------------------------------------===//
// add_row
//===----------------------------------------------------------------------===//

LogicalResult LowerAddRow::lower(AddRowOp op, Adaptor operands,
                                 ConversionPatternRewriter &rewriter) const {
  Instructions instructions(rewriter, op.getLoc());
  FragmentPart part = getPart(op.getFragment().getType(), op, instructions);
  const RegisterLayout &layout = part.layout;
  TileType row = op.getRow().getType();
  int64_t width = layout.getAccessColumns(getBytes(row.getElementType()));
  TileAddresses addresses =
      TileAddresses::beside(row, operands.getRow()[0], /*row=*/Value(), part,
                            RegisterLayout::Column, width, instructions);
  SmallVector<Value> sums(operands.getFragment());
  llvm::SmallDenseMap<int64_t, Value> columns;
  auto load = [&](int64_t reg) {
    int64_t column = layout.getOffset(reg).column;
    if (columns.contains(column))
      return;
    for (Value pair : addresses.loadPairs(
             {0, column}, {0, layout.getOffset(reg + 1).column}, width)) {
      columns[column] = pair;
      column += 2;
    }
  };
  auto add = [&](int64_t reg) {
    load(reg);
    Value &sum = sums[reg / 2];
    sum = instructions.addPair(columns[layout.getOffset(reg).column], sum);
  };
  int64_t count = layout.getNumRegisters(),
          batch = layout.isOneRow() ? kRowColumns : count;
  for (int64_t first = 0; first < count; first += batch) {
    // ptxas moves no load across it.
    if (first > 0)
      instructions.syncWarp();
    int64_t end = std::min(first + batch, count);
    for (int64_t reg = first; reg < end; reg += 2)
      add(reg);
    // Else LLVM moves all of it to where the sums are used, past the hand-over
    // of the row.
    if (layout.isOneRow())
      instructions.pin(
          MutableArrayRef(sums).slice(first / 2, (end - first) / 2));
  }
  rewriter.replaceOpWithMultiple(op, {sums});
  return success();
}

void mlir::fp8::populateAddPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns) {
  patterns.add<LowerAddTile, LowerAddRow>(converter, patterns.getContext());
}
