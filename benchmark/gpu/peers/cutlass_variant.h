// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One tile and cluster of CUTLASS's kernel, as cutlass_variant.cu makes it and
// cutlass.cu chooses among them.
#ifndef FP8_BENCHMARK_CUTLASS_VARIANT_H
#define FP8_BENCHMARK_CUTLASS_VARIANT_H

#include "peer.h"

/// How the tiles of D are walked.
struct Walk {
  bool alongM;
  int swizzle;
};

struct Variant {
  const char *name;
  /// Everything but the launch; `made` is null if that cannot be had.
  int (*make)(const Fp8PeerOperands &operands, Walk walk, void **made);
  int (*enqueue)(void *made, cudaStream_t stream, bool programmatic);
  void (*drop)(void *made);
};

#endif // FP8_BENCHMARK_CUTLASS_VARIANT_H
