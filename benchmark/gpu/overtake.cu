// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Does a bulk copy overtake loads of shared memory whose thread has arrived?
//
// A ring of one slot: a producer waits until the slot is free and copies the
// next generation into it; 128 threads load it and arrive, and count words of
// another generation. What stands between the loads and the arrival is the
// variant. Other warps keep shared memory busy by bank conflicts.
//
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a overtake.cu

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int kLoads = 32, kReaders = 128, kWords = kLoads * kReaders;
constexpr int kBytes = kWords * 4, kGenerations = 16, kLaps = 20000;
constexpr int kOperandBytes = 32768, kNoiseBytes = 4096;
constexpr int kSharedBytes = kBytes + kOperandBytes + kNoiseBytes + 64;

enum Between { Nothing, Product, SmallWgmma, LargeWgmma, Branch, Wait, Fence };

struct Shared {
  uint32_t slot, operands, noise, full, empty, other;
  volatile int *done;
};

__device__ uint32_t addressOf(const void *p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

__device__ void init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(count));
}

__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\n"
               "AGAIN:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra AGAIN;\n}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

__device__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

/// Products of zeros, and the wait for them.
template <int Count>
__device__ float multiply(const Shared &shared) {
  auto descriptor = [](uint32_t at) {
    return uint64_t(at >> 4) | uint64_t(1) << 16 | uint64_t(8) << 32;
  };
  uint64_t a = descriptor(shared.operands),
           b = descriptor(shared.operands + 16384);
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int n = 0; n < Count; ++n)
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                 "{%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  return d[0] + d[3];
}

__device__ void produce(const Shared &shared, const uint32_t *source) {
  for (int lap = 0; lap < kLaps; ++lap) {
    wait(shared.empty, (lap & 1) ^ 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared.full),
                 "r"(kBytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                 "bytes [%0], [%1], %2, [%3];" ::"r"(shared.slot),
                 "l"(source + size_t(lap % kGenerations) * kWords), "r"(kBytes),
                 "r"(shared.full)
                 : "memory");
  }
}

__device__ void makeNoise(const Shared &shared, int *sink) {
  uint32_t sum = 0, at = shared.noise + threadIdx.x % 32 * 128;
  while (!*shared.done)
    for (int i = 0; i < 16; ++i) {
      uint32_t word;
      asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(word) : "r"(at));
      sum += word;
    }
  if (sum)
    *sink = 1;
}

/// stride: bytes between the words that the lanes load at once; with 128 all
/// of them lie in one bank.
template <Between What>
__device__ void consume(const Shared &shared, unsigned long long *late,
                        int stride, int *sink) {
  unsigned long long wrong = 0;
  float used = 0;
  uint32_t step = stride == 4 ? 128 : 4;
  uint32_t begin = threadIdx.x % 32 * stride + threadIdx.x / 32 * 4096;
  for (int lap = 0; lap < kLaps; ++lap) {
    wait(shared.full, lap & 1);
    uint32_t words[kLoads], all = 0, product = 1;
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      asm volatile("ld.shared.u32 %0, [%1];"
                   : "=r"(words[i])
                   : "r"(shared.slot + begin + i * step)
                   : "memory");
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      all |= words[i];
      product += words[i] * (i + 3);
    }
    if (What == SmallWgmma)
      used += multiply<1>(shared);
    if (What == LargeWgmma)
      used += multiply<16>(shared);
    if (What == Branch)
      asm volatile("{.reg .pred p; setp.eq.u32 p, %0, -1; @p trap;}" ::"r"(all)
                   : "memory");
    if (What == Wait)
      wait(shared.other, 0);
    if (What == Fence)
      asm volatile("fence.proxy.async;" ::: "memory");
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      arrive(shared.empty);
    // The compiler moves no comparison in front of the arrival: what it
    // compares with is not there yet.
    uint32_t expected;
    asm volatile("ld.volatile.shared.u32 %0, [%1];"
                 : "=r"(expected)
                 : "r"(shared.noise)
                 : "memory");
    expected += lap % kGenerations + 1;
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      wrong += words[i] != expected;
    used += What == Product && product == 0;
  }
  if (wrong)
    atomicAdd(late, wrong);
  if (used != 0)
    *sink = 1;
}

template <Between What>
__global__ void __launch_bounds__(1024)
    ring(const uint32_t *source, unsigned long long *late, int stride,
         int *sink) {
  extern __shared__ __align__(1024) uint8_t memory[];
  uint8_t *zeros = memory + kBytes, *bars = zeros + kOperandBytes + kNoiseBytes;
  Shared shared = {addressOf(memory),
                   addressOf(zeros),
                   addressOf(zeros) + kOperandBytes,
                   addressOf(bars),
                   addressOf(bars + 8),
                   addressOf(bars + 16),
                   (volatile int *)(bars + 32)};
  for (int i = threadIdx.x; i < (kOperandBytes + kNoiseBytes) / 4;
       i += blockDim.x)
    ((uint32_t *)zeros)[i] = 0;
  if (threadIdx.x == 0) {
    init(shared.full, 1);
    init(shared.empty, kReaders / 32);
    init(shared.other, 1);
    *shared.done = 0;
    arrive(shared.other);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x < kReaders) {
    consume<What>(shared, late, stride, sink);
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (threadIdx.x == 0)
      *shared.done = 1;
  } else if (threadIdx.x == kReaders) {
    produce(shared, source);
  } else if (threadIdx.x >= kReaders + 32) {
    makeNoise(shared, sink);
  }
}

void check(cudaError_t status) {
  if (status == cudaSuccess)
    return;
  std::printf("%s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <Between What>
void measure(const char *name, const uint32_t *source, int multiprocessors) {
  unsigned long long *late, found;
  int *sink;
  check(cudaMalloc(&late, sizeof found));
  check(cudaMalloc(&sink, sizeof *sink));
  check(cudaFuncSetAttribute(
      ring<What>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  for (int noisy : {0, 8, 27})
    for (int stride : {4, 128}) {
      check(cudaMemset(late, 0, sizeof found));
      ring<What>
          <<<multiprocessors, kReaders + 32 * (1 + noisy), kSharedBytes>>>(
              source, late, stride, sink);
      check(cudaDeviceSynchronize());
      check(cudaMemcpy(&found, late, sizeof found, cudaMemcpyDeviceToHost));
      std::printf("%-28s | %2d noisy warps | stride %3d | %.6f%% overtaken\n",
                  name, noisy, stride,
                  100.0 * double(found) /
                      (double(multiprocessors) * kLaps * kWords));
    }
}

int main() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s\n", properties.name);
  static uint32_t words[kGenerations * kWords];
  for (int n = 0; n < kGenerations * kWords; ++n)
    words[n] = n / kWords + 1;
  uint32_t *source;
  check(cudaMalloc(&source, sizeof words));
  check(cudaMemcpy(source, words, sizeof words, cudaMemcpyHostToDevice));
  int count = properties.multiProcessorCount;
  measure<Nothing>("nothing", source, count);
  measure<Product>("a product that is used later", source, count);
  measure<SmallWgmma>("a wait for one wgmma", source, count);
  measure<LargeWgmma>("a wait for sixteen wgmma", source, count);
  measure<Branch>("a branch on the words", source, count);
  measure<Wait>("a wait for another mbarrier", source, count);
  measure<Fence>("fence.proxy.async", source, count);
}
