// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a GEMM op asks for.

#include "GemmProblem.h"

using namespace mlir;
using namespace mlir::fp8;

GemmProblem::GemmProblem(BlockwiseGemmOp op)
    : scaling(getScaling(op)), isBatch(op.getBatchAxes() != 0),
      function(op.getBody().empty() ? nullptr : &op.getBody().front()) {
  for (const gemm::OperandInfo &info : gemm::getOperands(scaling)) {
    if (Value value = getOperand(op, info.operand))
      types[static_cast<size_t>(info.operand)] =
          cast<MemRefType>(value.getType());
  }
}

Type GemmProblem::getElementType(gemm::Operand operand) const {
  return has(operand) ? getType(operand).getElementType() : Type();
}

/// A memref with dynamic extents: kernels are compiled for any.
static MemRefType withDynamicExtents(MemRefType source) {
  SmallVector<int64_t> shape(source.getRank(), ShapedType::kDynamic);
  if (source.getLayout().isIdentity())
    return MemRefType::get(shape, source.getElementType());
  SmallVector<int64_t> strides(source.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(source.getContext(),
                                       ShapedType::kDynamic, strides);
  return MemRefType::get(shape, source.getElementType(), layout);
}

MemRefType GemmProblem::getMemrefParameter(gemm::Operand operand) const {
  MemRefType type = getType(operand);
  return getInfo(operand).isNumber() ? type : withDynamicExtents(type);
}

MemRefType GemmProblem::getRestType() const {
  MemRefType d = getType(gemm::Operand::D);
  int64_t columns = d.getShape().back(),
          unit = 128 / d.getElementType().getIntOrFloatBitWidth();
  // Contiguous rows end with 16 bytes, since TMA wants them 16 bytes apart.
  if (d.getLayout().isIdentity() ||
      (!ShapedType::isDynamic(columns) && columns % unit == 0))
    return {};
  return withDynamicExtents(d);
}

SmallVector<GemmParameter> GemmProblem::getParameters(Edge edge,
                                                      bool loadsEarly) const {
  using gemm::Operand;
  static constexpr GemmParameter kOrder[] = {Operand::A,
                                             Operand::AScale,
                                             Operand::B,
                                             Operand::D,
                                             Operand::BScale,
                                             GemmExtra::TilesM,
                                             GemmExtra::TilesN,
                                             GemmExtra::Blocks,
                                             GemmExtra::BatchTilesM,
                                             Operand::C,
                                             Operand::Bias,
                                             Operand::Beta,
                                             Operand::DScale,
                                             GemmExtra::DRest,
                                             GemmExtra::Overlap,
                                             GemmExtra::DFirst,
                                             GemmExtra::CFirst,
                                             GemmExtra::AIsConstant,
                                             GemmExtra::BIsConstant,
                                             GemmExtra::ABytes};
  auto takes = [&](const GemmParameter &parameter) {
    if (auto *operand = std::get_if<Operand>(&parameter))
      return has(*operand);
    switch (std::get<GemmExtra>(parameter)) {
    case GemmExtra::BatchTilesM:
      return isBatch;
    case GemmExtra::DRest:
      return bool(getRestType());
    case GemmExtra::Overlap:
    case GemmExtra::DFirst:
      return edge == Edge::First;
    case GemmExtra::CFirst:
      return edge == Edge::First && has(Operand::C);
    case GemmExtra::AIsConstant:
    case GemmExtra::BIsConstant:
      return loadsEarly;
    case GemmExtra::ABytes:
      return edge == Edge::Fit;
    case GemmExtra::TilesM:
    case GemmExtra::TilesN:
    case GemmExtra::Blocks:
      return true;
    }
    llvm_unreachable("no other parameter");
  };
  SmallVector<GemmParameter> parameters;
  llvm::copy_if(kOrder, std::back_inserter(parameters), takes);
  return parameters;
}
