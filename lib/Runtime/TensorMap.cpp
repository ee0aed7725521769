// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plan to cuTensorMapEncodeTiled (CUDA Driver API reference, "Tensor Map
// Object Management", where its rules are).
#include "fp8/Runtime/TensorMap.h"

namespace fp8::runtime {
namespace {
/// TMA knows no 8-bit floats: they travel as bytes.
cu::TensorMapDataType dataType(tensor::ElementType type) {
  using Type = cu::TensorMapDataType;
  switch (type) {
  case tensor::ElementType::F8E4M3FN:
  case tensor::ElementType::F8E5M2:
  case tensor::ElementType::F8E8M0FNU:
  case tensor::ElementType::I8:
    return Type::UInt8;
  case tensor::ElementType::BF16:
    return Type::BFloat16;
  case tensor::ElementType::F16:
    return Type::Float16;
  case tensor::ElementType::F32:
    return Type::Float32;
  case tensor::ElementType::F64:
    return Type::Float64;
  case tensor::ElementType::I16:
    return Type::UInt16;
  case tensor::ElementType::I32:
    return Type::Int32;
  case tensor::ElementType::I64:
    return Type::Int64;
  }
  return Type::UInt8;
}

template <typename T>
std::string list(const std::vector<T> &values) {
  std::string text;
  for (T value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

std::string describe(const tensor::TensorMap &map) {
  return std::string(tensor::spelling(map.dtype)) + ", dims " + list(map.dims) +
         ", strides " + list(map.stridesBytes) + " bytes, box " +
         list(map.box) + ", swizzle " +
         std::string(tensor::spelling(map.swizzle));
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
bool isDense(const tensor::TensorMap &map) {
  uint64_t packed = tensor::byteSize(map.dtype);
  for (size_t i = 0; i + 1 < map.dims.size(); ++i) {
    packed *= map.dims[i];
    if (map.stridesBytes[i] != packed)
      return false;
  }
  return true;
}

/// From the first byte of the tensor to its last.
uint64_t spannedBytes(const tensor::TensorMap &map) {
  uint64_t bytes = map.dims[0] * tensor::byteSize(map.dtype);
  for (size_t i = 1; i < map.dims.size(); ++i)
    bytes += (map.dims[i] - 1) * map.stridesBytes[i - 1];
  return bytes;
}
} // namespace

std::optional<Error> encodeTensorMap(const Driver &driver,
                                     Capability capability,
                                     const tensor::TensorMap &map,
                                     const std::string &operand,
                                     cu::TensorMap &encoded) {
  auto what = [&] {
    return "cannot create the tensor map of '" + operand + "'";
  };
  if (auto rule = tensor::checkTensorMap(map))
    return Error{what() + ": " + *rule};
  // A map of rank 1 has no strides, but the driver wants an address.
  std::vector<uint64_t> strides = map.stridesBytes;
  strides.push_back(0);
  const uint64_t *dims = map.dims.data(), *stridesBytes = strides.data();
  const uint32_t *box = map.box.data(), *steps = map.elementStrides.data();
  auto error = driver.call(
      driver.tensorMapEncodeTiled,
      [&] { return what() + " (" + describe(map) + ")"; }, &encoded,
      dataType(map.dtype), uint32_t(map.dims.size()),
      reinterpret_cast<void *>(map.address), dims, stridesBytes, box, steps,
      map.interleave, map.swizzle, map.l2Promotion, map.oobFill);
  if (!error && mayHaveFaultyBit(capability) && !isDense(map) &&
      spannedBytes(map) < faultyBelowBytes)
    encoded.opaque[faultyWord] &= ~faultyBit;
  return error;
}

std::optional<Error> moveTensorMap(const Driver &driver, Capability capability,
                                   uint64_t address, const std::string &operand,
                                   cu::TensorMap &encoded) {
  auto what = [&] {
    return "cannot create the tensor map of '" + operand + "'";
  };
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
