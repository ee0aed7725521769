# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants one fault in the PTX that fp8-opt makes of examples/gemm.mlir.

usage: plant-fault.py FAULT IN.ptx OUT.ptx

Faults find their place by instruction and order, not by register number, and fail if it is not there. In the order of the text the
kernel arrives, in the loop over the K blocks that fill no group, at the accumulator ring's empty barriers, then at the scale ring's, does the same
for the groups, and arrives at the barrier that guards the end of tensor memory; it commits to the input ring's empty barriers, then to
the accumulators' full ones; it waits for scales and accumulators (epilogue, twice likewise), for empty slots of scales and inputs (load), then for
empty accumulators and full inputs (MMA).
"""

import re
import sys

ARRIVE = "mbarrier.arrive.shared.b64"
LOAD = "tcgen05.ld"
MMA = "tcgen05.mma"
COMMIT = "tcgen05.commit"


def places(lines, mnemonic):
    found = [index for index, line in enumerate(lines) if line.strip().startswith(mnemonic)]
    if not found:
        sys.exit(f"plant-fault.py: no {mnemonic}")
    return found


def drop(lines, mnemonic, which=slice(None)):
    for index in reversed(places(lines, mnemonic)[which]):
        del lines[index]


def move(lines, source, target):
    lines.insert(target, lines.pop(source))


def arrive_again(lines, which, before):
    """Repeats an arrival, its address and its guard ahead of the instruction at `before`."""
    index = places(lines, ARRIVE)[which]
    barrier = re.search(r"\[(%r\d+)", lines[index])[1]
    address = next(line for line in lines[index::-1] if re.match(rf"\s*(add\.s32|or\.b32)\s+{barrier},", line))
    guard = next(line for line in lines[index::-1] if re.match(r"\s*@%p\d+ bra", line))
    predicate = re.search(r"@(%p\d+)", guard)[1]
    lines[before:before] = [address, f"\t@!{predicate} {lines[index].strip()}"]


def early_release(lines):
    """Between the last load of an accumulator and the wait for it, with all else that the hand-over needs."""
    wait = places(lines, "tcgen05.wait::ld")[0]
    place = max(index for index in places(lines, LOAD) if index < wait) + 1
    arrive_again(lines, 0, place)
    lines.insert(place, "\ttcgen05.fence::before_thread_sync;")
    drop(lines, ARRIVE, slice(0, 1))


def halve_bytes(lines):
    index = places(lines, "mbarrier.arrive.expect_tx")[0]
    count = re.search(r"(%r\d+);", lines[index])[1]
    for index in range(index, 0, -1):
        number = re.match(rf"\s*mov\.b32\s+{count}, (\d+);", lines[index])
        if number:
            lines[index] = f"\tmov.b32 {count}, {int(number[1]) // 2};"
            return
    sys.exit("plant-fault.py: no byte count")


def first_wait_to_load(lines):
    """Which wait the first announcement of bytes follows."""
    announcement = places(lines, "mbarrier.arrive.expect_tx")[0]
    return sum(index < announcement for index in places(lines, "mbarrier.try_wait.parity")) - 1


def swap_parity(lines, which):
    index = places(lines, "mbarrier.try_wait.parity")[which]
    parity = re.search(r"\], (%r\d+)", lines[index])[1]
    lines[index] = f"\txor.b32 %swapped, {parity}, 1; " + lines[index].strip().replace(f"], {parity}", "], %swapped")
    lines.insert(places(lines, ".reg .b32")[0], "\t.reg .b32 %swapped;")


FAULTS = {
    "dropped-arrive": lambda lines: drop(lines, ARRIVE, slice(0, 1)),
    "dropped-commit": lambda lines: drop(lines, COMMIT, slice(1, 2)),
    "extra-arrive": lambda lines: arrive_again(lines, 0, places(lines, ARRIVE)[0] + 1),
    "halved-bytes": halve_bytes,
    "swapped-parity-epilogue": lambda lines: swap_parity(lines, 1),
    "swapped-parity-load": lambda lines: swap_parity(lines, first_wait_to_load(lines)),
    "swapped-parity-mma": lambda lines: swap_parity(lines, -2),
    "missing-wait": lambda lines: drop(lines, "tcgen05.wait::ld"),
    "early-release": early_release,
    "early-commit": lambda lines: move(lines, places(lines, MMA)[-1], places(lines, COMMIT)[1]),
    "undrained-store": lambda lines: drop(lines, "cp.async.bulk.wait_group \t", slice(-1, None)),
    "reused-staging": lambda lines: drop(lines, "cp.async.bulk.wait_group.read"),
    # The first ones order reads of slots, the others what the store stages.
    "missing-proxy-fence": lambda lines: drop(lines, "fence.proxy.async", slice(2, None)),
    "missing-read-fence": lambda lines: drop(lines, "fence.proxy.async", slice(0, 2)),
    "missing-after-fence": lambda lines: drop(lines, "tcgen05.fence::after_thread_sync", slice(0, 1)),
    "missing-before-fence": lambda lines: drop(lines, "tcgen05.fence::before_thread_sync", slice(0, 1)),
    "missing-dealloc": lambda lines: drop(lines, "tcgen05.dealloc"),
}


def main():
    fault, source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        lines = file.read().split("\n")
    FAULTS[fault](lines)
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


main()
