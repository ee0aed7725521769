// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the host side of a GEMM.

#include "LaunchBuilder.h"

using namespace mlir;
using namespace mlir::fp8;

static bool isStatic(Value memref) {
  return cast<MemRefType>(memref.getType()).hasStaticShape();
}

/// What the op's verifier could not see because an extent is dynamic is
/// asserted; the launch manifest carries it on.
void LaunchBuilder::checkOperands() {
  if (!llvm::all_of(op->getOperands(), isStatic))
    checkExtents();
  // B's scales last: TMA copies them only if each column has one.
  for (bool ofBScale : {false, true})
    for (const gemm::OperandInfo &info : operands)
      if (info.byTma && (info.operand == gemm::Operand::BScale) == ofBScale)
        requireRowBytes(info);
  requireBScaleSpan();
  if (schedule.problem.isBatch)
    checkBatch();
}

void LaunchBuilder::checkExtents() {
  Value m = dim(op.getA(), 0), n = dim(op.getB(), 0), k = dim(op.getA(), 1);
  auto evaluate = [&](gemm::Extent extent) -> Value {
    switch (extent.axis) {
    case gemm::Axis::One:
      return constant(1);
    case gemm::Axis::M:
      return ceilDiv(m, extent.block);
    case gemm::Axis::N:
      return ceilDiv(n, extent.block);
    case gemm::Axis::K:
      return ceilDiv(k, extent.block);
    }
    llvm_unreachable("no other axis");
  };
  for (auto [extent, name] :
       {std::pair(m, "M"), std::pair(n, "N"), std::pair(k, "K")})
    requireBelow(extent, gemm::kExtentLimit,
                 Twine(name) + " must be below 2^31, the range of TMA "
                               "coordinates (G4)");
  // M, N and K are the extents of A and B, which agree in the last.
  requireEqual(dim(op.getB(), 1), k, "a and b must agree in K");
  Value rest =
      arith::RemUIOp::create(builder, loc, k, constant(gemm::kStepOfK));
  requireEqual(rest, constant(0),
               "K must be a multiple of " + Twine(gemm::kStepOfK) + " (G4)");
  for (const gemm::OperandInfo &info : operands)
    if (info.operand != gemm::Operand::A && info.operand != gemm::Operand::B &&
        !info.isNumber())
      requireExtents(info, evaluate);
}

void LaunchBuilder::requireExtents(const gemm::OperandInfo &info,
                                   function_ref<Value(gemm::Extent)> evaluate) {
  Value memref = getValue(info);
  int64_t first = cast<MemRefType>(memref.getType()).getRank() - info.getRank();
  auto require = [&](int64_t axis, gemm::Extent extent, const Twine &what) {
    Value actual = memref::DimOp::create(builder, loc, memref, first + axis);
    requireEqual(actual, evaluate(extent),
                 Twine(info.name) + " must have " + what + " (" + info.rule +
                     ")");
  };
  if (info.rows.axis == gemm::Axis::One)
    require(0, info.rows, "one row");
  else
    require(0, info.rows,
            info.rows.str() + (info.tiled ? " rows of tiles" : " rows"));
  require(1, info.columns,
          info.columns.str() + (info.tiled ? " tiles in a row" : " columns"));
}

void LaunchBuilder::checkBatch() {
  if (!llvm::all_of(op->getOperands(), isStatic)) {
    Value batch = getBatch(op.getA());
    requireBelow(batch, gemm::kExtentLimit,
                 "the batch extent must be below 2^31, the range of TMA "
                 "coordinates (G6)");
    for (const gemm::OperandInfo &info : gemm::getOperands())
      if (info.batched && info.operand != gemm::Operand::A && getValue(info))
        requireEqual(getBatch(getValue(info)), batch,
                     Twine("a and ") + info.name +
                         " must agree in the batch extent (G6)");
  }
  requireBelow(
      arith::MulIOp::create(builder, loc, getArgument(GemmExtra::TilesM),
                            getArgument(GemmExtra::TilesN)),
      gemm::kExtentLimit, "the tiles of a batch must be fewer than 2^31 (G6)");
}

