// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of tensor maps.
#include "fp8/Tensor/TensorMap.h"

#include <algorithm>

namespace fp8::tensor {
namespace {
using Broken = std::optional<std::string>;

std::string number(uint64_t value) { return std::to_string(value); }

std::string at(const char *list, size_t index) {
  return std::string(list) + "[" + number(index) + "]: ";
}

Broken checkRank(const TensorMap &map) {
  size_t rank = map.dims.size();
  if (rank < 1 || rank > kMaxRank)
    return "dims: a tensor map has rank 1 to " + number(kMaxRank) + ", not " +
           number(rank);
  if (map.stridesBytes.size() + 1 != rank || map.box.size() != rank ||
      map.elementStrides.size() != rank)
    return "a map of rank " + number(rank) + " has " + number(rank - 1) +
           " strides and " + number(rank) +
           " extents of its box and element strides";
  if (map.interleave != Interleave::None && rank < 3)
    return "interleave: an interleaved map has rank 3 to " + number(kMaxRank) +
           ", not " + number(rank);
  return std::nullopt;
}

Broken checkDims(const TensorMap &map) {
  for (size_t i = 0; i < map.dims.size(); ++i) {
    if (map.dims[i] < 1 || map.dims[i] > uint64_t(kMaxExtent))
      return at("dims", i) + number(map.dims[i]) + "; TMA takes 1 to 2^32";
    if (map.box[i] < 1 || map.box[i] > kMaxBoxExtent)
      return at("box", i) + number(map.box[i]) + "; TMA takes 1 to " +
             number(kMaxBoxExtent);
    if (map.elementStrides[i] < 1 || map.elementStrides[i] > kMaxElementStride)
      return at("element_strides", i) + number(map.elementStrides[i]) +
             "; TMA takes 1 to " + number(kMaxElementStride);
  }
  return std::nullopt;
}

Broken checkStrides(const TensorMap &map) {
  const uint64_t granule = getGranule(map.interleave);
  for (size_t i = 0; i < map.stridesBytes.size(); ++i) {
    uint64_t stride = map.stridesBytes[i];
    if (stride == 0 || stride % granule)
      return at("strides_bytes", i) + number(stride) +
             " bytes; TMA takes positive multiples of " + number(granule) +
             " (pad the rows)";
    if (stride >= uint64_t(kStrideLimitBytes))
      return at("strides_bytes", i) + number(stride) +
             " bytes; TMA takes strides below 2^40";
  }
  return std::nullopt;
}

/// Dimensions may be nested in any order: the matrices of a batch can lie one
/// after the other, or row by row.
Broken checkOverlap(const TensorMap &map) {
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
      return at("strides_bytes", i) + number(stride) +
             " bytes are less than the " + number(span) +
             " bytes of the inner dimensions; rows would overlap";
    span = stride * map.dims[i + 1];
  }
  return std::nullopt;
}

Broken checkBox(const TensorMap &map) {
  if (map.interleave == Interleave::B32 && map.swizzle != Swizzle::B32)
    return "swizzle: interleave 32B needs swizzle 32B";
  if (map.interleave != Interleave::None)
    return std::nullopt;
  uint64_t rowBytes = uint64_t(map.box[0]) * byteSize(map.dtype);
  if (rowBytes % kGranuleBytes)
    return "box[0]: " + number(rowBytes) +
           " bytes a row; TMA takes multiples of " + number(kGranuleBytes);
  unsigned span = spanBytes(map.swizzle);
  if (span && rowBytes > span)
    return "box[0]: " + number(rowBytes) +
           " bytes a row do not fit the span of swizzle " +
           std::string(spelling(map.swizzle));
  return std::nullopt;
}

Broken checkTypeAndAddress(const TensorMap &map) {
  // TMA copies floats of 8 bits as bytes.
  bool hasNaN = floatFormat(map.dtype) && byteSize(map.dtype) > 1;
  if (map.oobFill == OobFill::NaN && !hasNaN)
    return "oob_fill: nan needs a floating-point type of 16 bits or more, "
           "not " +
           std::string(spelling(map.dtype));
  uint64_t alignment = getGranule(map.interleave);
  if (map.address % alignment)
    return "the address is not aligned to " + number(alignment) + " bytes";
  return std::nullopt;
}
} // namespace

std::string_view spelling(Swizzle swizzle) {
  constexpr std::string_view spellings[] = {"none", "32B", "64B", "128B"};
  return spellings[static_cast<size_t>(swizzle)];
}

int64_t getGranule(Interleave interleave) {
  return interleave == Interleave::B32 ? 2 * kGranuleBytes : kGranuleBytes;
}

std::optional<std::string> checkTensorMap(const TensorMap &map) {
  for (auto check : {checkRank, checkDims, checkStrides, checkOverlap, checkBox,
                     checkTypeAndAddress})
    if (Broken broken = check(map))
      return broken;
  return std::nullopt;
}

} // namespace fp8::tensor
