// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Printing, parsing and verification of the types, and the cycle end -> stage
// -> end.

#include "fp8/IR/Fp8.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fp8;

/// Parses `<ring>`, the parameter of every handle of a ring.
template <typename HandleT>
static Type parseRingHandle(AsmParser &parser) {
  decltype(std::declval<HandleT>().getRing()) ring;
  if (parser.parseLess() || parser.parseType(ring) || parser.parseGreater())
    return {};
  return parser.getChecked<HandleT>(parser.getContext(), ring);
}

#define GET_TYPEDEF_CLASSES
#include "fp8/IR/Fp8Types.cpp.inc"

void Fp8Dialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fp8/IR/Fp8Types.cpp.inc"
      >();
}

bool fp8::isLinear(Type type) { return isa<LinearTypeInterface>(type); }

//===----------------------------------------------------------------------===//
// Parsing helpers
//===----------------------------------------------------------------------===//

/// Parses `2 x 3 x type` into a shape of rank 2 and an element type.
static ParseResult parseShapedElement(AsmParser &parser,
                                      SmallVectorImpl<int64_t> &shape,
                                      Type &elementType) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(
        loc, "expected a shape of two extents, such as 128x128xf32");
  return parser.parseType(elementType);
}

static void printShapedElement(AsmPrinter &printer, ArrayRef<int64_t> shape,
                               Type elementType) {
  printer << shape[0] << 'x' << shape[1] << 'x' << elementType;
}

/// Parses the rest of `= 1` or `= 2` after the keyword `cta_group`.
static ParseResult parseCtaGroupValue(AsmParser &parser, int64_t &ctaGroup) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseEqual() || parser.parseInteger(ctaGroup))
    return failure();
  if (ctaGroup != 1 && ctaGroup != 2)
    return parser.emitError(loc)
           << "a CTA group has 1 or 2 CTAs, but got " << ctaGroup;
  return success();
}

/// Parses `, cta_group = 2` if it is there.
static ParseResult parseOptionalCtaGroup(AsmParser &parser, int64_t &ctaGroup) {
  ctaGroup = 1;
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword("cta_group") ||
                 parseCtaGroupValue(parser, ctaGroup));
}

static void printOptionalCtaGroup(AsmPrinter &printer, int64_t ctaGroup) {
  if (ctaGroup != 1)
    printer << ", cta_group = " << ctaGroup;
}

//===----------------------------------------------------------------------===//
// TileType
//===----------------------------------------------------------------------===//

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  Swizzle swizzle = Swizzle::None;
  if (parser.parseLess() || parseShapedElement(parser, shape, elementType))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return {};
    std::optional<Swizzle> parsed = symbolizeSwizzle(keyword);
    if (!parsed) {
      parser.emitError(loc,
                       "expected swizzle_32b, swizzle_64b or swizzle_128b");
      return {};
    }
    swizzle = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(parser.getContext(), shape, elementType,
                                     swizzle);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedElement(printer, getShape(), getElementType());
  if (getSwizzle() != Swizzle::None)
    printer << ", " << stringifySwizzle(getSwizzle());
  printer << '>';
}

/// The bytes over which a swizzle permutes, 0 for none.
static int64_t getSwizzleSpan(Swizzle swizzle) {
  return swizzle == Swizzle::None
             ? 0
             : int64_t(16) << static_cast<uint32_t>(swizzle);
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               Swizzle swizzle) {
  if (shape.size() != 2)
    return emitError() << "a tile has two extents, but got " << shape.size();
  for (int64_t extent : shape)
    if (extent < 1 || extent > 256)
      return emitError() << "extents of a tile must be in 1..256, TMA's limit "
                            "for a box (T1), but got "
                         << extent;
  if (!elementType.isIntOrFloat() || elementType.getIntOrFloatBitWidth() % 8)
    return emitError() << "a tile's elements must be integers or floats of "
                          "whole bytes, but got "
                       << elementType;
  int64_t rowBytes = shape[1] * elementType.getIntOrFloatBitWidth() / 8;
  if (rowBytes % 16)
    return emitError()
           << "a tile's row must be a multiple of 16 bytes (T2), but got "
           << rowBytes;
  int64_t span = getSwizzleSpan(swizzle);
  if (span && rowBytes > span)
    return emitError() << "a row under " << stringifySwizzle(swizzle)
                       << " has at most " << span << " bytes (T3), but got "
                       << rowBytes;
  return success();
}

//===----------------------------------------------------------------------===//
// TmemType, FragmentType
//===----------------------------------------------------------------------===//

