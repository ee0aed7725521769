// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Idioms of CUDA C++ that threads synchronise by, each in a kernel that a macro
// chooses. The program compares the results with double on the host.
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/semaphore>
#include <random>
#include <vector>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

/// Device memory that holds numbers; the values repeat with the seed.
template <typename T>
struct Buffer {
  T *device = nullptr;
  std::vector<T> host;

  explicit Buffer(size_t count, T value = T(0)) : host(count, value) { send(); }
  Buffer(size_t count, unsigned seed, float range) : host(count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> numbers(-range, range);
    for (T &value : host)
      value = T(numbers(random));
    send();
  }
  void send() {
    cudaMalloc(reinterpret_cast<void **>(&device), host.size() * sizeof(T));
    cudaMemcpy(device, host.data(), host.size() * sizeof(T),
               cudaMemcpyHostToDevice);
  }
  std::vector<T> read() const {
    std::vector<T> now(host.size());
    cudaMemcpy(now.data(), device, now.size() * sizeof(T),
               cudaMemcpyDeviceToHost);
    return now;
  }
};

/// Prints the error in the Frobenius norm.
int verdict(const std::vector<float> &got, const std::vector<double> &want) {
  double error = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    error += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  error = std::sqrt(error / size);
  std::printf("relative error %g\n", error);
  return error < 1e-5 ? 0 : 1;
}

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), int grid, int block, int cluster,
            int bytes, bool programmatic, Arguments... arguments) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       bytes);
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = bytes;
  cudaLaunchAttribute attributes[2];
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {unsigned(cluster), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = programmatic;
  config.attrs = attributes;
  config.numAttrs = 2;
  if (cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...) !=
      cudaSuccess)
    std::printf("launch failed\n");
}

#if defined(BARRIER_RING)
// Warp 0 fills a ring of slots by bulk copies; three warps add up the rows.
// Both sides meet at objects of cuda::barrier.
constexpr int kRows = 40, kWidth = 96, kSlots = 3;

__global__ void barrierRing(const float *in, float *sums) {
  __shared__ alignas(128) float slots[kSlots][kWidth];
  __shared__ Barrier full[kSlots], empty[kSlots];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kSlots; ++i) {
      init(&full[i], 1);
      init(&empty[i], kWidth);
    }
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  in += blockIdx.x * kRows * kWidth;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0)
      for (int row = 0; row < kRows; ++row) {
        int slot = row % kSlots;
        if (row >= kSlots)
          empty[slot].wait_parity((row / kSlots - 1) & 1);
        cuda::device::experimental::cp_async_bulk_global_to_shared(
            slots[slot], in + row * kWidth, sizeof(slots[slot]), full[slot]);
        (void)cuda::device::barrier_arrive_tx(full[slot], 1,
                                              sizeof(slots[slot]));
      }
    return;
  }
  float sum = 0;
  for (int row = 0; row < kRows; ++row) {
    int slot = row % kSlots;
    full[slot].wait_parity(row / kSlots & 1);
    sum += slots[slot][threadIdx.x - 32];
    cuda::device::experimental::fence_proxy_async_shared_cta();
    (void)empty[slot].arrive();
  }
  sums[blockIdx.x * kWidth + threadIdx.x - 32] = sum;
}

int main() {
  constexpr int kBlocks = 4;
  Buffer<float> in(kBlocks * kRows * kWidth, 1, 1.0f), out(kBlocks * kWidth);
  launch(barrierRing, kBlocks, 32 + kWidth, 1, 0, false, in.device, out.device);
  std::vector<double> want(kBlocks * kWidth);
  for (int b = 0; b < kBlocks; ++b)
    for (int r = 0; r < kRows; ++r)
      for (int c = 0; c < kWidth; ++c)
        want[b * kWidth + c] += in.host[(b * kRows + r) * kWidth + c];
  return verdict(out.read(), want);
}

#elif defined(PIPELINE)
// A cuda::pipeline of the whole block with roles: half of the threads copy, by
// cuda::memcpy_async, and the others compute.
constexpr int kRows = 24, kWidth = 64, kStages = 4;

