// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types of rings: pipelines, output pipelines, work queues; and of store
// queues.

#include "TypeParsing.h"
#include "fp8/IR/Fp8.h"
#include "fp8/IR/RegisterLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fp8;

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
  return parser.getChecked<PipelineType>(
      parser.getContext(), stages, ArrayRef(names), ArrayRef(tiles), ctaGroup);
}

void PipelineType::print(AsmPrinter &printer) const {
  printer << '<' << getNumStages();
  for (auto [name, tile] : llvm::zip(getNames(), getTiles())) {
    printer << ", ";
    printer.printKeywordOrString(name);
    printer << ": ";
    printer.printType(tile);
  }
  printCtaGroup(printer, getCtaGroup());
  printer << '>';
}

LogicalResult PipelineType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t numStages,
                                   ArrayRef<StringAttr> names,
                                   ArrayRef<TileType> tiles, int64_t ctaGroup) {
  if (ctaGroup != 1 && ctaGroup != 2)
    return emitError() << "a CTA group has 1 or 2 CTAs, but got " << ctaGroup;
  if (numStages < 1 || numStages > chip::getMostSharedMemory() / 16)
    return emitError()
           << "a pipeline has at least one stage and at most as many as "
              "shared memory has room for barriers, "
           << chip::getMostSharedMemory() / 16 << ", but got " << numStages;
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
  int64_t stages = 0;
  AccumulatorOptions options;
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseInteger(stages) ||
      parser.parseComma() || parseShapedElement(parser, shape, elementType) ||
      parseAccumulatorOptions(parser, options) || parser.parseGreater())
    return {};
  return parser.getChecked<OutputPipelineType>(
      parser.getContext(), stages, ArrayRef(shape), elementType,
      options.ctaGroup, options.scaleSlots, options.swapped);
}

void OutputPipelineType::print(AsmPrinter &printer) const {
  printer << '<' << getNumStages() << ", ";
  printShapedElement(printer, getShape(), getElementType());
  printAccumulatorOptions(printer,
                          {getCtaGroup(), getScaleSlots(), getSwapped()});
  printer << '>';
}

LogicalResult
OutputPipelineType::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t numStages, ArrayRef<int64_t> shape,
                           Type elementType, int64_t ctaGroup,
                           int64_t scaleSlots, bool swapped) {
  if (numStages < 1)
    return emitError() << "an output pipeline has at least one stage, but got "
                       << numStages;
  if (failed(TmemType::verify(emitError, shape, elementType, ctaGroup,
                              scaleSlots, swapped)))
    return failure();
  int64_t columns = TmemType::get(elementType.getContext(), shape, elementType,
                                  ctaGroup, scaleSlots, swapped)
                        .getColumns();
  if (numStages > chip::getMostTensorMemoryColumns() / columns)
    return emitError() << numStages << " stages of " << columns
                       << " columns do not fit the "
                       << chip::getMostTensorMemoryColumns()
                       << " columns of tensor memory (O3); at most "
                       << chip::getMostTensorMemoryColumns() / columns
                       << " stages do";
  return success();
}

TmemType OutputPipelineType::getAccumulator() const {
  return TmemType::get(getContext(), getShape(), getElementType(),
                       getCtaGroup(), getScaleSlots(), getSwapped());
}

int64_t OutputPipelineType::getRingColumns() const {
  return std::max<int64_t>(
      32, llvm::PowerOf2Ceil(getNumStages() * getStageColumns()));
}

LogicalResult
WorkQueueType::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t numStages) {
  if (numStages < 1 || numStages > chip::getMostSharedMemory() / 32)
    return emitError() << "a work queue has at least one stage and at most as "
                          "many as shared memory has room for, "
                       << chip::getMostSharedMemory() / 32 << ", but got "
                       << numStages;
  return success();
}

//===----------------------------------------------------------------------===//
// ExchangeType
//===----------------------------------------------------------------------===//

LogicalResult ExchangeType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t ctas, FragmentType fragment) {
  if (ctas < 2 || ctas > kMaxClusterSize)
    return emitError() << "an exchange needs 2 to " << kMaxClusterSize
                       << " CTAs, but got " << ctas;
  // A thread sends pairs of one row, or column, and the eighth after it.
  if (fragment.getRegisterLayout().isOneRow())
    return emitError() << "an exchange needs a fragment of layout warpgroups, "
                          "warpgroup_columns or quarter_columns (J2), but got "
                       << fragment;
  RegisterLayout::Axis divided = fragment.getRegisterLayout().getPairAxis();
  if (fragment.getShape()[divided] % (8 * ctas))
    return emitError() << "each of the " << ctas
                       << " CTAs of an exchange gets whole eights of "
                       << (divided == RegisterLayout::Row ? "rows" : "columns")
                       << " (J2), but got " << fragment;
  return success();
}

FragmentType ExchangeType::getShare() const {
  return getFragment().withExtent(
      getAxis(), getFragment().getShape()[getAxis()] / getCtas());
}

//===----------------------------------------------------------------------===//
// StoreQueueType
//===----------------------------------------------------------------------===//

Type StoreQueueType::parse(AsmParser &parser) {
  int64_t depth = 0, warps = 0;
  TileType tile;
  bool ofWarps = false;
  if (parser.parseLess() || parser.parseInteger(depth) || parser.parseComma() ||
      parser.parseType(tile) || parser.parseComma() ||
      parser.parseInteger(warps))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("of_warps"))
      return {};
    ofWarps = true;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<StoreQueueType>(parser.getContext(), depth, tile,
                                           warps, ofWarps);
}

void StoreQueueType::print(AsmPrinter &printer) const {
  printer << '<' << getDepth() << ", " << getTile() << ", " << getWarps()
          << (getOfWarps() ? ", of_warps" : "") << '>';
}

LogicalResult
StoreQueueType::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t depth, TileType tile, int64_t warps,
                       bool ofWarps) {
  if (depth < 1 || depth > chip::getMostSharedMemory() / tile.getSizeInBytes())
    return emitError() << "a store queue must hold at least one tile and fit "
                          "in shared memory, but got "
                       << depth;
  if (tile.getRows() >= 128 || tile.getRows() % 8)
    return emitError()
           << "a store queue's tile must have 32 rows (one for each lane), 16, "
              "64 (those of a warpgroup) or, of a swapped product, a multiple "
              "of 8 below 128 (Q1), but got "
           << tile.getRows();
  if (warps < 4 || warps % 4 || warps > kMaxWarps)
    return emitError()
           << "a store queue's warps must be a multiple of 4 up to 32, but got "
           << warps;
  if (ofWarps && tile.getRows() != kWarpgroupRows)
    return emitError() << "a store queue's tile of " << tile.getRows()
                       << " rows is a warp's anyway (Q1); remove of_warps";
  return success();
}