Type TmemType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t ctaGroup;
  if (parser.parseLess() || parseShapedElement(parser, shape, elementType) ||
      parseOptionalCtaGroup(parser, ctaGroup) || parser.parseGreater())
    return {};
  return parser.getChecked<TmemType>(parser.getContext(), shape, elementType,
                                     ctaGroup);
}

void TmemType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedElement(printer, getShape(), getElementType());
  printOptionalCtaGroup(printer, getCtaGroup());
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

LogicalResult TmemType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               int64_t ctaGroup) {
  if (ctaGroup != 1 && ctaGroup != 2)
    return emitError() << "a CTA group has 1 or 2 CTAs, but got " << ctaGroup;
  if (shape.size() != 2 || !elementType.isF32())
    return emitError() << "an accumulator has two extents and f32 elements";
  StringRef owner =
      ctaGroup == 2 ? "an accumulator of a CTA pair" : "an accumulator";
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

FragmentLayout TmemType::getFragmentLayout() const {
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
      parser.parseComma() || parser.parseInteger(warps))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return {};
    std::optional<FragmentLayout> parsed = symbolizeFragmentLayout(keyword);
    if (!parsed) {
      parser.emitError(loc, "expected rows, lane_halves or warp_halves");
      return {};
    }
    layout = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<FragmentType>(parser.getContext(), shape,
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

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type elementType,
                                   int64_t warps, FragmentLayout layout) {
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
  if (shape[1] < 1 || shape[1] > kTmemColumns || shape[1] % step)
    return emitError() << "a fragment of " << rows << " rows and " << warps
                       << " warps must have a multiple of " << step
                       << " columns, but got " << shape[1];
  return success();
}

//===----------------------------------------------------------------------===//
// PipelineType
//===----------------------------------------------------------------------===//

Type PipelineType::parse(AsmParser &parser) {
  int64_t stages = 0, ctaGroup = 1;
  SmallVector<StringAttr> names;
  SmallVector<TileType> tiles;
  if (parser.parseLess() || parser.parseInteger(stages))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return {};
    if (name == "cta_group") {
      if (parseCtaGroupValue(parser, ctaGroup))
        return {};
      break;
    }
    if (parser.parseColon() || parser.parseType(tiles.emplace_back()))
      return {};
    names.push_back(StringAttr::get(parser.getContext(), name));
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PipelineType>(parser.getContext(), stages, names,
                                         tiles, ctaGroup);
}

void PipelineType::print(AsmPrinter &printer) const {
  printer << '<' << getNumStages();
  for (auto [name, tile] : llvm::zip(getNames(), getTiles())) {
    printer << ", ";
    printer.printKeywordOrString(name);
    printer << ": ";
    printer.printType(tile);
  }
  printOptionalCtaGroup(printer, getCtaGroup());
  printer << '>';
}

LogicalResult PipelineType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t numStages,
                                   ArrayRef<StringAttr> names,
                                   ArrayRef<TileType> tiles, int64_t ctaGroup) {
  if (ctaGroup != 1 && ctaGroup != 2)
    return emitError() << "a CTA group has 1 or 2 CTAs, but got " << ctaGroup;
  if (numStages < 1 || numStages > kMaxSharedMemoryBytes / 16)
    return emitError()
           << "a pipeline has at least one stage and at most as many as "
              "shared memory has room for barriers, "
           << kMaxSharedMemoryBytes / 16 << ", but got " << numStages;
  if (names.size() != tiles.size())
    return emitError() << "a pipeline names each of its tiles, but got "
                       << names.size() << " names for " << tiles.size()
                       << " tiles";
  llvm::SmallDenseSet<StringAttr> seen;
  for (StringAttr name : names) {
    if (name.getValue() == "cta_group")
      return emitError() << "a pipeline's tile cannot be named 'cta_group', "
                            "which is a parameter of the type";
    if (!seen.insert(name).second)
      return emitError() << "a pipeline's tiles have different names, but got '"
                         << name.getValue() << "' twice";
  }
  return success();
}

TileType PipelineType::getTile(StringRef name) const {
  for (auto [candidate, tile] : llvm::zip(getNames(), getTiles()))
    if (candidate.getValue() == name)
      return tile;
  return {};
}

//===----------------------------------------------------------------------===//
// OutputPipelineType
//===----------------------------------------------------------------------===//

