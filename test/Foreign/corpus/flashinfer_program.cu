// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel of FlashInfer, chosen by a macro, on random operands; prints the
// relative error against double.
#include <cmath>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <random>
#include <vector>

#if defined(RMSNORM)
#include <flashinfer/norm.cuh>
#else
#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/default_prefill_params.cuh>
#include <flashinfer/attention/variants.cuh>
#if defined(DECODE)
#include <flashinfer/attention/decode.cuh>
#else
#include <flashinfer/attention/prefill.cuh>
#endif
#endif

using namespace flashinfer;

struct Operand {
  std::vector<half> host;
  half *device = nullptr;

  /// `count` numbers from -1 to 1.
  Operand(size_t count, unsigned seed) : host(count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> range(-1, 1);
    for (half &value : host)
      value = __float2half(range(random));
    cudaMalloc(reinterpret_cast<void **>(&device), count * sizeof(half));
    cudaMemcpy(device, host.data(), count * sizeof(half),
               cudaMemcpyHostToDevice);
  }
  double operator[](size_t place) const { return __half2float(host[place]); }
};

int report(cudaError_t status, const Operand &result,
           const std::vector<double> &expected) {
  std::vector<half> got(expected.size());
  cudaMemcpy(got.data(), result.device, got.size() * sizeof(half),
             cudaMemcpyDeviceToHost);
  double differences = 0, squares = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double difference = double(__half2float(got[i])) - expected[i];
    differences += difference * difference;
    squares += expected[i] * expected[i];
  }
  std::printf("status %d, relative error %.3g\n", int(status),
              std::sqrt(differences / squares));
  return status != cudaSuccess;
}

#if defined(RMSNORM)
int main() {
  const int rows = 8, columns = 512;
  const float epsilon = 1e-5f;
  Operand x(rows * columns, 1), weight(columns, 2), y(rows * columns, 3);
  cudaError_t status =
      norm::RMSNorm<half>(x.device, weight.device, y.device, rows, columns,
                          columns, columns, epsilon);
  std::vector<double> expected(rows * columns);
  for (int row = 0; row < rows; ++row) {
    double squares = 0;
    for (int i = 0; i < columns; ++i)
      squares += x[row * columns + i] * x[row * columns + i];
    double factor = 1 / std::sqrt(squares / columns + epsilon);
    for (int i = 0; i < columns; ++i)
      expected[row * columns + i] = x[row * columns + i] * factor * weight[i];
  }
  return report(status, y, expected);
}
#else
constexpr int kHeads = 2, kDepth = 128, kKeys = 192;
#if defined(DECODE)
constexpr int kQueries = 1;
#else
constexpr int kQueries = 96;
#endif

/// Softmax attention in double, (tokens, heads, depth); causal, the last query
/// seeing all keys.
std::vector<double> attend(const Operand &q, const Operand &k,
                           const Operand &v, double scale) {
  auto place = [](int token, int head) {
    return size_t(token * kHeads + head) * kDepth;
  };
  std::vector<double> result(size_t(kQueries) * kHeads * kDepth);
  for (int head = 0; head < kHeads; ++head) {
    for (int query = 0; query < kQueries; ++query) {
      int end = kKeys - kQueries + query + 1;
      std::vector<double> weights(end);
      double sum = 0;
      for (int key = 0; key < end; ++key) {
        double score = 0;
        for (int i = 0; i < kDepth; ++i)
          score += q[place(query, head) + i] * k[place(key, head) + i];
        sum += weights[key] = std::exp(score * scale);
      }
      for (int key = 0; key < end; ++key)
        for (int i = 0; i < kDepth; ++i)
          result[place(query, head) + i] +=
              weights[key] / sum * v[place(key, head) + i];
    }
  }
  return result;
}

int main() {
  using Variant = DefaultAttention<false, false, false, false>;
  constexpr PosEncodingMode kNone = PosEncodingMode::kNone;
  Operand q(kQueries * kHeads * kDepth, 1), k(kKeys * kHeads * kDepth, 2),
      v(kKeys * kHeads * kDepth, 3), o(kQueries * kHeads * kDepth, 4);
  half *workspace;
  cudaMalloc(reinterpret_cast<void **>(&workspace), 4 << 20);
  const float scale = 1 / std::sqrt(float(kDepth));
#if defined(DECODE)
  SingleDecodeParams<half, half, half> params(
      q.device, k.device, v.device, o.device, nullptr, kKeys, kHeads, kHeads,
      QKVLayout::kNHD, kDepth, -1, 0.f, scale, 1.f, 1e4f);
  cudaError_t status =
      SingleDecodeWithKVCacheDispatched<kDepth, kNone, Variant>(params,
                                                                workspace, 0);
#else
  const int row = kHeads * kDepth;
  SinglePrefillParams<half, half, half> params(
      q.device, k.device, v.device, nullptr, o.device, nullptr, nullptr,
      kHeads, kHeads, kQueries, kKeys, row, kDepth, row, kDepth, kDepth, -1,
      0.f, scale, 1.f, 1e4f);
  cudaError_t status =
      SinglePrefillWithKVCacheDispatched<kDepth, kDepth, kNone, false,
                                         MaskMode::kCausal, Variant>(
          params, workspace, 0);
#endif
  return report(status, o, attend(q, k, v, scale));
}
#endif
