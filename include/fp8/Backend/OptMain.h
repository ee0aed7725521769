// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of fp8-opt.

#ifndef FP8_BACKEND_OPTMAIN_H
#define FP8_BACKEND_OPTMAIN_H

namespace mlir {
class DialectRegistry;
}

namespace mlir::fp8 {

/// Registers only the dialects and passes of MLIR that the lowering of a kernel
/// uses, since each costs start-up time.
void registerUpstream(DialectRegistry &registry);

/// Runs fp8-opt: the command line of mlir-opt, and --emit with its options.
/// registerFp8Tool must have filled the registry. Returns the exit status.
int runDriver(int argc, char **argv, DialectRegistry &registry);

} // namespace mlir::fp8

#endif // FP8_BACKEND_OPTMAIN_H
