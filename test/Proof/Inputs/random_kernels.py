#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small random kernels in phase 2, and what becomes of them at every small size: by an exact run of their roles, by the simulator, by a proof.

usage: random_kernels.py emit     --seed S --count N --dir D [--opt FP8-OPT]   writes NNNN.mlir and NNNN.json for seeds S, S + 1, ...
       random_kernels.py explore  --seed S --count N [--states M]               runs every interleaving of those that are small enough
       random_kernels.py simulate --seed S --count N --dir D --opt FP8-OPT --run FP8-RUN [--sizes M]
       random_kernels.py judge    --dir D --opt FP8-OPT [--results FILE]        compares proofs with what emit has written

NNNN.json says

  verdict   ends: at all sizes, all roles end and all rings are drained; deadlock; undrained: all roles end, but slots are left
  sizes     of the latter two, the smallest that show it (the least sum)
  undrained the smallest sizes at which all roles end and slots are left, if there are such below those of a deadlock
  stuck     where the roles then stand for ever: role, op, line of NNNN.mlir, end, number of the slot and its lap, what the other side has handed over
  left      rings that are not drained, with the slots filled and emptied
  checked   the sizes at which the kernel was run, for each argument
  features, faults   what the kernel has, and what was planted in it

With --opt, emit leaves out kernels that the compiler refuses (K2 to K7), and counts them; judge counts them, too. explore confirms that one schedule decides, and that
a wait by parity goes on exactly where the counters say so. simulate compares the roles that are stuck, line by line, with the simulator's. judge
runs refuted kernels at the launch that the proof names, and lists why others are unknown, and their features.

Each command ends with a line of JSON, and exits with 1 if something contradicts the oracle.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import random
import re
import sys
from pathlib import Path

from generator import Sample, generate
from mlir_text import Writer
from oracle import Judgement, Oracle, Outcome, Sizes, Stuck, judge
from skeleton import Kernel
from states import Typing
from tools import PROVED, REFUTED, UNKNOWN, compile_kernel, prove, simulate


class Emitted:
    """A kernel of a seed, its text and its verdict."""

    def __init__(self, seed: int):
        self.sample: Sample = generate(seed)
        self.oracle = Oracle(self.sample.kernel, self.sample.typing)
        self.judgement: Judgement = judge(self.oracle, self.sample.ranges, self.sample.far)
        self.writer = Writer(self.sample.kernel, self.sample.typing, self._heading())

    def _heading(self) -> list[str]:
        found = self.judgement
        at = "" if found.sizes is None else " at " + " ".join(f"{name}={size}" for name, size in found.sizes.items())
        return [
            "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
            f"Seed {self.sample.seed}: {found.verdict}{at}.",
            f"Features: {', '.join(self.sample.features)}.",
            f"Planted: {', '.join(self.sample.faults) or 'nothing'}.",
        ]

    def lines(self, outcome: Outcome) -> list[int]:
        """The lines at which roles are stuck."""
        return sorted({self.writer.line_of[stuck.step.event] for stuck in outcome.stuck})

    def record(self) -> dict[str, object]:
        """What NNNN.json says."""
        sample, found = self.sample, self.judgement
        record: dict[str, object] = {
            "seed": sample.seed,
            "chip": sample.kernel.chip,
            "verdict": found.verdict,
            "sizes": found.sizes,
            "undrained": found.undrained,
            "features": sample.features,
            "faults": sample.faults,
            "rings": [{**dataclasses.asdict(ring), "kind": ring.kind.value} for ring in sample.kernel.rings],
            "checked": sample.ranges,
            "runs": found.runs,
        }
        if found.outcome:
            record["block"] = found.outcome.block
            record["stuck"] = [self._stuck(stuck, found.outcome) for stuck in found.outcome.stuck]
            record["left"] = [{"ring": ring.name, "filled": filled, "emptied": emptied} for ring, filled, emptied in found.outcome.left]
        return record

    def _stuck(self, stuck: Stuck, outcome: Outcome) -> dict[str, object]:
        event, slot = stuck.step.event, stuck.step.slot
        ring = event.end.ring
        left = {other.name: (filled, emptied) for other, filled, emptied in outcome.left}.get(ring.name)
        return {
            "role": stuck.role.name,
            "op": event.kind.value,
            "line": self.writer.line_of[event],
            "end": event.end.name,
            "slot": slot % ring.slots,
            "lap": slot // ring.slots,
            "filled": left and left[0],
            "emptied": left and left[1],
        }


