// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy of a module in phase 2, for passes that read kernels of phases 0 to 2.

#ifndef FP8_LIB_TRANSFORMS_LINEARCOPY_H
#define FP8_LIB_TRANSFORMS_LINEARCOPY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::fp8 {

/// Copies the module and lowers the copy to phase 2. Kernels in phase 0 are
/// lowered for `chip`. Null, with diagnostics, if a kernel cannot be lowered.
OwningOpRef<ModuleOp> makeLinearCopy(ModuleOp module, StringRef chip);

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_LINEARCOPY_H
