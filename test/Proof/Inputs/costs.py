#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the proof that roles end costs, in steps: the table of docs/Proof.md.

usage: costs.py FP8-OPT DIRECTORY [--sizes N,N,...] [--squared]

Kernels whose roles hand slots on in loops, of which one thing grows; with --squared, two things at once. Prints a row of steps for each,
"unknown" where the proof is not complete, and the time of the pass for the largest, the least of several runs. Exits with 1 if a row grows
faster than what grows: with twice of it, the steps that are added are more than twice as many.
"""

import argparse
import itertools
import os
import re
import subprocess
import sys

INDENT = "      "
RUNS = 5  # for a time


class End:
    """A role's end of a ring, and the value that it is now."""

    def __init__(self, ring, side):
        self.ring, self.side = ring, side
        self.type, self.stage = f"!fp8.{side}<!r{ring}>", f"!fp8.{side}_stage<!r{ring}>"
        self.value = f"%{side}{ring}"


class Text:
    """A kernel, role by role. `loops`: in order, for each loop of a role the bounds of the loops in it, from the outside."""

    def __init__(self, rings, slots, loops):
        self.loops, self.lines, self.names = loops, [], itertools.count()
        self.bounds = [f"%t{number}" for number in range(1 + max(bound for nest in loops for bound in nest))]
        self.rings, self.slots, self.roles = rings, slots, 0

    def name(self):
        return f"%v{next(self.names)}"

    def role(self, ends, turns):
        types = ", ".join(end.type for end in ends)
        outside = [end.value for end in ends]
        for end in ends:
            end.value = self.name()
        taken = ", ".join(f"{end.value} = {value}" for end, value in zip(ends, outside))
        self.lines.append(f'{INDENT}fp8.role "role{self.roles}" warps(1) ({taken}) : {types} {{')
        self.roles += 1
        for nest in self.loops:
            self.loop(ends, types, nest, turns)
        self.lines += [f"{INDENT}fp8.close {end.value} : {end.type}" for end in ends] + [f"{INDENT}}}"]

    def loop(self, ends, types, nest, turns):
        if not nest:
            for end in [end for end in ends for _ in range(turns)]:
                stage, after = self.name(), self.name()
                self.lines += [f"{INDENT}{stage} = fp8.acquire {end.value} : {end.type}",
                               f"{INDENT}{after} = fp8.release {stage} : {end.stage}"]
                end.value = after
            return
        result, counter, outside = self.name(), self.name(), [end.value for end in ends]
        for end in ends:
            end.value = self.name()
        carried = ", ".join(f"{end.value} = {value}" for end, value in zip(ends, outside))
        self.lines.append(f"{INDENT}{result}:{len(ends)} = scf.for {counter} = %c0 to %t{nest[0]} step %c1 iter_args({carried}) -> ({types}) {{")
        self.loop(ends, types, nest[1:], turns)
        self.lines += [f"{INDENT}scf.yield {', '.join(end.value for end in ends)} : {types}", f"{INDENT}}}"]
        for number, end in enumerate(ends):
            end.value = f"{result}#{number}"

    def __str__(self):
        """The whole module; each bound is the extent of an array."""
        rings = range(self.rings)
        types = "\n".join(f"!r{ring} = !fp8.pipeline<{self.slots}>" for ring in rings)
        made = "\n".join(f"{INDENT}%producer{ring}, %consumer{ring} = fp8.pipeline : {End(ring, 'producer').type}, {End(ring, 'consumer').type}"
                         for ring in rings)
        bounds, body = ", ".join(f"{bound}: index" for bound in self.bounds), "\n".join(self.lines)
        arrays = ", ".join(f'{bound}_size: memref<?xi32> {{fp8.name = "{bound[1:]}", fp8.access = "read"}}' for bound in self.bounds)
        extents = "\n".join(f"    {bound} = memref.dim {bound}_size, %zero : memref<?xi32>" for bound in self.bounds)
        arguments = ", ".join(f"{bound} : index" for bound in self.bounds)
        return f"""{types}
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @kernel({bounds}) kernel attributes {{fp8.linear}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
{made}
{body}
      gpu.return
    }}
  }}
  func.func @launch({arrays}) {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant {32 * self.roles} : index
{extents}
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args({arguments})
    return
  }}
}}
"""


NEST = [(0, 1)]


def pair(rings=1, slots=2, turns=1, loops=None):
    text = Text(rings, slots, loops or NEST)
    for side in ("producer", "consumer"):
        text.role([End(ring, side) for ring in range(rings)], turns)
    return text


def chain(roles, loops=None):
    text = Text(roles - 1, 2, loops or NEST)
    for role in range(roles):
        ends = [End(role - 1, "consumer")] * (role > 0) + [End(role, "producer")] * (role < roles - 1)
        text.role(ends, 1)
    return text


ROWS = {
    "rings between two roles": lambda size: pair(rings=size),
    "roles in a chain": chain,
    "slots taken in one turn": lambda size: pair(turns=size),
    "slots of the ring": lambda size: pair(slots=size),
    "loops around one another": lambda size: pair(loops=[tuple(range(size))]),
    "loops behind one another": lambda size: pair(loops=[(number,) for number in range(size)]),
}
SQUARED = {"roles in a chain, and loops around one another": lambda size: chain(size, loops=[tuple(range(size))])}


def prove(options, text):
    """The steps, None if the proof is not complete; and the milliseconds of the pass."""
    path = os.path.join(options.directory, "kernel.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(str(text))
    done = subprocess.run([options.opt, path, "--fp8-prove=chip=sm_90a", "--mlir-timing", "--mlir-timing-display=list", "-o", os.devnull],
                          capture_output=True, text=True, check=False)
    steps = re.search(r"ends for all launches \(proved in (\d+) steps\)", done.stderr)
    seconds = re.search(r"([\d.]+) \([^)]*\)\s+\S*Prove", done.stderr)
    if done.returncode or not seconds:
        sys.exit(done.stderr)
    return int(steps[1]) if steps else None, 1000 * float(seconds[1])


def is_linear(steps):
    """Sizes double from one to the next. Of the first steps there may be more: rings must fill."""
    added = [after - before for before, after in itertools.pairwise(steps)] if None not in steps else [0, 1]
    return all(after <= 2 * before for before, after in itertools.pairwise(added))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("opt")
    parser.add_argument("directory")
    parser.add_argument("--sizes", default="2,4,8,16,32")
    parser.add_argument("--squared", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.directory, exist_ok=True)
    faster, sizes = 0, [int(size) for size in options.sizes.split(",")]
    print(f"| what grows | {' | '.join(map(str, sizes))} | time at {sizes[-1]} |\n|---|" + "---|" * (len(sizes) + 1))
    for name, text in (SQUARED if options.squared else ROWS).items():
        steps = [prove(options, text(size))[0] for size in sizes]
        time = min(prove(options, text(sizes[-1]))[1] for _ in range(RUNS))
        print(f"| {name} | {' | '.join(str(count or 'unknown') for count in steps)} | {time:.1f} ms |", flush=True)
        faster += not is_linear(steps)
    print(f"{faster} rows grow faster than linearly")
    sys.exit(faster > 0)


if __name__ == "__main__":
    main()
