// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file of a pass that prints something beside the module.

#include "OutputFile.h"

#include "fp8/Files/OutputFiles.h"

using namespace mlir;

LogicalResult mlir::fp8::writeOutput(ModuleOp module, StringRef pass,
                                     StringRef output,
                                     function_ref<void(raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  if (auto error = ::fp8::files::write({{output.str(), text}}))
    return module.emitError() << "--" << pass << ": " << *error;
  return success();
}
