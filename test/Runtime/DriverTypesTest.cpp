// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Our declarations of the driver's ABI against NVIDIA's header.
#include "fp8/Runtime/Driver.h"

#include <gtest/gtest.h>

#ifdef FP8_HAVE_CUDA_H
#include <cuda.h>
#include <type_traits>

namespace cu = fp8::runtime::cu;
namespace tensor = fp8::tensor;

namespace {
template <typename Theirs, typename Ours>
bool same(Theirs theirs, Ours ours) {
  static_assert(sizeof(Theirs) == sizeof(Ours), "of another size");
  return static_cast<long long>(theirs) == static_cast<long long>(ours);
}

/// Whether an entry passes as many parameters, of the same sizes, as the
/// header's function takes.
template <typename... Theirs, typename... Ours>
constexpr bool sameSignature(CUresult (*)(Theirs...),
                             const fp8::runtime::Entry<Ours...> *) {
  if constexpr (sizeof...(Theirs) == sizeof...(Ours))
    return ((sizeof(Theirs) == sizeof(Ours)) && ...);
  else
    return false;
}
#define SAME_SIGNATURE(THEIRS, OURS)                                           \
  EXPECT_TRUE(sameSignature(static_cast<decltype(&THEIRS)>(nullptr),           \
                            static_cast<decltype(&table->OURS)>(nullptr)))     \
      << #THEIRS
} // namespace

TEST(DriverTypes, Layouts) {
  EXPECT_EQ(sizeof(CUlaunchAttribute), sizeof(cu::LaunchAttribute));
  EXPECT_EQ(offsetof(CUlaunchAttribute, value),
            offsetof(cu::LaunchAttribute, value));
  EXPECT_EQ(sizeof(CUlaunchConfig), sizeof(cu::LaunchConfig));
  EXPECT_EQ(offsetof(CUlaunchConfig, sharedMemBytes),
            offsetof(cu::LaunchConfig, sharedMemoryBytes));
  EXPECT_EQ(offsetof(CUlaunchConfig, hStream),
            offsetof(cu::LaunchConfig, stream));
  EXPECT_EQ(offsetof(CUlaunchConfig, attrs),
            offsetof(cu::LaunchConfig, attributes));
  EXPECT_EQ(offsetof(CUlaunchConfig, numAttrs),
            offsetof(cu::LaunchConfig, attributeCount));
  EXPECT_EQ(sizeof(CUtensorMap), sizeof(cu::TensorMap));
  EXPECT_LE(alignof(CUtensorMap), alignof(cu::TensorMap));
  EXPECT_EQ(sizeof(CUdeviceptr), sizeof(cu::DevicePointer));
#if CUDA_VERSION >= 12030 // which has edge data
  EXPECT_EQ(sizeof(CUgraphEdgeData), sizeof(cu::GraphEdge));
  EXPECT_EQ(offsetof(CUgraphEdgeData, to_port),
            offsetof(cu::GraphEdge, toPort));
  EXPECT_EQ(offsetof(CUgraphEdgeData, type), offsetof(cu::GraphEdge, type));
#endif
}

