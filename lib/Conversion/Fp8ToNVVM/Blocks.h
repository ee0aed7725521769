// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brings the blocks of a kernel into the form that the conversion takes.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_BLOCKS_H
#define FP8_LIB_CONVERSION_FP8TONVVM_BLOCKS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fp8 {

/// Turns each cf.switch into branches on two successors, for which MLIR has
/// patterns that convert one value to several, and puts the blocks of each role
/// with several into one op, so that the role can become a branch.
void prepareBlocks(FunctionOpInterface kernel);

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_BLOCKS_H
