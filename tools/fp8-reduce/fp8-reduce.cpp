// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-reduce: makes a module small that still does what a script asks for, such
// as failing in the same way.

#include "fp8/Backend/CommandLine.h"
#include "fp8/Reducer/Patterns.h"
#include "fp8/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::fp8::beginCommandLine("fp8-reduce");
  mlir::DialectRegistry registry;
  mlir::fp8::registerFp8Tool(registry);
  mlir::fp8::registerReductionPatterns(registry);
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
