// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor map: the description of a tensor in global memory that a TMA copy
// follows. It contains the same facts as CUtensorMap of the CUDA driver and
// follows the rules of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (CUDA
// Driver API, "Tensor Map Object Management"). Kernels see it as 128 bytes,
// whose layout is the simulator's own, as NVIDIA's is secret.

#ifndef FP8_SIMULATOR_TENSORMAP_H
#define FP8_SIMULATOR_TENSORMAP_H

#include "fp8/Tensor/TensorMap.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fp8::sim {

/// The values are those of CUtensorMapDataType.
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
  TF32Ftz,
  U4Align8,  ///< 16 of 4 bits in 8 bytes
  U4Align16, ///< 16 of 4 bits, in shared memory with 8 bytes of padding behind
  U6Align16  ///< 16 of 6 bits, in shared memory with 4 bytes of padding behind
};
constexpr unsigned kElementTypeCount = 16;

/// TMA copies groups of elements: single ones, or of sub-byte types 16 (PTX ISA
/// 5.5.1.1).
struct ElementInfo {
  std::string_view name; ///< "bf16", "16u4_align8b": as in CUtensorMapDataType
  uint8_t ptxValue;      ///< that tensormap.replace.tile.elemtype takes
  uint8_t elements;      ///< of a group
  uint8_t globalBytes;   ///< of a group
  uint8_t sharedBytes;   ///< of a group, with its padding
  bool isFloat;

  bool isPacked() const { return elements > 1; }
  bool isPadded() const { return sharedBytes != globalBytes; }
};
const ElementInfo &infoOf(ElementType type);
std::optional<ElementType> parseElementType(std::string_view name);

/// Bytes of one element of `type`, which must not be packed.
unsigned elementBytes(ElementType type);

using tensor::Interleave, tensor::L2Promotion, tensor::OobFill;

/// How TMA permutes the chunks of rows in shared memory. The values are those
/// of CUtensorMapSwizzle.
enum class Swizzle : uint8_t {
  None,
  B32,
  B64,
  B128,
  B128Atom32,
  B128Atom32Flip8,
  B128Atom64
};

/// A swizzle is an exchange of address bits by XOR: with `mask` of the address
/// shifted right by `shift`, and of some with a second term (PTX ISA 5.5.7;
/// CUDA Driver API, CUtensorMapSwizzle).
struct SwizzlePattern {
  std::string_view name; ///< as in CUtensorMapSwizzle, such as "128B_ATOM_32B"
  uint8_t ptxMode, ptxAtomicity; ///< that tensormap.replace takes
  uint8_t spanBytes; ///< after which it repeats along a row; 0: no swizzle
  uint8_t shift, mask;
  uint8_t flipShift = 0, flipMask = 0; ///< swaps halves of odd rows' 16 bytes
};
constexpr std::array<SwizzlePattern, 7> kSwizzlePatterns = {{
    {"none", 0, 0, 0, 0, 0},
    {"32B", 1, 0, 32, 3, 0x10},
    {"64B", 2, 0, 64, 3, 0x30},
    {"128B", 3, 0, 128, 3, 0x70},
    {"128B_ATOM_32B", 3, 1, 128, 2, 0x60},
    {"128B_ATOM_32B_FLIP_8B", 3, 2, 128, 2, 0x60, 4, 0x08},
    {"128B_ATOM_64B", 3, 3, 128, 1, 0x40},
}};
constexpr const SwizzlePattern &patternOf(Swizzle swizzle) {
  return kSwizzlePatterns[static_cast<size_t>(swizzle)];
}
std::optional<Swizzle> parseSwizzle(std::string_view name);
/// The bytes after which the pattern repeats along a row; 0 without a swizzle.
constexpr unsigned spanBytes(Swizzle swizzle) {
  return patternOf(swizzle).spanBytes;
}

constexpr size_t kTensorMapBytes = 128;
constexpr size_t kTensorMapAlignment = 64;

