// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor map: the description of a tensor in global memory that a TMA copy
// follows. It contains the same facts as CUtensorMap of the CUDA driver and
// follows the rules of cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map
// Object Management").

#ifndef FP8_SIMULATOR_TENSORMAP_H
#define FP8_SIMULATOR_TENSORMAP_H

#include "fp8/Tensor/TensorMap.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace fp8::sim {

enum class ElementType : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz
};
using tensor::Interleave, tensor::L2Promotion, tensor::OobFill, tensor::Swizzle;

/// Bytes of one element of `type`.
unsigned elementBytes(ElementType type);

/// Dimension 0 is the innermost. `strides[i]` is the stride of dimension i + 1
/// in bytes.
struct TensorMap {
  ElementType elementType = ElementType::U8;
  unsigned rank = 0;
  uint64_t globalAddress = 0;
  std::array<uint64_t, 5> dims{};
  std::array<uint64_t, 4> strides{};
  std::array<uint32_t, 5> box{};
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1};
  Interleave interleave = Interleave::None;
  Swizzle swizzle = Swizzle::None;
  L2Promotion l2Promotion = L2Promotion::None;
  OobFill oobFill = OobFill::Zero;

  /// The rule that this map breaks, or nothing. Rules: rank 1..5 (3..5 when
  /// interleaved); address aligned to 16 bytes (32 when 32-byte interleaved);
  /// dims 1..2^32; strides multiples of 16 (32) below 2^40 and not less than
  /// what the inner dimensions span; box 1..256; box[0] bytes a multiple of 16,
  /// and within the swizzle span; element strides 1..8; NaN fill for
  /// floating-point types only.
  std::optional<std::string> validate() const;

  /// The bytes of one box in shared memory.
  uint64_t boxBytes() const;
};

} // namespace fp8::sim

#endif // FP8_SIMULATOR_TENSORMAP_H
