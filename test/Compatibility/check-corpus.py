#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what releases have frozen: each bytecode file verifies, lowers and computes right numbers on the simulator, each manifest runs the PTX
that it came with; together they have every op, type and attribute of the dialect's reference, but for those in uncovered.txt.

usage: check-corpus.py BIN_DIRECTORY REFERENCE WORK_DIRECTORY CORPUS_DIRECTORY
"""

import json
import os
import re
import subprocess
import sys

OP = re.compile(r"^### `(fp8\.\w+)`", re.M)
TYPE = re.compile(r"^### (\w+)Type$", re.M)
# As printed: "fp8.op"(, !fp8.type, #fp8.attribute or #fp8<attribute ...>.
USE = re.compile(r'"(fp8\.\w+)"\(|([!#]fp8)[.<](\w+)')


class Checker:
    def __init__(self, binaries, work):
        self.opt, self.runner = (os.path.join(binaries, tool) for tool in ("fp8-opt", "fp8-run"))
        self.work, self.names, self.errors, self.read = work, set(), [], 0

    def run(self, name, *command):
        """The standard output; nothing if the command failed, which is an error of that name."""
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            self.errors.append("%s: %s" % (name, result.stderr.strip()))
        return "" if result.returncode else result.stdout

    def simulate(self, name, ptx, options):
        lines = self.run(name, self.runner, ptx, "--backend=sim", *options).splitlines()
        if lines and not json.loads(lines[-1])["launched"]:
            self.errors.append("%s: was not launched" % name)

    def bytecode(self, directory, entry):
        path, ptx = os.path.join(directory, entry["file"]), os.path.join(self.work, entry["file"] + ".ptx")
        text = self.run(path, self.opt, path, "--mlir-print-op-generic", "--mlir-print-local-scope")
        self.names.update(op or prefix + "." + name for op, prefix, name in USE.findall(text))
        if text and not self.run(path, self.opt, path, "--fp8-gemm-to-ptx=chip=" + entry["chip"], "--emit=ptx", "-o", ptx):
            if os.path.exists(ptx):
                self.simulate(path, ptx, entry["run"])

    def manifest(self, directory, entry):
        path = os.path.join(directory, entry["file"])
        with open(path + ".json", encoding="utf-8") as file:
            version = json.load(file)["version"]
        if version != entry["version"]:
            self.errors.append("%s.json: is of version %s, not %s" % (path, version, entry["version"]))
        self.simulate(path, path, entry["run"])

    def corpus(self, directory):
        with open(os.path.join(directory, "corpus.json"), encoding="utf-8") as file:
            corpus = json.load(file)
        listed = {"corpus.json"}
        for entry in corpus["bytecode"]:
            listed.add(entry["file"])
            self.bytecode(directory, entry)
        for entry in corpus["manifests"]:
            listed.update([entry["file"], entry["file"] + ".json"])
            self.manifest(directory, entry)
        self.errors += ["%s: corpus.json does not list it" % os.path.join(directory, name)
                        for name in sorted(set(os.listdir(directory)) - listed)]
        self.read += len(corpus["bytecode"]) + len(corpus["manifests"])


def reference_names(path):
    """The ops, !types and #attributes of the dialect."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    types = ["!fp8." + re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in TYPE.findall(text)]
    attributes = re.findall(r"#fp8\.\w+(?=<)", text[text.index("\n## Attributes"):text.index("\n## Types")])
    return set(OP.findall(text)) | set(types) | set(attributes)


def allowed_names(path):
    """The names that no corpus needs to have; each line is a name and a reason."""
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        return {line.split()[0] for line in file if len(line.split()) > 1 and not line.startswith("//")}


def main():
    binaries, reference, work, root = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    checker, known, allowed = Checker(binaries, work), reference_names(reference), allowed_names(os.path.join(root, "uncovered.txt"))
    releases = sorted(name for name in os.listdir(root) if re.fullmatch(r"v\d+\.\d+", name))
    for release in releases:
        checker.corpus(os.path.join(root, release))
    errors = checker.errors + ["no corpus has %s" % name for name in sorted(known - checker.names - allowed)]
    errors += ["uncovered.txt has %s, but so has a corpus, or the dialect has it no longer" % name
               for name in sorted(allowed - (known - checker.names))]
    for error in errors:
        print("error: " + error)
    print("%d files of %d releases read, %d of %d names of the dialect in them, %d errors"
          % (checker.read, len(releases), len(known & checker.names), len(known), len(errors)))
    return 1 if errors or not checker.read else 0


if __name__ == "__main__":
    sys.exit(main())
