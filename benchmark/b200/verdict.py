# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the end of a run means, and what to do next."""

import json
import re
from typing import NamedTuple, Optional

import waits

PASSED, DIFFERS, WRONG, OUTSIDE = "passed", "other bits", "wrong numbers", "wrote outside"
HANG, LATE, FAULT, TRAP, REFUSED = "hang", "over its limit", "fault", "trap", "refused"
NO_GPU, MACHINE, CRASHED, INTERRUPTED, NOT_RUN = "no GPU", "machine", "crashed", "interrupted", "not run"

# What each means; what to do next.
MEANINGS = {
    PASSED: ("every element agrees with the reference", ""),
    DIFFERS: ("the tensor core adds up otherwise than the simulator", "change the row of lib/Chip/SumRules.cpp to a rule that explains the bits, below, and run the tests of floors again"),
    WRONG: ("the kernel ended and left wrong elements", "run it again with --data=ones and with one K block to see whether operands, scales or the hand-over of stages are at fault"),
    OUTSIDE: ("the kernel wrote where it must not", "look at the tensor maps of what it writes, and at the tails of M and N"),
    HANG: ("the kernel did not end", "look at the wait below that began first: who must arrive there, and what that role waits for"),
    LATE: ("the process did not end in time and was ended from outside", "look at the log for what it did last; a second run tells whether the machine is slow"),
    FAULT: ("the kernel accessed an address that it may not", "look for the XID in the system's log (dmesg); run it with compute-sanitizer, and then on the simulator with the same sizes"),
    TRAP: ("the kernel executed an instruction that the GPU refuses, or a trap", "look at alignments and descriptors; compare with the simulator"),
    REFUSED: ("the driver does not take the code", "note the driver's version; a newer driver may take it"),
    NO_GPU: ("there is no driver, or no GPU that runs these kernels", "see that nvidia-smi lists the GPU, and name the driver's library in FP8_CUDA_LIBRARY if it lies elsewhere"),
    MACHINE: ("the machine lacks something, such as memory", "read the error; end other programs that use the GPU"),
    CRASHED: ("the program ended in a way that it should not", "read its log"),
    INTERRUPTED: ("somebody ended the run meanwhile", "start it again with --only=NAME"),
    NOT_RUN: ("it did not begin", ""),
}
# After these the GPU may be in a bad way.
SHAKEN = (HANG, LATE, FAULT, TRAP, CRASHED)

# CUresult of cuda.h, by what a number says of a run.
ERRORS = {FAULT: {700, 716, 717, 719, 721, 214, 220}, TRAP: {710, 714, 715, 718}, REFUSED: {200, 209, 218, 222, 223, 225, 300, 301},
          NO_GPU: {3, 34, 35, 36, 100, 101, 802, 803, 804}, MACHINE: {2, 46, 701, 999}}
NUMBER = re.compile(r"fails with CUDA_ERROR_\w+ \((\d+)")


class Verdict(NamedTuple):
    name: str
    text: str             # in words, of this run
    waits: tuple = ()     # of a hang: waits.Wait, the first one first
    numbers: Optional[dict] = None


def last_json(text):
    """The line of JSON that fp8-run and our workers end with."""
    for line in reversed(text.strip().splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                return None
    return None


def by_error(text):
    """The verdict that an error's text tells; None if it tells none."""
    found = NUMBER.search(text)
    if found:
        number = int(found.group(1))
        for name, numbers in ERRORS.items():
            if number in numbers:
                return name
    for name, words in ((NO_GPU, ("no CUDA driver", "lists no GPU", "there is no GPU", "has no function 'cu", " cannot run ")), (HANG, ("has not ended after",)),
                        (OUTSIDE, ("wrote outside of", "which the manifest says it only reads")), (WRONG, ("wrong result",))):
        if any(word in text for word in words):
            return name
    return None


def describe(error, numbers):
    if error == WRONG and numbers and "wrong" in numbers:
        return "%d of %d elements are wrong, %d of them not written; error %s of the norm" % (
            numbers["wrong"], numbers.get("elements", 0), numbers.get("unwritten", 0), numbers.get("rel_err"))
    return None


def error_lines(text):
    """What a program says went wrong."""
    chosen = [line for line in text.splitlines() if "error:" in line or "note:" in line]
    return "\n".join(chosen) or "\n".join(text.strip().splitlines()[-3:])


def judge(outcome):
    """The verdict of a process that runs a kernel and ends with a line of JSON (fp8-run, tails.py)."""
    numbers = last_json(outcome.out)
    text = outcome.err + "\n" + str((numbers or {}).get("error", ""))
    found = tuple(waits.find(text))
    if outcome.late:
        return Verdict(LATE, "ended after %.0f s%s" % (outcome.seconds, "; it could not even be ended, so the driver is stuck" if outcome.stuck else ""), found, numbers)
    if found:
        return Verdict(HANG, found[0].text, found, numbers)
    if outcome.status == 0 and numbers and numbers.get("ok") is True:
        return Verdict(PASSED, "", (), numbers)
    name = HANG if outcome.status == 3 else by_error(text)
    if name:
        return Verdict(name, describe(name, numbers) or error_lines(text), found, numbers)
    if outcome.status is not None and outcome.status < 0:
        return Verdict(CRASHED, "ended by signal %d" % -outcome.status, found, numbers)
    if outcome.status == 0:
        return Verdict(CRASHED, "status 0, but no result", found, numbers)
    return Verdict(CRASHED, "status %s: %s" % (outcome.status, error_lines(text)), found, numbers)
