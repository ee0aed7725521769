// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encodes the tensor maps of a launch plan for TMA.
#ifndef FP8_RUNTIME_TENSORMAP_H
#define FP8_RUNTIME_TENSORMAP_H

#include "fp8/Launch/LaunchPlan.h"
#include "fp8/Runtime/Driver.h"
#include "fp8/Runtime/Target.h"

namespace fp8::runtime {

/// Encodes `map` into `encoded`; errors name `operand`. The rules of tensor
/// maps are checked first, each with its own message, since the driver returns
/// the same code for all of them. `capability` is the capability of the GPU
/// that reads the map. For Blackwell the function clears a bit that drivers set
/// wrongly (docs/Runtime.md).
std::optional<Error> encodeTensorMap(const Driver &driver,
                                     Capability capability,
                                     const tensor::TensorMap &map,
                                     const std::string &operand,
                                     cu::TensorMap &encoded);

/// Makes an encoded map describe an array of the same shape at `address`, a
/// multiple of 16. The bit that encodeTensorMap has cleared stays clear.
std::optional<Error> moveTensorMap(const Driver &driver, Capability capability,
                                   uint64_t address, const std::string &operand,
                                   cu::TensorMap &encoded);

} // namespace fp8::runtime

#endif // FP8_RUNTIME_TENSORMAP_H
