// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps: evaluation with the arguments of a call.
#include "TensorMapBinding.h"

#include <algorithm>

namespace fp8::launch {
namespace {
/// Where expressions are evaluated: with these arguments, on this device.
struct Call {
  const std::vector<ArgumentValue> &arguments;
  const DeviceProperties &device;
};

/// Evaluates the expressions of the key `name`, one for each dimension.
/// `accept` takes a dimension and the number that its expression has, and says
/// what is wrong with that number. What it says is returned with the place.
template <typename Accept>
std::optional<Error> evaluateEach(const char *name,
                                  const std::vector<Expression> &expressions,
                                  const Call &call, Accept accept) {
  for (size_t i = 0; i < expressions.size(); ++i) {
    Expected<int64_t> number =
        expressions[i].evaluate(call.arguments, call.device);
    std::optional<std::string> fault =
        number ? accept(i, *number) : std::optional(number.error());
    if (fault)
      return Error{std::string(name) + "[" + std::to_string(i) +
                   "]: " + *fault};
  }
  return std::nullopt;
}

/// Evaluates the extents. One of 0 becomes 1, and the map is then degenerate.
std::optional<Error> evaluateDims(const TensorMapSpec &spec, const Call &call,
                                  tensor::TensorMap &map, bool &degenerate) {
  return evaluateEach(
      "dims", spec.dims, call,
      [&](size_t, int64_t extent) -> std::optional<std::string> {
        if (extent < 0 || extent > tensor::kMaxExtent)
          return std::to_string(extent) +
                 " is out of range; an extent must be 0 to 2^32";
        degenerate |= extent == 0;
        map.dims.push_back(std::max<int64_t>(extent, 1));
        return std::nullopt;
      });
}

/// The stride of a degenerate map: legal, and never followed. `inner` counts
/// the bytes that the dimensions before it span.
int64_t makeLegal(int64_t stride, int64_t inner, int64_t granule) {
  int64_t least = (inner + granule - 1) / granule * granule;
  stride = std::min(std::max(stride, least), tensor::kStrideLimitBytes - 1);
  return stride / granule * granule;
}

std::optional<Error> evaluateStrides(const TensorMapSpec &spec,
                                     const Call &call, tensor::TensorMap &map,
                                     bool degenerate) {
  uint64_t inner = map.dims[0] * byteSize(spec.dtype);
  return evaluateEach(
      "strides_bytes", spec.stridesBytes, call,
      [&](size_t i, int64_t stride) -> std::optional<std::string> {
        if (degenerate)
          stride = makeLegal(stride, inner, getGranule(spec.interleave));
        if (stride < 0)
          return std::to_string(stride) +
                 " bytes; TMA does not accept negative strides";
        map.stridesBytes.push_back(stride);
        inner = static_cast<uint64_t>(stride) * map.dims[i + 1];
        return std::nullopt;
      });
}

std::optional<Error> evaluateBox(const TensorMapSpec &spec, const Call &call,
                                 tensor::TensorMap &map) {
  return evaluateEach(
      "box", spec.box, call,
      [&](size_t, int64_t extent) -> std::optional<std::string> {
        if (extent < 1 || extent > tensor::kMaxBoxExtent)
          return std::to_string(extent) + " is out of range; a box has 1 to " +
                 std::to_string(tensor::kMaxBoxExtent) + " elements";
        map.box.push_back(extent);
        return std::nullopt;
      });
}
} // namespace

Expected<tensor::TensorMap>
bindTensorMap(const TensorMapSpec &spec,
              const std::vector<ArgumentValue> &arguments,
              const DeviceProperties &device) {
  tensor::TensorMap map;
  map.address = arguments[spec.argument].address;
  map.dtype = spec.dtype;
  map.elementStrides = spec.elementStrides;
  map.swizzle = spec.swizzle;
  map.interleave = spec.interleave;
  map.l2Promotion = spec.l2Promotion;
  map.oobFill = spec.oobFill;
  Call call{arguments, device};
  bool degenerate = false;
  if (auto error = evaluateDims(spec, call, map, degenerate))
    return *error;
  if (auto error = evaluateStrides(spec, call, map, degenerate))
    return *error;
  if (auto error = evaluateBox(spec, call, map))
    return *error;
  if (auto broken = tensor::checkTensorMap(map))
    return Error{*broken};
  return map;
}

} // namespace fp8::launch