__global__ void pipelineRoles(const float *in, float *out) {
  constexpr auto scope = cuda::thread_scope_block;
  __shared__ cuda::pipeline_shared_state<scope, kStages> state;
  __shared__ alignas(16) float stages[kStages][kWidth];
  auto block = cg::this_thread_block();
  const bool produces = threadIdx.x < 64;
  auto pipe = cuda::make_pipeline(block, &state,
                                  produces ? cuda::pipeline_role::producer
                                           : cuda::pipeline_role::consumer);
  in += blockIdx.x * kRows * kWidth;
  out += blockIdx.x * kWidth;
  if (produces) {
    for (int row = 0; row < kRows; ++row) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stages[row % kStages][threadIdx.x],
                         &in[row * kWidth + threadIdx.x], sizeof(float), pipe);
      pipe.producer_commit();
    }
    return;
  }
  const int column = threadIdx.x - 64;
  float most = -INFINITY, sum = 0;
  for (int row = 0; row < kRows; ++row) {
    pipe.consumer_wait();
    // Each reads what another thread has copied.
    float value = stages[row % kStages][(column + row) % kWidth];
    pipe.consumer_release();
    most = fmaxf(most, value);
    sum += value * value;
  }
  out[column] = most + sum;
}

int main() {
  constexpr int kBlocks = 3;
  Buffer<float> in(kBlocks * kRows * kWidth, 2, 1.0f), out(kBlocks * kWidth);
  launch(pipelineRoles, kBlocks, 128, 1, 0, false, in.device, out.device);
  std::vector<double> want(kBlocks * kWidth);
  for (int b = 0; b < kBlocks; ++b)
    for (int c = 0; c < kWidth; ++c) {
      double most = -INFINITY, sum = 0;
      for (int r = 0; r < kRows; ++r) {
        double value = in.host[(b * kRows + r) * kWidth + (c + r) % kWidth];
        most = std::max(most, value);
        sum += value * value;
      }
      want[b * kWidth + c] = most + sum;
    }
  return verdict(out.read(), want);
}

#elif defined(CLUSTER_SOFTMAX)
// A row belongs to a cluster of four CTAs, which reduce through each other's
// shared memory between cluster.sync()s.
constexpr int kWidth = 1024, kCtas = 4;

__global__ void clusterSoftmax(const float *in, float *out) {
  auto cluster = cg::this_cluster();
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  __shared__ float parts[32], mine[2], whole[2];
  const int at = blockIdx.x / kCtas * kWidth +
                 int(cluster.block_rank()) * (kWidth / kCtas) + threadIdx.x;
  const float x = in[at];
  auto reduceBlock = [&](float value, auto op) {
    value = cg::reduce(warp, value, op);
    if (warp.thread_rank() == 0)
      parts[warp.meta_group_rank()] = value;
    block.sync();
    value = parts[threadIdx.x % (kWidth / kCtas / 32)];
    value = cg::reduce(warp, value, op);
    block.sync();
    return value;
  };
  auto reduceCluster = [&](float value, auto op, int which) {
    if (threadIdx.x == 0)
      mine[which] = value;
    cluster.sync();
    if (threadIdx.x == 0) {
      float all = *cluster.map_shared_rank(&mine[which], 0);
      for (int rank = 1; rank < kCtas; ++rank)
        all = op(all, *cluster.map_shared_rank(&mine[which], rank));
      whole[which] = all;
    }
    block.sync();
    return whole[which];
  };
  float most = reduceCluster(reduceBlock(x, cg::greater<float>()),
                             cg::greater<float>(), 0);
  const float e = expf(x - most);
  // Each sum counts a warp's part four times, as its lanes hold four copies.
  float sum = e;
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0)
    parts[warp.meta_group_rank()] = sum;
  block.sync();
  if (threadIdx.x == 0)
    for (int i = 1; i < kWidth / kCtas / 32; ++i)
      parts[0] += parts[i];
  block.sync();
  sum = reduceCluster(parts[0], cg::plus<float>(), 1);
  out[at] = e / sum;
  cluster.sync(); // nobody ends while others read its shared memory
}

int main() {
  constexpr int kRows = 3;
  Buffer<float> in(kRows * kWidth, 3, 4.0f), out(kRows * kWidth);
  launch(clusterSoftmax, kRows * kCtas, kWidth / kCtas, kCtas, 0, false,
         in.device, out.device);
  std::vector<double> want(kRows * kWidth);
  for (int r = 0; r < kRows; ++r) {
    double sum = 0;
    for (int c = 0; c < kWidth; ++c)
      sum += std::exp(double(in.host[r * kWidth + c]));
    for (int c = 0; c < kWidth; ++c)
      want[r * kWidth + c] = std::exp(double(in.host[r * kWidth + c])) / sum;
  }
  return verdict(out.read(), want);
}

