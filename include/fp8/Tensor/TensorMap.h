// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps, which describe how TMA copies boxes of a tensor, and their rules
// (CUDA Driver API, "Tensor Map Object Management", cuTensorMapEncodeTiled).
// The simulator has its own check of the rules.
#ifndef FP8_TENSOR_TENSORMAP_H
#define FP8_TENSOR_TENSORMAP_H

#include "fp8/Tensor/ElementType.h"

#include <vector>

namespace fp8::tensor {

/// The values are those of CUtensorMapInterleave, CUtensorMapSwizzle,
/// CUtensorMapL2promotion and CUtensorMapFloatOOBfill.
enum class Interleave : int { None, B16, B32 };
/// How TMA permutes the 16-byte chunks of rows in shared memory.
enum class Swizzle : int { None, B32, B64, B128 };
enum class L2Promotion : int { None, B64, B128, B256 };
enum class OobFill : int { Zero, NaN };

/// All swizzles, in order.
constexpr std::array<Swizzle, 4> kSwizzles = {Swizzle::None, Swizzle::B32,
                                              Swizzle::B64, Swizzle::B128};

/// The spelling in manifests: "none", "128B".
std::string_view spelling(Swizzle swizzle);

/// The bytes after which the pattern repeats along a row; 0 without a swizzle.
constexpr unsigned spanBytes(Swizzle swizzle) {
  return swizzle == Swizzle::None ? 0 : 16u << static_cast<unsigned>(swizzle);
}

// The limits of tensor maps.
constexpr int64_t kMaxRank = 5;
constexpr int64_t kMaxExtent = int64_t(1) << 32; ///< elements of a dimension
constexpr int64_t kMaxBoxExtent = 256;           ///< elements of a dimension
constexpr int64_t kMaxElementStride = 8;
/// Strides and rows of the box are multiples of this many bytes.
constexpr int64_t kGranuleBytes = 16;
/// Strides are below this many bytes.
constexpr int64_t kStrideLimitBytes = int64_t(1) << 40;

/// Lists run innermost dimension first.
struct TensorMap {
  uint64_t address = 0;
  ElementType dtype = ElementType::F32;
  std::vector<uint64_t> dims;         ///< elements
  std::vector<uint64_t> stridesBytes; ///< of dims 1 and up
  std::vector<uint32_t> box;          ///< elements
  std::vector<uint32_t> elementStrides;
  Swizzle swizzle = Swizzle::None;
  Interleave interleave = Interleave::None;
  L2Promotion l2Promotion = L2Promotion::None;
  OobFill oobFill = OobFill::Zero;
};

/// The number of bytes of which the map's address and strides must be
/// multiples.
int64_t getGranule(Interleave interleave);

/// Describes the first rule that the map breaks, and where; nothing if it
/// breaks none. Also rejects rows that overlap, which the driver accepts.
std::optional<std::string> checkTensorMap(const TensorMap &map);

} // namespace fp8::tensor

#endif // FP8_TENSOR_TENSORMAP_H
