// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What values become of one another in structured control flow.

#ifndef FP8_LIB_PROOF_FORWARDING_H
#define FP8_LIB_PROOF_FORWARDING_H

#include "mlir/IR/Operation.h"

namespace mlir::fp8 {

/// The values that one of a structured op becomes.
SmallVector<Value> getForwarded(Value value);

/// True if all threads of a role have the same value. What roles wait or signal
/// in counts as such: the proof of progress has shown that threads do not part
/// there.
bool isUniform(Value value);
/// True if all threads of a role take the same ways in the op's regions.
bool isUniform(Operation *op);

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_FORWARDING_H