def seeds_of(options: argparse.Namespace) -> range:
    return range(options.seed, options.seed + options.count)


def finish(counts: collections.Counter[str], contradictions: list[str]) -> int:
    """Prints what was found; the status to exit with."""
    for contradiction in contradictions:
        print(f"contradiction: {contradiction}", file=sys.stderr)
    print(json.dumps({**dict(sorted(counts.items())), "contradictions": len(contradictions)}))
    return 1 if contradictions else 0


def emit(options: argparse.Namespace) -> int:
    options.dir.mkdir(parents=True, exist_ok=True)
    counts: collections.Counter[str] = collections.Counter()
    features: collections.Counter[str] = collections.Counter()
    for seed in seeds_of(options):
        emitted = Emitted(seed)
        path = options.dir / f"{seed:04}.mlir"
        path.write_text(emitted.writer.text, encoding="utf-8")
        if options.opt:
            refusal = compile_kernel(options.opt, path, emitted.sample.kernel.chip, path.with_suffix(".ptx"))
            for name in (".ptx", ".ptx.json"):
                path.with_suffix(name).unlink(missing_ok=True)
            if refusal:
                path.unlink()
                path.with_suffix(".json").unlink(missing_ok=True)
                counts["refused"] += 1
                counts[f"refused {refusal}"] += 1
                continue
        counts[emitted.judgement.verdict] += 1
        features.update(emitted.sample.features)
        features.update(f"planted: {fault}" for fault in emitted.sample.faults)
        path.with_suffix(".json").write_text(json.dumps(emitted.record(), indent=1) + "\n", encoding="utf-8")
    for name, count in features.most_common():
        print(f"{count:6} {name}")
    return finish(counts, [])


def explore(options: argparse.Namespace) -> int:
    counts: collections.Counter[str] = collections.Counter()
    contradictions = []
    for seed in seeds_of(options):
        emitted = Emitted(seed)
        for sizes in sizes_to_run(emitted, options.sizes, limit=5):
            found = emitted.oracle.explore(sizes, options.states)
            if found == "too many":
                counts["too many states"] += 1
            elif found:
                contradictions.append(f"seed {seed} at {sizes}: {found}")
            else:
                counts[emitted.oracle.run(sizes).verdict] += 1
    return finish(counts, contradictions)


def sizes_to_run(emitted: Emitted, number: int, limit: int = 1 << 30) -> list[Sizes]:
    """The sizes of the verdict, and some others of the ranges."""
    rng = random.Random(f"sizes {emitted.sample.seed}")
    chosen = [emitted.judgement.sizes] if emitted.judgement.sizes else []
    while len(chosen) < number:
        chosen.append({name: rng.choice([size for size in sizes if size <= limit]) for name, sizes in emitted.sample.ranges.items()})
    return chosen


def run_simulator(options: argparse.Namespace) -> int:
    options.dir.mkdir(parents=True, exist_ok=True)
    counts: collections.Counter[str] = collections.Counter()
    contradictions = []
    for seed in seeds_of(options):
        emitted = Emitted(seed)
        path = options.dir / f"{seed:04}.mlir"
        path.write_text(emitted.writer.text, encoding="utf-8")
        refusal = compile_kernel(options.opt, path, emitted.sample.kernel.chip, path.with_suffix(".ptx"))
        if refusal:
            counts["refused"] += 1
            counts[f"refused {refusal}"] += 1
            continue
        counts[f"kernels: {emitted.judgement.verdict}"] += 1
        for sizes in sizes_to_run(emitted, options.sizes):
            outcomes = [emitted.oracle.run(sizes, block) for block in range(sizes.get("grid", 1))]
            expected = {outcome.block: emitted.lines(outcome) for outcome in outcomes if outcome.stuck}
            left = any(outcome.verdict == "undrained" for outcome in outcomes)
            for schedule in range(options.schedules):
                found = simulate(options.run, path.with_suffix(".ptx"), sizes, schedule)
                counts[f"runs: {'deadlock' if expected else 'undrained' if left else 'ends'}"] += 1
                # The simulator stops at the first block that is stuck.
                agree = bool(found.stuck) == bool(expected) and all(expected.get(block) == lines for block, lines in found.stuck.items())
                if not agree or (found.errors and not left):
                    simulated = f"the simulator at {found.stuck} {found.errors}"
                    contradictions.append(f"seed {seed} at {sizes}: the oracle is stuck at lines {expected}, {simulated}")
                elif found.errors:
                    counts["runs: undrained, which the simulator reports"] += 1
    return finish(counts, contradictions)


