// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches on arrays in the memory of the host or the device.
#ifndef FP8_RUNTIME_HOSTARGUMENTS_H
#define FP8_RUNTIME_HOSTARGUMENTS_H

#include "fp8/Runtime/Launch.h"

namespace fp8::runtime {

/// Binds the manifest to the arguments, launches and waits for the end. Memory
/// that the device cannot access is treated as host memory: it is copied to the
/// device and, if the kernel may write it, back. Only elements are copied back;
/// the gaps between the rows of a strided argument are unchanged. The strides
/// of such arguments must not be negative. If such arguments overlap, the
/// kernel sees separate copies.
std::optional<Error>
runOnHost(const Kernel &kernel, const launch::Manifest &manifest,
          const std::vector<launch::ArgumentValue> &arguments);

} // namespace fp8::runtime

#endif // FP8_RUNTIME_HOSTARGUMENTS_H
