# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who catches a mutant: the tools, in the order in which a kernel meets them."""

import json
import os
import re
import subprocess

import proof

LIMIT = 2_000_000  # warp instructions; the good kernels take a tenth


def call(command, seconds=120):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return 124, "", "timeout"
    return done.returncode, done.stdout, done.stderr


def read_run(code, out, err):
    """(verdict, what was said) of a run of fp8-run."""
    said = next((line for line in err.splitlines() if "error:" in line), err.strip()[-200:])
    if code == 0 and json.loads(out.splitlines()[-1])["ok"]:
        return "survived", ""
    if code not in (0, 1):
        return "crashed", f"{code}: {said}"
    kind = re.search(r"\[([\w-]+)\]$", said)
    if kind:
        return "simulator", f"[{kind[1]}] {said}"
    return ("numbers" if "wrong result" in said else "simulator"), said


# What becomes of a refutation by what the simulator says of the mutant; anything else confirms it.
CONFIRMED = {"survived": "false word", "crashed": "crashed"}


class Judge:
    def __init__(self, tools, directory, schedules, check=""):
        self.opt, self.run, self.ptxas = tools
        self.check = check
        self.directory = directory
        self.schedules = schedules

    def simulate(self, kernel, ptx, manifest):
        """(verdict, what was said)."""
        for options in kernel.runs():
            verdict = read_run(*self.launch(ptx, manifest, options))
            if verdict[0] != "survived":
                break
        return verdict

    def launch(self, ptx, manifest, options):
        return call([self.run, ptx, f"--manifest={manifest}", "--backend=sim", f"--schedules={self.schedules}", "--max-errors=1",
                     f"--step-limit={LIMIT}", *options])

    def assemble(self, ptx):
        code, _, err = call([self.ptxas, "-arch=sm_100a", ptx, "-o", os.devnull])
        return ("ptxas", err.strip().splitlines()[0]) if code else None

    def expect(self, path):
        """Writes the events of a good kernel, for the comparison, and returns their file; "" without a tool that compares."""
        if not self.check:
            return ""
        events = f"{path}.events.json"
        subprocess.run([self.opt, f"{path}.mlir", f"--fp8-prove=chip=sm_100a json={events}", "-o", os.devnull], check=True, capture_output=True)
        return events

    def compare(self, ptx, events):
        """What is found without running the text."""
        if not events:
            return None
        code, _, err = call([self.check, ptx, events])
        if code not in (0, 1, 2):
            return "crashed", f"{code}: {err[-200:]}"
        return ("comparison", err.splitlines()[0]) if code == 1 else None

    def ptx(self, kernel, text, number, manifest, events=""):
        path = f"{self.directory}/{kernel.file()}.{number}.ptx"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            return self.compare(path, events) or (self.ptxas and self.assemble(path)) or self.simulate(kernel, path, manifest)
        finally:
            os.remove(path)

    def verify(self, path):
        code, _, err = call([self.opt, path, "-o", os.devnull])
        if not code:
            return None
        said = next((line for line in err.splitlines() if "error:" in line), err[-200:])
        if code != 1:
            return "crashed", f"{code}: {said}"
        return ("parser" if PARSER.search(said) else "verifier"), said

    def dialect(self, kernel, text, number, good):
        """(verdict, what was said, what the proof says). `good`: the PTX of the kernel as it was."""
        stem = f"{self.directory}/{kernel.file()}.{number}"
        with open(f"{stem}.mlir", "w", encoding="utf-8") as file:
            file.write(text)
        try:
            refused = self.verify(f"{stem}.mlir") or self.lower(f"{stem}.mlir", f"{stem}.ptx")
            if refused:
                return *refused, ""
            proved = proof.prove(call, self.opt, f"{stem}.mlir", f"{stem}.proof.json")
            if isinstance(proved, tuple):
                return *proved, ""
            if proved.verdict == proof.REFUTED:
                return *self.check_refuted(proved, kernel, stem), str(proved)
            return *self.check_others(proved, kernel, stem, good), str(proved)
        finally:
            for suffix in (".mlir", ".ptx", ".ptx.json", ".proof.json"):
                if os.path.exists(stem + suffix):
                    os.remove(stem + suffix)

    def check_refuted(self, proved, kernel, stem):
        """A refuted mutant must go wrong at the launch that the refutation names, or, where it names none that can be, at one of the good
        kernel's."""
        ptx, manifest = f"{stem}.ptx", f"{stem}.ptx.json"
        with open(manifest, encoding="utf-8") as file:
            options = proof.refuted_launch(proved, json.load(file))
        verdict, said = read_run(*self.launch(ptx, manifest, options)) if options else ("survived", "")
        if verdict == "survived" and not (options and proved.is_seen):
            verdict, said = self.simulate(kernel, ptx, manifest)
            said = f"{proof.ELSEWHERE}{said}"
        return CONFIRMED.get(verdict, "proof"), said or f"runs clean at {' '.join(options)}"

    def check_others(self, proved, kernel, stem, good):
        """A mutant must not go wrong as it is proved that it does not."""
        with open(f"{stem}.ptx", encoding="utf-8") as file:
            if code_of(file.read()) == good:
                return "same code", ""
        verdict, said = (self.ptxas and self.assemble(f"{stem}.ptx")) or self.simulate(kernel, f"{stem}.ptx", f"{stem}.ptx.json")
        return ("false word" if any(denied in said for denied in proved.denials) else verdict), said

    def lower(self, path, ptx):
        code, _, err = call([self.opt, path, "--fp8-gemm-to-ptx=chip=sm_100a prove=false", "--emit=ptx", "-o", ptx])
        if not code:
            return None
        said = next((line for line in err.splitlines() if "error:" in line), err[-200:])
        return ("derivation" if code == 1 else "crashed"), said


PARSER = re.compile(r"undeclared SSA value|expects different type than prior|redefinition of SSA value|expected '|region .* unknown")


def code_of(ptx):
    """PTX without what names places in the source."""
    return "\n".join(line for line in ptx.split("\n") if not re.match(r"\s*(\.loc|\.file|\$L__tmp)", line))
