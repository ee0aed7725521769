// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers dialect, passes and pipelines of fp8, for tools, plugins and
// embedders.

#ifndef FP8_REGISTER_H
#define FP8_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::fp8 {

/// Registers the fp8 dialect.
void registerFp8Dialect(DialectRegistry &registry);

/// Registers all passes under their command-line names (fp8-...,
/// convert-fp8-to-nvvm, convert-linalg-to-fp8).
void registerFp8Passes();

/// Registers the pass pipelines (fp8-gemm-to-ptx).
void registerFp8Pipelines();

/// Registers all of the above, the passes on LLVM and NVVM, the parts of MLIR
/// that the lowering uses, and the translation to LLVM IR. A tool then has
/// everything it needs to run the pipelines and to emit their results.
void registerFp8Tool(DialectRegistry &registry);

/// The whole of fp8-opt: runDriver with what registerFp8Tool registers. Returns
/// the exit status.
int runFp8Opt(int argc, char **argv);

} // namespace mlir::fp8

#endif // FP8_REGISTER_H
