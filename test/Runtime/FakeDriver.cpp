// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA driver without a GPU, for tests: its memory is the host's, its kernels
// do nothing, and it writes down what it is asked. Environment variables, read
// at every call:
//   FP8_FAKE_LOG=FILE     appends a line for each call that matters
//   FP8_FAKE_FAIL=F=N,... makes function F fail with CUresult N
//   FP8_FAKE_HANG=1       kernels do not end: after a launch no event comes,
//                         and what would wait for them aborts
//   FP8_FAKE_CAPABILITY=M.N  what the device is; 9.0 unless given
//   FP8_FAKE_VERSION=N    of CUDA, as cuDriverGetVersion has it; 13000
//                         unless given
//   FP8_FAKE_WRITE=P:O:N  a launch zeroes N bytes, O behind parameter P's
//                         address
//   FP8_FAKE_WORD=W       a launch writes down 64-bit word W of its first
//                         parameter, too
//   FP8_FAKE_PARAMETERS=B,...  the bytes of the kernel's parameters
//   FP8_FAKE_WAITS=O:P:W:X,... a launch leaves a record of a wait for the
//                         barrier at offset O, parity P, of warp W of CTA X,
//                         where the module's variable says
//   FP8_FAKE_SMALL=1      that variable has 4 bytes
//   FP8_FAKE_PAUSE=MS     finding a function takes that long
//   FP8_FAKE_ELSEWHERE=1  what was allocated lies on another device
//   FP8_FAKE_EDGE=1       a captured node need not end before the next one
// What needs a current context fails without one, and writes that down.
#include "fp8/Runtime/DriverTypes.h"
#include "fp8/Tensor/TensorMap.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

using namespace fp8::runtime::cu;

namespace {
[[maybe_unused]] void note(const char *format, ...) {
  const char *path = std::getenv("FP8_FAKE_LOG");
  FILE *file = path ? std::fopen(path, "a") : nullptr;
  if (!file)
    return;
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(file, format, arguments);
  va_end(arguments);
  std::fputc('\n', file);
  std::fclose(file);
}

/// What FP8_FAKE_FAIL has for the function, or success.
Result planned(const char *function) {
  const char *plan = std::getenv("FP8_FAKE_FAIL");
  if (!plan)
    return success;
  std::string text = std::string(",") + plan + ",";
  std::string key = std::string(",") + function + "=";
  size_t found = text.find(key);
  return found == std::string::npos
             ? success
             : std::atoi(text.c_str() + found + key.size());
}

template <typename T>
std::string list(const T *values, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? "," : "") + std::to_string(values[i]);
  return "[" + text + "]";
}

/// Of each thread, as the driver has it.
[[maybe_unused]] thread_local Context currentContext = nullptr;

/// CUDA_ERROR_INVALID_CONTEXT without a current context.
[[maybe_unused]] Result needContext(const char *function) {
  if (currentContext)
    return success;
  note("no context: %s", function);
  return 201;
}

/// The module's variable: the address of records and their number, or the head
/// and the stamp of a unit.
[[maybe_unused]] uint64_t variable[8];

[[maybe_unused]] void leaveRecords() {
  auto *record = reinterpret_cast<uint32_t *>(variable[0]);
  const char *text = std::getenv("FP8_FAKE_WAITS");
  while (record && text &&
         std::sscanf(text, "%u:%u:%u:%u", &record[1], &record[2], &record[3],
                     &record[4]) == 4) {
    uint64_t waited = 2010000000;
    std::memcpy(&record[8], &waited, sizeof(waited));
    record[0] = 1;
    record += 16;
    text = std::strchr(text, ',');
    text += text != nullptr;
  }
}

/// What lies on the device: bytes by address.
[[maybe_unused]] std::map<DevicePointer, size_t> allocations;
[[maybe_unused]] std::mutex allocationsMutex;

[[maybe_unused]] bool isAllocated(DevicePointer pointer) {
  std::lock_guard<std::mutex> lock(allocationsMutex);
  auto next = allocations.upper_bound(pointer);
  return next != allocations.begin() &&
         pointer - std::prev(next)->first < std::prev(next)->second;
}

/// Whether a kernel was launched that does not end.
[[maybe_unused]] std::atomic<bool> hangs{false};

[[maybe_unused]] void launched() {
  if (std::getenv("FP8_FAKE_HANG"))
    hangs = true;
}