#elif defined(STREAM_K)
// CTAs share the products of all tiles evenly. One that begins in the middle of
// a tile leaves its sums in a workspace, and the owner of the tile waits for
// the tile's flag to count them all.
constexpr int kM = 64, kN = 64, kK = 160, kTile = 32, kStep = 16, kCtas = 9;
constexpr int kTiles = kM / kTile * (kN / kTile), kSteps = kK / kStep;

__global__ void streamK(const float *a, const float *b, float *d, float *parts,
                        unsigned *flags) {
  __shared__ float sa[kTile][kStep], sb[kStep][kTile];
  const int total = kTiles * kSteps;
  int at = blockIdx.x * total / kCtas;
  const int end = (blockIdx.x + 1) * total / kCtas;
  const int row = threadIdx.x / kTile, column = threadIdx.x % kTile;
  while (at < end) {
    const int tile = at / kSteps, first = at % kSteps,
              last = min(kSteps, first + end - at);
    const int m = tile / (kN / kTile) * kTile, n = tile % (kN / kTile) * kTile;
    float sum = 0;
    for (int step = first; step < last; ++step) {
      if (threadIdx.x < kTile * kStep) {
        int i = threadIdx.x;
        sa[i / kStep][i % kStep] =
            a[(m + i / kStep) * kK + step * kStep + i % kStep];
        sb[i / kTile][i % kTile] =
            b[(step * kStep + i / kTile) * kN + n + i % kTile];
      }
      __syncthreads();
      for (int k = 0; k < kStep; ++k)
        sum += sa[row][k] * sb[k][column];
      __syncthreads();
    }
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(flags[tile]);
    float *mine = parts + tile * kTile * kTile + threadIdx.x;
    if (last == kSteps && first > 0) {
      // The owner is the CTA of the tile's last step.
      if (threadIdx.x == 0)
        while (flag.load(cuda::memory_order_acquire) != unsigned(first))
          __nanosleep(20);
      __syncthreads();
      sum += *mine;
    } else if (last < kSteps) {
      // In order: behind those who have earlier steps.
      if (threadIdx.x == 0)
        while (flag.load(cuda::memory_order_acquire) != unsigned(first))
          __nanosleep(20);
      __syncthreads();
      *mine = first ? *mine + sum : sum;
      __syncthreads();
      if (threadIdx.x == 0)
        flag.store(last, cuda::memory_order_release);
    }
    if (last == kSteps)
      d[(m + row) * kN + n + column] = sum;
    at += last - first;
  }
}

int main() {
  Buffer<float> a(kM * kK, 4, 1.0f), b(kK * kN, 5, 1.0f), d(kM * kN),
      parts(kM * kN);
  Buffer<unsigned> flags(kTiles);
  launch(streamK, kCtas, kTile * kTile, 1, 0, false, a.device, b.device,
         d.device, parts.device, flags.device);
  std::vector<double> want(kM * kN);
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n)
      for (int k = 0; k < kK; ++k)
        want[m * kN + n] += double(a.host[m * kK + k]) * b.host[k * kN + n];
  return verdict(d.read(), want);
}

#elif defined(ALL_REDUCE)
// CTAs stand for ranks. Each stores its part to the mailbox of every other,
// tells it by a flag, and adds up what has come to its own; twice, so that
// mailboxes are used again.
constexpr int kRanks = 4, kWidth = 256, kRounds = 3;

__global__ void allReduce(float *data, float *boxes, unsigned *flags) {
  const int rank = blockIdx.x;
  for (unsigned round = 1; round <= kRounds; ++round) {
    float *half = boxes + (round & 1) * kRanks * kRanks * kWidth;
    for (int to = 0; to < kRanks; ++to)
      half[(to * kRanks + rank) * kWidth + threadIdx.x] =
          data[rank * kWidth + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < kRanks) {
      asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(
                       flags + threadIdx.x * kRanks + rank),
                   "r"(round)
                   : "memory");
      unsigned seen;
      do
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                     : "=r"(seen)
                     : "l"(flags + rank * kRanks + threadIdx.x)
                     : "memory");
      while (seen < round);
    }
    __syncthreads();
    float sum = 0;
    for (int from = 0; from < kRanks; ++from)
      sum += half[(rank * kRanks + from) * kWidth + threadIdx.x];
    data[rank * kWidth + threadIdx.x] = sum * 0.5f;
  }
}

