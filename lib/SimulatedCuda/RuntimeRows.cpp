// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA runtime: memory in rows, and in slices of rows.
#include "Operations.h"

using namespace fp8::cuda;

namespace {
void *at(const void *base, size_t offset) {
  return const_cast<char *>(static_cast<const char *>(base)) + offset;
}

/// Bytes from row to row: the width, rounded up to the texture alignment of a
/// GPU.
size_t pitchOf(size_t width) {
  constexpr size_t alignment = 512;
  return (width + alignment - 1) / alignment * alignment;
}

/// The rows of slice `z` from `position` on.
Rows rowsOf(const cudaPitchedPtr &whole, const cudaPos &position, size_t z) {
  return {addressOf(whole.ptr) +
              ((position.z + z) * whole.ysize + position.y) * whole.pitch +
              position.x,
          whole.pitch};
}
} // namespace

FP8_CUDA_API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch,
                                         size_t width, size_t rows) {
  *pitch = pitchOf(width);
  return cudaMalloc(pointer, *pitch * rows);
}

FP8_CUDA_API cudaError_t cudaMemcpy2DAsync(void *target, size_t targetPitch,
                                           const void *source,
                                           size_t sourcePitch, size_t width,
                                           size_t rows, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return onGpu([&](Gpu &gpu) {
    return copyRows(gpu, {addressOf(target), targetPitch},
                    {addressOf(source), sourcePitch}, width, rows, kind,
                    stream);
  });
}

FP8_CUDA_API cudaError_t cudaMemcpy2D(void *target, size_t targetPitch,
                                      const void *source, size_t sourcePitch,
                                      size_t width, size_t rows,
                                      cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(target, targetPitch, source, sourcePitch, width,
                           rows, kind, nullptr);
}

FP8_CUDA_API cudaError_t cudaMemset2DAsync(void *target, size_t pitch,
                                           int value, size_t width, size_t rows,
                                           cudaStream_t stream) {
  if (width > pitch && rows)
    return onGpu([&](Gpu &gpu) {
      return gpu.fail(cudaErrorInvalidValue,
                      "a fill has rows of " + std::to_string(width) +
                          " bytes, more than their pitch of " +
                          std::to_string(pitch));
    });
  for (size_t row = 0; row < rows; ++row)
    if (cudaError_t status =
            cudaMemsetAsync(at(target, row * pitch), value, width, stream))
      return status;
  return cudaSuccess;
}

FP8_CUDA_API cudaError_t cudaMemset2D(void *target, size_t pitch, int value,
                                      size_t width, size_t rows) {
  return cudaMemset2DAsync(target, pitch, value, width, rows, nullptr);
}

FP8_CUDA_API cudaError_t cudaMalloc3D(cudaPitchedPtr *result,
                                      cudaExtent extent) {
  *result = {nullptr, pitchOf(extent.width), extent.width, extent.height};
  return cudaMalloc(&result->ptr, result->pitch * extent.height * extent.depth);
}

FP8_CUDA_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr target, int value,
                                           cudaExtent extent,
                                           cudaStream_t stream) {
  for (size_t z = 0; z < extent.depth; ++z)
    if (cudaError_t status = cudaMemset2DAsync(
            at(target.ptr, z * target.ysize * target.pitch), target.pitch,
            value, extent.width, extent.height, stream))
      return status;
  return cudaSuccess;
}

FP8_CUDA_API cudaError_t cudaMemset3D(cudaPitchedPtr target, int value,
                                      cudaExtent extent) {
  return cudaMemset3DAsync(target, value, extent, nullptr);
}

FP8_CUDA_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *job,
                                           cudaStream_t stream) {
  return onGpu([&](Gpu &gpu) {
    if (job->srcArray || job->dstArray)
      return gpu.fail(cudaErrorNotSupported,
                      "cudaMemcpy3D of arrays is not simulated");
    for (size_t z = 0; z < job->extent.depth; ++z)
      if (cudaError_t status =
              copyRows(gpu, rowsOf(job->dstPtr, job->dstPos, z),
                       rowsOf(job->srcPtr, job->srcPos, z), job->extent.width,
                       job->extent.height, job->kind, stream))
        return status;
    return cudaSuccess;
  });
}

FP8_CUDA_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *job) {
  return cudaMemcpy3DAsync(job, nullptr);
}
