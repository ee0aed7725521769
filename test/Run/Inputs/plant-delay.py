# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants a bottleneck in PTX: whoever executes one of some instructions waits for a while in front of it.

usage: plant-delay.py IN.ptx OUT.ptx PATTERN CYCLES [--behind=PATTERN]

PATTERN is a regular expression for the line of the instruction. With --behind, only lines behind the first that matches that one count.
Fails if there is none.
"""

import re
import sys

source, target, pattern, cycles = sys.argv[1:5]
behind = sys.argv[5].removeprefix("--behind=") if len(sys.argv) > 5 else ""
DELAY = """\
{ .reg .b32 from, now; .reg .pred more;
mov.u32 from, %clock;
$planted_NUMBER: mov.u32 now, %clock;
sub.u32 now, now, from;
setp.lt.u32 more, now, CYCLES;
@more bra $planted_NUMBER; }
"""

lines, count, begun = [], 0, not behind
with open(source, encoding="utf-8") as file:
    for line in file:
        begun = begun or re.search(behind, line) is not None
        if begun and re.search(pattern, line) and not line.lstrip().startswith("//"):
            lines.append(DELAY.replace("NUMBER", str(count)).replace("CYCLES", cycles))
            count += 1
        lines.append(line)
if not count:
    sys.exit(f"no line of {source} matches {pattern}")
with open(target, "w", encoding="utf-8") as file:
    file.writelines(lines)
print(f"{count} delays of {cycles} cycles")
