// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structured kernel (phase 1) of a blockwise-scaled GEMM. The schedule of
// the chip's MMA engine builds its rings and roles.

#include "StructuredKernel.h"
#include "KernelBuilder.h"
#include "fp8/IR/ArgumentAccess.h"
#include "fp8/IR/ComputedGemm.h"

using namespace mlir;
using namespace mlir::fp8;

/// What the kernel computes from its parameters.
static ComputedGemm getComputed(const GemmSchedule &schedule) {
  const GemmProblem &problem = schedule.problem;
  ComputedGemm gemm;
  if (schedule.cluster.k > 1)
    gemm.kGroup = schedule.getBlockMultiple();
  gemm.scaling = problem.scaling;
  for (auto [number, parameter] : llvm::enumerate(schedule.getParameters()))
    if (auto *operand = std::get_if<gemm::Operand>(&parameter))
      gemm.operands.push_back({number, *operand});
    else if (parameter == GemmParameter(GemmExtra::Blocks))
      gemm.blocks = number;
    else if (parameter == GemmParameter(GemmExtra::BatchTilesM))
      gemm.batchTiles = number;
    else if (parameter == GemmParameter(GemmExtra::DRest))
      gemm.operands.push_back({number, gemm::Operand::D});
    else if (parameter == GemmParameter(GemmExtra::DFirst))
      gemm.firsts.push_back({number, gemm::Operand::D});
    else if (parameter == GemmParameter(GemmExtra::CFirst))
      gemm.firsts.push_back({number, gemm::Operand::C});
  return gemm;
}

/// Says what parameters tell of other parameters: which are constant if the
/// launch passes that they are, and which map has boxes of so many bytes.
static void setArgumentAttributes(gpu::GPUFuncOp kernel,
                                  const GemmSchedule &schedule) {
  SmallVector<GemmParameter> parameters = schedule.getParameters();
  Builder builder(kernel.getContext());
  auto find = [&](GemmParameter parameter) {
    return llvm::find(parameters, parameter) - parameters.begin();
  };
  auto tell = [&](GemmExtra extra, StringRef name, Attribute what) {
    if (llvm::is_contained(parameters, GemmParameter(extra)))
      kernel.setArgAttr(find(extra), name, what);
  };
  auto tellConstants = [&](GemmExtra extra, gemm::Operand factor,
                           gemm::Operand scales) {
    tell(extra, kConstantsAttrName,
         builder.getDenseI64ArrayAttr({find(factor), find(scales)}));
  };
  tellConstants(GemmExtra::AIsConstant, gemm::Operand::A,
                gemm::Operand::AScale);
  tellConstants(GemmExtra::BIsConstant, gemm::Operand::B,
                gemm::Operand::BScale);
  tell(GemmExtra::ABytes, kBoxBytesAttrName,
       builder.getI64IntegerAttr(find(gemm::Operand::A)));
}

gpu::GPUFuncOp mlir::fp8::buildStructuredKernel(OpBuilder &builder,
                                                Location loc,
                                                gpu::GPUModuleOp module,
                                                StringRef name,
                                                const GemmSchedule &schedule) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  for (GemmParameter parameter : schedule.getParameters())
    types.push_back(schedule.getParameterType(parameter));
  auto kernel = gpu::GPUFuncOp::create(builder, loc, name,
                                       builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(Fp8Dialect::kLinearAttrName, builder.getUnitAttr());
  kernel->setAttr(ComputedGemm::kAttrName,
                  getComputed(schedule).toAttribute(builder.getContext()));
  SmallVector<int64_t> shape{schedule.cluster.m, schedule.cluster.n};
  if (schedule.cluster.k > 1)
    shape.push_back(schedule.cluster.k);
  if (schedule.cluster.getSize() > 1)
    kernel->setAttr(Fp8Dialect::kClusterAttrName,
                    builder.getDenseI64ArrayAttr(shape));
  if (schedule.programmatic)
    kernel->setAttr(Fp8Dialect::kProgrammaticAttrName, builder.getUnitAttr());
  if (schedule.signalsAtWait)
    kernel->setAttr(Fp8Dialect::kSignalsAtWaitAttrName, builder.getUnitAttr());
  setArgumentAttributes(kernel, schedule);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  schedule.buildRoles(KernelBuilder(builder, loc, schedule, kernel));
  gpu::ReturnOp::create(builder, loc);
  return kernel;
}
