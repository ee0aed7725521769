// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FlashInfer's choice of the largest elements of a row, by CTAs that meet in
// global memory; prints the relative error of the sorted results.
#include "operands.h"

#include <algorithm>
#include <flashinfer/math.cuh>
#include <flashinfer/topk.cuh>
#include <functional>

using namespace flashinfer::sampling;

int main() {
  // More elements than the shared memory of a CTA takes.
  constexpr uint32_t kRows = 2, kColumns = 70000, kChosen = 50;
  Operand<float> x(size_t(kRows) * kColumns, 1),
      values(size_t(kRows) * kChosen);
  Operand<int> indices(size_t(kRows) * kChosen);
  RadixRowState *states;
  constexpr size_t kScratch = 1 << 20;
  cudaMalloc(reinterpret_cast<void **>(&states), kScratch);
  cudaMemset(states, 0, kScratch);
  cudaError_t status = RadixTopKMultiCTA<float, int>(
      x.device, indices.device, values.device, nullptr, kRows, kChosen,
      kColumns, states, /*deterministic=*/true);
  if (status != cudaSuccess)
    return 1;
  indices.fetch();
  values.fetch();
  std::vector<double> right;
  for (uint32_t row = 0; row < kRows; ++row) {
    auto chosen = values.host.begin() + row * kChosen;
    for (uint32_t n = 0; n < kChosen; ++n)
      if (x.host[size_t(row) * kColumns + indices.host[row * kChosen + n]] !=
          chosen[n])
        return 1;
    std::sort(chosen, chosen + kChosen, std::greater<>());
    auto begin = x.host.begin() + size_t(row) * kColumns;
    std::partial_sort(begin, begin + kChosen, begin + kColumns,
                      std::greater<>());
    right.insert(right.end(), begin, begin + kChosen);
  }
  values.send();
  Comparison comparison;
  comparison.add(values, right);
  return comparison.report();
}
