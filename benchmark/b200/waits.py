# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Waits that gave up, as the runtime tells of a kernel that was lowered with debug-waits (docs/Runtime.md, Which wait hangs)."""

import re
from typing import NamedTuple

TOLD = re.compile(r"role '(?P<role>[^']+)', warp (?P<warp>\d+) of CTA \((?P<cta>\d+, \d+, \d+)\)(?: and (?P<more>\d+) more warps? like it)? "
                  r"waited (?P<seconds>[\d.]+) s for the (?P<barrier>\w+) barrier of '(?P<ring>[^']+)', stage (?P<stage>\d+), parity (?P<parity>\d+)"
                  r"(?:; it needs (?P<needs>[^\n\"]*))?")


class Wait(NamedTuple):
    role: str
    warp: int
    cta: tuple
    warps: int      # that wait alike
    seconds: float
    barrier: str    # full, empty or deallocation
    ring: str
    stage: int
    parity: int
    needs: str
    text: str


def find(text):
    """The waits that a text tells, each once, in its order: the one that began first is the first."""
    found = []
    for match in TOLD.finditer(text):
        wait = Wait(match["role"], int(match["warp"]), tuple(map(int, match["cta"].split(", "))), 1 + int(match["more"] or 0), float(match["seconds"]),
                    match["barrier"], match["ring"], int(match["stage"]), int(match["parity"]), (match["needs"] or "").strip(), match[0].strip())
        if wait not in found:
            found.append(wait)
    return found


def explain(found):
    """One sentence on who keeps whom waiting."""
    if not found:
        return "the kernel with limits for its waits told nothing: it waits for something else than an mbarrier, or hangs only without them"
    first = found[0]
    late = re.findall(r"of '([^']+)'", first.needs)
    waiting = {wait.role for wait in found}
    text = "%s, warp %d of CTA %s waits for stage %d of '%s' to be %s (parity %d), which needs %s" % (
        first.role, first.warp, first.cta, first.stage, first.ring, first.barrier, first.parity, first.needs or "what the record does not say")
    idle = [role for role in late if role not in waiting]
    if idle:
        text += "; '%s' does not wait itself: it ended, or never arrives there" % "', '".join(idle)
    return text
