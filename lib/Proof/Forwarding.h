// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What values become of one another in structured control flow.

#ifndef FP8_LIB_PROOF_FORWARDING_H
#define FP8_LIB_PROOF_FORWARDING_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fp8 {

/// The values that one of a structured op becomes.
SmallVector<Value> getForwarded(Value value);

/// True if the value is computed from arguments, constants and what the launch
/// says alone, and not from data. Arithmetic on it is taken not to wrap.
bool isFreeOfData(Value value);

/// Knows which values may be poison, or are computed from what may be.
class PoisonedValues {
public:
  bool contains(Value value);

private:
  llvm::SetVector<Value> others; ///< that are not
};

/// The threads that are compared: all of a role, or those of each warp, which
/// come to an op together.
enum class Among { Warps, Lanes };

/// True if all these threads have the same value. What roles wait or signal
/// in counts as such: the proof of progress has shown that threads do not part
/// there.
bool isUniform(Value value, Among among = Among::Warps);
/// True if all these threads take the same ways in the op's regions.
bool isUniform(Operation *op, Among among = Among::Warps);
/// True if they take the same ways between the region's blocks.
bool isUniform(Region &region, Among among = Among::Warps);

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_FORWARDING_H
