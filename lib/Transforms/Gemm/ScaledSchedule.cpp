// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule where tensor cores apply the scales.

#include "ScaledSchedule.h"
#include "fp8/Analysis/KernelPlan.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

OutputPipelineType ScaledSchedule::getAccumulatorRing() const {
  return OutputPipelineType::get(getContext(), accumulators, {tileM, tileN},
                                 Float32Type::get(getContext()), ctaGroup,
                                 /*scaleSlots=*/stages, swapsOperands());
}

PipelineType ScaledSchedule::getInputRing() const {
  SmallVector<StringAttr> names;
  SmallVector<TileType> tiles;
  auto add = [&](const Twine &name, TileType tile) {
    names.push_back(StringAttr::get(getContext(), name));
    tiles.push_back(tile);
  };
  add(getTileName(gemm::Operand::A), getATile());
  add(getTileName(gemm::Operand::B), getBTile());
  for (gemm::Operand scales : {gemm::Operand::AScale, gemm::Operand::BScale})
    for (int64_t tile = 0; tile < countScaleTiles(scales); ++tile)
      add(getNameOfScales(scales, tile), TileType::getOfScales(getContext()));
  return PipelineType::get(getContext(), stages, names, tiles, ctaGroup);
}

std::pair<int64_t, int64_t> ScaledSchedule::getRingSpace() const {
  int64_t perStage = 0;
  for (TileType tile : getInputRing().getTiles())
    perStage += KernelPlan::getTileStride(tile);
  return {getFixedSpace(), perStage};
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

LogicalResult ScaledSchedule::checkMma(BlockwiseGemmOp op,
                                       const chip::Chip &chip) const {
  if (failed(TensorMemorySchedule::checkMma(op, chip)))
    return failure();
  // PTX ISA, tcgen05.mma shapes of kind mxf8f6f4: 128 rows for each CTA.
  bool swapped = swapsOperands();
  auto [rows, columns] = getMmaShape();
  StringRef rowsName = swapped ? "tile N" : "tile M",
            columnsName = swapped ? "tile M" : "tile N";
  constexpr StringLiteral kWhere = " where tensor cores apply the scales";
  if (rows != gemm::kMxTileRows * ctaGroup)
    return emitNoKernel(op, chip)
           << rowsName << " must be " << gemm::kMxTileRows * ctaGroup
           << (swapped ? " with a tile M below 128" : " with cta_group = ")
           << (swapped ? "" : std::to_string(ctaGroup)) << kWhere
           << ", but got " << rows;
  constexpr int64_t kStep = 32; // columns of scales begin with such a row
  if (columns % kStep)
    return emitNoKernel(op, chip) << columnsName << " must be a multiple of "
                                  << kStep << kWhere << ", but got " << columns;
  return success();
}

LogicalResult ScaledSchedule::checkEdge(BlockwiseGemmOp op) const {
  if (edge != Edge::First)
    return GemmSchedule::checkEdge(op);
  return op->emitOpError()
         << "with edge = first would begin a tile within a tile of scales; set "
            "edge = last";
}

LogicalResult ScaledSchedule::chooseColumns(BlockwiseGemmOp op,
                                            const chip::Chip &chip) {
  // A second accumulator lets a tile begin before the one in front is read. Few
  // slots cost more than that gains.
  constexpr int64_t kMostAccumulators = 2, kFewestStages = 4;
  const int64_t mostStages = stages;
  auto fits = [&] {
    auto [rows, columns] = getMmaShape();
    return accumulators *
               TmemType::countColumns(rows, columns, ctaGroup, stages) <=
           chip.tensorMemoryColumns;
  };
  for (int64_t count = pinned.accumulators ? pinned.accumulators
                                           : kMostAccumulators;
       count; --count) {
    accumulators = count;
    bool isLast = pinned.accumulators || count == 1;
    int64_t fewest = pinned.stages ? mostStages
                     : isLast      ? 1
                                   : std::min(mostStages, kFewestStages);
    for (stages = mostStages; stages > fewest && !fits(); --stages)
      ;
    if (fits())
      return success();
    if (isLast)
      break;
  }
  InFlightDiagnostic error = op->emitOpError();
  error << accumulators << " accumulators of " << getMmaShape().second
        << " columns";
  if (pinned.stages)
    error << ", with the scales of " << stages << " stages,";
  else
    error << " and of scales";
  return error << " do not fit the " << chip.tensorMemoryColumns
               << " columns of tensor memory; set fewer accumulators"
               << (pinned.stages ? " or stages" : "") << ", or a smaller tile "
               << (swapsOperands() ? 'M' : 'N');
}

LogicalResult ScaledSchedule::fit(BlockwiseGemmOp op, const chip::Chip &chip) {
  if (failed(checkMma(op, chip)) || failed(checkRows(op)) ||
      failed(checkChunks(op)) || failed(chooseStages(op, chip)))
    return failure();
  return chooseColumns(op, chip);
}

void ScaledSchedule::describe(tuning::KernelShape &shape) const {
  TensorMemorySchedule::describe(shape);
  shape.promotes = false;
}