/// Ends the process in the place of waiting for ever.
[[maybe_unused]] void waitForKernels(const char *function) {
  if (!hangs || !std::getenv("FP8_FAKE_HANG"))
    return;
  std::fprintf(stderr, "fake driver: %s waits for a kernel that hangs\n",
               function);
  std::abort();
}

/// The dynamic shared memory that a function may have, as cuFuncSetAttribute
/// says.
[[maybe_unused]] std::map<Function, int> dynamicShared;
[[maybe_unused]] std::mutex dynamicSharedMutex;

[[maybe_unused]] void allowDynamicShared(Function function, int bytes) {
  std::lock_guard<std::mutex> lock(dynamicSharedMutex);
  dynamicShared[function] = bytes;
}

[[maybe_unused]] int getDynamicShared(Function function) {
  std::lock_guard<std::mutex> lock(dynamicSharedMutex);
  auto found = dynamicShared.find(function);
  return found == dynamicShared.end() ? 48 << 10 : found->second;
}

/// None is null, and each is another.
template <typename Handle>
void hand(Handle *out) {
  static std::atomic<uintptr_t> last{0};
  *out = reinterpret_cast<Handle>(++last);
}

/// What a stream captures: the number of the capture, and its latest node. The
/// same handles name the nodes of every graph, as addresses may.
struct CapturedStream {
  unsigned long long id = 0;
  GraphNode latest = nullptr;
  uintptr_t nodes = 0;
};
[[maybe_unused]] std::map<Stream, CapturedStream> capturing;
[[maybe_unused]] std::mutex capturingMutex;

[[maybe_unused]] void addNode(Stream stream) {
  std::lock_guard<std::mutex> lock(capturingMutex);
  if (auto found = capturing.find(stream); found != capturing.end())
    found->second.latest = reinterpret_cast<GraphNode>(++found->second.nodes);
}

/// The same for the same name of a module.
[[maybe_unused]] Function getFunction(Module module, const char *name) {
  static std::mutex mutex;
  static std::map<std::pair<Module, std::string>, Function> functions;
  std::lock_guard<std::mutex> lock(mutex);
  Function &function = functions[{module, name}];
  if (!function)
    hand(&function);
  return function;
}
} // namespace

#define FAIL_AS_PLANNED()                                                      \
  if (Result result = planned(__func__))                                       \
  return result

#define NEEDS_CONTEXT()                                                        \
  if (Result result = needContext(__func__))                                   \
    return result;                                                             \
  FAIL_AS_PLANNED()

/// Of what returns when all kernels have ended.
#define WAITS()                                                                \
  NEEDS_CONTEXT();                                                             \
  waitForKernels(__func__)

#define FAKE extern "C" __attribute__((visibility("default"))) Result

FAKE cuInit(unsigned) {
  FAIL_AS_PLANNED();
  return success;
}
#ifndef FP8_FAKE_INCOMPLETE // a driver too old to have the rest
FAKE cuDriverGetVersion(int *version) {
  const char *given = std::getenv("FP8_FAKE_VERSION");
  *version = given ? std::atoi(given) : 13000;
  return success;
}
FAKE cuGetErrorName(Result error, const char **name) {
  *name = error == outOfMemory    ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == noDevice     ? "CUDA_ERROR_NO_DEVICE"
          : error == invalidPtx   ? "CUDA_ERROR_INVALID_PTX"
          : error == launchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
          : error == notFound     ? "CUDA_ERROR_NOT_FOUND"
          : error == invalidValue ? "CUDA_ERROR_INVALID_VALUE"
                                  : "CUDA_ERROR_OF_THE_FAKE";
  return success;
}
FAKE cuGetErrorString(Result, const char **text) {
  *text = "as the test asked";
  return success;
}
FAKE cuDeviceGetCount(int *count) {
  FAIL_AS_PLANNED();
  *count = 1;
  return success;
}
FAKE cuDeviceGet(Device *device, int ordinal) {
  FAIL_AS_PLANNED();
  *device = ordinal;
  return success;
}
FAKE cuDeviceGetName(char *name, int size, Device) {
  std::snprintf(name, size, "Fake GPU");
  return success;
}
FAKE cuDeviceTotalMem_v2(size_t *bytes, Device) {
  *bytes = size_t(1) << 30;
  return success;
}
FAKE cuDeviceGetAttribute(int *value, DeviceAttribute attribute, Device) {
  FAIL_AS_PLANNED();
  const char *capability = std::getenv("FP8_FAKE_CAPABILITY");
  int major = 9, minor = 0;
  if (capability)
    std::sscanf(capability, "%d.%d", &major, &minor);
  switch (attribute) {
  case DeviceAttribute::MultiprocessorCount:
    *value = 7;
    break;
  case DeviceAttribute::L2CacheSize:
    *value = 1 << 16;
    break;
  case DeviceAttribute::ComputeCapabilityMajor:
    *value = major;
    break;
  case DeviceAttribute::ComputeCapabilityMinor:
    *value = minor;
    break;
  case DeviceAttribute::MaxSharedMemoryPerBlockOptin:
    *value = 232448;
    break;
  }
  return success;
}
FAKE cuDevicePrimaryCtxRetain(Context *context, Device) {
  FAIL_AS_PLANNED();
  hangs = false;
  hand(context);
  return success;
}
FAKE cuDevicePrimaryCtxRelease_v2(Device) {
  waitForKernels(__func__);
  note("cuDevicePrimaryCtxRelease_v2");
  return success;
}
FAKE cuCtxGetCurrent(Context *context) {
  *context = currentContext;
  return success;
}
FAKE cuCtxSetCurrent(Context context) {
  currentContext = context;
  return success;
}