void LaunchBuilder::requireBScaleSpan() {
  bool hasGaps = !op.getBScale().getType().getLayout().isIdentity();
  if (schedule.problem.getInfo(gemm::Operand::BScale).byTma ||
      !(hasGaps || schedule.problem.isBatch))
    return;
  auto bScale =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getBScale());
  Value span;
  for (auto [extent, stride] :
       llvm::zip(bScale.getSizes(), bScale.getStrides())) {
    Value steps = arith::SubIOp::create(
        builder, loc, arith::MaxUIOp::create(builder, loc, extent, constant(1)),
        constant(1));
    Value reach = arith::MulIOp::create(builder, loc, steps, stride);
    span = span ? arith::AddIOp::create(builder, loc, span, reach) : reach;
  }
  requireBelow(span, gemm::kExtentLimit,
               "the elements of b_scale must lie within 2^31 of one another "
               "(G2)");
}

void LaunchBuilder::requireRowBytes(const gemm::OperandInfo &info) {
  Value memref = getValue(info);
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return;
  // Static strides are checked by the op's verifier.
  int64_t rows = type.getRank() - info.getRank();
  for (int64_t axis = type.getRank() - 2; axis >= 0; --axis) {
    if (!ShapedType::isDynamic(strides[axis]))
      continue;
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, memref);
    Value bytes = builder.createOrFold<arith::MulIOp>(
        loc, metadata.getStrides()[axis],
        constant(type.getElementType().getIntOrFloatBitWidth() / 8));
    Value rest = arith::RemUIOp::create(builder, loc, bytes, constant(16));
    requireEqual(
        rest, constant(0),
        Twine("the ") +
            (axis < rows    ? "matrices"
             : !info.tiled  ? "rows"
             : axis == rows ? "rows of tiles"
                            : "tiles") +
            " of " + info.name +
            " must be a multiple of 16 bytes apart, because TMA copies "
            "them (G4)");
  }
}

Value LaunchBuilder::getGrid(Value tilesM, Value tilesN) {
  // Whole clusters: those at the edges compute tiles past the result too.
  Value groups =
      arith::MulIOp::create(builder, loc, ceilDiv(tilesM, schedule.cluster.m),
                            ceilDiv(tilesN, schedule.cluster.n));
  int64_t size = schedule.getCtasPlacedTogether();
  // Whole groups of neighbours, too: the last CTA may have no tile.
  if (int64_t neighbours = size / schedule.cluster.getSize(); neighbours > 1)
    groups = ceilDiv(groups, neighbours);
  if (schedule.scheduler == SchedulerKind::Persistent) {
    Value resident = MultiprocessorCountOp::create(builder, loc);
    if (size > 1)
      resident = arith::MaxUIOp::create(
          builder, loc,
          arith::DivUIOp::create(builder, loc, resident, constant(size)),
          constant(1));
    groups = arith::MinUIOp::create(builder, loc, groups, resident);
  }
  return size == 1 ? groups
                   : Value(arith::MulIOp::create(builder, loc, groups,
                                                 constant(size)));
}

Value LaunchBuilder::getArgument(GemmParameter parameter) {
  return std::visit([&](auto which) { return getArgument(which); }, parameter);
}

Value LaunchBuilder::getArgument(gemm::Operand operand) {
  Type type = schedule.getParameterType(operand);
  Value memref = getOperand(op, operand);
  if (isa<MemRefType>(type))
    return builder.createOrFold<memref::CastOp>(loc, type, memref);
  bool wholeUnits =
      operand == gemm::Operand::D && schedule.problem.getRestType();
  auto map = TensorMapOp::create(builder, loc, type, memref, /*rows=*/Value(),
                                 wholeUnits);
  if (operand == gemm::Operand::A || operand == gemm::Operand::B)
    map.setL2Promotion(schedule.l2Promotion);
  if (operand != gemm::Operand::A || schedule.edge != Edge::Fit)
    return map;
  return mapOfA = FitRowsOp::create(builder, loc, map);
}

Value LaunchBuilder::getMapOfFirst(gemm::Operand operand) {
  // Rows that the next tile has, too, are stored by that one.
  Value rows =
      arith::SubIOp::create(builder, loc, constant(schedule.getCtaRows()),
                            getArgument(GemmExtra::Overlap));
  // A tile alone, or none, has the rows of D.
  rows = arith::MinUIOp::create(builder, loc, dim(op.getA(), 0), rows);
  return TensorMapOp::create(builder, loc, schedule.getParameterType(operand),
                             getOperand(op, operand), rows,
                             /*wholeUnits=*/false);
}

