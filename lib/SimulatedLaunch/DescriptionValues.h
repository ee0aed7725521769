// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the values of a launch description: arguments, fields, variables.
#ifndef FP8_LIB_SIMULATEDLAUNCH_DESCRIPTIONVALUES_H
#define FP8_LIB_SIMULATEDLAUNCH_DESCRIPTIONVALUES_H

#include "../Launch/JsonReader.h"
#include "fp8/SimulatedLaunch/Description.h"

namespace fp8::simulated {

/// One value; its buffers must be those of `description`. Throws JsonError, as
/// all that reads.
Value readValue(const launch::JsonValue &json, const Description &description);

/// Fields that lie in `bytes` bytes.
std::vector<ValueField> readFields(const launch::JsonValue &json,
                                   uint64_t bytes,
                                   const Description &description);

/// The bytes that a value takes; 0 if a file says it.
uint64_t sizeOf(const Value &value);

/// Of all buffers of a description, and of any value.
constexpr int64_t kMostBytes = int64_t(1) << 40;

} // namespace fp8::simulated

#endif // FP8_LIB_SIMULATEDLAUNCH_DESCRIPTIONVALUES_H
