#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants single faults in good kernels and sees who catches each.

usage: run.py --opt FP8-OPT --run FP8-RUN --work DIRECTORY [--ptxas PTXAS] [--level dialect|ptx]
              [--kernel NAME] [--sample N [--seed S]] [--schedules N] [--check FP8-CHECK-PTX] [--log FILE]

With --check the comparison with the expected events comes before all that runs a text.

Exits with 1 if a good kernel fails, a tool crashes, the proof's word is false, or a mutant survives for which survivors.txt has no
argument. The word is false if a refuted mutant runs clean at the launch of the refutation, or a proved one goes wrong as it
must not.
"""

import argparse
import concurrent.futures
import functools
import json
import os
import random
import subprocess
import sys

import ir
import ir_operators
import kernels
import ptx
import ptx_operators
import report
from judge import Judge, code_of

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../.."))


def parse_arguments():
    parser = argparse.ArgumentParser()
    for name in ("--opt", "--run", "--work"):
        parser.add_argument(name, required=True)
    parser.add_argument("--ptxas", default="")
    parser.add_argument("--check", default="", help="the tool that compares PTX with the expected events")
    parser.add_argument("--level", choices=["dialect", "ptx"], action="append")
    parser.add_argument("--kernel", action="append")
    parser.add_argument("--sample", type=int, default=0, help="mutants of each level; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schedules", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", help="a line of JSON for each mutant")
    parser.add_argument("--again", metavar="LOG", help="only the mutants that no tool caught when this was written")
    return parser.parse_args()


class Source:
    """A good kernel at one level, its mutants, and what judges them."""

    def __init__(self, level, kernel, judge, work):
        self.level, self.kernel, self.judge = level, kernel, judge
        path = f"{work}/{level}-{kernel.file()}"
        with open(f"{path}.mlir", "w", encoding="utf-8") as file:
            file.write(kernel.text(ROOT))
        if level == "dialect":
            command = [judge.opt, f"{path}.mlir", *kernel.passes, "--mlir-print-op-generic", "-o", f"{path}.generic.mlir"]
            subprocess.run(command, check=True)
            with open(f"{path}.generic.mlir", encoding="utf-8") as file:
                self.text = file.read()
        refused = judge.lower(f"{path}.generic.mlir" if level == "dialect" else f"{path}.mlir", f"{path}.ptx")
        verdict = refused or judge.simulate(kernel, f"{path}.ptx", f"{path}.ptx.json")
        if verdict[0] != "survived":
            sys.exit(f"run.py: {level} {kernel.name} is no good kernel: {verdict}")
        self.manifest = f"{path}.ptx.json"
        self.events = judge.expect(path) if level == "ptx" else ""
        differs = judge.compare(f"{path}.ptx", self.events)
        if differs:
            sys.exit(f"run.py: the comparison finds fault with {kernel.name}: {differs}")
        with open(f"{path}.ptx", encoding="utf-8") as file:
            self.good = file.read()

    def sites(self):
        if self.level == "dialect":
            yield from ir_operators.sites(ir.Module(self.text))
        else:
            yield from ptx_operators.sites(ptx.Program(self.good))

    def keys(self):
        """Each fault's name, and whether it can be written."""
        return [((self.level, self.kernel.name, name, which, what), text is not None) for name, which, what, text in self.sites()]

    def mutants(self, chosen):
        for number, (name, which, what, text) in enumerate(self.sites()):
            key = (self.level, self.kernel.name, name, which, what)
            if text is not None and key in chosen:
                yield key, text if self.level == "dialect" else text(), number

    def run(self, mutant):
        key, text, number = mutant
        if self.level == "dialect":
            return report.Result(key, *self.judge.dialect(self.kernel, text, number, code_of(self.good)))
        return report.Result(key, *self.judge.ptx(self.kernel, text, number, self.manifest, self.events))


def choose(keys, sample, seed):
    if len(set(keys)) != len(keys):
        sys.exit(f"run.py: two mutants of one name: {next(k for k in keys if keys.count(k) > 1)}")
    return set(random.Random(seed).sample(keys, min(sample, len(keys))) if sample else keys)


@functools.cache
def survivors(path):
    with open(path, encoding="utf-8") as file:
        results = [json.loads(line) for line in file]
    return {tuple(key) for key, verdict, *_ in results if verdict in report.HARMLESS}


def main():
    options = parse_arguments()
    os.makedirs(options.work, exist_ok=True)
    judge = Judge((options.opt, options.run, options.ptxas), options.work, options.schedules, options.check)
    arguments = report.load_arguments(f"{HERE}/survivors.txt")
    results, failed = [], False
    for level in options.level or ["dialect", "ptx"]:
        table = kernels.DIALECT_KERNELS if level == "dialect" else kernels.PTX_KERNELS
        sources = [Source(level, k, judge, options.work) for k in table if not options.kernel or k.name in options.kernel]
        keys = [pair for source in sources for pair in source.keys()]
        writable = [key for key, can in keys if can]
        unwritable = len(keys) - len(writable)
        if options.again:
            writable = [key for key in writable if key in survivors(options.again)]
        chosen = choose(writable, options.sample, options.seed)
        print(f"\n{level}: {len(sources)} kernels, {len(writable)} mutants, of which {len(chosen)} are run", flush=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for source in sources:
                results += pool.map(source.run, source.mutants(chosen))
        print(report.table(results, level))
        print(report.summary(results, level, unwritable), flush=True)
        if level == "dialect":
            print(report.confirmations(results))
    print("the simulator's rules: " + report.kinds(results))
    if options.log:
        with open(options.log, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(result) + "\n" for result in results)
    print("\nsurvivors:")
    for key, verdict, said, proved in results:
        name = " | ".join(str(field) for field in key)
        reason = "the same code" if verdict == "same code" else report.argument_for(arguments, key)
        if verdict in report.WRONG:
            failed = True
            print(f"NO VERDICT: {name}: {verdict}: {said}; {proved}")
        elif verdict in report.HARMLESS and not reason:
            failed = True
            print(f"NO ARGUMENT: {name}: {verdict} {said}")
        elif verdict in report.HARMLESS:
            print(f"  {name}: {reason}")
    sys.exit(failed)


main()