TEST(DriverTypes, Numbers) {
  EXPECT_TRUE(same(CUDA_SUCCESS, cu::success));
  EXPECT_TRUE(same(CUDA_ERROR_INVALID_VALUE, cu::invalidValue));
  EXPECT_TRUE(same(CUDA_ERROR_OUT_OF_MEMORY, cu::outOfMemory));
  EXPECT_TRUE(same(CUDA_ERROR_NO_DEVICE, cu::noDevice));
  EXPECT_TRUE(same(CUDA_ERROR_INVALID_IMAGE, cu::invalidImage));
  EXPECT_TRUE(same(CUDA_ERROR_NO_BINARY_FOR_GPU, cu::noBinaryForGpu));
  EXPECT_TRUE(same(CUDA_ERROR_INVALID_PTX, cu::invalidPtx));
  EXPECT_TRUE(
      same(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, cu::unsupportedPtxVersion));
  EXPECT_TRUE(same(CUDA_ERROR_NOT_FOUND, cu::notFound));
  EXPECT_TRUE(same(CUDA_ERROR_NOT_READY, cu::notReady));
  EXPECT_TRUE(same(CUDA_ERROR_ILLEGAL_ADDRESS, cu::illegalAddress));
  EXPECT_TRUE(
      same(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, cu::launchOutOfResources));
  EXPECT_TRUE(same(CUDA_ERROR_ILLEGAL_INSTRUCTION, cu::illegalInstruction));
  EXPECT_TRUE(same(CUDA_ERROR_MISALIGNED_ADDRESS, cu::misalignedAddress));
  EXPECT_TRUE(same(CUDA_ERROR_LAUNCH_FAILED, cu::launchFailed));
  EXPECT_TRUE(same(CUDA_ERROR_INVALID_CLUSTER_SIZE, cu::invalidClusterSize));
  using Device = cu::DeviceAttribute;
  EXPECT_TRUE(same(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                   Device::MultiprocessorCount));
  EXPECT_TRUE(same(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, Device::L2CacheSize));
  EXPECT_TRUE(same(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                   Device::ComputeCapabilityMajor));
  EXPECT_TRUE(same(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                   Device::ComputeCapabilityMinor));
  EXPECT_TRUE(same(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                   Device::MaxSharedMemoryPerBlockOptin));
  using Function = cu::FunctionAttribute;
  EXPECT_TRUE(same(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                   Function::MaxThreadsPerBlock));
  EXPECT_TRUE(
      same(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, Function::SharedSizeBytes));
  EXPECT_TRUE(
      same(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, Function::LocalSizeBytes));
  EXPECT_TRUE(same(CU_FUNC_ATTRIBUTE_NUM_REGS, Function::NumRegs));
  EXPECT_TRUE(same(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   Function::MaxDynamicSharedSizeBytes));
  EXPECT_TRUE(same(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                   Function::NonPortableClusterSizeAllowed));
  EXPECT_TRUE(
      same(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, cu::PointerAttribute::MemoryType));
  EXPECT_TRUE(same(CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                   cu::PointerAttribute::DevicePointer));
  EXPECT_TRUE(same(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                   cu::PointerAttribute::DeviceOrdinal));
  EXPECT_EQ(unsigned(CU_MEMORYTYPE_DEVICE), cu::memoryTypeDevice);
  using Jit = cu::JitOption;
  EXPECT_TRUE(same(CU_JIT_INFO_LOG_BUFFER, Jit::InfoLogBuffer));
  EXPECT_TRUE(
      same(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, Jit::InfoLogBufferSizeBytes));
  EXPECT_TRUE(same(CU_JIT_ERROR_LOG_BUFFER, Jit::ErrorLogBuffer));
  EXPECT_TRUE(
      same(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, Jit::ErrorLogBufferSizeBytes));
  EXPECT_EQ(unsigned(CU_MEMHOSTALLOC_DEVICEMAP), cu::memHostAllocDeviceMap);
  EXPECT_EQ(unsigned(CU_STREAM_DEFAULT), cu::streamDefault);
  EXPECT_EQ(unsigned(CU_EVENT_DEFAULT), cu::eventDefault);
  EXPECT_EQ(int(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), cu::captureThreadLocal);
  EXPECT_TRUE(same(CU_STREAM_CAPTURE_STATUS_NONE, cu::CaptureStatus::None));
  EXPECT_TRUE(same(CU_STREAM_CAPTURE_STATUS_ACTIVE, cu::CaptureStatus::Active));
  EXPECT_TRUE(same(CU_STREAM_CAPTURE_STATUS_INVALIDATED,
                   cu::CaptureStatus::Invalidated));
  using Launch = cu::LaunchAttributeId;
  EXPECT_TRUE(
      same(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Launch::ClusterDimension));
  EXPECT_TRUE(same(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                   Launch::ProgrammaticStreamSerialization));
}

TEST(DriverTypes, TensorMapNumbers) {
  using Type = cu::TensorMapDataType;
  EXPECT_TRUE(same(CU_TENSOR_MAP_DATA_TYPE_UINT8, Type::UInt8));
  EXPECT_TRUE(same(CU_TENSOR_MAP_DATA_TYPE_UINT16, Type::UInt16));
  EXPECT_TRUE(same(CU_TENSOR_MAP_DATA_TYPE_INT32, Type::Int32));
  EXPECT_TRUE(same(CU_TENSOR_MAP_DATA_TYPE_INT64, Type::Int64));
  EXPECT_TRUE(same(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, Type::Float16));
  EXPECT_TRUE(same(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Type::Float32));
  EXPECT_TRUE(same(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, Type::Float64));
  EXPECT_TRUE(same(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Type::BFloat16));
  EXPECT_TRUE(same(CU_TENSOR_MAP_INTERLEAVE_16B, tensor::Interleave::B16));
  EXPECT_TRUE(same(CU_TENSOR_MAP_INTERLEAVE_32B, tensor::Interleave::B32));
  EXPECT_TRUE(same(CU_TENSOR_MAP_SWIZZLE_32B, tensor::Swizzle::B32));
  EXPECT_TRUE(same(CU_TENSOR_MAP_SWIZZLE_64B, tensor::Swizzle::B64));
  EXPECT_TRUE(same(CU_TENSOR_MAP_SWIZZLE_128B, tensor::Swizzle::B128));
  EXPECT_TRUE(
      same(CU_TENSOR_MAP_L2_PROMOTION_L2_64B, tensor::L2Promotion::B64));
  EXPECT_TRUE(
      same(CU_TENSOR_MAP_L2_PROMOTION_L2_128B, tensor::L2Promotion::B128));
  EXPECT_TRUE(
      same(CU_TENSOR_MAP_L2_PROMOTION_L2_256B, tensor::L2Promotion::B256));
  EXPECT_TRUE(same(CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
                   tensor::OobFill::NaN));
}

