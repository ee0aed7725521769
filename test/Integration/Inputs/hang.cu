// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that waits for a barrier that nobody completes: the watchdog's.
// hang.sm_90a.ptx is made of it by
//   nvcc -ptx -arch=sm_90a -std=c++17 -O3 hang.cu
// in this directory.
extern "C" __global__ void hang(void *, void *, void *, void *, void *) {
  __shared__ unsigned long long never;
  unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&never));
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier)
                 : "memory");
  __syncthreads();
  asm volatile("{\n.reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra again;\n}" ::"r"(barrier)
               : "memory");
}
