// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a kernel takes what the manifest describes, on any backend.
#ifndef FP8_TOOLS_FP8RUN_KERNELCHECK_H
#define FP8_TOOLS_FP8RUN_KERNELCHECK_H

#include "fp8/Launch/Manifest.h"

namespace fp8::run {

/// Whether the file's target is the manifest's chip.
std::optional<launch::Error> checkTarget(const std::string &path,
                                         const std::string &target,
                                         const launch::Manifest &manifest);

/// Whether the kernel's parameters, of so many bytes each, are the manifest's.
std::optional<launch::Error> checkParameters(const std::string &path,
                                             const std::vector<uint64_t> &bytes,
                                             const launch::Manifest &manifest);

} // namespace fp8::run

#endif // FP8_TOOLS_FP8RUN_KERNELCHECK_H