/// What the 128 bytes are. Every field of tensormap.replace (PTX ISA 9.7.9.28)
/// has its place, and holds what the instruction takes. `signature` tells a map
/// from bytes that a GPU's driver wrote, which leaves that place zero; 128 zero
/// bytes are what tensormap.replace may start from.
struct TensorMapLayout {
  uint64_t globalAddress;
  uint64_t globalStride[4]; ///< bytes
  uint32_t globalDim[5];
  uint32_t boxDim[5];
  uint32_t elementStride[5];
  uint8_t rankMinusOne;
  uint8_t elementType; ///< ElementInfo::ptxValue
  uint8_t interleave;
  uint8_t swizzleMode, swizzleAtomicity;
  uint8_t fillMode;
  uint8_t l2Promotion;
  uint8_t wholeDims : 5; ///< bit i: dimension i has 2^32 elements
  uint8_t mode : 3;      ///< TensorMapMode
  int16_t lowerCorner[3], upperCorner[3];
  uint64_t signature;
};
static_assert(sizeof(TensorMapLayout) == kTensorMapBytes);
constexpr uint64_t kTensorMapSignature = 0x0170616d54387066; ///< "fp8Tmap", 1

/// Which copies a map is for: of boxes, or of columns of pixels, as
/// convolutions take them (PTX ISA 5.5.3, 5.5.4).
enum class TensorMapMode : uint8_t { Tiled, Im2col };

/// Dimension 0 is the innermost. `strides[i]` is the stride of dimension i + 1
/// in bytes. The dimensions of an im2col map are C, one to three of W, H and D,
/// and N; its box is channels of a pixel and pixels of a column, then ones.
struct TensorMap {
  TensorMapMode mode = TensorMapMode::Tiled;
  ElementType elementType = ElementType::U8;
  unsigned rank = 0;
  uint64_t globalAddress = 0;
  std::array<uint64_t, 5> dims{};
  std::array<uint64_t, 4> strides{};
  std::array<uint32_t, 5> box{};
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1}; ///< 0: ignored by TMA
  Interleave interleave = Interleave::None; ///< others: copies are unsupported
  Swizzle swizzle = Swizzle::None;
  L2Promotion l2Promotion = L2Promotion::None;
  OobFill oobFill = OobFill::Zero;
  /// Im2col: the first and the last pixel of W, H and D that a column takes,
  /// counted from the tensor's first and last (PTX ISA 5.5.4.1).
  std::array<int16_t, 3> lowerCorner{}, upperCorner{};

  /// W, H and D of an im2col map.
  unsigned spatialDims() const { return rank - 2; }

  /// The rule that this map breaks, or nothing. Rules: rank 1..5 (3..5 when
  /// interleaved); address aligned to 16 bytes (32 when 32-byte interleaved or
  /// padded); dims 1..2^32; strides multiples of 16 (32) below 2^40; box
  /// 1..256; box[0] bytes a multiple of 16, and within the swizzle span;
  /// element strides 1..8; NaN fill for floating-point types only. Padded types
  /// take rows of whole 128 elements and boxes of 128. Im2col maps have rank 3
  /// to 5, corners that fit 16, 8 or 5 bits, and columns of 1 to 1024 pixels
  /// (cuTensorMapEncodeIm2col).
  std::optional<std::string> validate() const;

  /// The bytes of one box in shared memory, with the padding of its elements.
  uint64_t boxBytes() const;
  /// The bytes of them that TMA copies, as the mbarrier counts them.
  uint64_t copiedBytes() const;

  /// The 128 bytes. Of a map that breaks the rules, what has no place is lost.
  std::vector<uint8_t> encode() const;
  /// Reads 128 bytes into `map`. Returns why they are no map, or nothing;
  /// whether the map keeps the rules is another matter.
  static std::optional<std::string> decode(const uint8_t *bytes,
                                           TensorMap &map);
};

} // namespace fp8::sim

#endif // FP8_SIMULATOR_TENSORMAP_H
