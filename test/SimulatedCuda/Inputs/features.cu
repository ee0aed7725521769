// A program that uses what programs of others use: each line that it prints is
// computed by a kernel.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                               \
      std::printf("%s: %s\n", #call, cudaGetErrorString(status));              \
      std::exit(3);                                                            \
    }                                                                          \
  } while (0)

__device__ int total = 40;
__constant__ int weights[4];
__device__ __managed__ int managed = 5;

__global__ void addTo(int *out, int value) { atomicAdd(out, value); }
__global__ void addToTotal(int value) { atomicAdd(&total, value); }
__global__ void useWeights(int *out) {
  out[threadIdx.x] = weights[threadIdx.x] * int(threadIdx.x);
}
__global__ void reverse(int *data) {
  extern __shared__ int copy[];
  copy[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}
__global__ void allMeet(int *arrived, int *seen) {
  atomicAdd(arrived, 1);
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0)
    seen[blockIdx.x] = *(volatile int *)arrived;
}
__global__ void allArrive(int *arrived) {
  if (threadIdx.x == 0)
    for (atomicAdd(arrived, 1); *(volatile int *)arrived < int(gridDim.x);)
      ;
}
struct Pair {
  int a;
  long long b;
};
__global__ void unpack(Pair pair, long long *out) { *out = pair.a * pair.b; }
__global__ void __cluster_dims__(2, 1, 1) ranks(unsigned *out) {
  auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0)
    out[blockIdx.x] = cluster.block_rank() * 10 + cluster.num_blocks();
}

static void variables() {
  addToTotal<<<1, 2>>>(1);
  int value = 0;
  CHECK(cudaMemcpyFromSymbol(&value, total, sizeof(value)));
  std::printf("variable: %d\n", value);
  int given[4] = {4, 3, 2, 1}, *out = nullptr, back[4];
  CHECK(cudaMemcpyToSymbol(weights, given, sizeof(given)));
  CHECK(cudaMalloc(&out, sizeof(back)));
  useWeights<<<1, 4>>>(out);
  CHECK(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
  std::printf("constants: %d %d %d %d\n", back[0], back[1], back[2], back[3]);
  void *address = nullptr;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, total));
  CHECK(cudaGetSymbolSize(&bytes, weights));
  addTo<<<1, 1>>>(static_cast<int *>(address), 100);
  CHECK(cudaMemcpyFromSymbol(&value, total, sizeof(value)));
  std::printf("symbol: %d, %zu bytes\n", value, bytes);
  CHECK(cudaFree(out));
}

static void memories() {
  int *shared = nullptr, *pinned = nullptr;
  CHECK(cudaMallocManaged(&shared, sizeof(int)));
  CHECK(cudaMallocHost(&pinned, sizeof(int)));
  *shared = 1, *pinned = 2;
  addTo<<<1, 1>>>(shared, 10);
  addTo<<<1, 1>>>(pinned, 20);
  addTo<<<1, 1>>>(&managed, 30);
  CHECK(cudaDeviceSynchronize());
  std::printf("host reaches: %d %d %d\n", *shared, *pinned, managed);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, shared));
  std::printf("managed: %d\n", attributes.type == cudaMemoryTypeManaged);
  CHECK(cudaFree(shared));
  CHECK(cudaFreeHost(pinned));
  size_t pitch = 0;
  char *rows = nullptr, text[3][5] = {};
  CHECK(cudaMallocPitch(&rows, &pitch, 4, 3));
  CHECK(cudaMemset2D(rows, pitch, 'x', 4, 3));
  CHECK(cudaMemcpy2D(text, 5, rows, pitch, 4, 3, cudaMemcpyDeviceToHost));
  std::printf("rows: %s %s %s\n", text[0], text[1], text[2]);
}

static void registered() {
  std::vector<int> host(4, 1);
  int *device = nullptr;
  CHECK(cudaHostRegister(host.data(), 4 * sizeof(int), cudaHostRegisterMapped));
  CHECK(cudaHostGetDevicePointer(&device, host.data() + 2, 0));
  addTo<<<1, 1>>>(device, 6);
  CHECK(cudaDeviceSynchronize());
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, host.data() + 2));
  std::printf("registered: %d %d, %d %d\n", host[1], host[2],
              attributes.type == cudaMemoryTypeHost,
              attributes.devicePointer == device);
  CHECK(cudaHostUnregister(host.data()));
  CHECK(cudaHostRegister(host.data() + 2, 2 * sizeof(int), 0));
  std::printf("overlaps: %s\n", cudaGetErrorName(cudaHostRegister(
                                    host.data(), 4 * sizeof(int), 0)));
  CHECK(cudaHostUnregister(host.data() + 2));
  (void)cudaGetLastError();
  std::printf("twice: %s\n", cudaGetErrorName(cudaHostUnregister(host.data())));
  (void)cudaGetLastError();
}

static void slices() {
  constexpr size_t width = 3, rows = 2, depth = 2;
  cudaPitchedPtr whole;
  char text[depth][rows][width + 1] = {};
  CHECK(cudaMalloc3D(&whole, make_cudaExtent(width, rows, depth)));
  CHECK(cudaMemset3D(whole, 'z', make_cudaExtent(width, rows, depth)));
  cudaMemcpy3DParms job{};
  job.srcPtr = make_cudaPitchedPtr(const_cast<char *>("yy"), 2, 2, 1);
  job.dstPtr = whole;
  job.dstPos = make_cudaPos(1, 1, 1);
  job.extent = make_cudaExtent(2, 1, 1);
  job.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&job));
  job = {};
  job.srcPtr = whole;
  job.dstPtr = make_cudaPitchedPtr(text, width + 1, width, rows);
  job.extent = make_cudaExtent(width, rows, depth);
  job.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&job));
  std::printf("slices: %s %s %s %s\n", text[0][0], text[0][1], text[1][0],
              text[1][1]);
}