int main() {
  Buffer<float> data(kRanks * kWidth, 6, 1.0f),
      boxes(2 * kRanks * kRanks * kWidth);
  Buffer<unsigned> flags(kRanks * kRanks);
  launch(allReduce, kRanks, kWidth, 1, 0, false, data.device, boxes.device,
         flags.device);
  std::vector<double> want(data.host.begin(), data.host.end());
  for (int round = 0; round < kRounds; ++round)
    for (int c = 0; c < kWidth; ++c) {
      double sum = 0;
      for (int rank = 0; rank < kRanks; ++rank)
        sum += want[rank * kWidth + c];
      for (int rank = 0; rank < kRanks; ++rank)
        want[rank * kWidth + c] = sum * 0.5;
    }
  return verdict(data.read(), want);
}

#elif defined(REMOTE_ASYNC)
// CTAs of a cluster send columns to their neighbour by st.async, counts by
// red.async, and sums by cp.reduce.async.bulk, to shared and to global memory.
// Nobody waits for anything but mbarriers.
constexpr int kCtas = 4, kWidth = 128, kRounds = 5;

__global__ void remoteAsync(const float *in, float *out, int *counts) {
  __shared__ alignas(128) float box[2][kWidth];
  __shared__ alignas(128) int sums[kWidth], mine[kWidth];
  __shared__ alignas(128) float kept[kWidth];
  __shared__ int count;
  __shared__ uint64_t full[2], empty[2], added, counted;
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % kCtas,
                 before = (rank + kCtas - 1) % kCtas;
  const int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < 2; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], kWidth);
    }
    ptx::mbarrier_init(&added, 1);
    ptx::mbarrier_init(&counted, 1);
    count = 0;
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  sums[t] = 0;
  mine[t] = t * int(rank + 1);
  ptx::fence_proxy_async(ptx::space_shared);
  cluster.sync();
  float value = in[blockIdx.x * kWidth + t];
  float *nextBox = cluster.map_shared_rank(&box[0][0], next);
  uint64_t *nextFull = cluster.map_shared_rank(&full[0], next);
  uint64_t *emptyBefore = cluster.map_shared_rank(&empty[0], before);
  if (t == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta,
                                   ptx::space_shared, &added, sizeof(sums));
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta,
                                   ptx::space_shared, &counted, 4);
    // Adds its numbers to the sums of the next one.
    ptx::cp_reduce_async_bulk(
        ptx::space_cluster, ptx::space_shared, ptx::op_add,
        cluster.map_shared_rank(&sums[0], next), mine, sizeof(mine),
        cluster.map_shared_rank(&added, next));
    ptx::red_async(ptx::op_inc, cluster.map_shared_rank((unsigned *)&count, next),
                   100u, cluster.map_shared_rank(&counted, next));
  }
  for (int round = 0; round < kRounds; ++round) {
    const int slot = round & 1, phase = round / 2 & 1;
    if (round >= 2)
      while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire,
                                            ptx::scope_cluster, &empty[slot],
                                            phase ^ 1)) {
      }
    ptx::st_async(nextBox + slot * kWidth + t, value, nextFull + slot);
    if (t == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta,
                                     ptx::space_shared, &full[slot],
                                     sizeof(box[0]));
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster,
                                          &full[slot], phase)) {
    }
    value = value * 0.5f + box[slot][(t + 1) % kWidth];
    // The reader is the box's owner, and its writer the CTA before it.
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster,
                         ptx::space_cluster, emptyBefore + slot);
  }
  while (!ptx::mbarrier_try_wait_parity(&added, 0)) {
  }
  while (!ptx::mbarrier_try_wait_parity(&counted, 0)) {
  }
  kept[t] = value + float(sums[t]) + float(count);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add,
                              out, kept, sizeof(kept));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
  cluster.sync();
  if (t == 0)
    atomicAdd(counts, count);
}

