// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole-warp shuffles of every kind: butterfly sum, prefix sum, rotation, and a
// maximum of pairs; a ragged last block.
#include <cstdint>

extern "C" __global__ void __launch_bounds__(256)
    warp_reduce(const int *in, int *sums, int *prefixes, int *rotated,
                int count) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int value = at < count ? in[at] : 0;
  int sum = value, prefix = value;
  for (int offset = 16; offset; offset /= 2)
    sum += __shfl_xor_sync(~0u, sum, offset);
  for (int offset = 1; offset < 32; offset *= 2) {
    int below = __shfl_up_sync(~0u, prefix, offset);
    if (lane >= offset)
      prefix += below;
  }
  int neighbour = __shfl_down_sync(~0u, value, 1, 8);
  if (at >= count)
    return;
  if (lane == 0)
    sums[at / 32] = sum;
  prefixes[at] = prefix;
  rotated[at] = max(value, neighbour);
}
