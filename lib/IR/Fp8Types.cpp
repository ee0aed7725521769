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
  if (parser.parseLess() || parseShapedElement(parser, shape, elementType) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<TmemType>(parser.getContext(), shape, elementType);
}

void TmemType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedElement(printer, getShape(), getElementType());
  printer << '>';
}

LogicalResult TmemType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType) {
  if (shape.size() != 2 || !elementType.isF32())
    return emitError() << "an accumulator has two extents and f32 elements";
  if (shape[0] != 64 && shape[0] != 128)
    return emitError() << "an accumulator has 64 or 128 rows (O1), but got "
                       << shape[0];
  int64_t step = shape[0] == 128 ? 16 : 8;
  if (shape[1] < step || shape[1] > 256 || shape[1] % step)
    return emitError() << "an accumulator of " << shape[0]
                       << " rows has a multiple of " << step
                       << " columns up to 256 (O2), but got " << shape[1];
  return success();
}

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t warps = 0;
  if (parser.parseLess() || parseShapedElement(parser, shape, elementType) ||
      parser.parseComma() || parser.parseInteger(warps) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<FragmentType>(parser.getContext(), shape,
                                         elementType, warps);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedElement(printer, getShape(), getElementType());
  printer << ", " << getWarps() << '>';
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type elementType,
                                   int64_t warps) {
  if (shape.size() != 2 || shape[0] != kTmemLanes || !elementType.isF32())
    return emitError() << "a fragment holds 128 rows of f32, one for each lane "
                          "of tensor memory";
  if (warps < 4 || warps % 4 || warps > kMaxWarps)
    return emitError()
           << "a fragment's warps must be a multiple of 4 up to 32, but got "
           << warps;
  if (shape[1] < 1 || shape[1] > kTmemColumns || shape[1] % (8 * (warps / 4)))
    return emitError() << "a fragment of " << warps
                       << " warps must have a multiple of " << 8 * (warps / 4)
                       << " columns, but got " << shape[1];
  return success();
}

//===----------------------------------------------------------------------===//
// PipelineType
//===----------------------------------------------------------------------===//

Type PipelineType::parse(AsmParser &parser) {
  int64_t stages = 0;
  SmallVector<StringAttr> names;
  SmallVector<TileType> tiles;
  if (parser.parseLess() || parser.parseInteger(stages))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseColon() ||
        parser.parseType(tiles.emplace_back()))
      return {};
    names.push_back(StringAttr::get(parser.getContext(), name));
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PipelineType>(parser.getContext(), stages, names,
                                         tiles);
}

void PipelineType::print(AsmPrinter &printer) const {
  printer << '<' << getNumStages();
  for (auto [name, tile] : llvm::zip(getNames(), getTiles())) {
    printer << ", ";
    printer.printKeywordOrString(name);
    printer << ": ";
    printer.printType(tile);
  }
  printer << '>';
}

LogicalResult PipelineType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t numStages,
                                   ArrayRef<StringAttr> names,
                                   ArrayRef<TileType> tiles) {
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
  for (StringAttr name : names)
    if (!seen.insert(name).second)
      return emitError() << "a pipeline's tiles have different names, but got '"
                         << name.getValue() << "' twice";
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
  int64_t stages = 0;
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseInteger(stages) ||
      parser.parseComma() || parseShapedElement(parser, shape, elementType) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<OutputPipelineType>(parser.getContext(), stages,
                                               shape, elementType);
}

void OutputPipelineType::print(AsmPrinter &printer) const {
  printer << '<' << getNumStages() << ", ";
  printShapedElement(printer, getShape(), getElementType());
  printer << '>';
}

LogicalResult
OutputPipelineType::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t numStages, ArrayRef<int64_t> shape,
                           Type elementType) {
  if (numStages < 1)
    return emitError() << "an output pipeline has at least one stage, but got "
                       << numStages;
  if (failed(TmemType::verify(emitError, shape, elementType)))
    return failure();
  if (numStages > kTmemColumns / shape[1])
    return emitError() << numStages << " stages of " << shape[1]
                       << " columns do not fit the " << kTmemColumns
                       << " columns of tensor memory (O3); at most "
                       << kTmemColumns / shape[1] << " stages do";
  return success();
}

int64_t OutputPipelineType::getAllocatedColumns() const {
  return std::max<int64_t>(
      32, llvm::PowerOf2Ceil(getNumStages() * getStageColumns()));
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
  if (tile.getRows() != 32)
    return emitError() << "a store queue's tile has 32 rows, one for each lane "
                          "(Q1), but got "
                       << tile.getRows();
  if (warps < 4 || warps % 4 || warps > kMaxWarps)
    return emitError()
           << "a store queue's warps must be a multiple of 4 up to 32, but got "
           << warps;
  return success();
}