def run_proofs(options: argparse.Namespace) -> int:
    """The verdict of a proof is that of all its properties: what is wrong with one of these kernels is wrong with its rings."""
    counts: collections.Counter[str] = collections.Counter()
    all_having: collections.Counter[str] = collections.Counter()
    unknown: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    contradictions = []
    results = {}
    for path in sorted(options.dir.glob("*.mlir")):
        record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        proof = prove(options.opt, path)
        if not proof:
            counts["refused"] += 1
            continue
        results[path.stem] = proof.verdicts
        counts[f"{record['verdict']}: {proof.verdict}"] += 1
        having = [*record["features"], *(f"planted: {fault}" for fault in record["faults"])]
        all_having.update(having)
        unknown.update(having if proof.verdict == UNKNOWN else [])
        reasons.update(re.sub("'[^']*'", "...", reason) for reason in proof.reasons)
        right = PROVED if record["verdict"] == "ends" else REFUTED
        if proof.verdict not in (right, UNKNOWN):
            contradictions.append(f"{path}: {proof.verdict} ({proof.verdicts}), but {record['verdict']} at {record['sizes']}")
        for launch in proof.launches:
            sizes = sizes_of(launch, path)
            if Oracle(*kernel_of(record["seed"])).run_grid(sizes).verdict == "ends":
                contradictions.append(f"{path}: refuted at {sizes}, where it ends")
            counts["launches of refuted kernels"] += 1
    for reason, count in reasons.most_common():
        print(f"unknown: {count:5} because {reason}")
    for feature, count in unknown.most_common():
        print(f"unknown: {count:5} of {all_having[feature]:5} with {feature}")
    if options.results:
        options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return finish(counts, contradictions)


def sizes_of(launch: dict[str, int], path: Path) -> Sizes:
    """The sizes in a launch, whose parameters have the names that a proof gives them."""
    signature = re.search(r"gpu\.func @\w+\((.*?)\) kernel", path.read_text(encoding="utf-8"))
    arguments = re.findall(r"%(\w+): ", signature[1]) if signature else []
    names = {f"argument {number}": name for number, name in enumerate(arguments)}
    names |= {"CTAs of the grid along x": "grid", "CTA's number along x": "block"}
    return {names[name]: value for name, value in launch.items() if names[name] != "block"}


def kernel_of(seed: int) -> tuple[Kernel, Typing]:
    sample = generate(seed)
    return sample.kernel, sample.typing


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function in (("emit", emit), ("explore", explore), ("simulate", run_simulator), ("judge", run_proofs)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        if name != "judge":
            command.add_argument("--seed", type=int, default=0)
            command.add_argument("--count", type=int, default=100)
        if name != "explore":
            command.add_argument("--dir", type=Path, required=True)
            command.add_argument("--opt", type=Path, required=name != "emit", help="fp8-opt")
        if name in ("explore", "simulate"):
            command.add_argument("--sizes", type=int, default=3, help="at how many sizes a kernel is run")
        if name == "explore":
            command.add_argument("--states", type=int, default=20000, help="states of a kernel, beyond which it is left out")
        if name == "simulate":
            command.add_argument("--run", type=Path, required=True, help="fp8-run")
            command.add_argument("--schedules", type=int, default=1, help="schedules of each run")
        if name == "judge":
            command.add_argument("--results", type=Path, help="where to write all verdicts")
    return parser.parse_args()


if __name__ == "__main__":
    parsed = parse_arguments()
    sys.exit(parsed.function(parsed))
