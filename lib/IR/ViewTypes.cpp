// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types of views: tiles, tensor maps, accumulators, fragments, and the
// products that become fragments.

#include "TypeParsing.h"
#include "fp8/IR/GemmOperands.h"

#include "fp8/IR/RegisterLayout.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// TileType
//===----------------------------------------------------------------------===//

/// The rows of D up to which operands are swapped. With 128 or more none need
/// be.
static constexpr int64_t kMostSwappedRows = 120;

/// The keyword of a swizzle: "none", "swizzle_128b".
static std::string getKeyword(Swizzle swizzle) {
  std::string text = StringRef(::fp8::tensor::spelling(swizzle)).lower();
  return swizzle == Swizzle::None ? text : "swizzle_" + text;
}

static std::optional<Swizzle> parseSwizzle(StringRef keyword) {
  for (Swizzle swizzle : ::fp8::tensor::kSwizzles)
    if (getKeyword(swizzle) == keyword)
      return swizzle;
  return std::nullopt;
}

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  Swizzle swizzle = Swizzle::None;
  if (parser.parseLess() || parseShapedElement(parser, shape, elementType) ||
      parseOptionalKeyword(parser, "swizzle_32b, swizzle_64b or swizzle_128b",
                           swizzle, parseSwizzle) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(parser.getContext(), ArrayRef(shape),
                                     elementType, swizzle);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedElement(printer, getShape(), getElementType());
  if (getSwizzle() != Swizzle::None)
    printer << ", " << getKeyword(getSwizzle());
  printer << '>';
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               Swizzle swizzle) {
  using namespace ::fp8::tensor;
  if (shape.size() != 2)
    return emitError() << "a tile has two extents, but got " << shape.size();
  for (int64_t extent : shape)
    if (extent < 1 || extent > kMaxBoxExtent)
      return emitError() << "extents of a tile must be in 1.." << kMaxBoxExtent
                         << ", TMA's limit for a box (T1), but got " << extent;
  if (!mlir::fp8::getElementType(elementType))
    return emitError() << "a tile's elements must be "
                       << kElementTypes.str("or")
                       << ", which a tensor map can describe (T4), but got "
                       << elementType;
  int64_t rowBytes = shape[1] * elementType.getIntOrFloatBitWidth() / 8;
  if (rowBytes % kGranuleBytes)
    return emitError() << "a tile's row must be a multiple of " << kGranuleBytes
                       << " bytes (T2), but got " << rowBytes;
  int64_t span = spanBytes(swizzle);
  // The pattern takes its bits from the row: rows must not cross those.
  if (span && span % rowBytes)
    return emitError() << "a row under " << getKeyword(swizzle)
                       << " divides its " << span << " bytes (T3), but got "
                       << rowBytes;
  return success();
}

TileType TileType::getOfScales(MLIRContext *context) {
  return get(context, {32, 16}, Float8E8M0FNUType::get(context), Swizzle::None);
}

//===----------------------------------------------------------------------===//
// TmemType, FragmentType
//===----------------------------------------------------------------------===//

Type TmemType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  AccumulatorOptions options;
  if (parser.parseLess() || parseShapedElement(parser, shape, elementType) ||
      parseAccumulatorOptions(parser, options) || parser.parseGreater())
    return {};
  return parser.getChecked<TmemType>(parser.getContext(), ArrayRef(shape),
                                     elementType, options.ctaGroup,
                                     options.scaleSlots, options.swapped);
}

void TmemType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedElement(printer, getShape(), getElementType());
  printAccumulatorOptions(printer,
                          {getCtaGroup(), getScaleSlots(), getSwapped()});
  printer << '>';
}

LogicalResult
TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError, TileType,
                      int64_t rank) {
  if (rank < 2 || rank > 5)
    return emitError() << "the tensor of a tensor map has 2 to 5 dimensions "
                          "(PTX ISA, tensors), but got "
                       << rank;
  return success();
}

std::pair<int64_t, int64_t> TmemType::getMmaShape() const {
  if (getSwapped())
    return {getShape()[1], getShape()[0]};
  return {getShape()[0], getShape()[1]};
}

int64_t TmemType::countScaleTiles(int64_t columns) {
  int64_t last =
      TileType::kScaledRows - std::gcd(columns, TileType::kScaledRows);
  return llvm::divideCeil(last + columns, TileType::kScaledRows);
}

int64_t TmemType::countColumns(int64_t rows, int64_t columns, int64_t ctaGroup,
                               int64_t scaleSlots) {
  bool halves = rows / ctaGroup != kTmemLanes && ctaGroup == 2;
  int64_t sums = halves ? columns / 2 : columns,
          scales = kScaleColumns * (1 + countScaleTiles(columns));
  return llvm::alignTo(sums + scaleSlots * scales, 16);
}

