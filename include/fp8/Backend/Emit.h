// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a lowered module to its output files: --emit=ptx|cubin|llvm.

#ifndef FP8_BACKEND_EMIT_H
#define FP8_BACKEND_EMIT_H

#include "fp8/Backend/Cubin.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fp8 {

enum class EmitKind { MLIR, LLVM, PTX, Cubin };

struct EmitOptions {
  EmitKind kind = EmitKind::PTX;
  std::string output = "-"; ///< "-" is the standard output
  std::string kernel;       ///< needed when there are several
  /// PTX and cubins come with OUT.json, and with OUT.proof.json if their proof
  /// left a certificate, unless they go to a stream.
  bool writeManifest = true;
  /// False: make everything, report every error, write nothing.
  bool writeFiles = true;
  /// Print registers, spills, stack and shared memory of a cubin to stderr.
  bool reportResources = false;
  PtxasOptions ptxas;
};

/// Writes the output files of the kernel in `module`. On failure it writes none
/// and emits an error. `options.kind` is not MLIR.
LogicalResult emit(ModuleOp module, const EmitOptions &options);

} // namespace mlir::fp8

#endif // FP8_BACKEND_EMIT_H
