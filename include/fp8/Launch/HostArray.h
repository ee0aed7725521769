// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of a launch in host memory, for backends that compute elsewhere.
#ifndef FP8_LAUNCH_HOSTARRAY_H
#define FP8_LAUNCH_HOSTARRAY_H

#include "fp8/Launch/Expression.h"

namespace fp8::launch {

/// The error of an argument called `name` that has elements and no address.
Error nullAddress(const std::string &name);

/// That error if the argument has elements and its address is null.
std::optional<Error> checkAddress(const std::string &name,
                                  const ArgumentValue &argument);

/// The bytes from the argument's first element to the end of its last, gaps
/// included; 0 if it has no elements. Negative strides, a null address and more
/// bytes than 64 bits count are errors, which name `name`.
Expected<uint64_t> arrayBytes(const std::string &name,
                              const ArgumentValue &argument);

/// Copies the argument's elements between two places of `arrayBytes` bytes,
/// without the gaps between elements.
void copyElements(const ArgumentValue &argument, void *to, const void *from);

} // namespace fp8::launch

#endif // FP8_LAUNCH_HOSTARRAY_H
