// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile family: TMA load, element load and MMA.

#include "BoxBytes.h"
#include "OpRules.h"
#include "fp8/IR/GemmOperands.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;

/// (M6) TMA takes signed numbers of 32 bits. A box that ends in front of the
/// tensor has nothing of it; where a tensor ends, its map says. A GPU ends the
/// kernel with an illegal instruction where a box that is stored begins in
/// front of the tensor, or where one begins within 16 bytes of a row.
static LogicalResult verifyPlace(Operation *op, ValueRange coordinates,
                                 TensorMapType map, BoxUse use) {
  constexpr int64_t kUnitBits = 128;
  TileType tile = map.getTile();
  for (auto [axis, coordinate] : llvm::enumerate(coordinates)) {
    APInt constant;
    if (!matchPattern(coordinate, m_ConstantInt(&constant)))
      continue;
    int64_t number = constant.getSExtValue(),
            fromLast = map.getRank() - 1 - axis,
            extent = fromLast == 0   ? tile.getColumns()
                     : fromLast == 1 ? tile.getRows()
                                     : 1,
            least = use == BoxUse::Store ? 0 : 1 - extent,
            unit = kUnitBits / tile.getElementType().getIntOrFloatBitWidth();
    if (number < least || number >= gemm::kExtentLimit)
      return op->emitOpError()
             << "coordinate " << axis << " must be at least " << least
             << " and below 2^31 (M6), but is " << number;
    if (fromLast == 0 && use != BoxUse::Prefetch && number % unit)
      return op->emitOpError()
             << "coordinate " << axis << " must be a multiple of the " << unit
             << " elements in 16 bytes (M6), but is " << number;
  }
  return success();
}

LogicalResult mlir::fp8::verifyCoordinates(Operation *op,
                                           ValueRange coordinates,
                                           TensorMapType map, BoxUse use) {
  int64_t rank = map.getRank();
  if (static_cast<int64_t>(coordinates.size()) == rank)
    return verifyPlace(op, coordinates, map, use);
  InFlightDiagnostic error = op->emitOpError() << "expected ";
  if (rank == 2)
    error << "two coordinates, row and column";
  else
    error << rank << " coordinates, as the map's rank says, the last ones row "
          << "and column";
  return error << ", but got " << coordinates.size();
}

TileType TmaLoadOp::getTile() {
  auto ring = dyn_cast<PipelineType>(getStage().getType().getRing());
  return ring ? ring.getTile(getName()) : TileType();
}

/// The CTAs that share the rows of a tile which is multicast along `axis` into
/// a ring of `ctaGroup` CTAs. Of a pair, each CTA has rows of its own.
static int64_t getNumSharers(ClusterShape cluster, ClusterAxis axis,
                             int64_t ctaGroup) {
  return axis == ClusterAxis::N ? cluster.n : cluster.m / ctaGroup;
}

LogicalResult TmaPrefetchOp::verify() {
  return verifyCoordinates(*this, getCoordinates(), getMap().getType(),
                           BoxUse::Prefetch);
}

BlockArgument TmaLoadOp::getLaunchBytes() { return getBoxBytes(getMap()); }

LogicalResult TmaLoadOp::verify() {
  if (failed(verifyCoordinates(*this, getCoordinates(), getMap().getType())))
    return failure();
  TileType tile = getTile(), box = getMap().getType().getTile();
  if (!tile)
    return emitOpError() << "the stage of " << getStage().getType().getRing()
                         << " has no tile '" << getName() << "'";
  auto ring = cast<PipelineType>(getStage().getType().getRing());
  if (getLaunchBytes() && (getMulticast() || ring.getCtaGroup() > 1))
    return emitOpError() << "copies a box whose bytes are an argument of the "
                            "kernel, which CTAs cannot share (M7); "
                         << (getMulticast() ? "remove multicast"
                                            : "load into a ring of one CTA")
                         << ", or remove '" << kBoxBytesAttrName << "'";
  // Such a box has no more rows than the tensor, wherever it begins.
  APInt row;
  if (getLaunchBytes() &&
      matchPattern(getCoordinates()[getCoordinates().size() - 2],
                   m_ConstantInt(&row)) &&
      row.isNegative())
    return emitOpError() << "copies a box that fits the rows of the tensor, "
                            "and so must not begin in front of them (M7), but "
                            "begins at row "
                         << row.getSExtValue() << "; remove '"
                         << kBoxBytesAttrName << "'";
  if (!getMulticast()) {
    if (tile != box)
      return emitOpError() << "the map's box " << box
                           << " must be the stage's tile " << tile << " (M1)";
    return success();
  }
  int64_t sharers = getNumSharers(getClusterShape(*this), *getMulticast(),
                                  ring.getCtaGroup());
  int64_t rows = tile.getRows() / std::max<int64_t>(sharers, 1);
  if (sharers < 1 || tile.getRows() % sharers || (sharers > 1 && rows % 8))
    return emitOpError() << "each of the " << sharers << " CTAs along "
                         << stringifyClusterAxis(*getMulticast())
                         << " copies a share of the tile's " << tile.getRows()
                         << " rows, which must be a multiple of 8 rows (M2)";
  TileType share = TileType::get(getContext(), {rows, tile.getColumns()},
                                 tile.getElementType(), tile.getSwizzle());
  if (share != box)
    return emitOpError() << "the map's box " << box << " must be " << share
                         << ", the share that each of " << sharers
                         << " CTAs copies of the stage's tile " << tile
                         << " (M1)";
  return success();
}

