// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each layout against the tables of the PTX ISA, and as a one-to-one map.

#include "fp8/IR/RegisterLayout.h"

#include "fp8/IR/Fp8.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::fp8;

using Axis = RegisterLayout::Axis;
using Unit = RegisterLayout::Unit;
using Place = RegisterLayout::Place;

namespace {

constexpr Axis kRow = RegisterLayout::Row, kColumn = RegisterLayout::Column;

class RegisterLayoutTest : public testing::Test {
protected:
  RegisterLayoutTest() { context.loadDialect<Fp8Dialect>(); }

  FragmentType getType(int64_t rows, int64_t columns, int64_t warps,
                       FragmentLayout layout) {
    int64_t shape[] = {rows, columns};
    return FragmentType::get(&context, shape, Float32Type::get(&context), warps,
                             layout);
  }

  /// A type of every layout, and of its corners.
  std::vector<FragmentType> getTypes() {
    std::vector<FragmentType> types;
    for (int64_t columns : {16, 96, 128, 240, 256})
      for (int64_t warps : {4, 8, 16})
        types.push_back(getType(128, columns, warps, FragmentLayout::Rows));
    for (int64_t columns : {8, 48, 128, 256})
      for (FragmentLayout layout :
           {FragmentLayout::LaneHalves, FragmentLayout::WarpHalves})
        types.push_back(getType(64, columns, 4, layout));
    for (int64_t extent : {8, 16, 24, 56})
      for (int64_t warps : {4, 8, 12})
        for (int64_t parts : {1, 2, 3, 4}) {
          int64_t divided = 16 * warps * parts;
          if (divided > 256)
            continue;
          types.push_back(
              getType(divided, extent, warps, FragmentLayout::Warpgroups));
          types.push_back(getType(extent, divided, warps,
                                  FragmentLayout::WarpgroupColumns));
        }
    types.push_back(getType(256, 256, 8, FragmentLayout::Warpgroups));
    for (int64_t rows : {8, 48, 120})
      types.push_back(getType(rows, 128, 4, FragmentLayout::QuarterColumns));
    return types;
  }

  static std::string print(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  MLIRContext context;
};

void expectPlace(Place place, int64_t row, int64_t column) {
  EXPECT_EQ(place.row, row);
  EXPECT_EQ(place.column, column);
}

/// The row and the column that register d_i of a thread of a warpgroup holds of
/// a product of 64 rows (PTX ISA, register fragments of wgmma.mma_async, D).
Place getPlaceOfWgmma(int64_t i, int64_t thread) {
  int64_t warp = thread / 32, lane = thread % 32;
  return {16 * warp + lane / 4 + (i % 4 < 2 ? 0 : 8),
          8 * (i / 4) + lane % 4 * 2 + i % 2};
}

} // namespace

TEST_F(RegisterLayoutTest, EachElementIsHeldOnce) {
  for (FragmentType type : getTypes()) {
    RegisterLayout layout(type);
    SCOPED_TRACE(print(type));
    std::set<std::pair<int64_t, int64_t>> places;
    int64_t threads = 32 * type.getWarps();
    for (int64_t thread = 0; thread < threads; ++thread)
      for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
        Place place = layout.getPlace(reg, thread % 32, thread / 32);
        EXPECT_GE(place.row, 0);
        EXPECT_GE(place.column, 0);
        EXPECT_LT(place.row, type.getShape()[0]);
        EXPECT_LT(place.column, type.getShape()[1]);
        EXPECT_TRUE(places.insert({place.row, place.column}).second)
            << "row " << place.row << ", column " << place.column
            << " is held twice";
      }
    EXPECT_EQ(int64_t(places.size()), type.getShape()[0] * type.getShape()[1]);
  }
}

// A place is what the thread's digits add to what the register's do: the
// lowering computes the one at run time, and the other when it compiles.
TEST_F(RegisterLayoutTest, RegistersAndThreadsAddUp) {
  for (FragmentType type : getTypes()) {
    RegisterLayout layout(type);
    SCOPED_TRACE(print(type));
    for (int64_t thread : {0, 1, 5, 31, 32, 77, 127})
      for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
        Place first = layout.getPlace(0, thread % 32, thread / 32),
              offset = layout.getOffset(reg);
        expectPlace(layout.getPlace(reg, thread % 32, thread / 32),
                    first.row + offset.row, first.column + offset.column);
      }
  }
}

// Digits of threads are taken by shifts and masks.
TEST_F(RegisterLayoutTest, DigitsOfLanesAndWarpsArePowersOfTwo) {
  for (FragmentType type : getTypes()) {
    RegisterLayout layout(type);
    SCOPED_TRACE(print(type));
    EXPECT_EQ(layout.getExtent(Unit::Lane), 32);
    EXPECT_EQ(layout.getExtent(Unit::Warp), 4);
    EXPECT_EQ(4 * layout.getExtent(Unit::Warpgroup), type.getWarps());
    for (const RegisterLayout::Digit &digit : layout.getDigits()) {
      bool isOfThread = digit.unit == Unit::Lane || digit.unit == Unit::Warp;
      EXPECT_TRUE(!isOfThread || llvm::isPowerOf2_64(digit.extent));
    }
  }
}

