// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the host programs of the corpus have in common: random operands, on the
// host and on the device, and the comparison with double.
#pragma once

#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <random>
#include <type_traits>
#include <vector>

template <typename T>
struct Operand {
  std::vector<T> host;
  T *device = nullptr;

  /// Zeros.
  explicit Operand(size_t count) : host(count, T{}) { send(); }
  /// `count` numbers from -1 to 1.
  Operand(size_t count, unsigned seed) : host(count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> range(-1, 1);
    for (T &value : host)
      value = T(range(random));
    send();
  }
  explicit Operand(std::vector<T> values) : host(std::move(values)) { send(); }
  void send() {
    if (!device)
      cudaMalloc(reinterpret_cast<void **>(&device), host.size() * sizeof(T));
    cudaMemcpy(device, host.data(), host.size() * sizeof(T),
               cudaMemcpyHostToDevice);
  }
  void fetch() {
    cudaMemcpy(host.data(), device, host.size() * sizeof(T),
               cudaMemcpyDeviceToHost);
  }
  double operator[](size_t place) const { return double(float(host[place])); }
};

/// Differences of results from what they should be, in the norm of Frobenius.
struct Comparison {
  double differences = 0, squares = 0;

  template <typename T>
  void add(Operand<T> &result, const std::vector<double> &expected) {
    result.fetch();
    for (size_t i = 0; i < expected.size(); ++i) {
      double difference = result[i] - expected[i];
      differences += difference * difference;
      squares += expected[i] * expected[i];
    }
  }
  int report() const {
    cudaError_t status = cudaDeviceSynchronize();
    if (status == cudaSuccess)
      status = cudaGetLastError();
    std::printf("status %d, relative error %.3g\n", int(status),
                std::sqrt(differences / squares));
    return status != cudaSuccess;
  }
};