int main() {
  constexpr int kClusters = 2;
  // Whole numbers, of which sums in any order are the same.
  Buffer<float> in(kClusters * kCtas * kWidth, 7, 9.0f), out(kWidth);
  Buffer<int> counts(1);
  for (float &number : in.host)
    number = std::rint(number);
  in.send();
  launch(remoteAsync, kClusters * kCtas, kWidth, kCtas, 0, false, in.device,
         out.device, counts.device);
  std::vector<double> want(kWidth);
  for (int c = 0; c < kClusters; ++c) {
    std::vector<std::vector<double>> values(kCtas);
    for (int r = 0; r < kCtas; ++r) {
      auto begin = in.host.begin() + (c * kCtas + r) * kWidth;
      values[r].assign(begin, begin + kWidth);
    }
    for (int round = 0; round < kRounds; ++round) {
      auto old = values;
      for (int r = 0; r < kCtas; ++r)
        for (int t = 0; t < kWidth; ++t)
          values[r][t] = old[r][t] * 0.5 +
                         old[(r + kCtas - 1) % kCtas][(t + 1) % kWidth];
    }
    for (int r = 0; r < kCtas; ++r)
      for (int t = 0; t < kWidth; ++t)
        want[t] += values[r][t] + t * ((r + kCtas - 1) % kCtas + 1) + 1;
  }
  if (counts.read()[0] != kClusters * kCtas)
    std::printf("wrong count\n");
  return verdict(out.read(), want);
}

#elif defined(PERSISTENT_NORM)
// Persistent CTAs take rows from a counter. One warp fetches them by bulk
// copies, two slots ahead; four normalise, in place; one lane stores.
constexpr int kRows = 37, kWidth = 512, kSlots = 3, kThreads = 32 + 128;

__global__ void persistentNorm(const float *in, float *out, unsigned *counter) {
  __shared__ alignas(128) float rows[kSlots][kWidth];
  __shared__ int index[kSlots];
  __shared__ float parts[4], squares[4];
  __shared__ uint64_t full[kSlots], empty[kSlots];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kSlots; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], 1);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    if (threadIdx.x)
      return;
    for (unsigned n = 0;; ++n) {
      const int slot = n % kSlots;
      if (n >= kSlots)
        while (!ptx::mbarrier_try_wait_parity(&empty[slot],
                                              (n / kSlots - 1) & 1)) {
        }
      const int row = int(atomicAdd(counter, 1));
      index[slot] = row < kRows ? row : -1;
      if (row >= kRows) {
        ptx::mbarrier_arrive(&full[slot]);
        return;
      }
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta,
                                     ptx::space_shared, &full[slot],
                                     sizeof(rows[0]));
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, rows[slot],
                         in + row * kWidth, sizeof(rows[0]), &full[slot]);
    }
  }
  const int t = threadIdx.x - 32;
  auto meet = [] { asm volatile("bar.sync 1, 128;" ::: "memory"); };
  for (unsigned n = 0;; ++n) {
    const int slot = n % kSlots;
    while (!ptx::mbarrier_try_wait_parity(&full[slot], n / kSlots & 1)) {
    }
    const int row = index[slot];
    if (row < 0)
      return;
    float sum = 0, square = 0;
    for (int i = t; i < kWidth; i += 128) {
      sum += rows[slot][i];
      square += rows[slot][i] * rows[slot][i];
    }
    for (int d = 16; d; d /= 2) {
      sum += __shfl_xor_sync(~0u, sum, d);
      square += __shfl_xor_sync(~0u, square, d);
    }
    if (t % 32 == 0) {
      parts[t / 32] = sum;
      squares[t / 32] = square;
    }
    meet();
    sum = parts[0] + parts[1] + parts[2] + parts[3];
    square = squares[0] + squares[1] + squares[2] + squares[3];
    const float mean = sum / kWidth;
    const float scale = rsqrtf(square / kWidth - mean * mean + 1e-5f);
    for (int i = t; i < kWidth; i += 128)
      rows[slot][i] = (rows[slot][i] - mean) * scale;
    ptx::fence_proxy_async(ptx::space_shared);
    meet();
    if (t == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared,
                         out + row * kWidth, rows[slot], sizeof(rows[0]));
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
      ptx::mbarrier_arrive(&empty[slot]);
    }
  }
}

