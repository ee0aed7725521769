// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of tensor maps.

#include "fp8/Simulator/TensorMap.h"

using namespace fp8::sim;

unsigned fp8::sim::elementBytes(ElementType type) {
  switch (type) {
  case ElementType::U8:
    return 1;
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::U64:
  case ElementType::S64:
  case ElementType::F64:
    return 8;
  default:
    return 4;
  }
}

static bool isFloatingPoint(ElementType type) {
  switch (type) {
  case ElementType::U8:
  case ElementType::U16:
  case ElementType::U32:
  case ElementType::S32:
  case ElementType::U64:
  case ElementType::S64:
    return false;
  default:
    return true;
  }
}

std::optional<std::string> TensorMap::validate() const {
  auto number = [](uint64_t value) { return std::to_string(value); };
  if (rank < 1 || rank > 5)
    return "tensor map has rank " + number(rank) + "; the rule is 1 to 5";
  if (interleave != Interleave::None && rank < 3)
    return "tensor map is interleaved with rank " + number(rank) +
           "; the rule is rank 3 to 5";
  uint64_t align = interleave == Interleave::B32 ? 32 : 16;
  if (globalAddress % align)
    return "tensor map's global address is not a multiple of " + number(align) +
           " bytes";
  uint64_t bytes = elementBytes(elementType);
  // What the dimensions so far span in memory; an outer stride must not be
  // below it unless it is a broadcast.
  for (unsigned i = 0; i < rank; ++i) {
    std::string which = "dimension " + number(i);
    if (dims[i] < 1 || dims[i] > uint64_t(1) << 32)
      return "tensor map's " + which + " has extent " + number(dims[i]) +
             "; the rule is 1 to 2^32";
    if (box[i] < 1 || box[i] > 256)
      return "tensor map's box is " + number(box[i]) + " in " + which +
             "; the rule is 1 to 256";
    if (elementStrides[i] < 1 || elementStrides[i] > 8)
      return "tensor map's element stride is " + number(elementStrides[i]) +
             " in " + which + "; the rule is 1 to 8";
    if (i + 1 == rank)
      break;
    if (strides[i] % align)
      return "tensor map's stride of dimension " + number(i + 1) + " is " +
             number(strides[i]) + " bytes; the rule is a multiple of " +
             number(align);
    if (strides[i] >= uint64_t(1) << 40)
      return "tensor map's stride of dimension " + number(i + 1) +
             " is not below 2^40 bytes";
  }
  uint64_t inner = box[0] * bytes;
  if (interleave == Interleave::None) {
    if (inner % 16)
      return "tensor map's box is " + number(inner) +
             " bytes in dimension 0; the rule is a multiple of 16";
    if (swizzle != Swizzle::None && inner > spanBytes(swizzle))
      return "tensor map's box is " + number(inner) +
             " bytes in dimension 0; the rule is at most the swizzle's " +
             number(spanBytes(swizzle));
  } else if (interleave == Interleave::B32 && swizzle != Swizzle::B32) {
    return "tensor map with 32-byte interleave needs the 32-byte swizzle";
  }
  if (oobFill == OobFill::NaN && !isFloatingPoint(elementType))
    return "tensor map fills with NaN, which needs a floating-point element "
           "type";
  return std::nullopt;
}

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = elementBytes(elementType);
  for (unsigned i = 0; i < rank && i < 5; ++i)
    bytes *= (box[i] + elementStrides[i] - 1) / elementStrides[i];
  return bytes;
}
