// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translates phase 4 (the LLVM and NVVM dialects) to LLVM IR and PTX, in
// process.

#ifndef FP8_BACKEND_PTX_H
#define FP8_BACKEND_PTX_H

#include "fp8/Backend/KernelModule.h"
#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace mlir::fp8 {

/// Adds the interfaces that the translation to LLVM IR needs. A context needs
/// them before emitPTX or emitLLVMIR runs.
void registerTranslationInterfaces(DialectRegistry &registry);

/// The optimised LLVM IR of `kernel`, as text. The MLIR is not changed.
FailureOr<std::string> emitLLVMIR(const KernelModule &kernel);

/// The PTX of `kernel`, with `.file` and `.loc` directives that carry the
/// MLIR's file locations. The MLIR is not changed. An op that the NVPTX backend
/// cannot select is an error at the kernel and does not end the process. The
/// same IR gives the same text.
FailureOr<std::string> emitPTX(const KernelModule &kernel);

} // namespace mlir::fp8

#endif // FP8_BACKEND_PTX_H
