// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a stamp says of a barrier.

#ifndef FP8_IR_STAMPEVENT
#define FP8_IR_STAMPEVENT

include "mlir/IR/EnumAttr.td"

// An event's number is added to the address of its barrier, a multiple of 8.
def Fp8_StampEventAttr : I32EnumAttr<"StampEvent", "what a stamp says of a barrier", [
    I32EnumAttrCase<"Waited", 1, "waited">,
    I32EnumAttrCase<"HandsOver", 2, "hands_over">]> {
  let cppNamespace = "::mlir::fp8";
}

#endif // FP8_IR_STAMPEVENT