FAKE cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  NEEDS_CONTEXT();
  note("cuMemAlloc_v2 %zu", bytes);
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  // NaN as a float: zeros would look like the product of a GEMM with K = 0.
  if (memory)
    std::memset(memory, 0xff, bytes);
  *pointer = reinterpret_cast<DevicePointer>(memory);
  std::lock_guard<std::mutex> lock(allocationsMutex);
  allocations[*pointer] = bytes;
  return memory ? success : outOfMemory;
}
FAKE cuMemFree_v2(DevicePointer pointer) {
  WAITS();
  note("cuMemFree_v2");
  std::lock_guard<std::mutex> lock(allocationsMutex);
  allocations.erase(pointer);
  std::free(reinterpret_cast<void *>(pointer));
  return success;
}
FAKE cuMemcpyHtoD_v2(DevicePointer to, const void *from, size_t bytes) {
  WAITS();
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return success;
}
FAKE cuMemcpyDtoH_v2(void *to, DevicePointer from, size_t bytes) {
  WAITS();
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return success;
}
FAKE cuMemsetD8_v2(DevicePointer to, unsigned char value, size_t bytes) {
  WAITS();
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return success;
}
FAKE cuMemsetD8Async(DevicePointer to, unsigned char value, size_t bytes,
                     Stream stream) {
  NEEDS_CONTEXT();
  note("cuMemsetD8Async %zu", bytes);
  addNode(stream);
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return success;
}

FAKE cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  NEEDS_CONTEXT();
  note("cuMemHostAlloc %zu %u", bytes, flags);
  *memory = std::malloc(bytes);
  return success;
}
FAKE cuMemHostGetDevicePointer_v2(DevicePointer *address, void *memory,
                                  unsigned) {
  NEEDS_CONTEXT();
  *address = reinterpret_cast<DevicePointer>(memory);
  return success;
}
FAKE cuMemFreeHost(void *memory) {
  WAITS();
  note("cuMemFreeHost");
  variable[0] = 0;
  std::free(memory);
  return success;
}

FAKE cuPointerGetAttribute(void *value, PointerAttribute attribute,
                           DevicePointer pointer) {
  if (attribute == PointerAttribute::DeviceOrdinal) {
    FAIL_AS_PLANNED();
    *static_cast<int *>(value) = 0;
    return success;
  }
  NEEDS_CONTEXT();
  bool isHere = !std::getenv("FP8_FAKE_ELSEWHERE");
  if (!isAllocated(pointer) ||
      (attribute == PointerAttribute::DevicePointer && !isHere))
    return invalidValue;
  if (attribute == PointerAttribute::DevicePointer)
    std::memcpy(value, &pointer, sizeof(pointer));
  else
    std::memcpy(value, &memoryTypeDevice, sizeof(memoryTypeDevice));
  return success;
}

