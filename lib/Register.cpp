// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of everything of ours.

#include "fp8/Register.h"

#include "fp8/Backend/OptMain.h"
#include "fp8/Backend/PTX.h"
#include "fp8/Backend/Passes.h"
#include "fp8/Conversion/Passes.h"
#include "fp8/IR/Fp8.h"
#include "fp8/Pipelines/Pipelines.h"
#include "fp8/Planning/Passes.h"
#include "fp8/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void mlir::fp8::registerFp8Dialect(DialectRegistry &registry) {
  registry.insert<Fp8Dialect>();
}

void mlir::fp8::registerFp8Passes() {
  registerFp8TransformsPasses();
  registerFp8PlanningPasses();
  registerFp8ConversionPasses();
  registerFp8BackendPasses();
}

void mlir::fp8::registerFp8Pipelines() { registerGemmToPTXPipeline(); }

void mlir::fp8::registerFp8Tool(DialectRegistry &registry) {
  registerUpstream(registry);
  registerFp8Dialect(registry);
  registerFp8Passes();
  registerFp8Pipelines();
  registerTranslationInterfaces(registry);
}

int mlir::fp8::runFp8Opt(int argc, char **argv) {
  DialectRegistry registry;
  registerFp8Tool(registry);
  return runDriver(argc, argv, registry);
}
