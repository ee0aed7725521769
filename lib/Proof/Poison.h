// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which results of arith ops may be poison.

#ifndef FP8_LIB_PROOF_POISON_H
#define FP8_LIB_PROOF_POISON_H

#include "mlir/IR/Operation.h"

namespace mlir::fp8 {

/// The bits that a number of the type has in a kernel.
unsigned getWidth(Type type);

/// True if an integer of the type may lack bits of what is counted in a launch.
bool isNarrow(Type type);

/// True if the op's result may be poison, of which each use may see another
/// value: a shift by as many bits as the type has, or more, or by an unknown
/// number; a division by a constant 0; a float as an integer, unless it is a
/// constant that the type has; an op that promises what it does not show, such
/// as that no NaN comes, or that data do not overflow. An index may have 32
/// bits.
bool mayBePoison(Operation *op);

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_POISON_H