FAKE cuModuleLoadDataEx(Module *module, const void *image, unsigned count,
                        JitOption *options, void **values) {
  note("cuModuleLoadDataEx %.4s", static_cast<const char *>(image));
  if (Result result = planned(__func__)) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == JitOption::ErrorLogBuffer)
        std::strcpy(static_cast<char *>(values[i]),
                    "ptxas application ptx input, line 7; error: no such op\n");
    return result;
  }
  hand(module);
  return success;
}
FAKE cuModuleUnload(Module) {
  WAITS();
  note("cuModuleUnload");
  return success;
}
FAKE cuModuleGetFunction(Function *function, Module module, const char *name) {
  NEEDS_CONTEXT();
  note("cuModuleGetFunction %s", name);
  if (const char *pause = std::getenv("FP8_FAKE_PAUSE"))
    usleep(1000 * std::atoi(pause));
  *function = getFunction(module, name);
  return success;
}
FAKE cuModuleGetGlobal_v2(DevicePointer *address, size_t *bytes, Module,
                          const char *name) {
  NEEDS_CONTEXT();
  note("cuModuleGetGlobal_v2 %s", name);
  std::memset(variable, 0, sizeof(variable));
  *address = reinterpret_cast<DevicePointer>(&variable);
  *bytes = std::getenv("FP8_FAKE_SMALL") ? 4 : sizeof(variable);
  return success;
}
FAKE cuFuncGetAttribute(int *value, FunctionAttribute attribute, Function) {
  FAIL_AS_PLANNED();
  *value = attribute == FunctionAttribute::NumRegs          ? 168
           : attribute == FunctionAttribute::LocalSizeBytes ? 16
                                                            : 1024;
  return success;
}
FAKE cuFuncSetAttribute(Function function, FunctionAttribute attribute,
                        int value) {
  NEEDS_CONTEXT();
  note("cuFuncSetAttribute %d %d", int(attribute), value);
  if (attribute == FunctionAttribute::MaxDynamicSharedSizeBytes)
    allowDynamicShared(function, value);
  return success;
}
FAKE cuFuncGetParamInfo(Function, size_t index, size_t *offset, size_t *size) {
  FAIL_AS_PLANNED();
  const char *text = std::getenv("FP8_FAKE_PARAMETERS");
  for (size_t i = 0; text && i < index; ++i)
    if ((text = std::strchr(text, ',')))
      ++text;
  if (!text)
    return invalidValue;
  *offset = 0;
  *size = std::atoi(text);
  return success;
}

FAKE cuTensorMapEncodeTiled(TensorMap *map, TensorMapDataType type,
                            uint32_t rank, void *address, const uint64_t *dims,
                            const uint64_t *strides, const uint32_t *box,
                            const uint32_t *steps,
                            fp8::tensor::Interleave interleave,
                            fp8::tensor::Swizzle swizzle,
                            fp8::tensor::L2Promotion promotion,
                            fp8::tensor::OobFill fill) {
  FAIL_AS_PLANNED();
  note("cuTensorMapEncodeTiled type=%d rank=%u address=%#llx dims=%s "
       "strides=%s box=%s steps=%s interleave=%d swizzle=%d promotion=%d "
       "fill=%d",
       int(type), rank, reinterpret_cast<unsigned long long>(address),
       list(dims, rank).c_str(), list(strides, rank - 1).c_str(),
       list(box, rank).c_str(), list(steps, rank).c_str(), int(interleave),
       int(swizzle), int(promotion), int(fill));
  std::memset(map, 0, sizeof(*map));
  map->opaque[0] = reinterpret_cast<uint64_t>(address);
  map->opaque[1] = ~uint64_t(0); // bit 85 among them, as drivers set it
  return success;
}

FAKE cuTensorMapReplaceAddress(TensorMap *map, void *address) {
  FAIL_AS_PLANNED();
  note("cuTensorMapReplaceAddress address=%#llx",
       reinterpret_cast<unsigned long long>(address));
  map->opaque[0] = reinterpret_cast<uint64_t>(address);
  map->opaque[1] = ~uint64_t(0);
  return success;
}