int main() {
  Buffer<float> in(kRows * kWidth, 8, 2.0f), out(kRows * kWidth);
  Buffer<unsigned> counter(1);
  launch(persistentNorm, 5, kThreads, 1, 0, false, in.device, out.device,
         counter.device);
  std::vector<double> want(kRows * kWidth);
  for (int r = 0; r < kRows; ++r) {
    double sum = 0, square = 0;
    for (int c = 0; c < kWidth; ++c) {
      double x = in.host[r * kWidth + c];
      sum += x;
      square += x * x;
    }
    double mean = sum / kWidth;
    for (int c = 0; c < kWidth; ++c)
      want[r * kWidth + c] = (in.host[r * kWidth + c] - mean) /
                             std::sqrt(square / kWidth - mean * mean + 1e-5);
  }
  return verdict(out.read(), want);
}

#elif defined(PROGRAMMATIC)
// The second kernel starts while the first still runs, and waits for its
// results where it needs them.
constexpr int kCount = 1024;

__global__ void twice(const float *in, float *middle) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  middle[i] = in[i] * 2;
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void addBehind(const float *middle, const float *bias, float *out) {
  __shared__ float row[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  row[threadIdx.x] = float(threadIdx.x);
  __syncthreads();
  cudaGridDependencySynchronize();
  out[i] = middle[i] + bias[i] + row[(threadIdx.x + 1) % 128];
}

int main() {
  Buffer<float> in(kCount, 9, 1.0f), bias(kCount, 10, 1.0f), middle(kCount),
      out(kCount);
  launch(twice, kCount / 128, 128, 1, 0, false, in.device, middle.device);
  launch(addBehind, kCount / 128, 128, 1, 0, true, middle.device, bias.device,
         out.device);
  std::vector<double> want(kCount);
  for (int i = 0; i < kCount; ++i)
    want[i] = 2.0 * in.host[i] + bias.host[i] + (i + 1) % 128;
  return verdict(out.read(), want);
}

#elif defined(GRID_SYNC)
// A cooperative launch: CTAs exchange the edges of their parts between steps of
// a smoothing, and meet by grid.sync().
constexpr int kBlocks = 4, kWidth = 128, kSteps = 5;

__global__ void smooth(float *a, float *b) {
  auto grid = cg::this_grid();
  const int i = blockIdx.x * kWidth + threadIdx.x, n = kBlocks * kWidth;
  for (int step = 0; step < kSteps; ++step) {
    b[i] = (a[(i + n - 1) % n] + a[i] + a[(i + 1) % n]) / 3;
    grid.sync();
    float *other = a;
    a = b;
    b = other;
  }
}

int main() {
  constexpr int kCount = kBlocks * kWidth;
  Buffer<float> a(kCount, 11, 1.0f), b(kCount);
  void *arguments[] = {&a.device, &b.device};
  if (cudaLaunchCooperativeKernel(reinterpret_cast<void *>(smooth), kBlocks,
                                  kWidth, arguments, 0, 0) != cudaSuccess)
    std::printf("launch failed\n");
  std::vector<double> now(a.host.begin(), a.host.end()), next(kCount);
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < kCount; ++i)
      next[i] = (now[(i + kCount - 1) % kCount] + now[i] +
                 now[(i + 1) % kCount]) /
                3;
    now = next;
  }
  return verdict(kSteps % 2 ? b.read() : a.read(), now);
}

#elif defined(LAST_BLOCK)
// Each CTA stores the sum of its part; the last to count adds the sums up. The
// counter is relaxed, with fences on both sides.
constexpr int kBlocks = 9, kThreads = 128;

__global__ void lastBlock(const float *in, float *parts, unsigned *counter,
                          float *out) {
  __shared__ float sums[kThreads];
  __shared__ bool isLast;
  sums[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  auto reduce = [&] {
    for (int d = kThreads / 2; d; d /= 2) {
      __syncthreads();
      if (threadIdx.x < d)
        sums[threadIdx.x] += sums[threadIdx.x + d];
    }
  };
  reduce();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sums[0];
    __threadfence();
    isLast = atomicInc(counter, kBlocks - 1) == kBlocks - 1;
    __threadfence();
  }
  __syncthreads();
  if (!isLast)
    return;
  sums[threadIdx.x] = threadIdx.x < kBlocks ? parts[threadIdx.x] : 0;
  reduce();
  if (threadIdx.x == 0)
    *out = sums[0];
}

