// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches on arrays in the host's memory or the device's.
#ifndef FP8_RUNTIME_HOSTARGUMENTS_H
#define FP8_RUNTIME_HOSTARGUMENTS_H

#include "fp8/Runtime/Launch.h"

namespace fp8::runtime {

/// Binds the manifest to the arguments, launches and waits for the end. Memory
/// that the device cannot reach is taken for the host's: it is copied to the
/// device and, where the kernel may write, back. Elements only come back: what
/// lies between the rows of a strided argument stays as it is. The strides of
/// such arguments are not negative, and those that overlap are separate to the
/// kernel.
std::optional<Error>
runOnHost(const Kernel &kernel, const launch::Manifest &manifest,
          const std::vector<launch::ArgumentValue> &arguments);

} // namespace fp8::runtime

#endif // FP8_RUNTIME_HOSTARGUMENTS_H
