# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the figures are about, by the number that each has as its `line`."""

# What nobody has published, or nobody measured where it matters here.
QUESTIONS = {
    1: "intervals and latencies of MMAs by kind, M, N and CTA group; block-scaled kinds, and N below 64",
    2: "block-scaled MMAs with copies of scales (tcgen05.cp) in the loop",
    3: "operands read by MMAs beside copies and loads of shared memory",
    4: "tcgen05.ld and .st by shape, with one warp and with four",
    5: "a commit to the wake-up of who waits for it, alone and to both CTAs of a pair",
    6: "what it costs to switch the accumulator or the descriptor",
    7: "barriers and memory of the other CTA of a cluster",
    8: "the first use of a tensor map; copies from memory",
    9: "multicast by the size of the cluster",
    10: "stores by TMA: until shared memory is free, and until they are done",
    11: "cluster launch control; launches, plain and programmatic",
    12: "setmaxnreg, allocations of tensor memory",
    13: "clock and power under load, by data",
    14: "wgmma in e4m3 by N, from shared memory and registers",
    15: "a small product from a cold start: what its parts come to",
    0: "constants of the cost model (docs/Chooser.md)",
}
