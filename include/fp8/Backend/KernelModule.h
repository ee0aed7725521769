// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the kernel of a module to emit.

#ifndef FP8_BACKEND_KERNELMODULE_H
#define FP8_BACKEND_KERNELMODULE_H

#include "fp8/Chip/Chip.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fp8 {

namespace chip = ::fp8::chip;

/// A kernel in phase 4 (LLVM and NVVM dialects only) and the chip it is for.
struct KernelModule {
  gpu::GPUModuleOp gpuModule;
  FunctionOpInterface function; ///< an llvm.func with `nvvm.kernel`
  const chip::Chip *chip;

  StringRef getName() const;
};

/// The kernel `function` of a gpu.module. Emits an error if an op is not
/// lowered to LLVM or NVVM, or if the gpu.module does not name exactly one
/// known chip.
FailureOr<KernelModule> getKernelModule(FunctionOpInterface function);

/// The kernel called `name`, or the only one when `name` is empty. Emits an
/// error if there is none, if there are several to choose from, and where
/// getKernelModule does.
FailureOr<KernelModule> findKernelModule(ModuleOp module, StringRef name);

} // namespace mlir::fp8

#endif // FP8_BACKEND_KERNELMODULE_H