// The figure of the PTX ISA names the registers of some threads.
TEST_F(RegisterLayoutTest, TheTableOfWgmma) {
  RegisterLayout layout(getType(64, 256, 4, FragmentLayout::Warpgroups));
  struct {
    int64_t thread, reg, row, column;
  } figure[] = {{0, 0, 0, 0},     {0, 1, 0, 1},       {0, 2, 8, 0},
                {0, 3, 8, 1},     {0, 4, 0, 8},       {1, 0, 0, 2},
                {3, 1, 0, 7},     {4, 0, 1, 0},       {31, 1, 7, 7},
                {31, 3, 15, 7},   {32, 0, 16, 0},     {64, 0, 32, 0},
                {96, 0, 48, 0},   {127, 3, 63, 7},    {127, 127, 63, 255},
                {0, 124, 0, 248}, {127, 125, 55, 255}};
  for (auto [thread, reg, row, column] : figure) {
    SCOPED_TRACE("d" + std::to_string(reg) + " of thread " +
                 std::to_string(thread));
    expectPlace(layout.getPlace(reg, thread % 32, thread / 32), row, column);
  }
}

TEST_F(RegisterLayoutTest, ProductsAreThoseOfWgmma) {
  for (FragmentType type : getTypes()) {
    RegisterLayout layout(type);
    SCOPED_TRACE(print(type));
    if (!layout.getPartAxis())
      continue;
    bool swapped = layout.getPartAxis() == kColumn;
    EXPECT_EQ(swapped, type.getLayout() == FragmentLayout::WarpgroupColumns);
    int64_t perPart = layout.getExtent(Unit::Register),
            parts = layout.getExtent(Unit::Part);
    for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
      for (int64_t thread = 0; thread < 32 * type.getWarps(); ++thread) {
        Place product = getPlaceOfWgmma(reg % perPart, thread % 128);
        // Warpgroup after warpgroup, each with its parts.
        product.row += 64 * (parts * (thread / 128) + reg / perPart);
        if (swapped)
          std::swap(product.row, product.column);
        expectPlace(layout.getPlace(reg, thread % 32, thread / 32), product.row,
                    product.column);
      }
  }
}

// Warp w reads tensor-memory lanes 32*(w mod 4) and up with tcgen05.ld of shape
// 32x32b, lane by lane, column by register. The data path layouts of the PTX
// ISA say which row and column lie there.
TEST_F(RegisterLayoutTest, AccumulatorsAreWhatTcgen05Loads) {
  for (FragmentType type : getTypes()) {
    RegisterLayout layout(type);
    SCOPED_TRACE(print(type));
    if (!layout.isOneRow())
      continue;
    int64_t columns = type.getShape()[1], registers = layout.getNumRegisters();
    EXPECT_EQ(registers, type.getShape()[0] * columns / (32 * type.getWarps()));
    for (int64_t thread = 0; thread < 32 * type.getWarps(); ++thread)
      for (int64_t reg = 0; reg < registers; ++reg) {
        int64_t lane = thread % 32, quarter = thread / 32 % 4,
                tmemLane = 32 * quarter + lane,
                tmemColumn = reg + thread / 128 * registers;
        Place place;
        switch (type.getLayout()) {
        case FragmentLayout::Rows: // layouts A and D
          place = {tmemLane, tmemColumn};
          break;
        case FragmentLayout::WarpHalves: // layout B
          place = {tmemLane % 64, tmemColumn + tmemLane / 64 * columns / 2};
          break;
        default: // layout F, by the shape 16x32bx2: lanes 16 and up read lanes
                 // 0 to 15, half of the columns further
          tmemColumn += lane / 16 * columns / 2;
          place = {16 * quarter + lane % 16, tmemColumn};
          break;
        }
        expectPlace(layout.getPlace(reg, lane, thread / 32), place.row,
                    place.column);
      }
  }
}

// What the MMA's rows are, D's columns are. Shape 16x256b loads matrices of 16
// lanes and eight columns, whose registers lie as those of wgmma do.
TEST_F(RegisterLayoutTest, SwappedAccumulatorsAreWhatTcgen05Loads) {
  constexpr int64_t kMatrixLanes = 16;
  for (int64_t rows : {8, 16, 48, 112, 120})
    for (int64_t columns : {64, 128}) {
      if (columns == 128 && rows % 16)
        continue;
      auto accumulator =
          TmemType::get(&context, {rows, columns}, Float32Type::get(&context),
                        /*ctaGroup=*/1, /*scaleSlots=*/0, /*swapped=*/true);
      RegisterLayout layout(
          getType(rows, columns, 4, accumulator.getFragmentLayout()));
      SCOPED_TRACE(print(accumulator));
      int64_t perHalf = rows / 2;
      for (int64_t thread = 0; thread < 128; ++thread)
        for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
          int64_t quarter = thread / 32;
          Place matrix = getPlaceOfWgmma(reg % perHalf, thread % 32);
          int64_t lane =
              32 * quarter + kMatrixLanes * (reg / perHalf) + matrix.row;
          // Layouts D and F.
          int64_t row =
              columns == 128 ? lane : kMatrixLanes * quarter + lane % 32;
          expectPlace(layout.getPlace(reg, thread % 32, quarter), matrix.column,
                      row);
        }
    }
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

