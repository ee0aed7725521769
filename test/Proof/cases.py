#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hand-written kernels by which a proof of the protocol is judged.

Each kernel is one of a few bases (Inputs/bases/NAME.mlir), or a base and a patch (Inputs/{wrong,right,refused}/NAME.patch). The lines in
front of a patch, and the first comments of a base, say what the kernel is:

  base      the file that the patch changes
  chip      sm_90a or sm_100a
  family    what the kernel is about
  kind      of a wrong kernel: deadlock, lap, race, leftover or numbers; of another: right, refused
  property  what a wrong kernel violates: progress, phases, counts and bytes, ownership, drained, or provenance (the numbers)
  fails     the smallest size at which it goes wrong, "t=3 u=2"; of a GEMM "m=64 n=64 k=192"
  passes    sizes at which the simulator finds nothing, separated by ";"
  reports   a regular expression: what the simulator, or of a refused kernel the compiler, says
  schedules all (the default): each schedule goes wrong; some: one of many does; none: the simulator does not see it
  options   options of fp8-run
  proof     what --fp8-prove says of the progress of its roles, if that is not what the kind says: proved, refuted or unknown
  counts    what it says of phases, arrivals and bytes, if that is not "proved"
  ownership what it says of what roles share, if that is not what the kind says
  source    the report of others that the kernel follows
  why       what is wrong, or why it is right

A kernel without a problem has one array argument for each size, whose extent is the size.

usage: cases.py list [--markdown]
       cases.py text NAME                     prints the kernel
       cases.py compile [NAME ...]            compiles to PTX without the proof; what is refused must say why
       cases.py simulate [NAME ...]           compiles, and runs at the stated sizes under several schedules
       cases.py prove [NAME ...]              has the compiler prove, or refute, that the roles end, that phases are laps and that accesses are ordered
Options: --opt=FP8-OPT --run=FP8-RUN (default: fp8-opt and fp8-run from PATH), --jobs=N
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
KINDS = ("deadlock", "lap", "race", "leftover", "numbers", "right", "refused")
PROPERTIES = ("progress", "phases", "counts and bytes", "ownership", "drained", "provenance")
SEEDS = (0, 1, 2, 3)
SCHEDULES_OF_RIGHT = 6
SCHEDULES_OF_SOME = 64
SIZES_OF_GEMM = ("m", "n", "k", "batch")


