// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The version of the dialect in bytecode.

#ifndef FP8_LIB_IR_FP8BYTECODE_H
#define FP8_LIB_IR_FP8BYTECODE_H

#include "fp8/IR/Fp8.h"

namespace mlir::fp8 {

/// Makes bytecode carry the dialect's version and its reader refuse what is
/// newer.
void addBytecodeInterface(Fp8Dialect &dialect);

} // namespace mlir::fp8

#endif // FP8_LIB_IR_FP8BYTECODE_H
