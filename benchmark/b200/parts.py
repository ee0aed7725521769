# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of a small product, out of the trace that fp8-run --timeline writes (docs/Timeline.md): until the first K block
is there, the K blocks, and what follows the last."""

import collections
import json

NAMES = ("from the first stamp of a CTA until its first K block is there", "from the first K block to the last", "from the last K block to the end of the CTA")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["traceEvents"]


def parts(events):
    """For each CTA whose roles waited for K blocks, the three parts in us."""
    slices = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X" and event["cat"] != "ended":
            slices[event["pid"]].append(event)
    told = []
    for cta in sorted(slices):
        ends = [event["ts"] + event["dur"] for event in slices[cta]]
        there = sorted(event["ts"] + event["dur"] for event in slices[cta] if event["cat"] == "wait" and event["args"]["barrier"] == "full"
                       and event["args"]["ring"].startswith("pipeline a, b"))
        if there:
            told.append((there[0] - min(event["ts"] for event in slices[cta]), there[-1] - there[0], max(ends) - there[-1]))
    return told
