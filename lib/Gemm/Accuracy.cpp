// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The floors of the checker.
#include "fp8/Gemm/Accuracy.h"

namespace fp8::gemm {
using tensor::ElementType;

const FrobeniusFloors *frobeniusFloors(ElementType type) {
  static constexpr FrobeniusFloors rows[] = {
      {ElementType::F8E4M3FN, 2e-4, 4e-3, 5.6e-3},
      {ElementType::F8E5M2, 3e-4, 8e-3, 8e-3},
      {ElementType::BF16, 2e-4, 1e-3, 1.4e-3},
      {ElementType::F16, 5e-5, 4e-4, 5e-4},
      {ElementType::F32, 5e-7, 2e-4, 3.5e-4},
  };
  for (const FrobeniusFloors &row : rows)
    if (row.type == type)
      return &row;
  return nullptr;
}

} // namespace fp8::gemm
