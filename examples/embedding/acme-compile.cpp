// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiler that embeds fp8: acme-compile INPUT.mlir CHIP KERNEL OUTPUT.ptx

#include "Acme.h"
#include "fp8/Backend/Emit.h"
#include "fp8/Conversion/Passes.h"
#include "fp8/Pipelines/Pipelines.h"
#include "fp8/Planning/Passes.h"
#include "fp8/Register.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int main(int argc, char **argv) {
  if (argc != 5) {
    llvm::errs() << "usage: acme-compile INPUT.mlir CHIP KERNEL OUTPUT.ptx\n";
    return 2;
  }
  DialectRegistry registry;
  mlir::fp8::registerFp8Tool(
      registry); // fp8, and what of MLIR its pipelines use
  registry.insert<acme::AcmeDialect>();
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false); // a kernel is thousands of lines

  std::string problem;
  llvm::SourceMgr sources;
  auto file = openInputFile(argv[1], &problem);
  if (!file) {
    llvm::errs() << problem << '\n';
    return 1;
  }
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  // The verifier, and with it the linearity rules, for our op too.
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;

  PassManager manager(&context);
  manager.addPass(acme::createLowerPass());
  manager.addPass(mlir::fp8::createConvertLinalgToFp8()); // GEMMs of front ends
  mlir::fp8::GemmToPTXOptions options;
  options.chip = argv[2];
  // Our own hand-over takes part in the plan, and becomes fp8's behind it.
  options.phase = mlir::fp8::Phase::Linear;
  mlir::fp8::buildGemmToPTXPipeline(manager, options);
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(mlir::fp8::createFp8PlanKernels());
  kernels.addPass(mlir::fp8::createFp8PlaceFences());
  manager.addPass(acme::createLowerPlannedPass());
  options.phase = mlir::fp8::Phase::LLVM;
  mlir::fp8::buildGemmToPTXPipeline(manager, options);
  mlir::fp8::EmitOptions emission;
  emission.kernel = argv[3];
  emission.output = argv[4]; // beside it OUTPUT.ptx.json, the launch manifest
  return failed(manager.run(*module)) ||
         failed(mlir::fp8::emit(*module, emission));
}