class Case:
    """One kernel: `keys` as described above, and the files that make its text."""

    def __init__(self, path):
        self.path = path
        self.name, extension = os.path.splitext(os.path.basename(path))
        self.is_base = extension == ".mlir"
        self.keys = {"schedules": "all", "options": ""}
        with open(path, encoding="utf-8") as file:
            for line in file:
                line = line.removeprefix("// ")
                found = re.match(r"([a-z]+): (.*)", line)
                if found:
                    self.keys[found[1]] = found[2].strip()
                elif line.startswith(("---", "!", "module")):
                    break
        self.check()

    def __getattr__(self, key):
        try:
            return self.__dict__["keys"][key]
        except KeyError:
            raise AttributeError(f"{self.name} does not state '{key}'") from None

    def check(self):
        """A case that states too little is an error of the corpus."""
        needed = ["chip", "family", "kind", "why"] + ([] if self.is_base else ["base"])
        if self.is_wrong:
            needed += ["property", "fails"] + (["reports"] if self.schedules != "none" else [])
        needed += {"right": ["passes"], "refused": ["reports"]}.get(self.kind, [])
        for key in needed:
            getattr(self, key)
        if self.kind not in KINDS or self.is_wrong and self.property not in PROPERTIES:
            raise ValueError(f"{self.name}: unknown kind or property")
        folder = os.path.basename(os.path.dirname(self.path))
        if folder not in ("bases", "wrong" if self.is_wrong else self.kind):
            raise ValueError(f"{self.name}: a kernel of kind '{self.kind}' is in the folder '{folder}'")

    @property
    def expected_proof(self):
        """Of a race, or of wrong numbers, all roles end."""
        return self.keys.get("proof", "refuted" if self.kind in ("deadlock", "lap", "leftover") else "proved")

    @property
    def expected_counts(self):
        """None if the roles are not proved to end."""
        return self.keys.get("counts", "proved") if self.expected_proof == "proved" else None

    @property
    def expected_ownership(self):
        """None if the roles are not proved to end, or miscount. Of wrong numbers, each was written in order."""
        if self.expected_counts in (None, "refuted"):
            return None
        return self.keys.get("ownership", "refuted" if self.kind == "race" else "proved")

    @property
    def is_wrong(self):
        return self.kind not in ("right", "refused")

    def text(self):
        if self.is_base:
            with open(self.path, encoding="utf-8") as file:
                return file.read()
        base = os.path.join(INPUTS, "bases", self.base)
        done = subprocess.run(["patch", "--fuzz=0", "--silent", "--reject-file=-", "--output=-", base, self.path], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(f"{self.name}: the patch does not fit {self.base}: {done.stderr or done.stdout}")
        return done.stdout

    def sizes(self, key):
        stated = self.keys.get(key, "")
        return [dict(part.split("=") for part in size.split()) for size in stated.split(";") if size.strip()]


def load():
    """All cases, by name."""
    found = {}
    for folder in ("bases", "wrong", "right", "refused"):
        for name in sorted(os.listdir(os.path.join(INPUTS, folder))):
            case = Case(os.path.join(INPUTS, folder, name))
            if case.name in found:
                raise ValueError(f"two cases are called {case.name}")
            found[case.name] = case
    return found


class Kernel:
    """A case that was compiled in a folder."""

    def __init__(self, case, folder, arguments):
        self.case, self.folder, self.fp8_run = case, folder, arguments.run
        source, self.ptx = os.path.join(folder, "kernel.mlir"), os.path.join(folder, "kernel.ptx")
        with open(source, "w", encoding="utf-8") as file:
            file.write(case.text())
        done = subprocess.run([arguments.opt, source, f"--fp8-gemm-to-ptx=chip={case.chip} prove=false", "--emit=ptx", "-o", self.ptx],
                              capture_output=True, text=True, check=False)
        self.refusal = done.stderr if done.returncode else None

    def write_manifest(self, size):
        """The manifest with the extents that the size states; the options of fp8-run for it."""
        with open(self.ptx + ".json", encoding="utf-8") as file:
            manifest = json.load(file)
        if "problem" in manifest:
            return [f"--{key}={value}" for key, value in size.items()]
        for argument in manifest["arguments"]:
            if argument["name"] in size:
                argument["shape"], argument["strides"] = [int(size[argument["name"]])], [1]
        path = os.path.join(self.folder, "manifest.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        return [f"--manifest={path}", f"--dump={os.path.join(self.folder, 'dump')}"]

    def run(self, size, *options):
        """Whether the run was clean, and what was said."""
        command = [self.fp8_run, self.ptx, "--backend=sim", "--step-limit=20000000", *self.write_manifest(size), *self.case.options.split(), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        if not lines:
            raise ValueError(f"{self.case.name}: fp8-run says: {done.stderr.strip()}")
        return json.loads(lines[-1])["ok"], done.stderr


def describe(size):
    return " ".join(f"{key}={value}" for key, value in size.items())


def judge_wrong(kernel):
    """Problems of a wrong case: it must go wrong as stated, and pass where it says so."""
    case = kernel.case
    for size in case.sizes("fails"):
        if case.schedules == "all":
            runs = [kernel.run(size, f"--schedule-seed={seed}") for seed in SEEDS]
        else:
            runs = [kernel.run(size, f"--schedules={SCHEDULES_OF_SOME}")]
        for clean, said in runs:
            if case.schedules == "none":
                if not clean:
                    yield f"goes wrong at {describe(size)}, although the simulator should not see it:\n{said}"
            elif clean:
                yield f"runs clean at {describe(size)}"
            elif not re.search(case.reports, said):
                yield f"says something else at {describe(size)}:\n{said}"


def judge_passes(kernel):
    """Problems at the sizes at which nothing may be found."""
    for size in kernel.case.sizes("passes"):
        clean, said = kernel.run(size, f"--schedules={SCHEDULES_OF_RIGHT}")
        if not clean:
            yield f"goes wrong at {describe(size)}:\n{said}"


def judge(case, arguments, run):
    """All problems of a case, as text."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            kernel = Kernel(case, folder, arguments)
            if case.kind == "refused":
                if kernel.refusal is None:
                    return ["compiles"]
                return [] if re.search(case.reports, kernel.refusal) else [f"is refused otherwise:\n{kernel.refusal}"]
            if kernel.refusal is not None:
                return [f"does not compile:\n{kernel.refusal}"]
            return [*judge_wrong(kernel), *judge_passes(kernel)] if run else []
        except (AttributeError, ValueError) as error:
            return [str(error)]


def judge_proof(case, arguments):
    """All problems of what the compiler says that it has proved."""
    with tempfile.TemporaryDirectory() as folder:
        source, verdicts = os.path.join(folder, "kernel.mlir"), os.path.join(folder, "proof.json")
        with open(source, "w", encoding="utf-8") as file:
            file.write(case.text())
        done = subprocess.run([arguments.opt, source, f"--fp8-prove=chip={case.chip} json={verdicts}", "-o", os.devnull],
                              capture_output=True, text=True, check=False, timeout=60)
        if not os.path.exists(verdicts):
            return [f"is not proved:\n{done.stderr}"]
        with open(verdicts, encoding="utf-8") as file:
            kernels = [kernel["properties"] for kernel in json.load(file)["kernels"]]
        expected = (case.expected_proof, case.expected_counts, case.expected_ownership)
        found = [tuple(kernel.get(property, {}).get("verdict") for property in ("progress", "counts", "ownership")) for kernel in kernels]
        if found != [expected]:
            return [f"is {found}, not {expected}:\n{done.stderr}"]
        return [*judge_launch(case, kernels[0]["ownership"])] if case.kind == "race" and case.expected_ownership == "refuted" else []


def judge_launch(case, refutation):
    """Problems of the launch at which accesses have no order: the case states it, and `simulate` confirms that. Of a GEMM the sizes are not
    those of the arguments."""
    sizes = case.sizes("fails")
    values = [value for name, value in refutation["arguments"].items() if name.startswith("argument")]
    if not refutation["arguments"] or not refutation["stops"]:
        yield f"is refuted without a launch, or without the ops: {refutation}"
    if not set(sizes[0]) & set(SIZES_OF_GEMM) and values not in [[int(value) for value in size.values()] for size in sizes]:
        yield f"is refuted at {values}, not at {case.fails}"


def prove(cases, arguments):
    cases = [case for case in cases if case.kind != "refused"]
    totals, counted, owned = collections.Counter(), collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for case, problems in zip(cases, pool.map(lambda case: judge_proof(case, arguments), cases)):
            totals["not as stated" if problems else case.expected_proof] += 1
            counted[case.expected_counts] += 1
            owned[case.expected_ownership] += 1
            for problem in problems:
                print(f"{case.name}: {problem}")
    print(", ".join(f"{totals[verdict]} {verdict}" for verdict in ("proved", "refuted", "unknown", "not as stated")))
    for name, verdicts in (("counts", counted), ("ownership", owned)):
        print(f"{name}: " + ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in ("proved", "refuted", "unknown")))
    return 1 if totals["not as stated"] else 0


def check(cases, arguments, run):
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for case, problems in zip(cases, pool.map(lambda case: judge(case, arguments, run), cases)):
            failed += bool(problems)
            for problem in problems:
                print(f"{case.name}: {problem}")
    print(f"{len(cases) - failed} cases are as stated, {failed} are not")
    return 1 if failed else 0


def print_list(cases, markdown):
    families = collections.Counter()
    if markdown:
        print("| case | family | kind | property | fails at | passes at |\n|---|---|---|---|---|---|")
    for case in sorted(cases, key=lambda case: (case.kind in ("right", "refused"), case.kind == "refused", case.family, case.name)):
        keys = collections.defaultdict(str, case.keys)
        row = (case.name, case.family, case.kind, keys["property"], keys["fails"], keys["passes"])
        print("| " + " | ".join(row) + " |" if markdown else "\t".join(row))
        families[case.family, "wrong" if case.is_wrong else case.kind] += 1
    if markdown:
        print("\n| family | wrong | right | refused |\n|---|---|---|---|")
        for family in sorted({family for family, _ in families}):
            print(f"| {family} | " + " | ".join(str(families[family, kind]) for kind in ("wrong", "right", "refused")) + " |")
    totals = collections.Counter("wrong" if case.is_wrong else case.kind for case in cases)
    print(f"\n{totals['wrong']} wrong, {totals['right']} right, {totals['refused']} refused")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("list", "text", "compile", "simulate", "prove"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--opt", default="fp8-opt")
    parser.add_argument("--run", default="fp8-run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    try:
        cases = load()
    except (AttributeError, ValueError) as error:
        sys.exit(f"cases.py: error: {error}")
    unknown = [name for name in arguments.names if name not in cases]
    if unknown:
        parser.error(f"no case is called {', '.join(unknown)}")
    chosen = [cases[name] for name in arguments.names] or list(cases.values())
    if arguments.command == "list":
        return print_list(chosen, arguments.markdown)
    if arguments.command == "text":
        print("".join(case.text() for case in chosen), end="")
        return 0
    if arguments.command == "prove":
        return prove(chosen, arguments)
    return check(chosen, arguments, run=arguments.command == "simulate")


if __name__ == "__main__":
    sys.exit(main())
