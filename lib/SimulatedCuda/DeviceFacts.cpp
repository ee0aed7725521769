// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the simulated GPU says that it is. Where a chip is not asked, the value
// is that of compute capabilities 9.0 to 10.3 (CUDA programming guide, table of
// technical specifications).
#include "Operations.h"

#include "fp8/Chip/LaunchLimits.h"

#include <algorithm>

namespace fp8::cuda {
namespace {
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kCtasPerMultiprocessor = 32;
constexpr int kRegisters = 65536;
constexpr int kReservedShared = 1024;     // bytes a CTA
constexpr int kDefaultShared = 48 * 1024; // without an attribute
constexpr int kClockKHz = 1'000'000;      // of no real chip

int sharedOfMultiprocessor(const chip::Chip &chip) {
  return int(chip.sharedMemoryPerCta) + kReservedShared;
}

struct Fact {
  int attribute, value;
};
constexpr Fact kFacts[] = {
    {cudaDevAttrMaxThreadsPerBlock, int(chip::kMostThreadsInAll)},
    {cudaDevAttrMaxBlockDimX, int(chip::kMostThreads[0])},
    {cudaDevAttrMaxBlockDimY, int(chip::kMostThreads[1])},
    {cudaDevAttrMaxBlockDimZ, int(chip::kMostThreads[2])},
    {cudaDevAttrMaxGridDimX, int(chip::kMostCtas[0])},
    {cudaDevAttrMaxGridDimY, int(chip::kMostCtas[1])},
    {cudaDevAttrMaxGridDimZ, int(chip::kMostCtas[2])},
    {cudaDevAttrMaxSharedMemoryPerBlock, kDefaultShared},
    {cudaDevAttrReservedSharedMemoryPerBlock, kReservedShared},
    {cudaDevAttrTotalConstantMemory, 65536},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxPitch, 0x7fffffff},
    {cudaDevAttrMaxRegistersPerBlock, kRegisters},
    {cudaDevAttrMaxRegistersPerMultiprocessor, kRegisters},
    {cudaDevAttrMaxThreadsPerMultiProcessor, kThreadsPerMultiprocessor},
    {cudaDevAttrMaxBlocksPerMultiprocessor, kCtasPerMultiprocessor},
    {cudaDevAttrClockRate, kClockKHz},
    {cudaDevAttrMemoryClockRate, kClockKHz},
    {cudaDevAttrGlobalMemoryBusWidth, 5120},
    // Small: programs that flush it between timings have little to do.
    {cudaDevAttrL2CacheSize, 1 << 20},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrSurfaceAlignment, 512},
    // What it can.
    {cudaDevAttrAsyncEngineCount, 1},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrClusterLaunch, 1},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 1},
    // What it lacks.
    {cudaDevAttrKernelExecTimeout, 0},
    {cudaDevAttrIntegrated, 0},
    {cudaDevAttrComputeMode, 0},
    {cudaDevAttrEccEnabled, 0},
    {cudaDevAttrPciBusId, 0},
    {cudaDevAttrPciDeviceId, 0},
    {cudaDevAttrPciDomainId, 0},
    {cudaDevAttrTccDriver, 0},
    {cudaDevAttrIsMultiGpuBoard, 0},
    {cudaDevAttrMultiGpuBoardGroupID, 0},
    {cudaDevAttrHostNativeAtomicSupported, 0},
    {cudaDevAttrPageableMemoryAccess, 0},
    {cudaDevAttrConcurrentManagedAccess, 0},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 0},
    {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
    {cudaDevAttrDirectManagedMemAccessFromHost, 0},
    {cudaDevAttrMaxPersistingL2CacheSize, 0},
    {cudaDevAttrMaxAccessPolicyWindowSize, 0},
    {cudaDevAttrGPUDirectRDMASupported, 0},
    {cudaDevAttrMpsEnabled, 0},
    {CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0},
};
} // namespace

std::optional<int> deviceAttribute(const Gpu &gpu, int attribute) {
  switch (attribute) {
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    return int(gpu.chip.sharedMemoryPerCta);
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    return sharedOfMultiprocessor(gpu.chip);
  case cudaDevAttrMultiProcessorCount:
    return int(gpu.settings.multiprocessors);
  case cudaDevAttrComputeCapabilityMajor:
    return int(gpu.architecture() / 10);
  case cudaDevAttrComputeCapabilityMinor:
    return int(gpu.architecture() % 10);
  default:
    for (const Fact &fact : kFacts)
      if (fact.attribute == attribute)
        return fact.value;
    return std::nullopt;
  }
}

int ctasPerMultiprocessor(const Gpu &gpu, const Kernel &kernel, int threads,
                          size_t dynamicShared) {
  uint64_t shared =
      kernel.staticSharedBytes() + dynamicShared + kReservedShared;
  if (threads <= 0 || threads > int(kernel.maxThreads()))
    return 0;
  int byThreads = kThreadsPerMultiprocessor / ((threads + 31) / 32 * 32);
  int byShared = int(uint64_t(sharedOfMultiprocessor(gpu.chip)) / shared);
  return std::min({byThreads, byShared, kCtasPerMultiprocessor});
}

} // namespace fp8::cuda
