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

/// On an i32 argument of a kernel, an array of i64: the arguments that are
/// constant in a launch that passes another number than 0.
inline constexpr StringLiteral kConstantsAttrName = "fp8.constants";

/// On an i32 argument of a kernel, an i64: the number of the argument that is a
/// tensor map whose boxes have as many bytes.
inline constexpr StringLiteral kBoxBytesAttrName = "fp8.box_bytes";

/// True if the argument is read alone, and no kernel in front writes it.
inline bool isConstant(FunctionOpInterface function, unsigned argument) {
  auto access =
      function.getArgAttrOfType<StringAttr>(argument, kAccessAttrName);
  return access && access.getValue() == kConstantAccess;
}

/// The memref that an operand of a launch is, is a view of, or is a map of.
Value getMemory(Value operand);

/// The argument that says at run time whether `argument` is constant; null if
/// none does.
inline BlockArgument getConstancy(FunctionOpInterface kernel,
                                  unsigned argument) {
  // The entry block has a GPU function's workgroup memory as well.
  for (BlockArgument flag :
       kernel.getArguments().take_front(kernel.getNumArguments())) {
    auto constants = kernel.getArgAttrOfType<DenseI64ArrayAttr>(
        flag.getArgNumber(), kConstantsAttrName);
    if (constants && llvm::is_contained(constants.asArrayRef(), argument))
      return flag;
  }
  return {};
}

} // namespace mlir::fp8

#endif // FP8_IR_ARGUMENTACCESS_H
