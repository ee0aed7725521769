# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the numbers that the compiler derived to those that the simulator observed.

check-counts.py REPORT.json RUN.json: a report of --fp8-report=format=json, and the last line of fp8-run --barriers. Every
barrier that the report names must have been initialised with the derived count in every CTA of the cluster, and in each
phase have seen the derived arrivals, role by role, and the derived bytes. Every kind of barrier must have been used.
"""
import json
import sys
from collections import Counter


def role_of(report, warp):
    for role in report["roles"]:
        if role["first_warp"] <= warp < role["first_warp"] + role["warps"]:
            return role["name"]
    sys.exit(f"warp {warp} belongs to no role")


def observed(report, barrier):
    """Arrivals by role, and bytes, of each phase; phases that differ are an error."""
    arrivals, transferred = Counter(), 0
    for source in barrier["sources"]:
        if source["kind"] == "expect":
            continue
        if source["phases"] != barrier["phases"] or source["least"] != source["most"]:
            sys.exit(f"offset {barrier['symbol_offset']}: phases differ: {source}")
        if source["kind"] == "bytes":
            transferred += source["most"]
        else:
            arrivals[role_of(report, source["warp"])] += source["most"]
    return arrivals, transferred


def check(report, ring, derived, seen):
    """Compares one kind of barrier. Returns the barriers that went through a phase."""
    name = f"{ring['name']}, {derived['name']}"
    used = 0
    ranks = report["cluster"][0] * report["cluster"][1]
    for slot in range(derived["depth"]):
        for rank in range(ranks):
            barrier = seen.get((rank, derived["offset"] + 8 * slot))
            if barrier is None or barrier["count"] != derived["arrivals"]:
                sys.exit(f"{name}: derived {derived['arrivals']} arrivals, observed {barrier}")
            if barrier["phases"] == 0:
                continue
            used += 1
            arrivals, transferred = observed(report, barrier)
            expected = Counter({a["role"]: a["count"] for a in derived["arrives"]})
            if arrivals != expected or transferred != derived["bytes"]:
                sys.exit(f"{name}, slot {slot}, CTA {rank}: derived {dict(expected)} and {derived['bytes']} bytes, "
                         f"observed {dict(arrivals)} and {transferred}")
    if not used:
        sys.exit(f"{name}: never used; nothing was compared")
    return used


def main():
    reports = json.load(open(sys.argv[1]))
    run = json.loads(open(sys.argv[2]).read().splitlines()[-1])
    if not run["ok"]:
        sys.exit("the run failed")
    (report,) = reports
    seen = {(b["rank"], b["symbol_offset"]): b for b in run["barriers"]}
    barriers = kinds = 0
    for ring in report["rings"]:
        for derived in ring["barriers"]:
            if "named" in derived["name"]:
                continue
            barriers += check(report, ring, derived, seen)
            kinds += 1
    print(f"{kinds} kinds of barriers, {barriers} barriers: observed as derived")


main()
