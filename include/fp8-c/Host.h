/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the host code that --fp8-lower-launches makes calls: kernels that are
 * part of a program, launched on arrays wherever these lie. In libfp8host.so
 * and libfp8.so.
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

/* A kernel in the program's data. The first three fields and what they point to
 * must not change. */
typedef struct Fp8HostKernel {
  const void *image; /* PTX text or a cubin */
  size_t bytes;      /* of the image */
  const char *manifest;
  void *loaded; /* the library's own; NULL before the first launch */
} Fp8HostKernel;

/* Launches the kernel, waits for its end and returns; what the kernel writes is
 * there then. The kernel is loaded at its first launch on a device, and stays
 * loaded. Any number of threads may call at the same time.
 *
 * An argument's address may be the device's, or the host's: what the device
 * cannot reach is copied to it, and what the kernel may write is copied back,
 * elements only. Strides of such arguments are not negative, and two of them
 * that overlap are separate to the kernel. On the simulator all are the host's.
 *
 * What fails ends the process by abort(), with a message on stderr: wrong
 * arguments, a device that cannot run the kernel, a kernel that fails or hangs,
 * a rule that was broken on the simulator. */
void fp8HostLaunch(Fp8HostKernel *kernel, const Fp8Argument *arguments,
                   size_t count);

#ifdef __cplusplus
}
#endif

#endif /* FP8_C_HOST_H */
