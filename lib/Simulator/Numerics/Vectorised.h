// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions whose loops are compiled for several instruction sets.

#ifndef FP8_LIB_SIMULATOR_NUMERICS_VECTORISED_H
#define FP8_LIB_SIMULATOR_NUMERICS_VECTORISED_H

// ThreadSanitizer instruments what chooses a clone, before it has begun; and
// what AddressSanitizer finds in one clone it finds in all.
#if defined(__x86_64__) && defined(__gnu_linux__) &&                           \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define FP8_VECTORISED                                                         \
  __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define FP8_VECTORISED
#endif

/// The same of function templates, which Clang compiles for one set only.
#ifdef __clang__
#define FP8_VECTORISED_TEMPLATE
#else
#define FP8_VECTORISED_TEMPLATE FP8_VECTORISED
#endif

/// Before a loop whose steps access elements of their own, be it in place.
#ifdef __clang__
#define FP8_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define FP8_INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif // FP8_LIB_SIMULATOR_NUMERICS_VECTORISED_H
