// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of CUDA that the simulated GPU lacks (names.py).
#include "Gpu.h"

extern "C" int fp8CudaRefuse(const char *function) {
  return fp8::cuda::onGpu(
      [&](fp8::cuda::Gpu &gpu) { return gpu.refuse(function); });
}
