// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks whether a kernel matches its manifest, on any backend.
#ifndef FP8_LAUNCH_KERNELCHECK_H
#define FP8_LAUNCH_KERNELCHECK_H

#include "fp8/Launch/Manifest.h"

namespace fp8::launch {

/// Checks that the file's target is the manifest's chip.
std::optional<Error> checkTarget(const std::string &path,
                                 const std::string &target,
                                 const Manifest &manifest);

/// Checks that the kernel's parameters, whose sizes are `bytes`, are the
/// manifest's.
std::optional<Error> checkParameters(const std::string &path,
                                     const std::vector<uint64_t> &bytes,
                                     const Manifest &manifest);

} // namespace fp8::launch

#endif // FP8_LAUNCH_KERNELCHECK_H