Type OutputPipelineType::parse(AsmParser &parser) {
  int64_t stages = 0, ctaGroup;
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseInteger(stages) ||
      parser.parseComma() || parseShapedElement(parser, shape, elementType) ||
      parseOptionalCtaGroup(parser, ctaGroup) || parser.parseGreater())
    return {};
  return parser.getChecked<OutputPipelineType>(parser.getContext(), stages,
                                               shape, elementType, ctaGroup);
}

void OutputPipelineType::print(AsmPrinter &printer) const {
  printer << '<' << getNumStages() << ", ";
  printShapedElement(printer, getShape(), getElementType());
  printOptionalCtaGroup(printer, getCtaGroup());
  printer << '>';
}

LogicalResult
OutputPipelineType::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t numStages, ArrayRef<int64_t> shape,
                           Type elementType, int64_t ctaGroup) {
  if (numStages < 1)
    return emitError() << "an output pipeline has at least one stage, but got "
                       << numStages;
  if (failed(TmemType::verify(emitError, shape, elementType, ctaGroup)))
    return failure();
  int64_t columns = ctaGroup == 2 && shape[0] == 128 ? shape[1] / 2 : shape[1];
  if (numStages > kTmemColumns / columns)
    return emitError() << numStages << " stages of " << columns
                       << " columns do not fit the " << kTmemColumns
                       << " columns of tensor memory (O3); at most "
                       << kTmemColumns / columns << " stages do";
  return success();
}

TmemType OutputPipelineType::getAccumulator() const {
  return TmemType::get(getContext(), getShape(), getElementType(),
                       getCtaGroup());
}

int64_t OutputPipelineType::getAllocatedColumns() const {
  return std::max<int64_t>(
      32, llvm::PowerOf2Ceil(getNumStages() * getStageColumns()));
}

LogicalResult
WorkQueueType::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t numStages) {
  if (numStages < 1 || numStages > kMaxSharedMemoryBytes / 32)
    return emitError() << "a work queue has at least one stage and at most as "
                          "many as shared memory has room for, "
                       << kMaxSharedMemoryBytes / 32 << ", but got "
                       << numStages;
  return success();
}

//===----------------------------------------------------------------------===//
// Ends and stages
//===----------------------------------------------------------------------===//

static LogicalResult verifyRing(function_ref<InFlightDiagnostic()> emitError,
                                Type ring) {
  if (!isa<RingTypeInterface>(ring))
    return emitError() << "expected a ring, such as !fp8.pipeline or "
                          "!fp8.output_pipeline, but got "
                       << ring;
  return success();
}

LogicalResult ProducerType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Type ring) {
  return verifyRing(emitError, ring);
}
LogicalResult ConsumerType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Type ring) {
  return verifyRing(emitError, ring);
}

LogicalResult
ProducerStageType::verify(function_ref<InFlightDiagnostic()> emitError,
                          Type ring) {
  return verifyRing(emitError, ring);
}
LogicalResult
ConsumerStageType::verify(function_ref<InFlightDiagnostic()> emitError,
                          Type ring) {
  return verifyRing(emitError, ring);
}

Type ProducerType::getStageType() const {
  return ProducerStageType::get(getContext(), getRing());
}
Type ConsumerType::getStageType() const {
  return ConsumerStageType::get(getContext(), getRing());
}
Type MmaWarpType::getStageType() const {
  return MmaStageType::get(getContext(), getRing());
}
Type EpilogueWarpType::getStageType() const {
  return EpilogueStageType::get(getContext(), getRing());
}

Type ProducerStageType::getEndType() const {
  return ProducerType::get(getContext(), getRing());
}
Type ConsumerStageType::getEndType() const {
  return ConsumerType::get(getContext(), getRing());
}
Type MmaStageType::getEndType() const {
  return MmaWarpType::get(getContext(), getRing());
}
Type EpilogueStageType::getEndType() const {
  return EpilogueWarpType::get(getContext(), getRing());
}

LogicalResult
StoreQueueType::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t depth, TileType tile, int64_t warps) {
  if (depth < 1 || depth > kMaxSharedMemoryBytes / tile.getSizeInBytes())
    return emitError()
           << "a store queue holds at least one tile a warp and at most "
              "what shared memory does, but got "
           << depth;
  if (tile.getRows() != 32 && tile.getRows() != 16)
    return emitError()
           << "a store queue's tile has 32 rows, one for each lane, "
              "or 16 (Q1), but got "
           << tile.getRows();
  if (warps < 4 || warps % 4 || warps > kMaxWarps)
    return emitError()
           << "a store queue's warps must be a multiple of 4 up to 32, but got "
           << warps;
  return success();
}
