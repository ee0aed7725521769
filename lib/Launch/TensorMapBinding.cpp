// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps: evaluation with the arguments of a call.
#include "TensorMapBinding.h"

#include <algorithm>

namespace fp8::launch {
namespace {
/// Evaluates the extents. One of 0 becomes 1, and the map is then degenerate.
std::optional<Error> evaluateDims(const TensorMapSpec &spec,
                                  const std::vector<ArgumentValue> &arguments,
                                  const DeviceProperties &device,
                                  tensor::TensorMap &map, bool &degenerate) {
  for (size_t i = 0; i < spec.dims.size(); ++i) {
    auto place = [i] { return "dims[" + std::to_string(i) + "]: "; };
    Expected<int64_t> dim = spec.dims[i].evaluate(arguments, device);
    if (!dim)
      return Error{place() + dim.error()};
    if (*dim < 0 || *dim > tensor::kMaxExtent)
      return Error{place() + std::to_string(*dim) +
                   " is out of range; an extent must be 0 to 2^32"};
    degenerate |= *dim == 0;
    map.dims.push_back(std::max<int64_t>(*dim, 1));
  }
  return std::nullopt;
}

/// The stride of a degenerate map: legal, and never followed. `inner` counts
/// the bytes that the dimensions before it span.
int64_t makeLegal(int64_t stride, int64_t inner, int64_t granule) {
  int64_t least = (inner + granule - 1) / granule * granule;
  stride = std::min(std::max(stride, least), tensor::kStrideLimitBytes - 1);
  return stride / granule * granule;
}

std::optional<Error> evaluateStrides(
    const TensorMapSpec &spec, const std::vector<ArgumentValue> &arguments,
    const DeviceProperties &device, tensor::TensorMap &map, bool degenerate) {
  uint64_t inner = map.dims[0] * byteSize(spec.dtype);
  for (size_t i = 0; i < spec.stridesBytes.size(); ++i) {
    auto place = [i] { return "strides_bytes[" + std::to_string(i) + "]: "; };
    Expected<int64_t> stride = spec.stridesBytes[i].evaluate(arguments, device);
    if (!stride)
      return Error{place() + stride.error()};
    int64_t bytes = degenerate
                        ? makeLegal(*stride, inner, getGranule(spec.interleave))
                        : *stride;
    if (bytes < 0)
      return Error{place() + std::to_string(bytes) +
                   " bytes; TMA does not accept negative strides"};
    map.stridesBytes.push_back(bytes);
    inner = static_cast<uint64_t>(bytes) * map.dims[i + 1];
  }
  return std::nullopt;
}

std::optional<Error> evaluateBox(const TensorMapSpec &spec,
                                 const std::vector<ArgumentValue> &arguments,
                                 const DeviceProperties &device,
                                 tensor::TensorMap &map) {
  for (size_t i = 0; i < spec.box.size(); ++i) {
    auto place = [i] { return "box[" + std::to_string(i) + "]: "; };
    Expected<int64_t> extent = spec.box[i].evaluate(arguments, device);
    if (!extent)
      return Error{place() + extent.error()};
    if (*extent < 1 || *extent > tensor::kMaxBoxExtent)
      return Error{place() + std::to_string(*extent) +
                   " is out of range; a box has 1 to " +
                   std::to_string(tensor::kMaxBoxExtent) + " elements"};
    map.box.push_back(*extent);
  }
  return std::nullopt;
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
  bool degenerate = false;
  if (auto error = evaluateDims(spec, arguments, device, map, degenerate))
    return *error;
  if (auto error = evaluateStrides(spec, arguments, device, map, degenerate))
    return *error;
  if (auto error = evaluateBox(spec, arguments, device, map))
    return *error;
  if (auto broken = tensor::checkTensorMap(map))
    return Error{*broken};
  return map;
}

} // namespace fp8::launch
