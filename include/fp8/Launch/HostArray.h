// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of a launch that lie in the host's memory, for backends that
// compute elsewhere.
#ifndef FP8_LAUNCH_HOSTARRAY_H
#define FP8_LAUNCH_HOSTARRAY_H

#include "fp8/Launch/Expression.h"

namespace fp8::launch {

/// Bytes from the argument's first element to the end of its last, with what
/// lies between; 0 if it has no elements. `name` is for errors, which are
/// negative strides, no address, and more bytes than 64 bits count.
Expected<uint64_t> arrayBytes(const std::string &name,
                              const ArgumentValue &argument);

/// Copies the argument's elements between two places of `arrayBytes` bytes, and
/// nothing of what lies between them.
void copyElements(const ArgumentValue &argument, void *to, const void *from);

} // namespace fp8::launch

#endif // FP8_LAUNCH_HOSTARRAY_H
