// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a kernel takes what the manifest describes, on any backend.
#ifndef FP8_LAUNCH_KERNELCHECK_H
#define FP8_LAUNCH_KERNELCHECK_H

#include "fp8/Launch/Manifest.h"

namespace fp8::launch {

/// Whether the file's target is the manifest's chip.
std::optional<Error> checkTarget(const std::string &path,
                                 const std::string &target,
                                 const Manifest &manifest);

/// Whether the kernel's parameters, of so many bytes each, are the manifest's.
std::optional<Error> checkParameters(const std::string &path,
                                     const std::vector<uint64_t> &bytes,
                                     const Manifest &manifest);

} // namespace fp8::launch

#endif // FP8_LAUNCH_KERNELCHECK_H
