// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a store does beside staging and copying tiles: its threads store what
// TMA cannot.

#include "Store.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// The rest of a row
//===----------------------------------------------------------------------===//

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
  // Boxes that begin beyond an outer extent store nothing.
  for (int64_t axis = 0; axis < rank - 2; ++axis)
    hasRest = instructions.bitAnd(
        hasRest, instructions.atLeast(instructions.extent(memref, axis),
                                      instructions.add(place[axis], 1)));
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
      inner.storeElements(
          TileAddresses(tile, address, row, column, inner).get(0, 0), memref,
          place, count);
    });
  }
}