/// (O5) Columns of D are the rows of the MMA.
static LogicalResult verifySwapped(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, int64_t ctaGroup) {
  if (ctaGroup != 1)
    return emitError() << "a swapped accumulator belongs to one CTA (O5), but "
                          "got cta_group = "
                       << ctaGroup;
  if (shape[1] != 64 && shape[1] != kTmemLanes)
    return emitError() << "a swapped accumulator has 64 or 128 columns, the "
                          "rows of the MMA (O5), but got "
                       << shape[1];
  int64_t step = shape[1] == kTmemLanes ? 16 : 8;
  if (shape[0] < step || shape[0] > kMostSwappedRows || shape[0] % step)
    return emitError() << "a swapped accumulator of " << shape[1]
                       << " columns has a multiple of " << step
                       << " rows up to "
                       << llvm::alignDown(kMostSwappedRows, step)
                       << " (O5), but got " << shape[0];
  return success();
}

/// (O1, O2) Rows of D are the rows of the MMA.
static LogicalResult verifyRows(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> shape, int64_t ctaGroup,
                                StringRef owner) {
  int64_t rowsPerCta = shape[0] / ctaGroup;
  if ((rowsPerCta != 64 && rowsPerCta != 128) || shape[0] % ctaGroup)
    return emitError() << owner << " has " << 64 * ctaGroup << " or "
                       << 128 * ctaGroup << " rows (O1), but got " << shape[0];
  int64_t step = rowsPerCta == 128 || ctaGroup == 2 ? 16 : 8;
  if (shape[1] < step || shape[1] > 256 || shape[1] % step)
    return emitError() << owner << " of " << shape[0]
                       << " rows has a multiple of " << step
                       << " columns up to 256 (O2), but got " << shape[1];
  return success();
}

LogicalResult TmemType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               int64_t ctaGroup, int64_t scaleSlots,
                               bool swapped) {
  if (ctaGroup != 1 && ctaGroup != 2)
    return emitError() << "a CTA group has 1 or 2 CTAs, but got " << ctaGroup;
  if (shape.size() != 2 || !elementType.isF32())
    return emitError() << "an accumulator has two extents and f32 elements";
  StringRef owner = swapped         ? "a swapped accumulator"
                    : ctaGroup == 2 ? "an accumulator of a CTA pair"
                                    : "an accumulator";
  if (failed(swapped ? verifySwapped(emitError, shape, ctaGroup)
                     : verifyRows(emitError, shape, ctaGroup, owner)))
    return failure();
  auto [rows, columns] =
      swapped ? std::pair(shape[1], shape[0]) : std::pair(shape[0], shape[1]);
  StringRef rowsName = swapped ? "columns" : "rows",
            columnsName = swapped ? "rows" : "columns";
  if (scaleSlots && rows / ctaGroup != kTmemLanes)
    return emitError() << owner << " with scale_slots has "
                       << kTmemLanes * ctaGroup << ' ' << rowsName
                       << " (O4), but got " << rows;
  if (scaleSlots && columns % 32)
    return emitError() << owner << " with scale_slots has a multiple of 32 "
                       << columnsName << " (O4), but got " << columns;
  int64_t most = chip::getMostTensorMemoryColumns();
  if (scaleSlots < 0 || scaleSlots > most)
    return emitError() << "the number of scale_slots is 1 to " << most
                       << ", or left out if operands have no scales, but got "
                       << scaleSlots;
  int64_t all = countColumns(rows, columns, ctaGroup, scaleSlots);
  if (all > most)
    return emitError() << owner << " of " << columns << ' ' << columnsName
                       << " with " << scaleSlots << " scale_slots takes " << all
                       << " of the " << most
                       << " columns of tensor memory (O3)";
  return success();
}

int64_t TmemType::getNumScaleTiles() const {
  return 1 + countScaleTiles(getMmaShape().second);
}

int64_t TmemType::getColumns() const {
  auto [rows, columns] = getMmaShape();
  return countColumns(rows, columns, getCtaGroup(), getScaleSlots());
}

FragmentLayout TmemType::getFragmentLayout() const {
  if (getSwapped())
    return getShape()[1] == kTmemLanes ? FragmentLayout::QuarterColumns
                                       : FragmentLayout::WarpgroupColumns;
  if (getRowsPerCta() == kTmemLanes)
    return FragmentLayout::Rows;
  return getCtaGroup() == 2 ? FragmentLayout::WarpHalves
                            : FragmentLayout::LaneHalves;
}

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t warps = 0;
  FragmentLayout layout = FragmentLayout::Rows;
  if (parser.parseLess() || parseShapedElement(parser, shape, elementType) ||
      parser.parseComma() || parser.parseInteger(warps) ||
      parseOptionalKeyword(
          parser,
          "rows, lane_halves, warp_halves, warpgroups, warpgroup_columns or "
          "quarter_columns",
          layout) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<FragmentType>(parser.getContext(), ArrayRef(shape),
                                         elementType, warps, layout);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedElement(printer, getShape(), getElementType());
  printer << ", " << getWarps();
  if (getLayout() != FragmentLayout::Rows)
    printer << ", " << stringifyFragmentLayout(getLayout());
  printer << '>';
}

RegisterLayout FragmentType::getRegisterLayout() const {
  return RegisterLayout(*this);
}

