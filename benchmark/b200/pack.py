#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folder, and its zip, that is the first hour on a Blackwell GPU: kernels as cubins and PTX for each chip of steps.json,
what their sums must be by the simulator, fp8-run, and what runs them. ptxas assembles every kernel here, so that what does not
assemble is known before.

usage: pack.py DIR --build=BUILD [--chips=NAME,...] [--steps=FILE] [--simulate]

--steps: another table than steps.json; one with "probes" packs those alone, without it all. --simulate also runs every probe on the simulator, which must find nothing.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
GPU = os.path.join(SOURCE, "benchmark", "gpu")
TESTS = [os.path.join(SOURCE, "test", "Run", "Inputs"), os.path.join(SOURCE, "test", "Integration", "Inputs")]
sys.path += [GPU, TESTS[0]]

import copy_probes
import epilogues
import expectations
import mma_probes
import ptx
import sum_probes
import sync_probes
import wgmma_probes

PACK = "pack.json"
MODULES = {HERE: ["figures.py", "page.py", "parts.py", "process.py", "questions.py", "results.py", "run.py", "steps.py", "sums.py", "tails.py", "verdict.py", "waits.py"],
           GPU: ["machine.py", "numerics.py", "runtime.py"], os.path.join(SOURCE, "python", "fp8"): ["_binding.py"]}
WAIT_LIMIT_MS = 2000
ENGINES = {True: "Warpgroup", False: "TensorMemory"}  # of SumRules.cpp, by whether the chip is Hopper's
# With which the simulator reads buffers that are larger on a GPU.
SIMULATED_MEMORY = 64 << 20
SIMULATED_MULTIPROCESSORS = 4


class Failure(Exception):
    pass


