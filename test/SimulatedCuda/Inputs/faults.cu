// A program with a fault, which its argument names.
#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void nothing() {}
__global__ void scale(float *data, float factor) { data[threadIdx.x] *= factor; }
__global__ void insist(float *data) { assert(data[threadIdx.x] != 0); }
__global__ void misplace(float *data) { *reinterpret_cast<float *>(reinterpret_cast<char *>(data) + 2) = 1; }
__global__ void race(int *out) {
  __shared__ int word;
  if (threadIdx.x % 32 == 0)
    word = int(threadIdx.x);
  out[threadIdx.x] = word;
}
__global__ void order(float *sum) { atomicAdd(sum, 1.0f / float(1 + threadIdx.x)); }

__global__ void precede(float *data, bool early) {
#ifdef DEPENDENTS
  if (early)
    asm volatile("griddepcontrol.launch_dependents;");
#endif
  data[threadIdx.x] = 1;
}
__global__ void follow(float *data, float *out) { out[threadIdx.x] = data[threadIdx.x]; }

static int report(const char *what, cudaError_t status) {
  std::printf("%s: %s\n", what, cudaGetErrorName(status));
  return status != cudaSuccess;
}

int main(int argc, char **argv) {
  const char *fault = argc > 1 ? argv[1] : "nothing";
  auto is = [&](const char *name) { return std::strcmp(fault, name) == 0; };
  float *data = nullptr;
  cudaMalloc(&data, 128 * sizeof(float));
  if (!is("uninitialised"))
    cudaMemset(data, 0, 128 * sizeof(float));
  if (is("nothing"))
    nothing<<<1, 1>>>();
  if (is("scale") || is("uninitialised"))
    scale<<<1, 128>>>(data, 2);
  if (is("bounds"))
    scale<<<1, 256>>>(data, 2);
  if (is("assertion"))
    insist<<<1, 1>>>(data);
  if (is("misaligned"))
    misplace<<<1, 1>>>(data);
  if (is("cooperative"))
    cudaLaunchCooperativeKernel(reinterpret_cast<void *>(nothing), dim3(100000), dim3(1024), nullptr);
  if (is("race"))
    race<<<1, 64>>>(reinterpret_cast<int *>(data));
  if (is("order"))
    order<<<1, 128>>>(data);
  if (is("early")) {
    precede<<<1, 64>>>(data, true);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = 1, config.blockDim = 64;
    config.attrs = &attribute, config.numAttrs = 1;
    cudaLaunchKernelEx(&config, follow, data, data + 64);
  }
  if (is("shared"))
    nothing<<<1, 1, 64 << 10>>>();
  if (is("block"))
    nothing<<<1, 2048>>>();
  if (is("grid"))
    nothing<<<dim3(1, 70000), 1>>>();
  if (is("cluster") || is("large")) {
    if (is("large"))
      cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {16, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = 16, config.blockDim = 1;
    config.attrs = &attribute, config.numAttrs = 1;
    cudaLaunchKernelEx(&config, nothing);
  }
  if (is("copy"))
    return report("copy", cudaMemcpy(data + 1, data, 128 * sizeof(float),
                                     cudaMemcpyDefault));
  float host[128] = {};
  if (is("swapped"))
    return report("swapped", cudaMemcpy(data, host, sizeof(host), cudaMemcpyDeviceToHost));
  if (is("elsewhere"))
    return report("elsewhere", cudaMemcpy(host, (void *)0x1234, 4, cudaMemcpyDeviceToHost));
  if (is("kind"))
    return report("kind", cudaMemcpy(host, data, 4, cudaMemcpyKind(9)));
  if (is("fill"))
    return report("fill", cudaMemset(host, 0, 16));
  if (is("pitch"))
    return report("pitch", cudaMemcpy2D(host, 8, data, 64, 32, 4, cudaMemcpyDeviceToHost));
  if (is("freed")) {
    cudaFree(data);
    return report("freed", cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
  }
  if (is("late")) {
    cudaFree(data);
    scale<<<1, 128>>>(data, 2);
  }
  if (is("host"))
    scale<<<1, 128>>>(host, 2);
  if (is("free"))
    return report("free", cudaFree(data + 1));
  if (is("array")) {
    cudaArray_t array;
    cudaChannelFormatDesc format{};
    return report("array", cudaMallocArray(&array, &format, 4, 4));
  }
  if (is("ignored")) {
    scale<<<1, 256>>>(data, 2);
    return 0;
  }
  return report("end", cudaDeviceSynchronize()) |
         report("last", cudaGetLastError());
}