int64_t FragmentType::getColumnsPerThread() const {
  return getRegisterLayout().getNumRegisters();
}

int64_t FragmentType::getRowsPerWarp() const {
  return getRegisterLayout().getRun(RegisterLayout::Row,
                                    RegisterLayout::Unit::Lane);
}

bool FragmentType::isOfWarpgroups() const {
  return getRegisterLayout().getPartAxis().has_value();
}

bool FragmentType::isSwapped() const {
  return getRegisterLayout().getPairAxis() == RegisterLayout::Row;
}

int64_t FragmentType::getNumParts() const {
  return getRegisterLayout().getExtent(RegisterLayout::Unit::Part);
}

FragmentType FragmentType::withExtent(int64_t axis, int64_t extent) const {
  SmallVector<int64_t> shape(getShape());
  shape[axis] = extent;
  return get(getContext(), shape, getElementType(), getWarps(), getLayout());
}

/// What warpgroups hold: 64 rows each, or several times as many; of a product
/// whose operands were swapped, columns.
static LogicalResult
verifyWarpgroups(function_ref<InFlightDiagnostic()> emitError,
                 ArrayRef<int64_t> shape, Type elementType, int64_t warps,
                 bool swapped) {
  if (warps < 4 || warps % 4 || warps > kMaxWarps)
    return emitError() << "a warpgroup has 4 warps, so that a fragment's warps "
                          "must be a multiple of 4 up to 32, but got "
                       << warps;
  StringRef divided = swapped ? "columns" : "rows",
            whole = swapped ? "rows" : "columns";
  if (shape.size() != 2 || !elementType.isF32() || shape[swapped] < 1 ||
      shape[swapped] % (16 * warps) || shape[swapped] > 256)
    return emitError() << "a fragment of " << warps / 4
                       << " warpgroups holds a multiple of " << 16 * warps
                       << ' ' << divided
                       << " of f32, up to 256 (PTX ISA, wgmma shapes)";
  int64_t extent = shape[!swapped], most = swapped ? kMostSwappedRows : 256;
  if (extent < 8 || extent > most || extent % 8)
    return emitError() << "a fragment of "
                       << (swapped ? "warpgroup_columns" : "warpgroups")
                       << " has a multiple of 8 " << whole << " up to " << most
                       << " (PTX ISA, wgmma shapes), but got " << extent;
  return success();
}

/// What four warps read of a swapped accumulator of 128 columns, or a share of
/// its rows.
static LogicalResult
verifyQuarterColumns(function_ref<InFlightDiagnostic()> emitError,
                     ArrayRef<int64_t> shape, Type elementType, int64_t warps) {
  if (warps != 4)
    return emitError() << "a fragment of layout quarter_columns is held by 4 "
                          "warps, but got "
                       << warps;
  constexpr int64_t kStep = 8;
  if (shape.size() != 2 || !elementType.isF32() || shape[1] != kTmemLanes ||
      shape[0] < kStep || shape[0] > kMostSwappedRows || shape[0] % kStep)
    return emitError() << "a fragment of layout quarter_columns holds "
                       << kTmemLanes << " columns of f32, and a multiple of "
                       << kStep << " rows below " << kTmemLanes;
  return success();
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type elementType,
                                   int64_t warps, FragmentLayout layout) {
  if (layout == FragmentLayout::Warpgroups ||
      layout == FragmentLayout::WarpgroupColumns)
    return verifyWarpgroups(emitError, shape, elementType, warps,
                            layout == FragmentLayout::WarpgroupColumns);
  if (layout == FragmentLayout::QuarterColumns)
    return verifyQuarterColumns(emitError, shape, elementType, warps);
  bool isHalved = layout != FragmentLayout::Rows;
  int64_t rows = isHalved ? kTmemLanes / 2 : kTmemLanes;
  if (shape.size() != 2 || shape[0] != rows || !elementType.isF32())
    return emitError() << "a fragment of layout "
                       << stringifyFragmentLayout(layout) << " holds " << rows
                       << " rows of f32";
  if (warps < 4 || warps % 4 || warps > kMaxWarps)
    return emitError()
           << "a fragment's warps must be a multiple of 4 up to 32, but got "
           << warps;
  if (isHalved && warps != 4)
    return emitError() << "a fragment of 64 rows is held by 4 warps, but got "
                       << warps;
  // A thread's columns, in pairs, fill whole 16-byte chunks of f32.
  int64_t step = (isHalved ? 2 : warps / 4) * 4;
  if (shape[1] < 1 || shape[1] > chip::getMostTensorMemoryColumns() ||
      shape[1] % step)
    return emitError() << "a fragment of " << rows << " rows and " << warps
                       << " warps must have a multiple of " << step
                       << " columns, but got " << shape[1];
  return success();
}

LogicalResult PendingType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  FragmentType fragment) {
  if (!fragment.isOfWarpgroups() || fragment.getNumParts() != 1)
    return emitError() << "a pending product is a fragment of 64 rows, or "
                          "swapped of 64 columns, for each warpgroup, but got "
                       << fragment;
  return success();
}
