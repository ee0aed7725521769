/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The function that host code from --fp8-lower-launches calls: it launches
 * kernels that are part of a program, on arrays in host or device memory. In
 * libfp8host.so and libfp8.so.
 *
 * Environment variables, read at every launch:
 *   FP8_BACKEND  cuda: a GPU, the default. sim: the simulator. auto: the GPU if
 *                there is one and it can run the kernel, else the simulator,
 *                said on stderr
 *   FP8_DEVICE   the GPU's number; 0 if not set
 *   FP8_WATCHDOG the seconds after which a kernel that has not ended hangs;
 *                30 if not set
 *   FP8_CUDA_LIBRARY  as in fp8-c/Runtime.h */
#ifndef FP8_C_HOST_H
#define FP8_C_HOST_H

#include "fp8-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel in the program's data. The first three fields, and the data that
 * they point to, must not change. */
typedef struct Fp8HostKernel {
  const void *image; /* PTX text or a cubin */
  size_t bytes;      /* of the image */
  const char *manifest;
  void *loaded; /* the library's own; NULL before the first launch */
} Fp8HostKernel;

/* Launches the kernel, waits for its end and returns; its output is then
 * complete. The kernel is loaded at its first launch on a device, and stays
 * loaded. Any number of threads may call this at the same time.
 *
 * An argument may be in device memory or host memory. Memory that the device
 * cannot access is copied to it, and elements that the kernel may write are
 * copied back. Strides of such arguments must not be negative. If two of them
 * overlap, the kernel sees separate copies. On the simulator all arguments are
 * in host memory.
 *
 * An error ends the process by abort(), with a message on stderr: wrong
 * arguments, a device that cannot run the kernel, a kernel that fails or hangs,
 * a rule that was broken on the simulator. */
void fp8HostLaunch(Fp8HostKernel *kernel, const Fp8Argument *arguments,
                   size_t count);

#ifdef __cplusplus
}
#endif

#endif /* FP8_C_HOST_H */
