// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-opt: runs passes on a module and writes MLIR, LLVM IR, PTX or a cubin.

#include "fp8/Register.h"
#include "fp8/Target/Driver.h"
#include "mlir/IR/DialectRegistry.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::fp8::registerFp8Tool(registry);
  return mlir::fp8::runDriver(argc, argv, registry);
}
