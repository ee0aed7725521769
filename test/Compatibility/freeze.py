#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Freezes what a release writes: bytecode of kernels in phases 0 to 2, launch manifests with their PTX, and corpus.json, which says how to
run them. An existing directory is never changed.

usage: freeze.py BIN_DIRECTORY SOURCE_DIRECTORY OUT_DIRECTORY
"""

import json
import os
import subprocess
import sys

import kernels


class Freezer:
    def __init__(self, binaries, source, out):
        self.opt, self.source, self.out = os.path.join(binaries, "fp8-opt"), source, out

    def run(self, *command, **options):
        # From the source's root: locations in bytecode are the paths as given.
        return subprocess.run(command, cwd=self.source, check=True, capture_output=True, **options).stdout

    def input(self, kernel):
        """The kernel as written: a path, or text for the standard input."""
        if "source" in kernel:
            return [kernel["source"]], {}
        text = self.run(sys.executable, "test/Run/Inputs/epilogues.py", "--print", kernel["print"], "--config", kernel["config"])
        return ["-"], {"input": text}

    def bytecode(self, name, kernel):
        """The entries of corpus.json, one for each phase."""
        path, stdin = self.input(kernel)
        for phase in kernel["phases"]:
            file = "%s.%s.mlirbc" % (name, phase)
            passes = [option.format(chip=kernel["chip"]) for option in kernels.PHASES[phase]]
            self.run(self.opt, *path, *passes, "--emit-bytecode", "-o", os.path.join(self.out, file), **stdin)
            yield {"file": file, "chip": kernel["chip"], "run": kernel.get("run", kernels.SIZES)}

    def manifest(self, name, kernel):
        (path, stdin), ptx = self.input(kernel), os.path.join(self.out, name + ".ptx")
        self.run(self.opt, *path, "--fp8-gemm-to-ptx=" + kernel["options"], "--emit=ptx", "-o", ptx, **stdin)
        if os.path.exists(ptx + ".proof.json"):  # later releases need not read it
            os.remove(ptx + ".proof.json")
        return {"file": name + ".ptx", "version": int(name.split("-")[1]), "run": kernel.get("run", kernels.SIZES)}


def main():
    binaries, source, out = map(os.path.abspath, sys.argv[1:])
    if os.path.exists(out):
        sys.exit("error: %s is frozen; a later release has a directory of its own" % out)
    os.makedirs(out)
    freezer = Freezer(binaries, source, out)
    corpus = {
        "bytecode": [entry for item in kernels.BYTECODE.items() for entry in freezer.bytecode(*item)],
        "manifests": [freezer.manifest(*item) for item in kernels.MANIFESTS.items()],
    }
    with open(os.path.join(out, "corpus.json"), "w", encoding="utf-8") as file:
        json.dump(corpus, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