TileType LoadElementOp::getTile() {
  auto ring = dyn_cast<PipelineType>(getStage().getType().getRing());
  return ring ? ring.getTile(getName()) : TileType();
}

LogicalResult mlir::fp8::verifyElementSource(Operation *op, MemRefType source,
                                             ValueRange indices) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (source.getRank() < 1 || source.getMemorySpace() ||
      failed(source.getStridesAndOffset(strides, offset)))
    return op->emitOpError() << "the source must be a strided memref without a "
                                "memory space, of one dimension at least (M5), "
                                "but got "
                             << source;
  if (int64_t(indices.size()) != source.getRank())
    return op->emitOpError() << "names an element of " << source << " with "
                             << indices.size() << " indices";
  Type element = source.getElementType();
  if (element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 32)
    return success();
  return op->emitOpError() << "copies an element that must have 4 bytes, the "
                              "fewest that cp.async copies (M3), but got "
                           << element;
}

LogicalResult LoadElementOp::verify() {
  MemRefType source = getSource().getType();
  if (failed(verifyElementSource(*this, source, getIndices())))
    return failure();
  TileType tile = getTile();
  if (!tile)
    return emitOpError() << "the stage of " << getStage().getType().getRing()
                         << " has no tile '" << getName() << "'";
  Type element = source.getElementType();
  if (tile.getRows() != 1 || tile.getSwizzle() != Swizzle::None ||
      tile.getElementType() != element)
    return emitOpError() << "the tile must be one unswizzled row of " << element
                         << " elements (M3), but got " << tile;
  if (int64_t(getColumn()) >= tile.getColumns())
    return emitOpError() << "column " << getColumn()
                         << " lies outside the tile's " << tile.getColumns()
                         << " columns (M4)";
  return success();
}

/// True for the operands of kind f8f6f4 that are 8 bits wide.
static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

static LogicalResult verifyOperandTile(Operation *op, TileType tile) {
  Type element = tile.getElementType();
  if ((!isFloat8(element) && !element.isBF16() && !element.isF16()) ||
      tile.getSwizzle() != Swizzle::B128)
    return op->emitOpError() << "operand tiles must be of f8E4M3FN, f8E5M2, "
                                "bf16 or f16, and swizzle_128b (A1), but got "
                             << tile;
  if (tile.getRowBytes() != 128)
    return op->emitOpError()
           << "a row of an operand tile must be 128 bytes, the "
              "span of its swizzle (A3), but got "
           << tile.getRowBytes();
  if (tile.getRows() % 8)
    return op->emitOpError() << "operand tiles must have a multiple of 8 rows, "
                                "those of a swizzle atom, but got "
                             << tile.getRows();
  return success();
}

LogicalResult mlir::fp8::verifyOperandTiles(Operation *op, TileType a,
                                            TileType b) {
  if (failed(verifyOperandTile(op, a)) || failed(verifyOperandTile(op, b)))
    return failure();
  if (a.getElementType() != b.getElementType() &&
      !(isFloat8(a.getElementType()) && isFloat8(b.getElementType())))
    return op->emitOpError() << "operands wider than 8 bits must be of one "
                                "type (A1), but got "
                             << a << " and " << b;
  return success();
}

SmallVector<Value> MmaOp::getTilesRead() {
  SmallVector<Value> tiles{getA(), getB()};
  llvm::append_range(tiles, getScales());
  return tiles;
}

/// The stage that lends the tile; null if another op does. The op may be one
/// that is not verified yet.
static Value getLendingStage(Value tile) {
  auto lender = tile.getDefiningOp<TileOp>();
  if (!lender || lender->getNumOperands() != 1 ||
      !isa<StageTypeInterface>(lender->getOperand(0).getType()))
    return {};
  return lender->getOperand(0);
}

