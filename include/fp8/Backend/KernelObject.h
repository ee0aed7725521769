// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled kernel: PTX, launch manifest, cubin.

#ifndef FP8_BACKEND_KERNELOBJECT_H
#define FP8_BACKEND_KERNELOBJECT_H

#include "fp8/Backend/Cubin.h"
#include "fp8/Backend/KernelModule.h"
#include <optional>

namespace mlir::fp8 {

struct KernelObject {
  std::string name; ///< of the kernel: the .entry of the PTX
  std::string chip;
  std::string ptx;
  std::string manifest; ///< JSON; see Manifest.h
  /// The certificate of its proof, JSON; empty if its proof left none.
  std::string certificate;
  std::optional<Cubin> cubin; ///< if asked for
};

struct KernelObjectOptions {
  std::string kernel; ///< needed when there are several
  /// The host function that launches it is read. With it comes the certificate.
  bool wantManifest = true;
  /// Assembles the PTX, with these options of ptxas.
  std::optional<PtxasOptions> assemble;
};

/// Compiles the kernel in `module`, which is in phase 4 and is not changed.
/// Emits an error if there is no such kernel or if a step fails, and one
/// warning at the kernel with the warnings of ptxas.
FailureOr<KernelObject> makeKernelObject(ModuleOp module,
                                         const KernelObjectOptions &options);

/// Compiles a kernel that was found, without a manifest.
FailureOr<KernelObject>
makeKernelObject(const KernelModule &kernel,
                 const std::optional<PtxasOptions> &ptxas);

} // namespace mlir::fp8

#endif // FP8_BACKEND_KERNELOBJECT_H
