/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions of Python's own kind, for calls that must cost a fraction of what
 * ctypes takes. They use Python's stable ABI, which the process of a Python
 * has; elsewhere they are not there. Whoever calls what is declared here holds
 * Python's lock (ctypes.PyDLL). */
#ifndef FP8_C_PYTHON_H
#define FP8_C_PYTHON_H

#include "fp8-c/Common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A description of arrays is bytes: of each array an address, then of each
 * array seven 64-bit words. What is not there (None) has zeros, and behind the
 * last array that is there the description ends.
 *
 *   word 0     bits 0-7 the rank, 1 to 5; 8-11 the address modulo 16; 16-31
 *              DLPack's type code and bits; 32-63 the number of the GPU + 1
 *   words 1-3  extents, outermost first, then zeros
 *   words 4-6  strides in elements, likewise
 *
 * An array of rank 4 or 5 is contiguous, and its extents are below 2^31. Each
 * of words 1-3 has two of them, the outer one in the lower half; words 4-6 are
 * zeros. */
enum { FP8_DESCRIPTION_WORDS = 7, FP8_DESCRIPTION_ARRAYS = 16 };

/* A new reference to `describe(*arrays) -> bytes`. `exchange` is the table of
 * the package that the arrays are of (DLPackExchangeAPI, DLPack 1.3, "DLPack C
 * Exchange API"). The function returns b"" if it cannot describe one of up to
 * 16 arrays: another package's, one that is on no GPU, has no memory, is of
 * another rank, or is of rank 4 or 5 and not contiguous. None: there is no such
 * table. NULL: there is no Python. */
void *fp8PythonDescribe(const void *exchange);

/* A new reference to `enqueue(launch, places, addresses, last, stream) -> int`,
 * a status as fp8LaunchEnqueueAt has it. `launch` is a handle. `places` are
 * bytes, one for each argument of the kernel: which of the `addresses`, the
 * first 64-bit words of those bytes, it gets; 255 stands for the address
 * `last`. NULL: there is no Python. */
void *fp8PythonEnqueue(void);

#ifdef __cplusplus
}
#endif

#endif /* FP8_C_PYTHON_H */
