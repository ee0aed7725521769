// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUTLASS's Hopper kernel as a peer of the benchmark: the fastest of a few
// tiles and clusters (cutlass_variant.cu) and of the orders in which tiles are
// walked, as found by timing them on the operands of each shape.
#include "cutlass_variant.h"

#include <cstring>
#include <vector>

#define VARIANT(name) extern const Variant name;
#include "cutlass-variants.inc"
#undef VARIANT

namespace {

const Variant *const kVariants[] = {
#define VARIANT(name) &name,
#include "cutlass-variants.inc"
#undef VARIANT
};

constexpr int kSwizzles[] = {1, 2, 4, 8};
constexpr float kLeastMilliseconds = 1;

struct Launch {
  Fp8PeerOperands operands;
  void *made;
};

/// A variant and an order, with launches of it for each set of operands.
struct Choice {
  const Variant *variant = nullptr;
  Walk walk = {};
  std::vector<Launch> launches;

  Choice(const Variant *variant, Walk walk) : variant(variant), walk(walk) {}
  Choice(Choice &&) = default;
  ~Choice() {
    for (Launch &launch : launches)
      variant->drop(launch.made);
  }

  int get(const Fp8PeerOperands &operands, void *&made) {
    for (Launch &one : launches) {
      if (!std::memcmp(&one.operands, &operands, sizeof operands)) {
        made = one.made;
        return 0;
      }
    }
    if (int status = variant->make(operands, walk, &made))
      return status;
    if (made)
      launches.push_back({operands, made});
    return 0;
  }
};

std::vector<Choice> chosen; // one, or none
char configuration[128] = "";

/// Milliseconds for a launch on each set; 0 if the variant cannot do the shape.
int time(Choice &choice, const Fp8PeerOperands *operands, size_t count,
         cudaStream_t stream, cudaEvent_t start, cudaEvent_t stop,
         float &milliseconds) {
  milliseconds = 0;
  for (size_t i = 0; i != count; ++i) {
    void *made = nullptr;
    if (int status = choice.get(operands[i], made))
      return status;
    if (!made)
      return 0;
  }
  int rounds = 1;
  for (;;) {
    cudaEventRecord(start, stream);
    for (int round = 0; round != rounds; ++round)
      for (Launch &launch : choice.launches)
        if (int status = choice.variant->enqueue(launch.made, stream,
                                                 peer::programmatic()))
          return status;
    cudaEventRecord(stop, stream);
    if (int status = peer::check("a trial", cudaEventSynchronize(stop)))
      return status;
    if (int status = peer::check(
            "a trial", cudaEventElapsedTime(&milliseconds, start, stop)))
      return status;
    milliseconds /= rounds;
    // The first round warms up.
    if (rounds > 1)
      return 0;
    rounds = 2 + static_cast<int>(kLeastMilliseconds / milliseconds);
  }
}

int choose(const Fp8PeerOperands *operands, size_t count, cudaStream_t stream,
           cudaEvent_t start, cudaEvent_t stop) {
  float best = 0;
  for (const Variant *variant : kVariants) {
    for (int order = 0; order != 2; ++order) {
      for (int swizzle : kSwizzles) {
        Choice choice(variant, {order == 0, swizzle});
        float milliseconds = 0;
        if (int status = time(choice, operands, count, stream, start, stop,
                              milliseconds))
          return status;
        if (milliseconds == 0 || (best && best <= milliseconds))
          continue;
        best = milliseconds;
        chosen.clear();
        chosen.push_back(std::move(choice));
      }
    }
  }
  if (chosen.empty())
    return peer::fail("shape", "no variant can do it");
  const Choice &choice = chosen.front();
  std::snprintf(configuration, sizeof configuration,
                "%s, along %s, swizzle %d%s", choice.variant->name,
                choice.walk.alongM ? "M" : "N", choice.walk.swizzle,
                peer::programmatic() ? ", programmatic" : "");
  return 0;
}

} // namespace

int fp8PeerPrepare(const Fp8PeerOperands *operands, size_t count) {
  chosen.clear();
  cudaStream_t stream = nullptr;
  cudaEvent_t start = nullptr, stop = nullptr;
  int status =
      peer::check("cudaDeviceSynchronize", cudaDeviceSynchronize()) ||
      peer::check("cudaStreamCreate",
                  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) ||
      peer::check("cudaEventCreate", cudaEventCreate(&start)) ||
      peer::check("cudaEventCreate", cudaEventCreate(&stop)) ||
      choose(operands, count, stream, start, stop);
  if (stop)
    cudaEventDestroy(stop);
  if (start)
    cudaEventDestroy(start);
  if (stream)
    cudaStreamDestroy(stream);
  return status;
}

int fp8PeerEnqueue(const Fp8PeerOperands *operands, void *stream) {
  if (chosen.empty())
    return peer::fail("fp8PeerEnqueue", "called before fp8PeerPrepare");
  void *made = nullptr;
  if (int status = chosen.front().get(*operands, made))
    return status;
  return chosen.front().variant->enqueue(
      made, static_cast<cudaStream_t>(stream), peer::programmatic());
}

const char *fp8PeerConfiguration(void) { return configuration; }
