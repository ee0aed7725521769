// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said about the life of a linear value that breaks a rule.

#ifndef FP8_LIB_IR_LINEARITYREPORT_H
#define FP8_LIB_IR_LINEARITYREPORT_H

#include "LiveRange.h"

namespace mlir::fp8 {

/// An error at the value that begins with what it is: "producer stage ".
InFlightDiagnostic emitHandleError(Value value);

/// Reports that a region captures the value, or what it lends (L6). True if it
/// does.
bool reportCapture(Value value, const LiveRange &range);

/// Reports the first rule that the value's life breaks (L1 to L4, L6, L9); of a
/// value that is selected, its life on one `side` of the condition. True if
/// there is one.
bool reportRange(Value value, ArrayRef<OpOperand *> uses,
                 DominanceInfo &dominance,
                 std::optional<bool> side = std::nullopt);

} // namespace mlir::fp8

#endif // FP8_LIB_IR_LINEARITYREPORT_H
