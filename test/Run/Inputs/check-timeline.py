# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a trace that fp8-run --timeline wrote: its form, that each role's slices follow one another from the CTA's begin to its end, and
that they add up to the role's time by the timer, within 2 %.

usage: check-timeline.py MANIFEST TRACE [--lost]
"""

import collections
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    profile = json.load(file)["profile"]
with open(sys.argv[2], encoding="utf-8") as file:
    trace = json.load(file)
lost = "--lost" in sys.argv

tracks, names, timed, counters = collections.defaultdict(list), {}, {}, []
for event in trace["traceEvents"]:
    if event["ph"] == "X":
        tracks[event["pid"], event["tid"]].append(event)
    elif event["ph"] == "C":
        counters.append(event)
    elif event["name"] == "thread_name":
        names[event["pid"], event["tid"]] = event["args"]["name"]
        timed[event["pid"], event["tid"]] = event["args"]["timed_us"]
roles = [role["name"] for role in profile["roles"]]
for cta in {cta for cta, _ in tracks}:
    assert [names[cta, role] for role in range(len(roles))] == roles, names
    ends = set()
    for role in range(len(roles)):
        slices = tracks[cta, role]
        for before, after in zip(slices, slices[1:]):
            assert abs(before["ts"] + before["dur"] - after["ts"]) < 1e-6, (before, after)
        ends.add(round(slices[-1]["ts"] + slices[-1]["dur"], 6))
        assert lost == any(piece["cat"] == "not recorded" for piece in slices)
        total = sum(piece["dur"] for piece in slices if piece["cat"] != "ended")
        assert abs(total - timed[cta, role]) <= 0.02 * timed[cta, role], (names[cta, role], total, timed[cta, role])
    assert len(ends) == 1, f"the roles of CTA {cta} end at {ends}"
# One role of a pair of CTAs may work for both.
worked = {role for (_, role), slices in tracks.items() if any(piece["cat"] == "work" for piece in slices)}
assert worked == set(range(len(roles))), [roles[role] for role in worked]
depths = {"slots of " + barrier["ring"]: barrier["depth"] for barrier in profile["barriers"] if barrier["name"] == "full"}
for counter in counters:
    assert 0 <= counter["args"]["in use"] <= depths[counter["name"]], counter
last = {(counter["pid"], counter["name"]): counter["args"]["in use"] for counter in counters}
assert lost or not any(slots for (_, name), slots in last.items() if name.startswith("slots of pipeline")), last
dropped = [int(piece["name"].split()[0]) for slices in tracks.values() for piece in slices if piece["cat"] == "not recorded"]
assert trace["otherData"]["stamps_dropped"] == sum(dropped), dropped
waits = sum(piece["cat"] == "wait" for slices in tracks.values() for piece in slices)
print(f"roles without gaps, {waits} waits, {len(counters)} counts of slots")
