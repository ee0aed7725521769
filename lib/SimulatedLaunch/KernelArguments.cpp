// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch plan to simulator.
#include "KernelArguments.h"

#include <algorithm>

namespace fp8::simulated {
namespace {
/// TMA knows no 8-bit floats: they travel as bytes, as with
/// CU_TENSOR_MAP_DATA_TYPE_UINT8.
sim::ElementType elementType(tensor::ElementType type) {
  switch (type) {
  case tensor::ElementType::F8E4M3FN:
  case tensor::ElementType::F8E5M2:
  case tensor::ElementType::F8E8M0FNU:
  case tensor::ElementType::I8:
    return sim::ElementType::U8;
  case tensor::ElementType::BF16:
    return sim::ElementType::BF16;
  case tensor::ElementType::F16:
    return sim::ElementType::F16;
  case tensor::ElementType::F32:
    return sim::ElementType::F32;
  case tensor::ElementType::F64:
    return sim::ElementType::F64;
  case tensor::ElementType::I16:
    return sim::ElementType::U16;
  case tensor::ElementType::I32:
    return sim::ElementType::S32;
  case tensor::ElementType::I64:
    return sim::ElementType::S64;
  }
  return sim::ElementType::U8;
}

sim::TensorMap tensorMap(const tensor::TensorMap &bound) {
  // L2 promotion changes speed only, which the simulator does not model.
  sim::TensorMap map;
  map.elementType = elementType(bound.dtype);
  map.rank = bound.dims.size();
  map.globalAddress = bound.address;
  std::copy(bound.dims.begin(), bound.dims.end(), map.dims.begin());
  std::copy(bound.stridesBytes.begin(), bound.stridesBytes.end(),
            map.strides.begin());
  std::copy(bound.box.begin(), bound.box.end(), map.box.begin());
  std::copy(bound.elementStrides.begin(), bound.elementStrides.end(),
            map.elementStrides.begin());
  map.interleave = bound.interleave;
  map.swizzle = sim::Swizzle(bound.swizzle);
  map.oobFill = bound.oobFill;
  return map;
}

sim::KernelArgument scalar(const launch::BoundScalar &bound) {
  std::vector<uint8_t> bytes(tensor::byteSize(bound.type));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] =
        static_cast<uint8_t>(static_cast<uint64_t>(bound.value) >> (8 * i));
  return sim::KernelArgument::bytes(std::move(bytes));
}
} // namespace

std::vector<sim::KernelArgument>
kernelArguments(const std::vector<launch::BoundParameter> &parameters) {
  std::vector<sim::KernelArgument> arguments;
  for (const launch::BoundParameter &parameter : parameters) {
    if (const auto *map = std::get_if<tensor::TensorMap>(&parameter))
      arguments.push_back(sim::KernelArgument::tensorMap(tensorMap(*map)));
    else if (const auto *pointer =
                 std::get_if<launch::BoundPointer>(&parameter))
      arguments.push_back(sim::KernelArgument::value(pointer->address));
    else
      arguments.push_back(scalar(std::get<launch::BoundScalar>(parameter)));
  }
  return arguments;
}

} // namespace fp8::simulated
