# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel asks of the simulator: families of instructions, by patterns over an entry's body."""

import re

FAMILIES = [
    ("tcgen05.mma", r"tcgen05\.mma"),
    ("block scales", r"tcgen05\.mma\S*block_scale"),
    ("CTA pairs", r"tcgen05\.mma\S*cta_group::2"),
    ("tcgen05.cp", r"tcgen05\.cp\."),
    ("tcgen05.st", r"tcgen05\.st\."),
    ("wgmma", r"wgmma\.mma_async"),
    ("mma.sync", r"\bmma\.sync"),
    ("wmma", r"\bwmma\.mma"),
    ("ldmatrix", r"ldmatrix|stmatrix"),
    ("TMA", r"cp\.async\.bulk\.tensor\S*mbarrier"),
    ("multicast", r"cp\.async\.bulk\.tensor\S*multicast"),
    ("TMA store", r"cp\.async\.bulk\.tensor\S*bulk_group"),
    ("TMA reduction", r"cp\.reduce\.async\.bulk"),
    ("bulk copy", r"cp\.async\.bulk\.(shared|global)"),
    ("cp.async", r"cp\.async\.(ca|cg)\."),
    ("map updates", r"tensormap\.replace"),
    ("clusters", r"barrier\.cluster|mapa"),
    ("cluster launch control", r"clusterlaunchcontrol"),
    ("setmaxnreg", r"setmaxnreg"),
    ("griddepcontrol", r"griddepcontrol"),
    ("narrow formats", r"cvt\S*(e2m1|e4m3|e5m2|ue8m0)"),
    ("atomics", r"\b(atom|red)\.(?!async)"),
    ("calls", r"\bcall\b"),
]


def entry_body(ptx, entry):
    """The text of one entry; of the only one where no name is given."""
    begin = re.search(r"\.entry\s+" + (re.escape(entry) if entry else r"\w+") + r"\s*\(", ptx)
    following = re.compile(r"^\s*(?:\.visible |\.weak )*\.(?:entry|func)\b", re.MULTILINE).search(ptx, begin.end())
    return ptx[begin.start():following.start() if following else len(ptx)]


def families(ptx, entry=""):
    body = entry_body(ptx, entry)
    return [name for name, pattern in FAMILIES if re.search(pattern, body)]
