// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops of other dialects that contain assembly text, whose reads and writes MLIR
// cannot see.

#ifndef FP8_IR_ASSEMBLY_H
#define FP8_IR_ASSEMBLY_H

#include "mlir/IR/Operation.h"

namespace mlir::fp8 {

/// The assembly text that the op contains, such as that of llvm.inline_asm or
/// nvvm.inline_ptx; nullopt if it contains none.
std::optional<StringRef> getAssembly(Operation *op);

} // namespace mlir::fp8

#endif // FP8_IR_ASSEMBLY_H