Value LaunchBuilder::getArgument(GemmExtra extra) {
  switch (extra) {
  case GemmExtra::TilesM:
    if (!schedule.problem.isBatch)
      return ceilDiv(dim(op.getA(), 0), schedule.getCtaRows());
    return arith::MulIOp::create(builder, loc, getBatch(op.getA()),
                                 getArgument(GemmExtra::BatchTilesM));
  case GemmExtra::BatchTilesM: {
    // Whole clusters, so that none reaches into the next product.
    Value tiles = ceilDiv(dim(op.getA(), 0), schedule.getCtaRows());
    if (schedule.cluster.m == 1)
      return tiles;
    return arith::MulIOp::create(builder, loc,
                                 ceilDiv(tiles, schedule.cluster.m),
                                 constant(schedule.cluster.m));
  }
  case GemmExtra::TilesN:
    return ceilDiv(dim(op.getB(), 0), schedule.tileN);
  case GemmExtra::Blocks:
    return ceilDiv(dim(op.getA(), 1), schedule.tileK);
  case GemmExtra::DRest:
    return builder.createOrFold<memref::CastOp>(
        loc, schedule.getParameterType(extra), op.getD());
  case GemmExtra::Overlap: {
    Value m = dim(op.getA(), 0), tiles = ceilDiv(m, schedule.getCtaRows());
    Value rows = arith::MulIOp::create(builder, loc, tiles,
                                       constant(schedule.getCtaRows()));
    Value beyond = arith::SubIOp::create(builder, loc, rows, m);
    // TMA copies A's scales from whole 16 bytes on: the last rows of tiles may
    // end a few rows beyond M.
    Type scale = schedule.problem.getElementType(gemm::Operand::AScale);
    Value rest = arith::RemUIOp::create(
        builder, loc, beyond, constant(128 / scale.getIntOrFloatBitWidth()));
    return arith::SubIOp::create(builder, loc, beyond, rest);
  }
  case GemmExtra::DFirst:
    return getMapOfFirst(gemm::Operand::D);
  case GemmExtra::CFirst:
    return getMapOfFirst(gemm::Operand::C);
  case GemmExtra::AIsConstant:
    return IsConstantOp::create(builder, loc,
                                ValueRange{op.getA(), op.getAScale()});
  case GemmExtra::BIsConstant:
    return IsConstantOp::create(builder, loc,
                                ValueRange{op.getB(), op.getBScale()});
  case GemmExtra::ABytes:
    return BoxBytesOp::create(builder, loc, mapOfA);
  }
  llvm_unreachable("no other parameter");
}

void LaunchBuilder::launch(gpu::GPUFuncOp kernel) {
  SmallVector<GemmParameter> parameters = schedule.getParameters();
  SmallVector<Value> arguments;
  for (GemmParameter parameter : parameters)
    arguments.push_back(getArgument(parameter));
  auto tiles = [&](GemmExtra axis) {
    const auto *place = llvm::find(parameters, GemmParameter(axis));
    return arguments[place - parameters.begin()];
  };
  Value grid = getGrid(tiles(GemmExtra::TilesM), tiles(GemmExtra::TilesN));
  Value one = constant(1);
  // A kernel's own clusters are left to the conversion.
  std::optional<gpu::KernelDim3> together;
  if (int64_t size = schedule.getCtasPlacedTogether();
      size > schedule.cluster.getSize())
    together = gpu::KernelDim3{constant(size), one, one};
  auto launch = gpu::LaunchFuncOp::create(
      builder, loc, kernel, gpu::KernelDim3{grid, one, one},
      gpu::KernelDim3{constant(32 * schedule.getNumWarps()), one, one},
      /*dynamicSharedMemorySize=*/Value(), arguments,
      /*asyncTokenType=*/Type(), /*asyncDependencies=*/{}, together);
  // What the operands' types do not say.
  const gemm::Scaling &scaling = schedule.problem.scaling;
  if (!scaling.isMx() && scaling.bBlock != gemm::kDefaultBBlock)
    launch->setAttr(Fp8Dialect::kProblemOptionsAttrName,
                    builder.getDictionaryAttr(builder.getNamedAttr(
                        op.getBBlockAttrName(),
                        builder.getI64IntegerAttr(scaling.bBlock))));
}
