// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns what LLVM reports, fatal errors included, into MLIR diagnostics (not
// public).

#ifndef FP8_LIB_TARGET_BACKENDERRORS_H
#define FP8_LIB_TARGET_BACKENDERRORS_H

#include "fp8/Backend/KernelModule.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/LLVMContext.h"
#include <memory>

namespace mlir::fp8 {

/// An LLVM context that collects diagnostics for `kernel` and emits them as
/// MLIR diagnostics.
class BackendContext {
public:
  explicit BackendContext(const KernelModule &kernel);
  ~BackendContext();

  llvm::LLVMContext &getContext() { return *context; }

  /// Runs `work` on this context. Fails, with the error emitted, when LLVM
  /// reported one. After LLVM's fatal error ("Cannot select", which would end
  /// the process) the context is left behind, unfreed: `work` was cut short,
  /// and nothing it owned can be used again.
  LogicalResult run(llvm::function_ref<void()> work);

private:
  const KernelModule &kernel;
  std::unique_ptr<llvm::LLVMContext> context;
  bool hadError = false;
};

} // namespace mlir::fp8

#endif // FP8_LIB_TARGET_BACKENDERRORS_H