FAKE cuLaunchKernelEx(const LaunchConfig *config, Function function,
                      void **parameters, void **extra) {
  NEEDS_CONTEXT();
  if (int(config->sharedMemoryBytes) > getDynamicShared(function))
    return invalidValue;
  std::string attributes;
  for (unsigned i = 0; i < config->attributeCount; ++i) {
    const LaunchAttribute &attribute = config->attributes[i];
    if (attribute.id == LaunchAttributeId::ClusterDimension)
      attributes += " cluster=" + std::to_string(attribute.value.clusterDim.x) +
                    "x" + std::to_string(attribute.value.clusterDim.y) + "x" +
                    std::to_string(attribute.value.clusterDim.z);
    else
      attributes += " programmatic=" +
                    std::to_string(
                        attribute.value.programmaticStreamSerializationAllowed);
  }
  note("cuLaunchKernelEx grid=%ux%ux%u block=%ux%ux%u shared=%u%s extra=%d "
       "first=%#llx",
       config->gridX, config->gridY, config->gridZ, config->blockX,
       config->blockY, config->blockZ, config->sharedMemoryBytes,
       attributes.c_str(), extra != nullptr,
       *static_cast<unsigned long long *>(parameters[0]));
  if (const char *word = std::getenv("FP8_FAKE_WORD"))
    note("word=%#llx",
         static_cast<unsigned long long *>(parameters[0])[std::atoi(word)]);
  launched();
  addNode(config->stream);
  leaveRecords();
  unsigned index = 0;
  long long offset = 0;
  size_t bytes = 0;
  if (const char *write = std::getenv("FP8_FAKE_WRITE"))
    if (std::sscanf(write, "%u:%lld:%zu", &index, &offset, &bytes) == 3)
      std::memset(*static_cast<char **>(parameters[index]) + offset, 0, bytes);
  return success;
}

FAKE cuStreamCreate(Stream *stream, unsigned flags) {
  NEEDS_CONTEXT();
  note("cuStreamCreate %u", flags);
  hand(stream);
  return success;
}
FAKE cuStreamDestroy_v2(Stream) {
  NEEDS_CONTEXT();
  return success;
}
FAKE cuStreamBeginCapture_v2(Stream stream, int mode) {
  FAIL_AS_PLANNED();
  note("cuStreamBeginCapture_v2 %d", mode);
  static std::atomic<unsigned long long> captures{0};
  std::lock_guard<std::mutex> lock(capturingMutex);
  capturing[stream] = {++captures, nullptr, 0};
  return success;
}
FAKE cuStreamGetCaptureInfo_v3(Stream stream, CaptureStatus *status,
                               unsigned long long *id, Graph *,
                               const GraphNode **nodes, const GraphEdge **edges,
                               size_t *count) {
  FAIL_AS_PLANNED();
  static const GraphEdge edge = {1, 0, 1, {}};
  std::lock_guard<std::mutex> lock(capturingMutex);
  auto found = capturing.find(stream);
  *status =
      found == capturing.end() ? CaptureStatus::None : CaptureStatus::Active;
  if (found == capturing.end())
    return success;
  *id = found->second.id;
  *nodes = &found->second.latest;
  *edges = std::getenv("FP8_FAKE_EDGE") ? &edge : nullptr;
  *count = found->second.latest != nullptr;
  return success;
}
FAKE cuStreamEndCapture(Stream stream, Graph *graph) {
  FAIL_AS_PLANNED();
  {
    std::lock_guard<std::mutex> lock(capturingMutex);
    capturing.erase(stream);
  }
  note("cuStreamEndCapture");
  hand(graph);
  return success;
}
FAKE cuEventCreate(Event *event, unsigned) {
  NEEDS_CONTEXT();
  hand(event);
  return success;
}
FAKE cuEventDestroy_v2(Event) {
  NEEDS_CONTEXT();
  return success;
}
FAKE cuEventRecord(Event, Stream stream) {
  FAIL_AS_PLANNED();
  note("cuEventRecord %p", reinterpret_cast<void *>(stream));
  return success;
}
FAKE cuEventQuery(Event) {
  FAIL_AS_PLANNED();
  return hangs && std::getenv("FP8_FAKE_HANG") ? notReady : success;
}
/// 0.5 ms, then 1 ms, ...: 12 times, and again.
FAKE cuEventElapsedTime(float *milliseconds, Event, Event) {
  FAIL_AS_PLANNED();
  static std::atomic<unsigned> calls{0};
  *milliseconds = float(0.5 * (1 + calls++ % 12));
  return success;
}
FAKE cuGraphInstantiateWithFlags(GraphExec *executable, Graph,
                                 unsigned long long) {
  FAIL_AS_PLANNED();
  note("cuGraphInstantiateWithFlags");
  hand(executable);
  return success;
}
FAKE cuGraphLaunch(GraphExec, Stream) {
  NEEDS_CONTEXT();
  note("cuGraphLaunch");
  launched();
  return success;
}
FAKE cuGraphExecDestroy(GraphExec) {
  NEEDS_CONTEXT();
  return success;
}
FAKE cuGraphDestroy(Graph) { return success; }
#endif // FP8_FAKE_INCOMPLETE
