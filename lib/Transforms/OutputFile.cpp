// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file of a pass that prints something beside the module.

#include "OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

LogicalResult mlir::fp8::writeOutput(ModuleOp module, StringRef pass,
                                     StringRef output,
                                     function_ref<void(raw_ostream &)> print) {
  std::error_code error;
  llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_None);
  if (error)
    return module.emitError() << "--" << pass << ": cannot write '" << output
                              << "': " << error.message();
  print(file.os());
  file.keep();
  return success();
}
