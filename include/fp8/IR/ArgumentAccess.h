// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a caller lets a function do with an argument.

#ifndef FP8_IR_ARGUMENTACCESS_H
#define FP8_IR_ARGUMENTACCESS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fp8 {

/// On an argument, a string: `read`, `write`, `readwrite`; or `constant`: read,
/// and written by no kernel that may run while this one does.
inline constexpr StringLiteral kAccessAttrName = "fp8.access";
inline constexpr StringLiteral kConstantAccess = "constant";

/// True if the argument is read alone, and no kernel in front writes it.
inline bool isConstant(FunctionOpInterface function, unsigned argument) {
  auto access =
      function.getArgAttrOfType<StringAttr>(argument, kAccessAttrName);
  return access && access.getValue() == kConstantAccess;
}

} // namespace mlir::fp8

#endif // FP8_IR_ARGUMENTACCESS_H