Value MmaOp::getScaleStage() {
  return getScales().empty() ? Value() : getLendingStage(getScales().front());
}

/// (A6) Scales belong to operands of 8 bits.
static LogicalResult verifyScaledOperands(MmaOp op) {
  for (TileType tile : {op.getA().getType(), op.getB().getType()})
    if (!isFloat8(tile.getElementType()))
      return op.emitOpError() << "scales operands of f8E4M3FN and f8E5M2 only "
                                 "(A6), but got "
                              << tile;
  TmemType accumulator = op.getAccumulator().getType();
  int64_t needed = accumulator.getNumScaleTiles(), got = op.getScales().size();
  bool swapped = accumulator.getSwapped();
  if (got != needed)
    return op.emitOpError()
           << "needs " << needed << " tiles of scales, one for "
           << (swapped ? "B" : "A") << " and " << needed - 1 << " for the "
           << accumulator.getMmaShape().second << " rows of "
           << (swapped ? "A" : "B") << " (A6), but got " << got;
  return success();
}

/// (A6) The columns of the scales belong to the slots of one ring.
static LogicalResult verifyScaleSlots(MmaOp op) {
  TmemType accumulator = op.getAccumulator().getType();
  Value stage = op.getScaleStage();
  for (Value tile : op.getScales().drop_front()) {
    Value other = getLendingStage(tile);
    if (stage && other && other != stage)
      return op.emitOpError() << "takes tiles of scales of two stages (A6); "
                                 "put them into one slot";
  }
  auto ring = stage ? dyn_cast<PipelineType>(
                          cast<StageTypeInterface>(stage.getType()).getRing())
                    : PipelineType();
  int64_t needed = ring ? ring.getNumStages() : 1;
  if (accumulator.getScaleSlots() >= needed)
    return success();
  return op.emitOpError() << "takes scales of " << needed
                          << (needed == 1 ? " slot" : " slots")
                          << ", but the accumulator has room for those of "
                          << accumulator.getScaleSlots()
                          << " (A6); write 'scale_slots = " << needed
                          << "' in its type";
}

/// (A6) B's rows, swapped A's, lie in the tiles of their scales, as far as
/// constants tell.
static LogicalResult verifyFirstRow(MmaOp op) {
  APInt row;
  if (!op.getBRow() || !matchPattern(op.getBRow(), m_ConstantInt(&row)))
    return success();
  constexpr int64_t kStep = 32; // rows whose scales are in a column
  TmemType accumulator = op.getAccumulator().getType();
  StringRef name = accumulator.getSwapped() ? "A" : "B";
  int64_t rows = accumulator.getMmaShape().second,
          most = TileType::kScaledRows - std::gcd(rows, TileType::kScaledRows),
          first = row.getSExtValue();
  if (first >= 0 && first <= most && first % kStep == 0)
    return success();
  return op.emitOpError() << "names row " << first << " of the first tile of "
                          << name << "'s scales, but " << rows << " rows of "
                          << name << " begin at a multiple of " << kStep
                          << " up to " << most << " (A6)";
}

LogicalResult MmaOp::verify() {
  TileType a = getA().getType(), b = getB().getType();
  if (failed(verifyOperandTiles(*this, a, b)))
    return failure();
  TmemType accumulator = getAccumulator().getType();
  int64_t group = accumulator.getCtaGroup();
  ArrayRef<int64_t> shape = accumulator.getShape();
  if (shape[0] != group * a.getRows() || shape[1] != group * b.getRows())
    return emitOpError() << "the product of " << a.getRows()
                         << " rows of A and " << b.getRows() << " rows of B"
                         << (group == 2 ? " in each CTA of a pair" : "")
                         << " is " << group * a.getRows() << 'x'
                         << group * b.getRows()
                         << " (A2), but the accumulator is " << shape[0] << 'x'
                         << shape[1];
  bool isScaled = !getScales().empty(), hasRings = getScaleStage() != nullptr;
  if (getBRow() && !isScaled)
    return emitOpError() << "names a row of B's scales, but has no scales "
                            "(A6); leave it out";
  if (getSlot() && (!isScaled || hasRings))
    return emitOpError() << "names a slot, which "
                         << (isScaled ? "is derived" : "only scales have")
                         << " (A6); leave it out";
  if (!isScaled)
    return success();
  return failure(failed(verifyScaledOperands(*this)) ||
                 failed(verifyScaleSlots(*this)) ||
                 failed(verifyFirstRow(*this)));
}
