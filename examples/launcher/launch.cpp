// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launcher without fp8's runtime: launches the PTX of examples/gemm.mlir, as
// its launch manifest says, by CUDA's driver API. The library Fp8Launch binds
// the manifest to the arguments; it needs neither MLIR nor a driver.
//
// usage: launch FILE.ptx (docs/embedding.md says how to build it)
#include "fp8/Launch/LaunchPlan.h"

#include <cuda.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

using namespace fp8;

namespace {
[[noreturn]] void fail(const std::string &message) {
  std::cerr << "error: " << message << '\n';
  std::exit(1);
}

void check(CUresult result, const char *what) {
  const char *name = nullptr;
  if (result == CUDA_SUCCESS)
    return;
  cuGetErrorName(result, &name);
  fail(std::string(what) + " fails with " + (name ? name : "an error"));
}
#define CHECK(CALL) check(CALL, #CALL)

/// Tensor maps know no floats of 8 bits, which are copied as bytes.
CUtensorMapDataType getDataType(tensor::ElementType type) {
  switch (type) {
  case tensor::ElementType::BF16:
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  case tensor::ElementType::F16:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  case tensor::ElementType::F32:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  case tensor::ElementType::F64:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  case tensor::ElementType::I16:
    return CU_TENSOR_MAP_DATA_TYPE_UINT16;
  case tensor::ElementType::I32:
    return CU_TENSOR_MAP_DATA_TYPE_INT32;
  case tensor::ElementType::I64:
    return CU_TENSOR_MAP_DATA_TYPE_INT64;
  default:
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
}

CUtensorMap encode(const tensor::TensorMap &map, int major) {
  CUtensorMap encoded;
  std::vector<cuuint64_t> strides = map.stridesBytes;
  strides.push_back(0); // the driver wants an address for rank 1, too
  CHECK(cuTensorMapEncodeTiled(
      &encoded, getDataType(map.dtype), map.dims.size(),
      reinterpret_cast<void *>(map.address), map.dims.data(), strides.data(),
      map.box.data(), map.elementStrides.data(),
      static_cast<CUtensorMapInterleave>(map.interleave),
      static_cast<CUtensorMapSwizzle>(map.swizzle),
      static_cast<CUtensorMapL2promotion>(map.l2Promotion),
      static_cast<CUtensorMapFloatOOBfill>(map.oobFill)));
  // docs/Runtime.md, "Tensor maps on Blackwell".
  uint64_t packed = byteSize(map.dtype), bytes = map.dims[0] * packed;
  bool isDense = true;
  for (size_t i = 0; i + 1 < map.dims.size(); ++i) {
    packed *= map.dims[i];
    isDense &= strides[i] == packed;
    bytes += (map.dims[i + 1] - 1) * strides[i];
  }
  if ((major == 10 || major == 12) && !isDense && bytes < 131072)
    encoded.opaque[1] &= ~(cuuint64_t(1) << 21);
  return encoded;
}

int getAttribute(CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  CHECK(cuDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// Enqueues the kernel of a loaded module.
void launchKernel(CUmodule module, const launch::Manifest &manifest,
                  const std::vector<launch::ArgumentValue> &arguments,
                  CUdevice device, CUstream stream) {
  launch::DeviceProperties properties;
  properties.multiprocessorCount =
      getAttribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  properties.maxSharedMemoryPerBlock = getAttribute(
      device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  auto plan = launch::bindLaunch(manifest, arguments, properties);
  if (!plan)
    fail(plan.error());
  if (plan->nothingToLaunch())
    return;

  CUfunction function;
  CHECK(cuModuleGetFunction(&function, module, manifest.kernel.c_str()));
  CHECK(cuFuncSetAttribute(function,
                           CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           plan->sharedMemoryBytes));
  if (plan->nonPortableCluster)
    CHECK(cuFuncSetAttribute(
        function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));

  // A map has 128 bytes; an address or an integer is in the first ones.
  std::vector<CUtensorMap> values(plan->parameters.size());
  std::vector<void *> pointers;
  int major =
      getAttribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  for (size_t i = 0; i < values.size(); ++i) {
    const launch::BoundParameter &parameter = plan->parameters[i];
    if (auto *map = std::get_if<tensor::TensorMap>(&parameter))
      values[i] = encode(*map, major);
    else if (auto *pointer = std::get_if<launch::BoundPointer>(&parameter))
      std::memcpy(&values[i], &pointer->address, 8);
    else
      std::memcpy(&values[i], &std::get<launch::BoundScalar>(parameter).value,
                  8);
    pointers.push_back(&values[i]);
  }

  CUlaunchAttribute attributes[2] = {};
  CUlaunchConfig config = {};
  config.gridDimX = plan->grid[0];
  config.gridDimY = plan->grid[1];
  config.gridDimZ = plan->grid[2];
  config.blockDimX = plan->block[0];
  config.blockDimY = plan->block[1];
  config.blockDimZ = plan->block[2];
  config.sharedMemBytes = plan->sharedMemoryBytes;
  config.hStream = stream;
  config.attrs = attributes;
  if (plan->cluster[0] * plan->cluster[1] * plan->cluster[2] > 1) {
    CUlaunchAttribute &attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {plan->cluster[0], plan->cluster[1],
                                  plan->cluster[2]};
  }
  if (plan->programmatic) {
    CUlaunchAttribute &attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  CHECK(cuLaunchKernelEx(&config, function, pointers.data(), nullptr));
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A matrix on the device with one value in all of its elements.
template <typename T>
launch::ArgumentValue makeMatrix(tensor::ElementType type, int64_t rows,
                                 int64_t columns, T value) {
  std::vector<T> elements(rows * columns, value);
  CUdeviceptr address;
  CHECK(cuMemAlloc(&address, elements.size() * sizeof(T)));
  CHECK(cuMemcpyHtoD(address, elements.data(), elements.size() * sizeof(T)));
  return {type, {rows, columns}, {columns, 1}, address};
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    fail("usage: launch FILE.ptx");
  std::string image = readFile(argv[1]);
  auto manifest =
      launch::parseManifest(readFile(std::string(argv[1]) + ".json"));
  if (!manifest)
    fail(manifest.error());

  CUdevice device;
  CUcontext context;
  CUmodule module;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, image.c_str()));

  // Ones, of e4m3 and f32: each element of D is K.
  using Type = tensor::ElementType;
  constexpr int64_t m = 72, n = 136, k = 256;
  std::vector<launch::ArgumentValue> arguments = {
      makeMatrix<uint8_t>(Type::F8E4M3FN, m, k, 0x38),
      makeMatrix<float>(Type::F32, k / 128, m, 1),
      makeMatrix<uint8_t>(Type::F8E4M3FN, n, k, 0x38),
      makeMatrix<float>(Type::F32, (n + 127) / 128, k / 128, 1),
      makeMatrix<uint16_t>(Type::BF16, m, n, 0)};
  launchKernel(module, *manifest, arguments, device, /*stream=*/nullptr);
  CHECK(cuCtxSynchronize());

  std::vector<uint16_t> d(m * n);
  CHECK(cuMemcpyDtoH(d.data(), arguments.back().address, d.size() * 2));
  size_t wrong = 0;
  for (uint16_t element : d)
    wrong += element != 0x4380; // 256 in bf16
  std::cout << manifest->kernel << ": " << wrong << " of " << d.size()
            << " elements wrong\n";
  return wrong != 0;
}
