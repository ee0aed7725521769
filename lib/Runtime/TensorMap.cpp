// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plan to cuTensorMapEncodeTiled (CUDA Driver API reference, "Tensor Map
// Object Management", where its rules are).
#include "fp8/Runtime/TensorMap.h"

namespace fp8::runtime {
namespace {
/// TMA knows no 8-bit floats: they travel as bytes.
cu::TensorMapDataType dataType(launch::DataType type) {
  using Type = cu::TensorMapDataType;
  switch (type) {
  case launch::DataType::F8E4M3FN:
  case launch::DataType::F8E5M2:
  case launch::DataType::I8:
    return Type::UInt8;
  case launch::DataType::BF16:
    return Type::BFloat16;
  case launch::DataType::F16:
    return Type::Float16;
  case launch::DataType::F32:
    return Type::Float32;
  case launch::DataType::F64:
    return Type::Float64;
  case launch::DataType::I16:
    return Type::UInt16;
  case launch::DataType::I32:
    return Type::Int32;
  case launch::DataType::I64:
    return Type::Int64;
  }
  return Type::UInt8;
}

cu::TensorMapSwizzle swizzle(launch::Swizzle swizzle) {
  switch (swizzle) {
  case launch::Swizzle::None:
    return cu::TensorMapSwizzle::None;
  case launch::Swizzle::B32:
    return cu::TensorMapSwizzle::B32;
  case launch::Swizzle::B64:
    return cu::TensorMapSwizzle::B64;
  case launch::Swizzle::B128:
    return cu::TensorMapSwizzle::B128;
  }
  return cu::TensorMapSwizzle::None;
}

cu::TensorMapInterleave interleave(launch::Interleave interleave) {
  switch (interleave) {
  case launch::Interleave::None:
    return cu::TensorMapInterleave::None;
  case launch::Interleave::B16:
    return cu::TensorMapInterleave::B16;
  case launch::Interleave::B32:
    return cu::TensorMapInterleave::B32;
  }
  return cu::TensorMapInterleave::None;
}

cu::TensorMapL2Promotion l2Promotion(launch::L2Promotion promotion) {
  switch (promotion) {
  case launch::L2Promotion::None:
    return cu::TensorMapL2Promotion::None;
  case launch::L2Promotion::B64:
    return cu::TensorMapL2Promotion::B64;
  case launch::L2Promotion::B128:
    return cu::TensorMapL2Promotion::B128;
  case launch::L2Promotion::B256:
    return cu::TensorMapL2Promotion::B256;
  }
  return cu::TensorMapL2Promotion::None;
}

template <typename T>
std::string list(const std::vector<T> &values) {
  std::string text;
  for (T value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

std::string describe(const launch::BoundTensorMap &map) {
  return std::string(launch::spelling(map.dtype)) + ", dims " + list(map.dims) +
         ", strides " + list(map.stridesBytes) + " bytes, box " +
         list(map.box) + ", swizzle " +
         std::string(launch::spelling(map.swizzle));
}

/// The broken rule, or nothing. bindLaunch has checked a plan that it made.
std::optional<std::string> brokenRule(const launch::BoundTensorMap &map) {
  size_t rank = map.dims.size();
  if (rank < 1 || rank > 5)
    return "its rank is " + std::to_string(rank) + "; TMA takes 1 to 5";
  if (map.stridesBytes.size() + 1 != rank || map.box.size() != rank ||
      map.elementStrides.size() != rank)
    return "a map of rank " + std::to_string(rank) + " has " +
           std::to_string(rank - 1) + " strides and " + std::to_string(rank) +
           " extents of its box and element strides";
  uint64_t granule = map.interleave == launch::Interleave::B32 ? 32 : 16;
  if (map.address % granule)
    return "the address is not aligned to " + std::to_string(granule) +
           " bytes";
  for (size_t i = 0; i < rank; ++i) {
    std::string at = "[" + std::to_string(i) + "] is ";
    if (map.dims[i] < 1 || map.dims[i] > uint64_t(1) << 32)
      return "dims" + at + std::to_string(map.dims[i]) +
             "; TMA takes 1 to 2^32";
    if (map.box[i] < 1 || map.box[i] > 256)
      return "box" + at + std::to_string(map.box[i]) + "; TMA takes 1 to 256";
    if (map.elementStrides[i] < 1 || map.elementStrides[i] > 8)
      return "element_strides" + at + std::to_string(map.elementStrides[i]) +
             "; TMA takes 1 to 8";
    if (i + 1 < rank && (map.stridesBytes[i] % granule ||
                         map.stridesBytes[i] >= uint64_t(1) << 40))
      return "strides_bytes" + at + std::to_string(map.stridesBytes[i]) +
             "; TMA takes multiples of " + std::to_string(granule) +
             " below 2^40 (pad the rows)";
  }
  uint64_t row = uint64_t(map.box[0]) * launch::byteSize(map.dtype);
  if (map.interleave != launch::Interleave::None)
    return std::nullopt;
  if (row % 16)
    return "a row of the box has " + std::to_string(row) +
           " bytes; TMA takes multiples of 16";
  if (unsigned span = launch::spanBytes(map.swizzle); span && row > span)
    return "a row of the box has " + std::to_string(row) +
           " bytes, which do not fit the span of swizzle " +
           std::string(launch::spelling(map.swizzle));
  return std::nullopt;
}

/// Bit 85 of a map, which drivers set for every map on Blackwell. There it is
/// wrong for a tensor that is not dense and whose memory is below 128 KiB:
/// copies may fault now and then (release notes of driver 595.71.05, known
/// issues, which say to clear it; CUTLASS, copy_traits_sm90_tma.hpp, clears it
/// for dense tensors too). On Hopper the bit means nothing. No version of the
/// driver is known to be free of the fault: forward-compatible ones report the
/// number of a driver that is.
constexpr size_t faultyWord = 1;
constexpr uint64_t faultyBit = uint64_t(1) << 21;
constexpr uint64_t faultyBelowBytes = 131072;

bool mayHaveFaultyBit(Capability capability) {
  return capability.major == 10 || capability.major == 12;
}

/// Whether no byte lies between the elements.
bool isDense(const launch::BoundTensorMap &map) {
  uint64_t packed = launch::byteSize(map.dtype);
  for (size_t i = 0; i + 1 < map.dims.size(); ++i) {
    packed *= map.dims[i];
    if (map.stridesBytes[i] != packed)
      return false;
  }
  return true;
}

/// From the first byte of the tensor to its last.
uint64_t spannedBytes(const launch::BoundTensorMap &map) {
  uint64_t bytes = map.dims[0] * launch::byteSize(map.dtype);
  for (size_t i = 1; i < map.dims.size(); ++i)
    bytes += (map.dims[i] - 1) * map.stridesBytes[i - 1];
  return bytes;
}
} // namespace

std::optional<Error> encodeTensorMap(const Driver &driver,
                                     Capability capability,
                                     const launch::BoundTensorMap &map,
                                     const std::string &operand,
                                     cu::TensorMap &encoded) {
  std::string what = "cannot make the tensor map of '" + operand + "'";
  if (auto rule = brokenRule(map))
    return Error{what + ": " + *rule};
  // A map of rank 1 has no strides, but the driver wants an address.
  std::vector<uint64_t> strides = map.stridesBytes;
  strides.push_back(0);
  auto oobFill = map.oobFill == launch::OobFill::NaN
                     ? cu::TensorMapOobFill::NaN
                     : cu::TensorMapOobFill::None;
  const uint64_t *dims = map.dims.data(), *stridesBytes = strides.data();
  const uint32_t *box = map.box.data(), *steps = map.elementStrides.data();
  auto error = driver.call(
      driver.tensorMapEncodeTiled, what + " (" + describe(map) + ")", &encoded,
      dataType(map.dtype), uint32_t(map.dims.size()),
      reinterpret_cast<void *>(map.address), dims, stridesBytes, box, steps,
      interleave(map.interleave), swizzle(map.swizzle),
      l2Promotion(map.l2Promotion), oobFill);
  if (!error && mayHaveFaultyBit(capability) && !isDense(map) &&
      spannedBytes(map) < faultyBelowBytes)
    encoded.opaque[faultyWord] &= ~faultyBit;
  return error;
}

std::optional<Error> moveTensorMap(const Driver &driver, Capability capability,
                                   uint64_t address, const std::string &operand,
                                   cu::TensorMap &encoded) {
  auto what = [&] { return "cannot make the tensor map of '" + operand + "'"; };
  if (address % 16)
    return Error{what() + ": the address is not aligned to 16 bytes"};
  bool cleared = !(encoded.opaque[faultyWord] & faultyBit);
  auto error = driver.call(driver.tensorMapReplaceAddress, what, &encoded,
                           reinterpret_cast<void *>(address));
  if (!error && cleared && mayHaveFaultyBit(capability))
    encoded.opaque[faultyWord] &= ~faultyBit;
  return error;
}

} // namespace fp8::runtime