// What a thread, a warp and a warpgroup hold side by side, counted.
TEST_F(RegisterLayoutTest, RunsAreWhatIsHeldSideBySide) {
  for (FragmentType type : getTypes()) {
    RegisterLayout layout(type);
    SCOPED_TRACE(print(type));
    auto count = [&](Axis axis, int64_t lanes, int64_t warps) {
      // The rows of column 0, or columns of row 0: those of the first part.
      std::set<int64_t> held;
      for (int64_t warp = 0; warp < warps; ++warp)
        for (int64_t lane = 0; lane < lanes; ++lane)
          for (int64_t reg = 0; reg < layout.getExtent(Unit::Register); ++reg) {
            Place place = layout.getPlace(reg, lane, warp);
            held.insert(axis == kRow ? place.row : place.column);
          }
      int64_t run = 0;
      while (held.count(run))
        ++run;
      return run;
    };
    for (Axis axis : {kRow, kColumn}) {
      EXPECT_EQ(layout.getRun(axis, Unit::Register), count(axis, 1, 1));
      EXPECT_EQ(layout.getRun(axis, Unit::Lane), count(axis, 32, 1));
      EXPECT_EQ(layout.getRun(axis, Unit::Warp), count(axis, 32, 4));
    }
  }
}

TEST_F(RegisterLayoutTest, WhatTheLoweringAsks) {
  struct {
    FragmentType type;
    bool isOneRow;
    Axis pairs;
    int64_t f32Access, bf16Access, block, step, scaleStep, rowsPerWarp;
    Unit stager;
  } rows[] = {
      {getType(128, 96, 4, FragmentLayout::Rows), true, kColumn, 4, 8, 96, 2, 2,
       32, Unit::Lane},
      {getType(128, 96, 8, FragmentLayout::Rows), true, kColumn, 4, 8, 48, 48,
       2, 32, Unit::Lane},
      {getType(64, 96, 4, FragmentLayout::LaneHalves), true, kColumn, 4, 8, 48,
       96, 2, 16, Unit::Lane},
      {getType(64, 96, 4, FragmentLayout::WarpHalves), true, kColumn, 4, 8, 48,
       48, 2, 32, Unit::Lane},
      {getType(256, 96, 8, FragmentLayout::Warpgroups), false, kColumn, 2, 2,
       96, 8, 8, 16, Unit::Warp},
      {getType(64, 8, 4, FragmentLayout::Warpgroups), false, kColumn, 2, 2, 8,
       8, 8, 16, Unit::Warp},
      {getType(24, 128, 4, FragmentLayout::WarpgroupColumns), false, kRow, 1, 1,
       16, 16, 64, 24, Unit::Lane},
  };
  for (const auto &row : rows) {
    RegisterLayout layout(row.type);
    SCOPED_TRACE(print(row.type));
    EXPECT_EQ(layout.isOneRow(), row.isOneRow);
    EXPECT_EQ(layout.getPairAxis(), row.pairs);
    EXPECT_EQ(layout.getAccessColumns(/*elementBytes=*/4), row.f32Access);
    EXPECT_EQ(layout.getAccessColumns(/*elementBytes=*/2), row.bf16Access);
    EXPECT_EQ(layout.getColumnBlock(), row.block);
    EXPECT_EQ(layout.getColumnStep(), row.step);
    EXPECT_EQ(layout.getScaleStep(), row.scaleStep);
    EXPECT_EQ(layout.getRun(kRow, Unit::Lane), row.rowsPerWarp);
    EXPECT_EQ(layout.getStager(), row.stager);
  }
}

// The threads that hold one column of a block hold all of its columns.
TEST_F(RegisterLayoutTest, BlocksOfColumnsHaveTheirThreads) {
  for (FragmentType type : getTypes()) {
    RegisterLayout layout(type);
    SCOPED_TRACE(print(type));
    int64_t block = layout.getColumnBlock();
    // By block and holder: a thread, or where none holds a row a warp.
    std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> columns;
    int64_t size = layout.isOneRow() ? 1 : 32;
    for (int64_t thread = 0; thread < 32 * type.getWarps(); ++thread)
      for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
        Place place = layout.getPlace(reg, thread % 32, thread / 32);
        columns[{place.column / block, thread / size}].insert(place.column);
      }
    for (auto &[holder, held] : columns)
      EXPECT_EQ(int64_t(held.size()), block)
          << "block " << holder.first << " of holder " << holder.second;
  }
}
