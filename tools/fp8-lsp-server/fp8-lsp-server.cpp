// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8-lsp-server: a language server for MLIR with the fp8 dialect. Editors show
// its errors, the linearity rules among them, where they are made.

#include "fp8/Register.h"
#include "fp8/Target/CommandLine.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::fp8::beginCommandLine("fp8-lsp-server");
  mlir::DialectRegistry registry;
  mlir::fp8::registerFp8Tool(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
