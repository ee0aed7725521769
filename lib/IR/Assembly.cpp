// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops are known by the attribute that holds the text: their dialects are no
// dependency of fp8.

#include "fp8/IR/Assembly.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::fp8;

std::optional<StringRef> mlir::fp8::getAssembly(Operation *op) {
  for (StringRef name : {"asm_string", "ptxCode"})
    if (auto text = op->getAttrOfType<StringAttr>(name))
      return text.getValue();
  return std::nullopt;
}