static void handles() {
  size_t before = 0, after = 0;
  CHECK(cudaDeviceGetLimit(&before, cudaLimitStackSize));
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CHECK(cudaDeviceGetLimit(&after, cudaLimitStackSize));
  char bus[16];
  CHECK(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0));
  std::printf("limits: %zu %zu, bus %s\n", before, after, bus);
  cudaMemPool_t pool;
  uint64_t threshold = ~uint64_t(0);
  int *out = nullptr, value = 5, result = 0;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CHECK(cudaMallocFromPoolAsync((void **)&out, sizeof(int), pool, nullptr));
  CHECK(cudaMemset(out, 0, sizeof(int)));
  cudaKernel_t kernel;
  cudaFunction_t function;
  void *arguments[] = {&out, &value};
  CHECK(cudaGetKernel(&kernel, addTo));
  CHECK(cudaGetFuncBySymbol(&function, (const void *)addTo));
  CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), arguments, 0, nullptr));
  CHECK(cudaLaunchKernel((const void *)function, dim3(1), dim3(1), arguments, 0, nullptr));
  CHECK(cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("by handles: %d\n", result);
  cudaStreamAttrValue attribute{};
  CHECK(cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &attribute));
  CHECK(cudaStreamAddCallback(
      nullptr, [](cudaStream_t, cudaError_t, void *text) { std::printf("%s\n", (const char *)text); },
      const_cast<char *>("called back"), 0));
}

static void graphs() {
  int *out = nullptr, value = -1;
  CHECK(cudaMalloc(&out, sizeof(int)));
  cudaStream_t stream, second;
  cudaEvent_t fork, start, stop;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaMemset(out, 0, sizeof(int)));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  addTo<<<1, 1, 0, stream>>>(out, 1);
  CHECK(cudaEventRecord(fork, stream));
  CHECK(cudaStreamWaitEvent(second, fork));
  addTo<<<1, 1, 0, second>>>(out, 2);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaMemcpy(&value, out, sizeof(int), cudaMemcpyDefault));
  std::printf("captured: %d\n", value);
  CHECK(cudaEventRecord(start, stream));
  for (int i = 0; i < 3; ++i)
    CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(cudaMemcpy(&value, out, sizeof(int), cudaMemcpyDefault));
  std::printf("replayed: %d, time passes: %d\n", value, milliseconds > 0);
  CHECK(cudaLaunchHostFunc(
      stream, [](void *text) { std::printf("%s\n", (const char *)text); },
      const_cast<char *>("from the host")));
}

static void kernels() {
  constexpr int threads = 256, bytes = 100 << 10;
  std::vector<int> data(threads);
  for (int i = 0; i < threads; ++i)
    data[i] = i;
  int *device = nullptr;
  CHECK(cudaMalloc(&device, sizeof(int) * threads));
  CHECK(cudaMemcpy(device, data.data(), sizeof(int) * threads,
                   cudaMemcpyHostToDevice));
  CHECK(cudaFuncSetAttribute(
      reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  int ctas = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, reverse, threads,
                                                      bytes));
  reverse<<<1, threads, bytes>>>(device);
  CHECK(cudaMemcpy(data.data(), device, sizeof(int) * threads,
                   cudaMemcpyDeviceToHost));
  std::printf("reversed: %d %d, %d of them fit\n", data[0], data[255], ctas);

  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  int grid = properties.multiProcessorCount, *arrived = device, *seen = device + 1;
  CHECK(cudaMemset(device, 0, sizeof(int)));
  void *arguments[] = {&arrived, &seen};
  CHECK(cudaLaunchCooperativeKernel((const void *)allMeet, grid, 32, arguments));
  CHECK(cudaMemcpy(data.data(), seen, sizeof(int) * grid,
                   cudaMemcpyDeviceToHost));
  std::printf("all meet: %d %d of %d\n", data[0], data[grid - 1], grid * 32);

  // So many fit, says the occupancy.
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, allArrive, 512, 0));
  CHECK(cudaMemset(device, 0, sizeof(int)));
  allArrive<<<grid * ctas, 512>>>(arrived);
  CHECK(cudaMemcpy(data.data(), device, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("all arrive: %d\n", data[0]);

  long long *product = nullptr, value = 0;
  CHECK(cudaMalloc(&product, sizeof(value)));
  unpack<<<1, 1>>>(Pair{7, 6000000000}, product);
  CHECK(cudaMemcpy(&value, product, sizeof(value), cudaMemcpyDeviceToHost));
  std::printf("structure: %lld\n", value);

  ranks<<<4, 32>>>(reinterpret_cast<unsigned *>(device));
  CHECK(cudaMemcpy(data.data(), device, 4 * sizeof(int),
                   cudaMemcpyDeviceToHost));
  std::printf("ranks: %d %d %d %d\n", data[0], data[1], data[2], data[3]);
  std::printf("%s %d.%d\n", properties.name, properties.major,
              properties.minor);
}

int main() {
  variables();
  memories();
  registered();
  slices();
  handles();
  graphs();
  kernels();
  CHECK(cudaGetLastError());
}
