# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time over M falls as M grows: a user could pad such an M and be faster."""

# An M is a cliff if it takes CLIFF times as long as some larger M. This part of all M may be cliffs, and none a steep one.
CLIFF, STEEP_CLIFF, CLIFFS_ALLOWED = 1.06, 1.12, 0.01


def find_falls(times):
    """times: {m: us}. [(m, m of the least time from there on, time over that time)] of each m, in order."""
    falls, best = [], None
    for m in sorted(times, reverse=True):
        if best is None or times[m] <= times[best]:
            best = m
        falls.append((m, best, times[m] / times[best]))
    return falls[::-1]


def describe_falls(falls):
    """The lines of the table for one N and K."""
    steep = [fall for fall in falls if fall[2] > CLIFF]
    worst = max(falls, key=lambda fall: fall[2])
    lines = ["%d of %d M take more than %.2f times as long as a larger M (%.2f %%); the most is %.3f (M = %d beside %d)" % (
        len(steep), len(falls), CLIFF, 100 * len(steep) / len(falls), worst[2], worst[0], worst[1])]
    return lines + ["  M = %d: %.3f of M = %d" % (m, ratio, best) for m, best, ratio in sorted(steep, key=lambda fall: -fall[2])[:8]]


def keeps_bars(falls):
    """Whether cliffs are as rare and as low as they may be."""
    few = sum(ratio > CLIFF for _, _, ratio in falls) <= CLIFFS_ALLOWED * len(falls)
    return few and all(ratio <= STEEP_CLIFF for _, _, ratio in falls)
