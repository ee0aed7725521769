// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a shared library exports to be timed beside our kernels:
// docs/Benchmark.md, "A peer built elsewhere".
#ifndef FP8_BENCHMARK_PEER_H
#define FP8_BENCHMARK_PEER_H

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define FP8_PEER_EXPORT extern "C" __attribute__((visibility("default")))

struct Fp8PeerOperands {
  int64_t m, n, k, a_scale_stride;
  const void *a;
  const float *a_scale;
  const void *b;
  const float *b_scale;
  void *d;
};

FP8_PEER_EXPORT int fp8PeerEnqueue(const Fp8PeerOperands *operands,
                                   void *stream);
FP8_PEER_EXPORT int fp8PeerPrepare(const Fp8PeerOperands *operands,
                                   size_t count);
FP8_PEER_EXPORT const char *fp8PeerConfiguration(void);

namespace peer {

/// Says what went wrong; a status that is not 0.
inline int fail(const char *what, const char *why) {
  std::fprintf(stderr, "peer: %s: %s\n", what, why);
  return 1;
}

inline int check(const char *what, cudaError_t status) {
  return status == cudaSuccess ? 0 : fail(what, cudaGetErrorString(status));
}

/// Whether launches may begin before their predecessors end:
/// FP8_PEER_PROGRAMMATIC=1 in the environment.
inline bool programmatic() {
  const char *text = std::getenv("FP8_PEER_PROGRAMMATIC");
  return text && *text && *text != '0';
}

/// Whether this is the machine that the library was built for.
inline int checkProcessors(int expected) {
  int device = 0, processors = 0;
  if (int status = check("cudaGetDevice", cudaGetDevice(&device)))
    return status;
  if (int status =
          check("cudaDeviceGetAttribute",
                cudaDeviceGetAttribute(&processors,
                                       cudaDevAttrMultiProcessorCount, device)))
    return status;
  if (processors == expected)
    return 0;
  char text[128];
  std::snprintf(text, sizeof text,
                "the GPU has %d multiprocessors, the library is for %d; build "
                "it with --processors=%d",
                processors, expected, processors);
  return fail("device", text);
}

} // namespace peer

#endif // FP8_BENCHMARK_PEER_H
