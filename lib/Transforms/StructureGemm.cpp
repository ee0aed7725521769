// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes each GEMM op a structured kernel and its launch (phase 0 to 1).

#include "Gemm/LaunchBuilder.h"
#include "Gemm/StructuredKernel.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8STRUCTUREGEMM
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// blockwise_gemm: checks, tensor maps and a launch; and the kernel in a module
/// of its own.
struct StructureBlockwiseGemm : public OpRewritePattern<BlockwiseGemmOp> {
  StructureBlockwiseGemm(MLIRContext *context, SymbolTable &symbols,
                         const chip::Chip &chip)
      : OpRewritePattern(context), symbols(symbols), chip(chip) {}

  LogicalResult matchAndRewrite(BlockwiseGemmOp op,
                                PatternRewriter &rewriter) const override {
    auto function = op->getParentOfType<FunctionOpInterface>();
    if (!function)
      return op.emitOpError()
             << "must be in a function, which launches its kernel";
    if (function->getParentOp() != symbols.getOp())
      return op.emitOpError() << "must be in a function of the outermost "
                                 "module, which also gets its kernel";
    FailureOr<std::unique_ptr<GemmSchedule>> chosen =
        GemmSchedule::choose(op, op.getConfig().value_or(GemmConfig()), chip);
    if (failed(chosen))
      return failure();

    const GemmSchedule &schedule = **chosen;
    LaunchBuilder launch(rewriter, op, schedule);
    launch.checkOperands();
    gpu::GPUFuncOp kernel = createKernel(op, function, schedule, rewriter);
    launch.launch(kernel);
    rewriter.eraseOp(op);
    return success();
  }

private:
  gpu::GPUFuncOp createKernel(BlockwiseGemmOp op, FunctionOpInterface function,
                              const GemmSchedule &schedule,
                              PatternRewriter &rewriter) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(function);
    std::string name = function.getName().str();
    auto module =
        gpu::GPUModuleOp::create(rewriter, op.getLoc(), name + "_kernels");
    // The symbol table may number the module; the kernel takes the number too.
    std::string kernelName = symbols.insert(module).str();
    kernelName.erase(kernelName.find("_kernels", name.size()) + 7, 1);
    return buildStructuredKernel(rewriter, op.getLoc(), module, kernelName,
                                 schedule);
  }

  SymbolTable &symbols;
  const chip::Chip &chip;
};

struct StructureGemmPass
    : public mlir::fp8::impl::Fp8StructureGemmBase<StructureGemmPass> {
  using Fp8StructureGemmBase::Fp8StructureGemmBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<BlockwiseGemmOp> gemms;
    module.walk([&](BlockwiseGemmOp op) { gemms.push_back(op); });
    if (gemms.empty())
      return markAllAnalysesPreserved();
    const chip::Chip *known = chip::lookup(chip);
    if (!known) {
      module.emitError() << "unknown chip '" << chip << "'; known are "
                         << chip::getNames();
      return signalPassFailure();
    }
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    SymbolTable symbols(module);
    RewritePatternSet patterns(&getContext());
    patterns.add<StructureBlockwiseGemm>(&getContext(), symbols, *known);
    walkAndApplyPatterns(module, std::move(patterns));
    // An op that is still there has been explained by an error.
    if (module.walk([](BlockwiseGemmOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
