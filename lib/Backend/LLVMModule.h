// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the kernel's gpu.module to an LLVM module (not public).

#ifndef FP8_LIB_TARGET_LLVMMODULE_H
#define FP8_LIB_TARGET_LLVMMODULE_H

#include "fp8/Backend/KernelModule.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <memory>

namespace mlir::fp8 {

/// Translates `kernel` and the functions and globals beside it; the module's
/// other kernels are left out. Null after an error was emitted.
std::unique_ptr<llvm::Module> translateKernel(const KernelModule &kernel,
                                              llvm::LLVMContext &context);

} // namespace mlir::fp8

#endif // FP8_LIB_TARGET_LLVMMODULE_H
