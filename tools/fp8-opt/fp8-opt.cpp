// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-opt: runs passes on a module and writes MLIR, LLVM IR, PTX or a cubin.

#include "fp8/Register.h"
#include "fp8/Target/Driver.h"
#include "fp8/Target/Passes.h"
#include "mlir/IR/DialectRegistry.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::fp8::registerUpstream(registry);
  mlir::fp8::registerFp8Dialect(registry);
  mlir::fp8::registerFp8Passes();
  mlir::fp8::registerFp8Pipelines();
  mlir::fp8::registerFp8TargetPasses();
  return mlir::fp8::runDriver(argc, argv, registry);
}
