// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The textbook SGEMM: 32x32 tiles in shared memory, a 4x2 block of C in
// registers, edges guarded. C = alpha * A.B + beta * C, row-major.

constexpr int tile = 32;

extern "C" __global__ void __launch_bounds__(128)
    sgemm(const float *__restrict__ a, const float *__restrict__ b, float *c,
          int m, int n, int k, float alpha, float beta) {
  __shared__ float tileA[tile][tile + 1], tileB[tile][tile];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int row = blockIdx.y * tile, column = blockIdx.x * tile;
  float sum[4][2] = {};
  for (int start = 0; start < k; start += tile) {
    for (int i = threadIdx.x; i < tile * tile; i += 128) {
      int y = i / tile, x = i % tile;
      tileA[y][x] =
          row + y < m && start + x < k ? a[(row + y) * k + start + x] : 0;
      tileB[y][x] =
          start + y < k && column + x < n ? b[(start + y) * n + column + x] : 0;
    }
    __syncthreads();
#pragma unroll 8
    for (int i = 0; i < tile; ++i)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 2; ++x)
          sum[y][x] += tileA[ty * 4 + y][i] * tileB[i][tx * 2 + x];
    __syncthreads();
  }
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 2; ++x) {
      int r = row + ty * 4 + y, s = column + tx * 2 + x;
      if (r < m && s < n) {
        float old = beta != 0 ? beta * c[r * n + s] : 0;
        c[r * n + s] = alpha * sum[y][x] + old;
      }
    }
}
