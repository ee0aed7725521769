// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps of a manifest with the numbers of one call.
#ifndef FP8_LIB_LAUNCH_TENSORMAPBINDING_H
#define FP8_LIB_LAUNCH_TENSORMAPBINDING_H

#include "fp8/Launch/LaunchPlan.h"

namespace fp8::launch {

/// Evaluates `spec` and checks the rules of cuTensorMapEncodeTiled.
Expected<tensor::TensorMap>
bindTensorMap(const TensorMapSpec &spec,
              const std::vector<ArgumentValue> &arguments,
              const DeviceProperties &device);

} // namespace fp8::launch

#endif // FP8_LIB_LAUNCH_TENSORMAPBINDING_H
