// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices of arrays that tell threads apart.

#ifndef FP8_LIB_PROOF_THREADINDICES_H
#define FP8_LIB_PROOF_THREADINDICES_H

#include "mlir/IR/Value.h"

namespace mlir::fp8 {

/// True if the index differs between all lanes of a warp: the number of the
/// lane, or that of the thread, times a constant, and what all have.
bool isOfLane(Value index);

/// True if the index modulo the number of the threads tells which of them has
/// it: the number of the thread, and a multiple of how many they are.
bool tellsThread(Value index, int64_t numThreads);

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_THREADINDICES_H