int main() {
  Buffer<float> in(kBlocks * kThreads, 12, 1.0f), parts(kBlocks), out(1);
  Buffer<unsigned> counter(1);
  launch(lastBlock, kBlocks, kThreads, 1, 0, false, in.device, parts.device,
         counter.device, out.device);
  double sum = 0;
  for (float number : in.host)
    sum += number;
  return verdict(out.read(), {sum});
}

#elif defined(LOOK_BACK)
// A prefix sum in one pass: a CTA looks back over the sums of those before it.
// Value and state share a word, which needs no order beside its own.
constexpr int kBlocks = 8, kThreads = 64;

__global__ void lookBack(const int *in, int *out, unsigned *tickets,
                         unsigned long long *states) {
  __shared__ int sums[kThreads], before;
  __shared__ unsigned block;
  if (threadIdx.x == 0)
    block = atomicAdd(tickets, 1);
  __syncthreads();
  const int i = block * kThreads + threadIdx.x;
  sums[threadIdx.x] = in[i];
  for (int d = 1; d < kThreads; d *= 2) {
    __syncthreads();
    int other = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
    __syncthreads();
    sums[threadIdx.x] += other;
  }
  using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
  auto packed = [](unsigned long long state, int value) {
    return state << 32 | unsigned(value);
  };
  if (threadIdx.x == kThreads - 1) {
    const int mine = sums[threadIdx.x];
    Word(states[block])
        .store(packed(block ? 1 : 2, mine), cuda::memory_order_relaxed);
    int sum = 0;
    for (int b = int(block) - 1; b >= 0; --b) {
      unsigned long long word;
      do
        word = Word(states[b]).load(cuda::memory_order_relaxed);
      while (!(word >> 32));
      sum += int(unsigned(word));
      if (word >> 32 == 2)
        break;
    }
    if (block)
      Word(states[block])
          .store(packed(2, sum + mine), cuda::memory_order_relaxed);
    before = sum;
  }
  __syncthreads();
  out[i] = before + sums[threadIdx.x];
}

int main() {
  constexpr int kCount = kBlocks * kThreads;
  Buffer<int> in(kCount, 13, 100.0f), out(kCount);
  Buffer<unsigned> tickets(1);
  Buffer<unsigned long long> states(kBlocks);
  launch(lookBack, kBlocks, kThreads, 1, 0, false, in.device, out.device,
         tickets.device, states.device);
  std::vector<double> want(kCount);
  double sum = 0;
  for (int i = 0; i < kCount; ++i)
    want[i] = sum += in.host[i];
  std::vector<int> got = out.read();
  return verdict(std::vector<float>(got.begin(), got.end()), want);
}

#elif defined(LEAVING_THREADS)
// Threads leave a cuda::barrier one after the other (arrive_and_drop), each
// lane by itself; those that stay exchange numbers in each phase.
constexpr int kThreads = 84; // a multiple of 7, and no whole warps

__global__ void leavingThreads(const float *in, float *out) {
  __shared__ Barrier barrier;
  __shared__ float row[2][kThreads];
  const int t = threadIdx.x, rounds = 1 + t % 7;
  if (t == 0)
    init(&barrier, kThreads);
  row[0][t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    sum += row[round & 1][(t + 7) % kThreads]; // of one that stays as long
    row[~round & 1][t] = sum;
    if (round + 1 < rounds)
      barrier.arrive_and_wait();
  }
  barrier.arrive_and_drop();
  out[blockIdx.x * kThreads + t] = sum;
}

int main() {
  constexpr int kBlocks = 2;
  Buffer<float> in(kBlocks * kThreads, 14, 1.0f), out(kBlocks * kThreads);
  launch(leavingThreads, kBlocks, kThreads, 1, 0, false, in.device, out.device);
  std::vector<double> want(kBlocks * kThreads);
  for (int b = 0; b < kBlocks; ++b) {
    std::vector<std::vector<double>> row(8, std::vector<double>(kThreads));
    for (int t = 0; t < kThreads; ++t)
      row[0][t] = in.host[b * kThreads + t];
    std::vector<double> sum(kThreads);
    for (int round = 0; round < 7; ++round)
      for (int t = 0; t < kThreads; ++t)
        if (round < 1 + t % 7)
          row[round + 1][t] = sum[t] += row[round][(t + 7) % kThreads];
    std::copy(sum.begin(), sum.end(), want.begin() + b * kThreads);
  }
  return verdict(out.read(), want);
}

