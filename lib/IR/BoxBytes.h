// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about boxes whose bytes are an argument of the kernel.

#ifndef FP8_LIB_IR_BOXBYTES_H
#define FP8_LIB_IR_BOXBYTES_H

#include "fp8/IR/ArgumentAccess.h"
#include "fp8/IR/Fp8.h"

namespace mlir::fp8 {

/// The argument of the kernel that has the bytes of the map's box; null if the
/// map is no argument, or its boxes always have as many.
BlockArgument getBoxBytes(Value map);

/// Checks that an argument which says something of other arguments is i32, and
/// that there are such arguments.
LogicalResult verifyNumbers(FunctionOpInterface function, unsigned argument,
                            StringRef name, ArrayRef<int64_t> numbers);

/// Checks that the argument that is named is a map, and that no copy through it
/// counts on other bytes.
LogicalResult verifyBoxBytes(FunctionOpInterface function, unsigned argument,
                             int64_t number);

/// (B6) Checks that the barrier is told the bytes of the copy, if an argument
/// of the kernel has them.
LogicalResult verifyToldBytes(CopyTileOp copy);

/// (B6) Checks that the number that the launch decides is the bytes of a copy.
LogicalResult verifyToldBytes(MbarrierExpectOp expect);

} // namespace mlir::fp8

#endif // FP8_LIB_IR_BOXBYTES_H
