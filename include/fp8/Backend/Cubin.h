// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assembles PTX to a cubin with NVIDIA's ptxas, in a separate process.

#ifndef FP8_BACKEND_CUBIN_H
#define FP8_BACKEND_CUBIN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>

namespace mlir::fp8 {

/// What `ptxas -v` reports for one kernel.
struct KernelResources {
  int64_t registers = 0;       ///< 32-bit registers of one thread
  int64_t spillStoreBytes = 0; ///< of one thread
  int64_t spillLoadBytes = 0;  ///< of one thread
  int64_t stackBytes = 0;      ///< of one thread
  int64_t sharedMemoryBytes =
      0; ///< static, of one CTA; dynamic is the launch's
};

struct Cubin {
  std::string binary;
  KernelResources resources;
  /// "ptxas warns about kernel 'gemm':" and ptxas' own lines; often empty.
  std::string warnings;
};

struct PtxasOptions {
  /// The program; empty searches $FP8_PTXAS, PATH, $CUDA_HOME/bin,
  /// $CUDA_PATH/bin and /usr/local/cuda/bin, in this order.
  std::string path;
  /// Treats a spilled register or a warning of ptxas (such as C7510, wgmma
  /// serialised) as an error.
  bool strict = false;
};

/// The program that `options` name, or an error that lists the places searched
/// and says what to do.
llvm::Expected<std::string> findPtxas(const PtxasOptions &options);

/// Assembles `ptx`, whose .entry is `kernel`, for `chip`. The error contains
/// the messages of ptxas.
llvm::Expected<Cubin> assemble(llvm::StringRef ptx, llvm::StringRef kernel,
                               llvm::StringRef chip,
                               const PtxasOptions &options);

/// One line: "gemm: 168 registers, 0 bytes spilled, 0 bytes of stack, 16 bytes
/// of static shared memory".
void printResources(llvm::raw_ostream &stream, llvm::StringRef kernel,
                    const KernelResources &resources);

} // namespace mlir::fp8

#endif // FP8_BACKEND_CUBIN_H
