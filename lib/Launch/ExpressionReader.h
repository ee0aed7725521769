// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of a manifest, from JSON.
#ifndef FP8_LIB_LAUNCH_EXPRESSIONREADER_H
#define FP8_LIB_LAUNCH_EXPRESSIONREADER_H

#include "JsonReader.h"
#include "fp8/Launch/Manifest.h"

namespace fp8::launch {

/// The index of the argument that `name` holds; throws JsonError.
unsigned readArgumentReference(const JsonValue &name, const Manifest &manifest);

/// An expression over `manifest.arguments`, which must be complete; throws
/// JsonError.
Expression readExpression(const JsonValue &json, const Manifest &manifest);

} // namespace fp8::launch

#endif // FP8_LIB_LAUNCH_EXPRESSIONREADER_H
