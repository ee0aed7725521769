// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow that a warp's lanes leave at different times: data-dependent
// nested loops with break and continue, an early exit, and votes and shuffles
// among those that are left.
#include <cstdint>

extern "C" __global__ void divergent(const uint32_t *in, uint32_t *out,
                                     int count) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t value = at < count ? in[at] : 0, sum = 0;
  unsigned here = __ballot_sync(~0u, value != 0);
  if (at >= count)
    return;
  if (value == 0) {
    out[at] = 0xdead;
    return;
  }
  // Collatz steps; every 7th is skipped, the walk ends after 200.
  for (uint32_t step = 0; value != 1; ++step) {
    value = value & 1 ? 3 * value + 1 : value / 2;
    if (step % 7 == 3)
      continue;
    if (step == 200)
      break;
    // Trailing digits, a loop of its own length in each lane.
    for (uint32_t rest = value; rest; rest /= 10) {
      sum += rest % 10;
      if (rest % 10 == 9)
        break;
    }
  }
  unsigned odd = __ballot_sync(here, sum & 1);
  bool any = __any_sync(here, sum > 5000), all = __all_sync(here, sum > 0);
  uint32_t first = __shfl_sync(here, sum, __ffs(here) - 1);
  switch (sum % 4) {
  case 0:
    sum += first;
    break;
  case 1:
    sum ^= __popc(odd);
    [[fallthrough]];
  case 2:
    sum = sum * 2 + any;
    break;
  default:
    sum -= all;
  }
  out[at] = sum;
}
