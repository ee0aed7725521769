// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a GEMM op asks for.

#include "GemmProblem.h"

using namespace mlir;
using namespace mlir::fp8;

/// A memref with dynamic extents: kernels are compiled for any.
static MemRefType getKernelType(MemRefType source) {
  SmallVector<int64_t> shape(source.getRank(), ShapedType::kDynamic);
  if (source.getLayout().isIdentity())
    return MemRefType::get(shape, source.getElementType());
  SmallVector<int64_t> strides(source.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(source.getContext(),
                                       ShapedType::kDynamic, strides);
  return MemRefType::get(shape, source.getElementType(), layout);
}

/// D, as the kernel takes it, if its rows may end within 16 bytes. Contiguous
/// rows do not, since TMA wants them 16 bytes apart.
static MemRefType getRestType(MemRefType d) {
  int64_t columns = d.getShape().back(),
          unit = 128 / d.getElementType().getIntOrFloatBitWidth();
  if (d.getLayout().isIdentity() ||
      (!ShapedType::isDynamic(columns) && columns % unit == 0))
    return {};
  return getKernelType(d);
}

static GemmEpilogue getEpilogue(BlockwiseGemmOp op) {
  auto memref = [](Value operand) {
    return operand ? cast<MemRefType>(operand.getType()) : MemRefType();
  };
  auto element = [&](Value operand) {
    return operand ? memref(operand).getElementType() : Type();
  };
  return {element(op.getC()), element(op.getBias()), memref(op.getBeta()),
          memref(op.getDScale()),
          op.getBody().empty() ? nullptr : &op.getBody().front()};
}

GemmProblem GemmProblem::get(BlockwiseGemmOp op) {
  auto memref = [](Value operand) {
    return cast<MemRefType>(operand.getType());
  };
  GemmProblem problem;
  problem.outputType = memref(op.getD()).getElementType();
  problem.bScaleType = getKernelType(memref(op.getBScale()));
  problem.restType = getRestType(memref(op.getD()));
  problem.aScaleElement = memref(op.getAScale()).getElementType();
  problem.bBlock = static_cast<int64_t>(op.getBBlock());
  problem.isBatch = op.getBatchAxes() != 0;
  problem.epilogue = getEpilogue(op);
  return problem;
}

SmallVector<GemmParameter> GemmProblem::getParameters() const {
  SmallVector<GemmParameter> parameters{
      GemmParameter::AMap,
      GemmParameter::AScaleMap,
      GemmParameter::BMap,
      GemmParameter::DMap,
      hasColumnScales() ? GemmParameter::BScaleMap : GemmParameter::BScale,
      GemmParameter::TilesM,
      GemmParameter::TilesN,
      GemmParameter::Blocks};
  auto add = [&](GemmParameter parameter, bool isTaken) {
    if (isTaken)
      parameters.push_back(parameter);
  };
  add(GemmParameter::BatchTilesM, isBatch);
  add(GemmParameter::CMap, epilogue.residual != nullptr);
  add(GemmParameter::BiasMap, epilogue.bias != nullptr);
  add(GemmParameter::Beta, epilogue.beta != nullptr);
  add(GemmParameter::DScale, epilogue.scale != nullptr);
  add(GemmParameter::DRest, restType != nullptr);
  return parameters;
}
