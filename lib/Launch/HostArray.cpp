// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strided arrays in the host's memory.
#include "fp8/Launch/HostArray.h"

#include <algorithm>
#include <cstring>

namespace fp8::launch {
namespace {
bool isEmpty(const ArgumentValue &argument) {
  return std::count(argument.shape.begin(), argument.shape.end(), 0) != 0;
}

/// Calls `copy(offset, count)`, in bytes, for each run of elements that lie
/// side by side, from dimension `axis` on.
template <typename Copy>
void forEachRun(const ArgumentValue &argument, size_t axis, uint64_t offset,
                const Copy &copy) {
  uint64_t size = byteSize(argument.dtype);
  if (axis == argument.shape.size())
    return copy(offset, size);
  uint64_t extent = argument.shape[axis], stride = argument.strides[axis];
  if (axis + 1 == argument.shape.size() && stride == 1)
    return copy(offset, extent * size);
  for (uint64_t i = 0; i < extent; ++i)
    forEachRun(argument, axis + 1, offset + i * stride * size, copy);
}
} // namespace

Error nullAddress(const std::string &name) {
  return {"argument '" + name +
          "' has elements but no memory: its address is null"};
}

std::optional<Error> checkAddress(const std::string &name,
                                  const ArgumentValue &argument) {
  if (argument.address || isEmpty(argument))
    return std::nullopt;
  return nullAddress(name);
}

Expected<uint64_t> arrayBytes(const std::string &name,
                              const ArgumentValue &argument) {
  if (isEmpty(argument))
    return uint64_t(0);
  uint64_t elements = 1;
  for (size_t axis = 0; axis < argument.shape.size(); ++axis) {
    if (argument.strides[axis] < 0)
      return Error{"argument '" + name + "' has a stride of " +
                   std::to_string(argument.strides[axis]) + " in dimension " +
                   std::to_string(axis) +
                   "; copy it so that no stride is negative"};
    uint64_t step;
    if (__builtin_mul_overflow(uint64_t(argument.shape[axis] - 1),
                               uint64_t(argument.strides[axis]), &step) ||
        __builtin_add_overflow(elements, step, &elements))
      return Error{"argument '" + name +
                   "' spans more bytes than 64 bits can count"};
  }
  if (auto error = checkAddress(name, argument))
    return *error;
  uint64_t bytes;
  if (__builtin_mul_overflow(elements, uint64_t(byteSize(argument.dtype)),
                             &bytes))
    return Error{"argument '" + name +
                 "' spans more bytes than 64 bits can count"};
  return bytes;
}

void copyElements(const ArgumentValue &argument, void *to, const void *from) {
  if (isEmpty(argument))
    return;
  forEachRun(argument, 0, 0, [&](uint64_t offset, uint64_t count) {
    std::memcpy(static_cast<uint8_t *>(to) + offset,
                static_cast<const uint8_t *>(from) + offset, count);
  });
}

} // namespace fp8::launch
