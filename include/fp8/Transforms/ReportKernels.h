// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reports of a module's kernels, for passes and the C API.

#ifndef FP8_TRANSFORMS_REPORTKERNELS_H
#define FP8_TRANSFORMS_REPORTKERNELS_H

#include "fp8/Analysis/KernelReport.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fp8 {

/// Reports on each kernel of the module, which may be in phase 0 to 2 and is
/// not changed. Kernels in phase 0 are lowered for `chip`.
FailureOr<SmallVector<KernelReport, 0>> reportKernels(ModuleOp module,
                                                      StringRef chip);

} // namespace mlir::fp8

#endif // FP8_TRANSFORMS_REPORTKERNELS_H
