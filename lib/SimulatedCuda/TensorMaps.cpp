// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver: tensor maps, in the simulator's layout.
#include "Operations.h"

#include <algorithm>
#include <cstring>

using namespace fp8;
using namespace fp8::cuda;

static_assert(sizeof(CUtensorMap) == sim::kTensorMapBytes);

namespace {
/// What both kinds of map have.
struct Tensor {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void *address;
  const cuuint64_t *dims, *strides;
  const cuuint32_t *elementStrides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;

  bool isGiven() const {
    return rank >= 1 && rank <= 5 && dims && elementStrides &&
           (rank == 1 || strides);
  }
  sim::TensorMap map() const {
    sim::TensorMap map;
    map.elementType = sim::ElementType(type);
    map.rank = rank;
    map.globalAddress = addressOf(address);
    std::copy_n(dims, rank, map.dims.begin());
    std::copy_n(elementStrides, rank, map.elementStrides.begin());
    if (rank > 1)
      std::copy_n(strides, rank - 1, map.strides.begin());
    map.interleave = sim::Interleave(interleave);
    map.swizzle = sim::Swizzle(swizzle);
    map.l2Promotion = sim::L2Promotion(promotion);
    map.oobFill = sim::OobFill(fill);
    return map;
  }
};

/// Writes the map to `result`, unless it breaks the rules of `function`.
cudaError_t store(Gpu &gpu, const char *function, const sim::TensorMap &map,
                  CUtensorMap *result) {
  if (auto broken = map.validate())
    return gpu.fail(cudaErrorInvalidValue,
                    std::string(function) + ": " + *broken);
  std::vector<uint8_t> bytes = map.encode();
  std::memcpy(result, bytes.data(), bytes.size());
  return cudaSuccess;
}
} // namespace

FP8_CUDA_API CUresult cuTensorMapEncodeTiled(
    CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *dims, const cuuint64_t *strides,
    const cuuint32_t *box, const cuuint32_t *elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const Tensor tensor{type,           rank,       address, dims,      strides,
                      elementStrides, interleave, swizzle, promotion, fill};
  return toDriver(onGpu([&](Gpu &gpu) {
    if (!result || !box || !tensor.isGiven())
      return cudaErrorInvalidValue;
    sim::TensorMap map = tensor.map();
    std::copy_n(box, rank, map.box.begin());
    return store(gpu, "cuTensorMapEncodeTiled", map, result);
  }));
}

FP8_CUDA_API CUresult cuTensorMapEncodeIm2col(
    CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *dims, const cuuint64_t *strides,
    const int *lowerCorner, const int *upperCorner, cuuint32_t channels,
    cuuint32_t pixels, const cuuint32_t *elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const Tensor tensor{type,           rank,       address, dims,      strides,
                      elementStrides, interleave, swizzle, promotion, fill};
  return toDriver(onGpu([&](Gpu &gpu) {
    if (!result || !lowerCorner || !upperCorner || !tensor.isGiven() ||
        rank < 3)
      return cudaErrorInvalidValue;
    sim::TensorMap map = tensor.map();
    map.mode = sim::TensorMapMode::Im2col;
    map.box = {channels, pixels, 1, 1, 1};
    map.elementStrides[0] = 1; // which TMA ignores
    std::copy_n(lowerCorner, rank - 2, map.lowerCorner.begin());
    std::copy_n(upperCorner, rank - 2, map.upperCorner.begin());
    return store(gpu, "cuTensorMapEncodeIm2col", map, result);
  }));
}

FP8_CUDA_API CUresult cuTensorMapReplaceAddress(CUtensorMap *target,
                                                void *address) {
  return toDriver(onGpu([&](Gpu &gpu) {
    sim::TensorMap map;
    auto broken =
        sim::TensorMap::decode(reinterpret_cast<const uint8_t *>(target), map);
    map.globalAddress = addressOf(address);
    if (broken)
      return gpu.fail(cudaErrorInvalidValue,
                      "cuTensorMapReplaceAddress: " + *broken);
    return store(gpu, "cuTensorMapReplaceAddress", map, target);
  }));
}
