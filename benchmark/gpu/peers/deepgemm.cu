// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeepGEMM's Hopper kernel (A scaled 1x128, B 128x128) as a peer of the
// benchmark: what its Python package compiles and launches for the shapes of
// rows.csv, without that package. build.py compiles this against a checkout of
// DeepGEMM, whose code is not in this project.
#include "peer.h"

#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

#include <cuda.h>

#include <cstring>
#include <vector>

namespace {

struct Kernel {
  int64_t m, n, k;
  unsigned blockM, blockN, swizzleD, threads, multicast, sharedBytes;
  const void *function;
  const char *name;
};

constexpr unsigned kLoadThreads = 128, kBlockK = 128, kSwizzleAB = 128;

template <unsigned n, unsigned k, unsigned blockM, unsigned blockN,
          unsigned swizzleD, unsigned stages, unsigned mathThreads,
          unsigned multicast, bool multicastA>
constexpr auto kFunction = &deep_gemm::sm90_fp8_gemm_1d2d_impl<
    cute::UMMA::Major::K, 0, n, k, 1, blockM, blockN, kBlockK, kSwizzleAB,
    kSwizzleAB, swizzleD, stages, kLoadThreads, mathThreads, multicast,
    multicastA, FP8_PEER_PROCESSORS, deep_gemm::GemmType::Normal,
    cutlass::bfloat16_t, deep_gemm::epilogue::transform::EpilogueIdentity>;

// Each line: KERNEL(m, n, k, block_m, block_n, swizzle_d, stages, math
// threads, CTAs of a cluster, whether they share A, bytes of shared memory,
// name). N and K are constants of the kernel, M is not.
const Kernel kKernels[] = {
#define KERNEL(m, n, k, blockM, blockN, swizzleD, stages, mathThreads,         \
               multicast, multicastA, sharedBytes, name)                       \
  {m,                                                                          \
   n,                                                                          \
   k,                                                                          \
   blockM,                                                                     \
   blockN,                                                                     \
   swizzleD,                                                                   \
   kLoadThreads + mathThreads,                                                 \
   multicast,                                                                  \
   sharedBytes,                                                                \
   reinterpret_cast<const void *>(                                             \
       kFunction<n, k, blockM, blockN, swizzleD, stages, mathThreads,          \
                 multicast, multicastA>),                                      \
   name},
#include "deepgemm-kernels.inc"
#undef KERNEL
};

/// A launch but for its stream.
struct Launch {
  Fp8PeerOperands operands;
  const Kernel *kernel;
  CUtensorMap a, b, d, aScale;
};

std::vector<Launch> launches;
char configuration[128] = "";

decltype(&cuTensorMapEncodeTiled) encodeTiled() {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult result;
  if (peer::check("cuTensorMapEncodeTiled",
                  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled",
                                                   &function, 12000,
                                                   cudaEnableDefault, &result)))
    return nullptr;
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

/// Of a matrix of `rows` rows, `stride` bytes apart. With a swizzle a box is
/// one atom of it wide.
int encode(CUtensorMap &map, CUtensorMapDataType type, unsigned elementBytes,
           const void *address, cuuint64_t columns, cuuint64_t rows,
           cuuint64_t stride, unsigned boxColumns, unsigned boxRows,
           unsigned swizzle) {
  static const auto function = encodeTiled();
  if (!function)
    return peer::fail("cuTensorMapEncodeTiled", "the driver has none");
  CUtensorMapSwizzle mode = CU_TENSOR_MAP_SWIZZLE_NONE;
  if (swizzle)
    mode = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
           : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                           : CU_TENSOR_MAP_SWIZZLE_32B;
  const cuuint64_t extents[] = {columns, rows}, strides[] = {stride};
  const cuuint32_t box[] = {swizzle ? swizzle / elementBytes : boxColumns,
                            boxRows};
  const cuuint32_t steps[] = {1, 1};
  if (function(&map, type, 2, const_cast<void *>(address), extents, strides,
               box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, mode,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    return peer::fail("cuTensorMapEncodeTiled", "an error");
  return 0;
}

int encodeAll(Launch &launch) {
  const Fp8PeerOperands &o = launch.operands;
  const Kernel &kernel = *launch.kernel;
  // A row of A's scales as DeepGEMM has it ends at a multiple of 16 bytes.
  const cuuint64_t scales = (o.m + 3) / 4 * 4;
  return encode(launch.a, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, o.a, o.k, o.m, o.k,
                kBlockK, kernel.blockM, kSwizzleAB) ||
         encode(launch.b, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, o.b, o.k, o.n, o.k,
                kBlockK, kernel.blockN, kSwizzleAB) ||
         encode(launch.d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, o.d, o.n, o.m,
                o.n * 2, kernel.blockN, kernel.blockM, kernel.swizzleD) ||
         encode(launch.aScale, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, o.a_scale,
                scales, (o.k + kBlockK - 1) / kBlockK, o.a_scale_stride * 4,
                kernel.blockM, 1, 0);
}

const Kernel *find(const Fp8PeerOperands &o) {
  for (const Kernel &kernel : kKernels)
    if (kernel.m == o.m && kernel.n == o.n && kernel.k == o.k)
      return &kernel;
  return nullptr;
}

/// The launch of these operands, made if there is none.
int get(const Fp8PeerOperands &operands, Launch *&launch) {
  for (Launch &one : launches) {
    if (!std::memcmp(&one.operands, &operands, sizeof operands)) {
      launch = &one;
      return 0;
    }
  }
  Launch made{operands, find(operands)};
  if (!made.kernel)
    return peer::fail("shape", "not among the rows that the library was "
                               "built for");
  if (int status = encodeAll(made))
    return status;
  launches.push_back(made);
  launch = &launches.back();
  return 0;
}

} // namespace

int fp8PeerPrepare(const Fp8PeerOperands *operands, size_t count) {
  launches.clear();
  if (int status = peer::checkProcessors(FP8_PEER_PROCESSORS))
    return status;
  for (size_t i = 0; i != count; ++i) {
    Launch *launch = nullptr;
    if (int status = get(operands[i], launch))
      return status;
    if (i)
      continue;
    std::snprintf(configuration, sizeof configuration, "%s%s",
                  launch->kernel->name,
                  peer::programmatic() ? ", programmatic" : "");
    if (int status =
            peer::check("cudaFuncSetAttribute",
                        cudaFuncSetAttribute(
                            launch->kernel->function,
                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(launch->kernel->sharedBytes))))
      return status;
  }
  return 0;
}

int fp8PeerEnqueue(const Fp8PeerOperands *operands, void *stream) {
  Launch *launch = nullptr;
  if (int status = get(*operands, launch))
    return status;
  const Kernel &kernel = *launch->kernel;

  cudaLaunchAttribute attributes[2];
  unsigned count = 0;
  if (kernel.multicast > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {kernel.multicast, 1, 1};
  }
  if (peer::programmatic()) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(FP8_PEER_PROCESSORS);
  config.blockDim = dim3(kernel.threads);
  config.dynamicSmemBytes = kernel.sharedBytes;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = attributes;
  config.numAttrs = count;

  void *bScale = const_cast<float *>(operands->b_scale);
  void *groups = nullptr;
  uint32_t m = operands->m, n = operands->n, k = operands->k;
  void *arguments[] = {&bScale,    &groups,    &m,
                       &n,         &k,         &launch->a,
                       &launch->b, &launch->d, &launch->aScale};
  return peer::check("launch",
                     cudaLaunchKernelExC(&config, kernel.function, arguments));
}

const char *fp8PeerConfiguration(void) { return configuration; }
