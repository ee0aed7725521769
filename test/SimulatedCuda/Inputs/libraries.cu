// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Libraries of the CUDA runtime: a kernel and a variable of a text.
#include <cstdio>
#include <cuda_runtime.h>

static const char kText[] = R"(
.version 8.8
.target sm_90a
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.extern .shared .align 16 .b8 words[];
.visible .entry twice(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>;
  ld.param.u64 %d0, [out];
  ld.global.u32 %r0, [factor];
  mov.u32 %r1, %dynamic_smem_size;
  mad.lo.u32 %r2, %r0, 2, %r1;
  st.global.u32 [%d0], %r2;
  ret;
}
)";

int main() {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr, none = nullptr;
  std::printf("loaded: %d\n",
              int(cudaLibraryLoadData(&library, kText, nullptr, nullptr, 0,
                                      nullptr, nullptr, 0)));
  std::printf("kernels: %d %d\n",
              int(cudaLibraryGetKernel(&kernel, library, "twice")),
              int(cudaLibraryGetKernel(&none, library, "thrice")));
  void *factor = nullptr;
  size_t bytes = 0;
  std::printf("variable: %d",
              int(cudaLibraryGetGlobal(&factor, &bytes, library, "factor")));
  std::printf(", %zu bytes\n", bytes);
  unsigned value = 5, *out = nullptr;
  cudaMemcpy(factor, &value, 4, cudaMemcpyHostToDevice);
  cudaMalloc(&out, 4);
  void *arguments[] = {&out};
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.dynamicSmemBytes = 100000;
  std::printf("too much: %d\n",
              int(cudaLaunchKernelExC(&config, kernel, arguments)));
  std::printf(
      "allowed: %d\n",
      int(cudaKernelSetAttributeForDevice(
          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000, 0)));
  std::printf("launched: %d\n",
              int(cudaLaunchKernelExC(&config, kernel, arguments)));
  cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost);
  std::printf("result: %u\n", value);
  std::printf("unloaded: %d\n", int(cudaLibraryUnload(library)));
}
