// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of fp8-opt.

#ifndef FP8_BACKEND_OPTMAIN_H
#define FP8_BACKEND_OPTMAIN_H

namespace mlir {
class DialectRegistry;
}

namespace mlir::fp8 {

/// Registers the dialects and passes of MLIR that the lowering of a kernel
/// uses, and no other: each one costs start-up time.
void registerUpstream(DialectRegistry &registry);

/// Runs fp8-opt: mlir-opt's command line, and --emit with the options that
/// belong to it. The registry is one that registerFp8Tool has filled. Returns
/// the exit status.
int runDriver(int argc, char **argv, DialectRegistry &registry);

} // namespace mlir::fp8

#endif // FP8_BACKEND_OPTMAIN_H
