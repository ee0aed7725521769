/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of the runtime: a kernel and its launch manifest on a GPU.
 *
 * fp8-c/Common.h describes errors and handles. Several threads may use one
 * device at the same time. A device stays alive while objects on it exist. A
 * function does not change the caller's current CUDA context. */
#ifndef FP8_C_RUNTIME_H
#define FP8_C_RUNTIME_H

#include "fp8-c/Common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Fp8Device Fp8Device;
typedef struct Fp8Buffer Fp8Buffer;
typedef struct Fp8Kernel Fp8Kernel;
typedef struct Fp8Launch Fp8Launch;

typedef struct Fp8DeviceInfo {
  const char *name; /* valid as long as the device */
  int32_t ordinal, major, minor;
  int32_t multiprocessorCount;
  int32_t l2CacheBytes;
  int32_t maxSharedMemoryPerBlock;
  int32_t driverVersion;
  uint64_t memoryBytes;
} Fp8DeviceInfo;

/* `library` is the driver's library; NULL: the library that the environment
 * variable FP8_CUDA_LIBRARY names, otherwise libcuda.so.1. */
Fp8Status fp8DeviceOpen(const char *library, int ordinal, Fp8Device **device);
void fp8DeviceClose(Fp8Device *device);
void fp8DeviceGetInfo(const Fp8Device *device, Fp8DeviceInfo *info);
/* FP8_OK if code for `target` ("sm_90a") runs there; else the reason. */
Fp8Status fp8DeviceCanRun(const Fp8Device *device, const char *target);
/* The number of the GPU whose memory contains `address`. `library` names the
 * driver as in fp8DeviceOpen. */
Fp8Status fp8AddressOrdinal(const char *library, uint64_t address,
                            int32_t *ordinal);
/* Waits until all work in the CUDA stream (a CUstream; NULL: the default
 * stream) has ended. */
Fp8Status fp8DeviceAwait(Fp8Device *device, void *stream);
/* Sets the seconds after which work that has not ended is FP8_HANG; the default
 * is 30. The driver waits for such work before it frees anything. From then on
 * the functions named Close and Free free nothing of that device, and
 * return. What is no number is an error. */
Fp8Status fp8DeviceSetWatchdog(Fp8Device *device, double seconds);

/* `name` is for errors. */
Fp8Status fp8BufferAllocate(Fp8Device *device, const char *name, uint64_t bytes,
                            Fp8Buffer **buffer);
void fp8BufferFree(Fp8Buffer *buffer);
uint64_t fp8BufferAddress(const Fp8Buffer *buffer);
/* Returns when the copy is complete, so that kernels in any stream can read the
 * bytes. */
Fp8Status fp8BufferUpload(Fp8Buffer *buffer, const void *data, uint64_t bytes);
Fp8Status fp8BufferDownload(const Fp8Buffer *buffer, void *data,
                            uint64_t bytes);

/* `image` is PTX text or a cubin of `bytes` bytes, `manifest` the text of its
 * launch manifest. The device loads the same image once and keeps it until the
 * device is closed, since enqueued work and the caller's graphs may still need
 * it. */
Fp8Status fp8KernelLoad(Fp8Device *device, const void *image, size_t bytes,
                        const char *manifest, Fp8Kernel **kernel);
void fp8KernelFree(Fp8Kernel *kernel);

/* Checks the arguments against the manifest, encodes tensor maps and
 * parameters. `programmatic` not 0: the kernel may start before the preceding
 * kernel ends, as if the manifest said so; the kernel itself must wait for
 * it. */
Fp8Status fp8LaunchPrepare(const Fp8Kernel *kernel,
                           const Fp8Argument *arguments, size_t count,
                           int programmatic, Fp8Launch **launch);
void fp8LaunchFree(Fp8Launch *launch);
/* Launches and waits for the end. An empty grid is success. */
Fp8Status fp8LaunchRun(const Fp8Launch *launch);
/* Enqueues to the CUDA stream (a CUstream) of the caller, and returns. */
Fp8Status fp8LaunchEnqueue(const Fp8Launch *launch, void *stream);
/* The same with other arrays of the same types, shapes and strides: `addresses`
 * has the address of element 0 of each argument with which the launch was
 * prepared; 0 is an error where the argument has elements. Several threads may
 * call this with one launch at the same time. */
Fp8Status fp8LaunchEnqueueAt(const Fp8Launch *launch, const uint64_t *addresses,
                             size_t count, void *stream);

/* Launches a kernel that was compiled with --fp8-profile, some times before,
 * and waits for the end. An error: the kernel writes no stamps, or the grid is
 * empty. No other thread may launch the kernel meanwhile. */
Fp8Status fp8LaunchProfile(const Fp8Launch *launch, Fp8Timeline *timeline);

typedef struct Fp8Timing {
  double medianMicroseconds, fastestMicroseconds, slowestMicroseconds;
  uint32_t replays, launchesPerReplay;
} Fp8Timing;

/* Times launches of one kernel, each on its own operands, which together should
 * be larger than 4 times the L2 cache. The result is the median of `replays`
 * (20 to 1,000,000) replays of a CUDA graph of all launches. `flush` not 0:
 * single launches, with the L2 cache flushed before each. */
Fp8Status fp8LaunchTime(const Fp8Launch *const *launches, size_t count,
                        uint32_t replays, int flush, Fp8Timing *timing);

#ifdef __cplusplus
}
#endif

#endif /* FP8_C_RUNTIME_H */
