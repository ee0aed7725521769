// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One algorithm of CUB on random numbers, chosen by a macro; compared with the
// same on the host.
#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <numeric>
#include <random>
#include <vector>

constexpr int kCount = 20011;

template <typename T>
struct Buffer {
  T *device = nullptr;

  explicit Buffer(size_t count) {
    cudaMalloc(reinterpret_cast<void **>(&device), count * sizeof(T));
  }
  explicit Buffer(const std::vector<T> &host) : Buffer(host.size()) {
    cudaMemcpy(device, host.data(), host.size() * sizeof(T),
               cudaMemcpyHostToDevice);
  }
  std::vector<T> read(size_t count) const {
    std::vector<T> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
  }
};

/// Asks for the workspace, and runs.
template <typename F>
void twice(F algorithm) {
  size_t bytes = 0;
  algorithm(nullptr, bytes);
  Buffer<char> workspace(bytes);
  algorithm(workspace.device, bytes);
}

int main() {
  std::mt19937 random(7);
  std::vector<unsigned> numbers(kCount);
  bool right = false;
#if defined(REDUCE)
  for (unsigned &number : numbers)
    number = random();
  Buffer<unsigned> in(numbers), out(1);
  twice([&](void *place, size_t &bytes) {
    cub::DeviceReduce::Max(place, bytes, in.device, out.device, kCount);
  });
  right = out.read(1)[0] == *std::max_element(numbers.begin(), numbers.end());
#elif defined(SCAN)
  for (unsigned &number : numbers)
    number = random() % 1000;
  Buffer<unsigned> in(numbers), out(kCount);
  twice([&](void *place, size_t &bytes) {
    cub::DeviceScan::InclusiveSum(place, bytes, in.device, out.device, kCount);
  });
  std::partial_sum(numbers.begin(), numbers.end(), numbers.begin());
  right = out.read(kCount) == numbers;
#elif defined(RADIX_SORT)
  for (unsigned &number : numbers)
    number = random();
  Buffer<unsigned> in(numbers), out(kCount);
  twice([&](void *place, size_t &bytes) {
    cub::DeviceRadixSort::SortKeys(place, bytes, in.device, out.device, kCount);
  });
  std::sort(numbers.begin(), numbers.end());
  right = out.read(kCount) == numbers;
#elif defined(RUN_LENGTH)
  for (unsigned &number : numbers)
    number = random() % 4 / 3;
  Buffer<unsigned> in(numbers), values(kCount);
  Buffer<int> lengths(kCount), runs(1);
  twice([&](void *place, size_t &bytes) {
    cub::DeviceRunLengthEncode::Encode(place, bytes, in.device, values.device,
                                       lengths.device, runs.device, kCount);
  });
  std::vector<unsigned> unrolled;
  int count = runs.read(1)[0];
  std::vector<unsigned> value = values.read(count);
  std::vector<int> length = lengths.read(count);
  for (int run = 0; run < count; ++run)
    unrolled.insert(unrolled.end(), length[run], value[run]);
  right = unrolled == numbers &&
          std::adjacent_find(value.begin(), value.end()) == value.end();
#elif defined(HISTOGRAM)
  for (unsigned &number : numbers)
    number = random() % 256;
  Buffer<unsigned> in(numbers);
  Buffer<int> counts(256);
  twice([&](void *place, size_t &bytes) {
    cub::DeviceHistogram::HistogramEven(place, bytes, in.device, counts.device,
                                        257, 0u, 256u, kCount);
  });
  std::vector<int> expected(256);
  for (unsigned number : numbers)
    ++expected[number];
  right = counts.read(256) == expected;
#endif
  cudaError_t status = cudaDeviceSynchronize();
  std::printf("status %d, %s\n", int(status),
              right ? "as on the host" : "not as on the host");
  return status != cudaSuccess || !right;
}