def execute(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Failure("this command failed: %s\n%s" % (" ".join(command), result.stderr.strip()))


def find_ptxas():
    found = os.environ.get("FP8_PTXAS") or shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
    if not found:
        raise Failure("there is no ptxas: put CUDA's on PATH or name it in FP8_PTXAS")
    return found


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def find_input(name):
    return next(os.path.join(place, name) for place in TESTS if os.path.exists(os.path.join(place, name)))


class Chip:
    """What is packed for one chip."""

    def __init__(self, name, table, build, directory, ptxas):
        self.name, self.table, self.build, self.ptxas = name, table, build, ptxas
        self.directory = os.path.join(directory, name)
        self.hopper = name == ptx.HOPPER
        self.assembled = []
        for folder in ("probes", "sums"):
            os.makedirs(os.path.join(self.directory, folder))

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def assemble(self, base):
        execute([self.ptxas, "-arch=" + self.name, base + ".ptx", "-o", base + ".cubin"])
        self.assembled.append(base)

    def config(self, row):
        return row["twin"] if self.hopper and "twin" in row else row.get("config")

    def source(self, row):
        """The module of the row's kernel, for this chip."""
        config = self.config(row)
        if "gemm" in row:
            return epilogues.text(epilogues.parse(row["gemm"]) | {"config": config})
        text = read(os.path.join(SOURCE, "examples", row.get("source", "gemm.mlir")))
        return re.sub(r"(outs\(%d : memref<\?x\?xbf16>\))", r"\1 config <%s>" % config, text) if config else text

    def lower(self, row, suffix="", options=""):
        base = self.path(row["name"] + suffix)
        write(base + ".mlir", self.source(row))
        profile = ["--fp8-profile"] * row.get("stamps", False)
        execute([os.path.join(self.build, "bin", "fp8-opt"), base + ".mlir", *profile, "--fp8-gemm-to-ptx=%s" % ("chip=%s %s" % (self.name, options)).strip(), "--emit=ptx", "-o",
                 base + ".ptx"])
        os.remove(base + ".mlir")
        os.replace(base + ".ptx.json", base + ".json")
        return base

    def gemm(self, row):
        for suffix, options in (("", ""), (".waits", "debug-waits=%d" % WAIT_LIMIT_MS)):
            self.assemble(self.lower(row, suffix, options))
        return row

    def stamped(self, row):
        self.assemble(self.lower(row))
        return row

    def edited(self, row):
        """A kernel of the library with a fault in its text, with and without limits for its waits."""
        for suffix, options in (("", ""), (".waits", "debug-waits=%d" % WAIT_LIMIT_MS)):
            base = self.lower(row, suffix, options)
            lines = read(base + ".ptx").splitlines(keepends=True)
            if "drop" in row:
                changed = [line for line in lines if row["drop"] not in line]
            else:
                changed = [line.replace(*row["replace"]) for line in lines]
            if changed == lines:
                raise Failure("%s.ptx has no place for the fault of '%s'" % (base, row["name"]))
            write(base + ".ptx", "".join(changed))
            self.assemble(base)

    def copy(self, name, base):
        """A kernel written for another chip that uses nothing of it; the driver compiles it."""
        origin = find_input(name)
        target = lambda text: re.sub(r"sm_\d+a", self.name, text)
        write(base + ".ptx", target(read(origin)))
        write(base + ".json", target(read(origin + ".json")))

    def planted(self, row):
        if "drop" in row or "replace" in row:
            self.edited(row)
        elif row.get("kernel", "").endswith(".ptx"):
            self.copy(row["kernel"], self.path(row["name"]))
            return {key: value for key, value in row.items() if key != "kernel"}
        return row

    def probes(self, memory=None, multiprocessors=None):
        count = multiprocessors or int(expectations.machine("kH200" if self.hopper else "kB200")["multiprocessors"])
        copies = copy_probes.probes(self.name, count, **({"memory": memory} if memory else {}))
        return copies + sync_probes.probes(self.name, count) + (wgmma_probes.probes(self.name) if self.hopper else mma_probes.probes(self.name, count))

    def chosen(self, probes):
        """Those that the table names, or all."""
        return [probe for probe in probes if probe.name in self.table.get("probes", [probe.name])]

    def write_probes(self):
        """The table of the probes, by what is asked first."""
        made = self.probes()
        told = expectations.figures(self.name, {probe.name: probe.bytes_of_one for probe in made if hasattr(probe, "bytes_of_one")})
        unasked = {probe.name for probe in made} ^ set(told)
        if unasked:
            raise Failure("these probes have no figures, or the other way about: %s" % ", ".join(sorted(unasked)))
        for probe in self.chosen(made):
            probe.write(self.path("probes", probe.name))
        return [{"name": probe.name, "samples": probe.samples, "wide": probe.wide, "figures": told[probe.name]} for probe in self.chosen(made)]

    def write_sums(self):
        """Each kind's cases, with the bits that the simulator gives."""
        kinds = {}
        for kind, probe, cases in sum_probes.probes(self.name):
            base = self.path("sums", probe.name)
            probe.write(base)
            os.remove(base + ".json")
            for case in cases:
                manifest = self.path("sums", case.name + ".json")
                write(manifest, json.dumps(probe.case_manifest(case)))
                execute([os.path.join(self.build, "bin", "fp8-run"), base + ".ptx", "--manifest=" + manifest, "--backend=sim",
                         "--dump=" + self.path("sums", case.name + ".expected")])
                kinds.setdefault(kind, []).append({"name": case.name, "kernel": probe.name, "rows": probe.rows, "case": list(case)})
        return kinds

    def simulate(self):
        """The names of the probes that the simulator ran, with buffers and grids that it can."""
        ran = []
        for probe in self.chosen(self.probes(SIMULATED_MEMORY, SIMULATED_MULTIPROCESSORS)):
            base = self.path("simulated")
            probe.write(base)
            execute([os.path.join(self.build, "bin", "fp8-run"), base + ".ptx", "--manifest=%s.json" % base, "--backend=sim", "--strict", "--dump=" + base + ".bin",
                     "--multiprocessors=%d" % SIMULATED_MULTIPROCESSORS])
            for suffix in (".ptx", ".json", ".bin"):
                os.remove(base + suffix)
            ran.append(probe.name)
        return ran

    def make(self, pool):
        """The chip's rows of the pack's table."""
        known = lambda row: not (self.hopper and row.get("twin", "") is None)
        gemms = [row for row in self.table["gemms"] if known(row)]
        self.copy(self.table["health"], self.path("health"))
        rows = {"gemms": list(pool.map(self.gemm, gemms)), "planted": list(pool.map(self.planted, self.table["planted"])), "probes": self.write_probes(),
                "sums": self.write_sums(), "parts": list(pool.map(self.stamped, self.table["parts"])), "times": self.table["times"], "time_figures": expectations.times(self.name), "loads": self.table["loads"]}
        bases = [self.path("probes", row["name"]) for row in rows["probes"]] + sorted({self.path("sums", row["kernel"]) for kind in rows["sums"].values() for row in kind})
        list(pool.map(self.assemble, bases))
        return rows


def version():
    result = subprocess.run(["git", "-C", SOURCE, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    number = re.search(r"project\(fp8 VERSION ([\d.]+)", read(os.path.join(SOURCE, "CMakeLists.txt")))[1]
    return number + (" (%s)" % result.stdout.strip() if result.returncode == 0 else "")


def copy_programs(directory, build):
    for place, names in MODULES.items():
        for name in names:
            shutil.copy(os.path.join(place, name), directory)
    shutil.copy(os.path.join(HERE, "README.md"), directory)
    shutil.copy(os.path.join(build, "bin", "fp8-run"), directory)
    shutil.copy(os.path.join(build, "lib", "libfp8runtime.so"), directory)


def pack(options):
    directory = os.path.normpath(options.directory)
    # Only ever a folder that this made.
    if os.path.exists(directory) and os.listdir(directory) and not os.path.exists(os.path.join(directory, PACK)):
        raise Failure("%s is there already and no packed folder: name another" % directory)
    table = json.loads(read(options.steps))
    chips = options.chips or table["chips"]
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    write(os.path.join(directory, PACK), "{}")  # marks the folder as made here, also if something then fails
    copy_programs(directory, options.build)
    packed = {"version": version(), "chips": chips, "kernels": {}, "rules": {}}
    assembled = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in chips:
            chip = Chip(name, table, options.build, directory, find_ptxas())
            packed["kernels"][name] = chip.make(pool)
            packed["rules"][name] = expectations.rules(ENGINES[chip.hopper])
            assembled += len(chip.assembled)
            if options.simulate:
                print("%s: the simulator finds nothing in %d probes" % (name, len(chip.simulate())))
    write(os.path.join(directory, PACK), json.dumps(packed, indent=1))
    archive = shutil.make_archive(directory, "zip", os.path.dirname(os.path.abspath(directory)), os.path.basename(directory))
    print("%s: ptxas assembled %d kernels for %s; %.1f MB: unpack it where the GPU is, and there: python3 %s/run.py" % (
        archive, assembled, ", ".join(chips), os.path.getsize(archive) / 1e6, os.path.basename(directory)))


def main():
    parser = argparse.ArgumentParser(description="Packs the first hour on a Blackwell GPU.")
    parser.add_argument("directory")
    parser.add_argument("--build", default="build")
    parser.add_argument("--chips", type=lambda text: text.split(","), default=[])
    parser.add_argument("--steps", default=os.path.join(HERE, "steps.json"))
    parser.add_argument("--simulate", action="store_true")
    try:
        pack(parser.parse_args())
    except Failure as problem:
        sys.exit("pack.py: %s" % problem)


if __name__ == "__main__":
    main()
