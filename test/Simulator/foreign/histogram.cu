// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A histogram in shared memory, added to global memory by atomics; the largest
// element and a 64-bit sum on the way.
#include <cstdint>

extern "C" __global__ void __launch_bounds__(128)
    histogram(const uint8_t *in, uint32_t *bins, uint32_t *largest,
              unsigned long long *sum, int count) {
  __shared__ uint32_t local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  uint32_t most = 0;
  unsigned long long total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    uint8_t value = in[i];
    atomicAdd(&local[value], 1u);
    most = max(most, uint32_t(value));
    total += value;
  }
  atomicMax(largest, most);
  atomicAdd(sum, total);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (local[i])
      atomicAdd(&bins[i], local[i]);
}