#elif defined(SPIN_LOCK)
// Each thread of several CTAs takes a lock, lanes of a warp as well, and adds to
// numbers that the lock guards. A latch in global memory says when all are in.
constexpr int kBlocks = 2, kThreads = 36;

__global__ void spinLock(double *guarded, unsigned *lock,
                         cuda::latch<cuda::thread_scope_device> *latch,
                         float *out) {
  const int t = blockIdx.x * kThreads + threadIdx.x;
  for (bool done = false; !done;)
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      guarded[0] += t;
      guarded[1] += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  latch->arrive_and_wait();
  out[t] = float(guarded[0] + guarded[1]);
}

__global__ void makeLatch(cuda::latch<cuda::thread_scope_device> *latch) {
  new (latch) cuda::latch<cuda::thread_scope_device>(kBlocks * kThreads);
}

int main() {
  constexpr int kCount = kBlocks * kThreads;
  Buffer<double> guarded(2);
  Buffer<unsigned> lock(1);
  Buffer<float> out(kCount);
  cuda::latch<cuda::thread_scope_device> *latch;
  cudaMalloc(reinterpret_cast<void **>(&latch), sizeof(*latch));
  makeLatch<<<1, 1>>>(latch);
  launch(spinLock, kBlocks, kThreads, 1, 0, false, guarded.device, lock.device,
         latch, out.device);
  return verdict(out.read(),
                 std::vector<double>(kCount, kCount * (kCount + 1) / 2));
}

#elif defined(SEMAPHORES)
// Two warps pass slots of a ring to one another by semaphores, and a CTA waits
// for another by cuda::atomic's wait and notify.
constexpr int kItems = 21, kSlots = 4;

__global__ void semaphores(const float *in, float *out, int *turn) {
  using Semaphore = cuda::counting_semaphore<cuda::thread_scope_block, kSlots>;
  __shared__ alignas(Semaphore) char places[2 * sizeof(Semaphore)];
  __shared__ float ring[kSlots][32];
  auto *filled = reinterpret_cast<Semaphore *>(places), *empty = filled + 1;
  if (threadIdx.x == 0) {
    new (filled) Semaphore(0);
    new (empty) Semaphore(kSlots);
  }
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_device> word(*turn);
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int i = 0; i < kItems; ++i) {
      if (lane == 0)
        empty->acquire();
      __syncwarp();
      ring[i % kSlots][lane] = in[(blockIdx.x * kItems + i) * 32 + lane];
      __syncwarp();
      if (lane == 0)
        filled->release();
    }
    return;
  }
  float sum = 0;
  for (int i = 0; i < kItems; ++i) {
    if (lane == 0)
      filled->acquire();
    __syncwarp();
    sum += ring[i % kSlots][lane] * (i + 1);
    __syncwarp();
    if (lane == 0)
      empty->release();
  }
  // One CTA after the other adds its sums.
  if (lane == 0)
    for (int now = word.load(cuda::memory_order_acquire); now != blockIdx.x;
         now = word.load(cuda::memory_order_acquire))
      word.wait(now, cuda::memory_order_relaxed);
  __syncwarp();
  out[lane] += sum;
  __syncwarp();
  if (lane == 0) {
    word.store(blockIdx.x + 1, cuda::memory_order_release);
    word.notify_all();
  }
  __syncwarp(); // so that no lane ends before the store of the flag
}

int main() {
  constexpr int kBlocks = 3;
  Buffer<float> in(kBlocks * kItems * 32, 15, 1.0f), out(32);
  Buffer<int> turn(1);
  launch(semaphores, kBlocks, 64, 1, 0, false, in.device, out.device,
         turn.device);
  std::vector<double> want(32);
  for (int i = 0; i < kBlocks * kItems; ++i)
    for (int lane = 0; lane < 32; ++lane)
      want[lane] += double(in.host[i * 32 + lane]) * (i % kItems + 1);
  return verdict(out.read(), want);
}
#endif