TEST(DriverTypes, Signatures) {
  const fp8::runtime::Driver *table = nullptr;
  SAME_SIGNATURE(cuInit, init);
  SAME_SIGNATURE(cuDriverGetVersion, driverGetVersion);
  SAME_SIGNATURE(cuGetErrorName, getErrorName);
  SAME_SIGNATURE(cuGetErrorString, getErrorString);
  SAME_SIGNATURE(cuDeviceGetCount, deviceGetCount);
  SAME_SIGNATURE(cuDeviceGet, deviceGet);
  SAME_SIGNATURE(cuDeviceGetName, deviceGetName);
  SAME_SIGNATURE(cuDeviceTotalMem, deviceTotalMem);
  SAME_SIGNATURE(cuDeviceGetAttribute, deviceGetAttribute);
  SAME_SIGNATURE(cuDevicePrimaryCtxRetain, devicePrimaryCtxRetain);
  SAME_SIGNATURE(cuDevicePrimaryCtxRelease, devicePrimaryCtxRelease);
  SAME_SIGNATURE(cuCtxSetCurrent, ctxSetCurrent);
  SAME_SIGNATURE(cuMemAlloc, memAlloc);
  SAME_SIGNATURE(cuMemFree, memFree);
  SAME_SIGNATURE(cuMemcpyHtoD, memcpyHtoD);
  SAME_SIGNATURE(cuMemcpyDtoH, memcpyDtoH);
  SAME_SIGNATURE(cuPointerGetAttribute, pointerGetAttribute);
  SAME_SIGNATURE(cuMemHostAlloc, memHostAlloc);
  SAME_SIGNATURE(cuMemHostGetDevicePointer, memHostGetDevicePointer);
  SAME_SIGNATURE(cuMemFreeHost, memFreeHost);
  SAME_SIGNATURE(cuMemsetD8, memsetD8);
  SAME_SIGNATURE(cuMemsetD8Async, memsetD8Async);
  SAME_SIGNATURE(cuModuleLoadDataEx, moduleLoadDataEx);
  SAME_SIGNATURE(cuModuleUnload, moduleUnload);
  SAME_SIGNATURE(cuModuleGetFunction, moduleGetFunction);
  SAME_SIGNATURE(cuModuleGetGlobal, moduleGetGlobal);
  SAME_SIGNATURE(cuFuncGetAttribute, funcGetAttribute);
  SAME_SIGNATURE(cuFuncSetAttribute, funcSetAttribute);
  SAME_SIGNATURE(cuFuncGetParamInfo, funcGetParamInfo);
  SAME_SIGNATURE(cuTensorMapEncodeTiled, tensorMapEncodeTiled);
  SAME_SIGNATURE(cuTensorMapReplaceAddress, tensorMapReplaceAddress);
  SAME_SIGNATURE(cuLaunchKernelEx, launchKernelEx);
  SAME_SIGNATURE(cuStreamCreate, streamCreate);
  SAME_SIGNATURE(cuStreamDestroy, streamDestroy);
  SAME_SIGNATURE(cuStreamBeginCapture, streamBeginCapture);
#if CUDA_VERSION >= 13000 // whose plain name is the third version
  SAME_SIGNATURE(cuStreamGetCaptureInfo, streamGetCaptureInfo);
#endif
  SAME_SIGNATURE(cuStreamEndCapture, streamEndCapture);
  SAME_SIGNATURE(cuEventCreate, eventCreate);
  SAME_SIGNATURE(cuEventDestroy, eventDestroy);
  SAME_SIGNATURE(cuEventRecord, eventRecord);
  SAME_SIGNATURE(cuEventQuery, eventQuery);
  SAME_SIGNATURE(cuEventElapsedTime, eventElapsedTime);
  SAME_SIGNATURE(cuGraphInstantiateWithFlags, graphInstantiate);
  SAME_SIGNATURE(cuGraphLaunch, graphLaunch);
  SAME_SIGNATURE(cuGraphExecDestroy, graphExecDestroy);
  SAME_SIGNATURE(cuGraphDestroy, graphDestroy);
}
#else
TEST(DriverTypes, AgreeWithNvidiasHeader) {
  GTEST_SKIP() << "no cuda.h here to compare with";
}
#endif
