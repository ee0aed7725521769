// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops require of the labels of scales.

#include "Provenance.h"

#include "fp8/IR/RegisterLayout.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using gemm::Operand;

//===----------------------------------------------------------------------===//
// Scales that a promotion applies
//===----------------------------------------------------------------------===//

/// Ranges of columns of a sum that a product is of, each of which has one of so
/// many B scales: the first column and how many there are.
static SmallVector<std::pair<int64_t, int64_t>>
getColumns(FragmentType sums, int64_t part, int64_t scales) {
  int64_t columns = sums.getShape()[1];
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  if (!sums.isSwapped()) {
    for (int64_t first = 0; first < columns; first += columns / scales)
      ranges.push_back({first, columns / scales});
    return ranges;
  }
  // A product has 64 columns of each warpgroup, whose parts follow one another.
  // Fewer may share a scale.
  constexpr int64_t kColumns = 64;
  int64_t parts =
              sums.getRegisterLayout().getExtent(RegisterLayout::Unit::Part),
          width = std::min(kColumns, columns / scales);
  for (int64_t first = part * kColumns; first < columns;
       first += parts * kColumns)
    for (int64_t of = 0; of < kColumns; of += width)
      ranges.push_back({first + of, width});
  return ranges;
}

void Provenance::walkScales(PromoteOp promote, ArrayRef<ExprId> product) {
  Label scale(get(promote.getAScale()));
  ExprId k = scale[box::K];
  if (Value row = promote.getARow())
    k = add(k, this->scale(expressions.get(row), gemm::kScaleBlock));
  requireOperand(scale, Operand::AScale, "the tile of A scales");
  requireEqual(k, product[sum::First],
               "the A scales must be of the K block of the product");
  requireEqual(scale[box::M], product[sum::M],
               "the A scales must be of the rows of the product");
  requireEqual(scale[box::Batch], product[sum::Batch],
               "the A scales must be of the same matrix of a batch");
  auto requireBScale = [&](ArrayRef<ExprId> its) {
    requireOperand(its, Operand::BScale, "the B scale");
    requireEqual(its[box::K], product[sum::First],
                 "the B scales must be of the K block of the product");
    requireEqual(its[box::Batch], product[sum::Batch],
                 "the B scales must be of the same matrix of a batch");
  };
  static constexpr StringLiteral kColumnsRule =
      "the B scales must be of the columns of the product";
  if (Value row = promote.getBRow()) {
    Label its(get(row));
    requireBScale(its);
    requireEqual(its[box::N], product[sum::N], kColumnsRule);
    return;
  }
  auto sums = promote.getFragment().getType();
  int64_t scales = promote.getBScales().size();
  for (auto [first, width] : getColumns(sums, promote.getPart(), scales)) {
    Label its(get(promote.getBScales()[first * scales / sums.getShape()[1]]));
    // Lanes have the same if there is but one to load.
    ExprId isNone = equal(its[element::Row], constant(element::kIsNone)),
           repeatsLast =
               equal(its[element::Row], constant(element::kRepeatsLast)),
           last = this->scale(its[element::Last], gemm::kScaleBlock);
    require(
        table.get(Expr::Or,
                  {isNone, table.get(Expr::And, {repeatsLast,
                                                 atLeast(its[box::K], last)})}),
        "the B scale must be one that all lanes have");
    its[box::K] = table.get(Expr::Select, {isNone, its[box::K], last});
    requireBScale(its);
    ExprId n = offset(product[sum::N], first);
    require(table.get(
                Expr::And,
                {atLeast(n, its[box::N]),
                 atLeast(offset(its[box::N], gemm.scaling.bBlock - width), n)}),
            kColumnsRule);
  }
}

//===----------------------------------------------------------------------===//
// Scales that tensor cores apply
//===----------------------------------------------------------------------===//

void Provenance::walkTilesOfScales(MmaOp mma, unsigned half,
                                   ArrayRef<ExprId> product) {
  auto get = [&](Value tile) {
    Label label(Labels::get(tile));
    return Label(ArrayRef(label).slice(half * box::Size, box::Size));
  };
  auto requireTile = [&](ArrayRef<ExprId> its, Operand operand,
                         const Twine &what) {
    requireOperand(its, operand, "the tile of " + what);
    requireEqual(its[box::K], product[sum::First],
                 what + " must be of the K block of the product");
    requireEqual(its[box::Batch], product[sum::Batch],
                 what + " must be of the same matrix of a batch");
  };
  // One tile has the scales of the MMA's rows. The first of the others has
  // those of its first column in row `from`.
  TmemType accumulator = mma.getAccumulator().getType();
  struct Side {
    Operand scales;
    unsigned place, sum;
    StringRef letter, axis;
  } rows{Operand::AScale, box::M, sum::M, "A", "rows"},
      columns{Operand::BScale, box::N, sum::N, "B", "columns"};
  if (accumulator.getSwapped())
    std::swap(rows, columns);
  auto requirePlace = [&](const Label &its, const Side &side, ExprId first) {
    requireTile(its, side.scales, "the " + side.letter + " scales");
    requireEqual(its[side.place], first,
                 "the " + side.letter + " scales must be of the " + side.axis +
                     " of the product");
  };
  requirePlace(get(mma.getScales().front()), rows, product[rows.sum]);
  ExprId first = product[columns.sum];
  if (Value from = mma.getBRow()) {
    ExprId row = expressions.get(from);
    first = add(first, scale(row, -1));
    int64_t count = accumulator.getMmaShape().second,
            most = gemm::kMxTileRows - std::gcd(count, gemm::kMxTileRows);
    require(table.get(Expr::And, {atLeast(row, constant(0)),
                                  atLeast(constant(most), row)}),
            "the first row of " + columns.letter +
                "'s scales must be in their first tile");
    // A column of tensor memory has the scales of so many rows.
    constexpr int64_t kStep = 32;
    requireEqual(table.get(Expr::Remainder, {row, constant(kStep)}),
                 constant(0),
                 "the first row of " + columns.letter +
                     "'s scales must be a multiple of 32");
  }
  for (auto [number, tile] : llvm::enumerate(mma.getScales().drop_front()))
    requirePlace(get(tile), columns,
                 offset(first, int64_t(number) * gemm::kMxTileRows));
}
