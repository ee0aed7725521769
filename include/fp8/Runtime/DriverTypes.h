// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types and numbers of the CUDA driver's ABI that the runtime uses. Their
// values are in the CUDA Driver API reference, "Data types used by CUDA
// driver"; test/Runtime/DriverTypesTest.cpp compares them with cuda.h where
// there is one.
#ifndef FP8_RUNTIME_DRIVERTYPES_H
#define FP8_RUNTIME_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

namespace fp8::runtime::cu {

/// CUresult; only those that the runtime tells apart.
using Result = int;
constexpr Result success = 0, invalidValue = 1, outOfMemory = 2, noDevice = 100,
                 invalidImage = 200, noBinaryForGpu = 209, invalidPtx = 218,
                 unsupportedPtxVersion = 222, notFound = 500, notReady = 600,
                 illegalAddress = 700, launchOutOfResources = 701,
                 illegalInstruction = 715, misalignedAddress = 716,
                 launchFailed = 719, invalidClusterSize = 912;

using Device = int;                       ///< CUdevice
using DevicePointer = unsigned long long; ///< CUdeviceptr

using Context = struct ContextState *;
using Module = struct ModuleState *;
using Function = struct FunctionState *;
using Stream = struct StreamState *;
using Event = struct EventState *;
using Graph = struct GraphState *;
using GraphNode = struct GraphNodeState *;
using GraphExec = struct GraphExecState *;

/// CUdevice_attribute
enum class DeviceAttribute : int {
  MultiprocessorCount = 16,
  L2CacheSize = 38,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedMemoryPerBlockOptin = 97
};

/// CUfunction_attribute
enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedSizeBytes = 1,
  LocalSizeBytes = 3,
  NumRegs = 4,
  MaxDynamicSharedSizeBytes = 8,
  NonPortableClusterSizeAllowed = 14
};

/// CUpointer_attribute
enum class PointerAttribute : int {
  MemoryType = 2,
  DevicePointer = 3,
  DeviceOrdinal = 9
};
constexpr unsigned memoryTypeDevice = 2; ///< CU_MEMORYTYPE_DEVICE

/// CUjit_option
enum class JitOption : int {
  InfoLogBuffer = 3,
  InfoLogBufferSizeBytes = 4,
  ErrorLogBuffer = 5,
  ErrorLogBufferSizeBytes = 6
};

constexpr unsigned memHostAllocDeviceMap = 2; ///< CU_MEMHOSTALLOC_DEVICEMAP
constexpr unsigned streamDefault = 0;         ///< CU_STREAM_DEFAULT
constexpr unsigned eventDefault = 0;          ///< CU_EVENT_DEFAULT
constexpr int captureThreadLocal = 1;         ///< CU_STREAM_CAPTURE_MODE_...

/// CUstreamCaptureStatus
enum class CaptureStatus : int { None = 0, Active = 1, Invalidated = 2 };

/// CUgraphEdgeData; all 0: a dependency on the whole node
struct GraphEdge {
  unsigned char fromPort, toPort, type, reserved[5];
};
static_assert(sizeof(GraphEdge) == 8, "as in the driver's ABI");

/// CUtensorMapDataType
enum class TensorMapDataType : int {
  UInt8 = 0,
  UInt16 = 1,
  Int32 = 3,
  Int64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  BFloat16 = 9
};

/// CUtensorMap; aligned to 64 bytes in CUDA 12 and to 128 in CUDA 13
struct alignas(128) TensorMap {
  uint64_t opaque[16];
};
static_assert(sizeof(TensorMap) == 128, "CU_TENSOR_MAP_NUM_QWORDS is 16");

/// CUlaunchAttributeID
enum class LaunchAttributeId : int {
  ClusterDimension = 4,
  ProgrammaticStreamSerialization = 6
};

/// CUlaunchAttribute
struct LaunchAttribute {
  LaunchAttributeId id;
  char padding[4];
  union {
    char bytes[64];
    void *alignment;
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72, "as in the driver's ABI");

/// CUlaunchConfig
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedMemoryBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56, "as in the driver's ABI");

} // namespace fp8::runtime::cu

#endif // FP8_RUNTIME_DRIVERTYPES_H
