// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps: evaluation, and the rules of cuTensorMapEncodeTiled (CUDA driver
// API, "Tensor Map Object Management").
#include "TensorMapBinding.h"

#include <algorithm>

namespace fp8::launch {
namespace {
constexpr int64_t maxDim = int64_t(1) << 32;
constexpr int64_t maxStride = (int64_t(1) << 40) - 1;

int64_t strideGranule(Interleave interleave) {
  return interleave == Interleave::B32 ? 32 : 16;
}

std::optional<Error> evaluateDims(const TensorMapSpec &spec,
                                  const std::vector<ArgumentValue> &arguments,
                                  const DeviceProperties &device,
                                  BoundTensorMap &map, bool &degenerate) {
  for (size_t i = 0; i < spec.dims.size(); ++i) {
    std::string place = "dims[" + std::to_string(i) + "]: ";
    Expected<int64_t> dim = spec.dims[i].evaluate(arguments, device);
    if (!dim)
      return Error{place + dim.error()};
    if (*dim < 0 || *dim > maxDim)
      return Error{place + std::to_string(*dim) +
                   " is out of range; an extent is from 0 to 2^32"};
    degenerate |= *dim == 0;
    map.dims.push_back(std::max<int64_t>(*dim, 1));
  }
  return std::nullopt;
}

/// Dimensions may be nested in any order: the matrices of a batch can lie one
/// after the other, or row by row.
std::optional<Error> checkOverlap(const BoundTensorMap &map) {
  std::vector<size_t> order;
  for (size_t i = 0; i < map.stridesBytes.size(); ++i)
    if (map.dims[i + 1] > 1)
      order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return map.stridesBytes[a] < map.stridesBytes[b];
  });
  uint64_t span = map.dims[0] * byteSize(map.dtype);
  for (size_t i : order) {
    uint64_t stride = map.stridesBytes[i];
    if (stride < span)
      return Error{"strides_bytes[" + std::to_string(i) +
                   "]: " + std::to_string(stride) +
                   " bytes are fewer than the " + std::to_string(span) +
                   " that the dimensions inside span; rows would overlap"};
    span = stride * map.dims[i + 1];
  }
  return std::nullopt;
}

std::optional<Error> evaluateStrides(
    const TensorMapSpec &spec, const std::vector<ArgumentValue> &arguments,
    const DeviceProperties &device, BoundTensorMap &map, bool degenerate) {
  const int64_t granule = strideGranule(spec.interleave);
  // What the dimensions before the stride's own one span.
  uint64_t inner = map.dims[0] * byteSize(spec.dtype);
  for (size_t i = 0; i < spec.stridesBytes.size(); ++i) {
    std::string place = "strides_bytes[" + std::to_string(i) + "]: ";
    Expected<int64_t> value = spec.stridesBytes[i].evaluate(arguments, device);
    if (!value)
      return Error{place + value.error()};
    int64_t stride = *value;
    if (degenerate) {
      // The rule of `bindLaunch`: legal, and never followed.
      int64_t least =
          (static_cast<int64_t>(inner) + granule - 1) / granule * granule;
      stride = std::min(std::max(stride / granule * granule, least), maxStride);
      stride = stride / granule * granule;
    }
    if (stride <= 0 || stride % granule)
      return Error{place + std::to_string(stride) +
                   " bytes; TMA takes positive multiples of " +
                   std::to_string(granule) + " (pad the rows)"};
    if (stride > maxStride)
      return Error{place + std::to_string(stride) +
                   " bytes; TMA takes strides below 2^40"};
    map.stridesBytes.push_back(stride);
    inner = static_cast<uint64_t>(stride) * map.dims[i + 1];
  }
  return degenerate ? std::nullopt : checkOverlap(map);
}

std::optional<Error> checkBox(const BoundTensorMap &map) {
  uint64_t rowBytes = uint64_t(map.box[0]) * byteSize(map.dtype);
  if (map.interleave == Interleave::None && rowBytes % 16)
    return Error{"box[0]: " + std::to_string(rowBytes) +
                 " bytes a row; TMA takes multiples of 16"};
  unsigned span = spanBytes(map.swizzle);
  if (span && map.interleave == Interleave::None && rowBytes > span)
    return Error{"box[0]: " + std::to_string(rowBytes) +
                 " bytes a row do not fit the span of swizzle " +
                 std::string(spelling(map.swizzle))};
  if (map.interleave != Interleave::None && map.dims.size() < 3)
    return Error{"interleave: an interleaved map has rank 3 to 5, not " +
                 std::to_string(map.dims.size())};
  if (map.interleave == Interleave::B32 && map.swizzle != Swizzle::B32)
    return Error{"swizzle: interleave 32B needs swizzle 32B"};
  return std::nullopt;
}

std::optional<Error> checkTypeAndAddress(const BoundTensorMap &map) {
  if (map.oobFill == OobFill::NaN &&
      (map.dtype == DataType::I8 || map.dtype == DataType::I16 ||
       map.dtype == DataType::I32 || map.dtype == DataType::I64 ||
       byteSize(map.dtype) == 1))
    return Error{"oob_fill: nan needs a floating-point type of 16 bits or "
                 "more, not " +
                 std::string(spelling(map.dtype))};
  uint64_t alignment = map.interleave == Interleave::B32 ? 32 : 16;
  if (map.address % alignment)
    return Error{"the address is not aligned to " + std::to_string(alignment) +
                 " bytes"};
  return std::nullopt;
}
} // namespace

Expected<BoundTensorMap>
bindTensorMap(const TensorMapSpec &spec,
              const std::vector<ArgumentValue> &arguments,
              const DeviceProperties &device) {
  BoundTensorMap map;
  map.address = arguments[spec.argument].address;
  map.dtype = spec.dtype;
  map.box = spec.box;
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
  if (auto error = checkBox(map))
    return *error;
  if (auto error = checkTypeAndAddress(map))
    return *error;
  return map;
}

} // namespace fp8::launch
