// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver: tensor maps, in the simulator's layout.
#include "Operations.h"

#include <algorithm>
#include <cstring>

using namespace fp8;
using namespace fp8::cuda;

static_assert(sizeof(CUtensorMap) == sim::kTensorMapBytes);

FP8_CUDA_API CUresult cuTensorMapEncodeTiled(
    CUtensorMap *result, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *dims, const cuuint64_t *strides,
    const cuuint32_t *box, const cuuint32_t *elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return toDriver(onGpu([&](Gpu &gpu) {
    if (!result || rank < 1 || rank > 5 || !dims || !box || !elementStrides ||
        (rank > 1 && !strides))
      return cudaErrorInvalidValue;
    sim::TensorMap map;
    map.elementType = sim::ElementType(type);
    map.rank = rank;
    map.globalAddress = addressOf(address);
    std::copy_n(dims, rank, map.dims.begin());
    std::copy_n(box, rank, map.box.begin());
    std::copy_n(elementStrides, rank, map.elementStrides.begin());
    if (rank > 1)
      std::copy_n(strides, rank - 1, map.strides.begin());
    map.interleave = sim::Interleave(interleave);
    map.swizzle = sim::Swizzle(swizzle);
    map.l2Promotion = sim::L2Promotion(promotion);
    map.oobFill = sim::OobFill(fill);
    if (auto broken = map.validate())
      return gpu.fail(cudaErrorInvalidValue,
                      "cuTensorMapEncodeTiled: " + *broken);
    std::vector<uint8_t> bytes = map.encode();
    std::memcpy(result, bytes.data(), bytes.size());
    return cudaSuccess;
  }));
}

FP8_CUDA_API CUresult cuTensorMapReplaceAddress(CUtensorMap *target,
                                                void *address) {
  return toDriver(onGpu([&](Gpu &gpu) {
    sim::TensorMap map;
    auto broken =
        sim::TensorMap::decode(reinterpret_cast<const uint8_t *>(target), map);
    if (!broken) {
      map.globalAddress = addressOf(address);
      broken = map.validate();
    }
    if (broken)
      return gpu.fail(cudaErrorInvalidValue,
                      "cuTensorMapReplaceAddress: " + *broken);
    std::vector<uint8_t> bytes = map.encode();
    std::memcpy(target, bytes.data(), bytes.size());
    return cudaSuccess;
  }));
}
