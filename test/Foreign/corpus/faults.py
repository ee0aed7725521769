#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants single faults in the PTX of clean kernels of the corpus, and sees whether the simulator notices.

usage: faults.py --checkouts DIR --build DIR [--only REGEX] [--sample N] [--other-operators] [--sample-seed S] [--schedules N] [--log FILE] [--table FILE]

Needs what run.py with the same --build leaves there. A fault is killed by an error or by wrong numbers; else warned of where a warning is
new, or where --strict has more errors of a kind than the good text has; else not reached where the kernel does not even trap with a trap
in that place; else it survives, and survivors.txt must have an argument. Exits with 1 where it has none.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import sys

import fault_operators
import run
import simulate
from families import entry_body
from kernels import Program

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 10  # times those of the good kernel, before a fault counts as a hang
LIMIT_S = 60


class Target:
    """A kernel with the launch and the text in which faults are planted, and what the good text gives."""

    def __init__(self, settings, kernel):
        self.kernel = kernel
        if isinstance(kernel, Program):
            launches = simulate.captured(settings, kernel)
            self.ptx, self.launch = launches[0] if launches else (None, None)
        else:
            self.ptx = settings.made(kernel.name + ".ptx")
            self.launch = os.path.join(settings.build, "launch", kernel.name, "launch.json")
        self.good = self.strictly = None
        self.text = ""
        self.begin, self.end = 0, 0

    def prepare(self, settings, schedules):
        """Whether the good text runs clean."""
        if not self.ptx or not os.path.exists(self.launch):
            return False
        self.good = simulate.run_description(settings, self.ptx, self.launch, schedules)
        if not self.good.clean():
            return False
        self.strictly = simulate.run_description(settings, self.ptx, self.launch, schedules, strict=True)
        with open(self.ptx, encoding="utf-8") as file:
            self.text = file.read()
        with open(self.launch, encoding="utf-8") as file:
            body = entry_body(self.text, json.load(file).get("entry", ""))
        self.begin = self.text.index(body)
        self.end = self.begin + len(body)
        return True

    def faults(self, operators):
        body = self.text[self.begin:self.end]
        before, after = self.text[:self.begin], self.text[self.end:]
        for what, where, changed, traps in fault_operators.faults(body, operators):
            yield what, where, before + changed + after, before + traps + after


def judge(settings, target, fault, number, schedules):
    """(verdict, what was said, the first error's text)"""
    path = os.path.join(settings.build, "faults", f"{target.kernel.name}-{number}.ptx")

    def simulated(text, strict=False):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        limit = f"--step-limit={STEPS * target.good.instructions}"
        result = simulate.run_description(settings, path, target.launch, schedules, limit=LIMIT_S, strict=strict, extra=[limit])
        os.remove(path)
        return result

    _, _, text, traps = fault
    result = simulated(text)
    if not result.clean():
        return "killed", result.verdict(), result.first
    new = more(result.warnings, target.good.warnings)
    if new:
        return "warned", new, ""
    new = more(simulated(text, strict=True).errors, target.strictly.errors)
    if new:
        return "warned", f"--strict: {new}", ""
    return ("not reached" if simulated(traps).clean() else "survived"), "", ""


def more(counts, than):
    return ", ".join(sorted(name for name, count in counts.items() if count > than[name]))


def load_arguments(path):
    """Lines of survivors.txt: patterns for kernel, fault and place, and the argument, between bars."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return [tuple(part.strip() for part in re.split(r" \| ", line, maxsplit=3)) for line in lines]


def argument_for(arguments, kernel, what, where):
    for of_kernel, of_what, of_where, reason in arguments:
        if re.fullmatch(of_kernel, kernel) and re.fullmatch(of_what, what) and re.search(of_where, where):
            return reason
    return ""


def table(results):
    text = "| fault | planted | killed by an error | by wrong numbers | warned of | not reached | survived |\n|---|---|---|---|---|---|---|\n"
    whats = [what for what, *_ in fault_operators.OPERATORS + fault_operators.OTHER_OPERATORS]
    rows = [(what, [r for r in results if r["fault"] == what]) for what in dict.fromkeys(whats)] + [("all", results)]
    for what, of_it in rows:
        if of_it:
            counts = collections.Counter("numbers" if r["said"] == "wrong numbers" else r["verdict"] for r in of_it)
            columns = [len(of_it), *(counts[c] or "" for c in ("killed", "numbers", "warned", "not reached", "survived"))]
            text += f"| {what} | {' | '.join(map(str, columns))} |\n"
    text += "\n| kernel | planted | killed | warned of | not reached | survived |\n|---|---|---|---|---|---|\n"
    for kernel in dict.fromkeys(r["kernel"] for r in results):
        counts = collections.Counter(r["verdict"] for r in results if r["kernel"] == kernel)
        text += f"| {kernel} | {counts.total()} | {counts['killed']} | {counts['warned'] or ''} | {counts['not reached'] or ''} | {counts['survived'] or ''} |\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    run.add_common_arguments(parser)
    parser.add_argument("--sample", type=int, default=24, help="faults of each kernel; 0: all")
    parser.add_argument("--other-operators", action="store_true", help="plant faults in flags, remote writes and other synchronisation, too")
    parser.add_argument("--sample-seed", type=int, default=1)
    parser.add_argument("--log", metavar="FILE", help="write each fault as JSON")
    parser.add_argument("--table", metavar="FILE", help="write the tables of docs/evidence/ForeignKernels.md")
    options = parser.parse_args()
    settings = run.settings_of(options)
    os.makedirs(os.path.join(settings.build, "faults"), exist_ok=True)
    operators = fault_operators.OPERATORS + (fault_operators.OTHER_OPERATORS if options.other_operators else [])
    arguments, results, unargued = load_arguments(os.path.join(HERE, "survivors.txt")), [], 0
    for kernel in run.chosen(settings, options.only):
        target = Target(settings, kernel)
        if not target.prepare(settings, options.schedules):
            print(f"{kernel.name}: left out, for it is not clean or was not run")
            continue
        planted = list(target.faults(operators))
        generator = random.Random(f"{options.sample_seed} {kernel.name}")
        sampled = generator.sample(planted, min(options.sample or len(planted), len(planted)))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            verdicts = list(pool.map(lambda job: judge(settings, target, job[1], job[0], options.schedules), enumerate(sampled)))
        for (what, where, *_), (verdict, said, first) in zip(sampled, verdicts):
            reason = argument_for(arguments, kernel.name, what, where) if verdict == "survived" else ""
            results.append({"kernel": kernel.name, "fault": what, "where": where, "verdict": verdict, "said": said, "first": first,
                            "argument": reason})
            if verdict == "survived":
                unargued += not reason
                print(f"  {'survived' if reason else 'NO ARGUMENT'}: {kernel.name} | {what} | {where}{': ' + reason if reason else ''}")
        counts = collections.Counter(verdict for verdict, *_ in verdicts)
        print(f"{kernel.name}: {len(planted)} faults, {len(sampled)} planted, {counts['killed']} killed, {counts['warned']} warned of, "
              f"{counts['not reached']} not reached, {counts['survived']} survived", flush=True)
    for path, text in ((options.log, json.dumps(results, indent=1)), (options.table, table(results))):
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    reached = [r for r in results if r["verdict"] != "not reached"]
    killed = sum(r["verdict"] == "killed" for r in reached)
    print(f"{killed} of {len(reached)} faults that the launches reach are killed, {unargued} survivors without an argument")
    sys.exit(1 if unargued or not results else 0)


if __name__ == "__main__":
    main()
