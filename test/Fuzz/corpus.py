#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collects what the fuzzers mutate: the project's examples and tests, and what fp8-opt makes of them.

usage: corpus.py compiler|simulator DIRECTORY --opt FP8-OPT [--unittests DIRECTORY]

The simulator's corpus has the kernels that its unit tests run, a kernel for each new form of an instruction.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path[:0] = [f"{ROOT}/test/Mutants/corpus", f"{ROOT}/test/Launch"]

# pylint: disable=wrong-import-position
import kernels
import manifests

# For Hopper: small, so that a run comes far; by few rows, in a pair, divided along K, and from the example.
HOPPER = [
    kernels.Kernel("hopper", "examples/hopper.mlir"),
    kernels.Kernel("hopper-64", kernels.GEMM, "tile = 64 x 16 x 128, stages = 2"),
    kernels.Kernel("hopper-swapped", kernels.GEMM, "tile = 8 x 64 x 128, stages = 2"),
    kernels.Kernel("hopper-cluster", kernels.GEMM, "tile = 64 x 16 x 128, cluster = 2 x 1, stages = 2"),
    kernels.Kernel("hopper-split", kernels.GEMM, "tile = 64 x 16 x 128, split_k = 2, stages = 2"),
]
BLACKWELL = kernels.PTX_KERNELS + [kernels.Kernel(name, f"examples/{name}_gemm.mlir") for name in ("bf16", "tensorwise", "mxfp8")]

# The unit tests of single instructions. What takes long is left out.
TESTED = ("SimulatorAsyncTests", "SimulatorInstructionTests", "SimulatorWgmmaTests")
LEFT_OUT = "MmaKinds.ShapesWithScales:Grid.*"

# An instruction: behind labels and a guard, its mnemonic and its operands.
INSTRUCTION = re.compile(r"(?:\s*[\w$]+:(?!:))*\s*\{?\s*(?:@!?%?\w+\s+)?([a-z]\w*(?:\.[\w:]+)*)\s*(.*)", re.DOTALL)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(*patterns):
    return sorted(path for pattern in patterns for path in glob.glob(f"{ROOT}/{pattern}", recursive=True))


class Corpus:
    def __init__(self, opt, directory):
        self.opt, self.directory = opt, directory
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)

    def path(self, name):
        return f"{self.directory}/{name}"

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_opt(self, text, options, name):
        """Whether fp8-opt takes the text."""
        return subprocess.run([self.opt, "-", *options, "-o", self.path(name)], input=text.encode(), check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    #--- The compiler's

    def add_compiler_texts(self):
        for path in files("examples/*.mlir", "test/**/*.mlir"):
            name = os.path.relpath(path, ROOT).replace("/", "-")[:-len(".mlir")]
            sections = read(path).split("// -----")
            for number, section in enumerate(sections):
                self.write(f"{name}-{number}.mlir", section)
            if path.startswith((f"{ROOT}/examples", f"{ROOT}/test/Run")):
                self.run_opt(sections[0], ["--emit-bytecode"], f"{name}.mlirbc")
        for chip, table in (("sm_100a", kernels.OF_THE_OP), ("sm_90a", HOPPER[1:])):
            for kernel in table:
                options = [f"--fp8-structure-gemm=chip={chip}"]
                self.run_opt(kernel.text(ROOT), options, f"{kernel.name}-phase1.mlir")
                options += ["--inline", "--fp8-flatten-scopes", "--fp8-lower-tile-loops"]
                self.run_opt(kernel.text(ROOT), options, f"{kernel.name}-phase2.mlir")
                self.run_opt(kernel.text(ROOT), [*options, "--mlir-print-op-generic"], f"{kernel.name}-generic.mlir")
                self.run_opt(kernel.text(ROOT), [*options, "--convert-fp8-to-nvvm"], f"{kernel.name}-phase3.mlir")

    #--- The simulator's

    def add_simulator_texts(self, unittests):
        for chip, table in (("sm_100a", BLACKWELL), ("sm_90a", HOPPER)):
            for kernel in table:
                name = f"{kernel.file()}.ptx"
                if not self.run_opt(kernel.text(ROOT), [f"--fp8-gemm-to-ptx=chip={chip}", "--emit=ptx"], name):
                    sys.exit(f"corpus.py: {kernel.name} is not lowered for {chip}")
        for path in files("test/Simulator/foreign/*.ptx", "test/Run/Inputs/*.ptx", "test/Integration/Inputs/*.ptx", "test/Fuzz/Inputs/*.ptx"):
            name = os.path.basename(path)
            shutil.copy(path, self.path(name))
            if os.path.exists(f"{path}.json"):
                shutil.copy(f"{path}.json", self.path(f"{name}.json"))
            else:
                self.write(f"{name}.json", json.dumps(manifest_for(read(path)), indent=1))
        for path in files("examples/foreign/*.ptx", "test/Simulator/foreign/*.ptx"):
            name = os.path.basename(path)
            own = f"{ROOT}/test/Fuzz/Inputs/{name}.launch.json"
            shutil.copy(path, self.path(name))
            self.write(f"{name}.launch.json", read(own) if os.path.exists(own) else json.dumps(description_for(read(path)), indent=1))
            if not os.path.exists(self.path(f"{name}.json")):
                self.write(f"{name}.json", json.dumps(manifest_for(read(path)), indent=1))
        for _, examples in manifests.groups():
            for name, text in examples:
                self.write(f"manifest-{name}.ptx.json", text)
        self.add_tested(unittests)

    def add_tested(self, unittests):
        """What the unit tests run: of kernels whose instructions have no form that an earlier one lacks, none."""
        folder = self.path("tested")
        os.makedirs(folder)
        for name in TESTED:
            subprocess.run([f"{unittests}/{name}", "--gtest_brief=1", f"--gtest_filter=-{LEFT_OUT}"], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "FP8_TEST_PTX": folder})
        known = set()
        for number, text in enumerate(sorted(map(read, glob.glob(f"{folder}/*.ptx")), key=lambda text: (len(text), text))):
            new = forms(text) - known
            known |= new
            if new:
                self.write(f"tested-{number}.ptx", text)
                self.write(f"tested-{number}.ptx.json", json.dumps(manifest_for(text), indent=1))
        shutil.rmtree(folder)


def forms(text):
    """The instructions, of whose operands only the shape remains: r for a name, 0 for a number."""
    found = set()
    for statement in re.sub(r"//.*", "", text).split(";"):
        instruction = INSTRUCTION.match(statement)
        if instruction:
            mnemonic, operands = instruction.groups()
            found.add((mnemonic, re.sub(r"%?[A-Za-z_$][\w.$]*", "r", re.sub(r"\b[0-9]\w*", "0", "".join(operands.split())))))
    return found


def parameter_of(kind, is_map, number):
    argument = f"arg{number}"
    if is_map:
        return {"kind": "tensor_map", "argument": argument, "dtype": "i8", "dims": [{"dim": [argument, 1]}, {"dim": [argument, 0]}],
                "strides_bytes": [{"stride": [argument, 0]}], "box": [64, 8], "element_strides": [1, 1], "swizzle": "none",
                "interleave": "none", "l2_promotion": "none", "oob_fill": "zero"}
    if kind in ("u64", "b64", "s64"):
        return {"kind": "pointer", "argument": argument}
    return {"kind": "scalar", "type": "i32", "value": 1 + number}


def manifest_for(text):
    """A launch for PTX that came without one: a byte array for each pointer and each tensor map."""
    entry = re.search(r"\.entry\s+(\w+)\s*\((.*?)\)(.*?)\{", text, re.DOTALL)
    name, declared, directives = entry.groups()
    parameters = [parameter_of(re.search(r"\.([busf]\d+)", line).group(1), "[" in line, number)
                  for number, line in enumerate(declared.split(",")) if line.strip()]
    threads = re.search(r"\.(?:max|req)ntid\s+(\d+)", directives)
    cluster = re.search(r"\.reqnctapercluster\s+(\d+)", directives)
    size = int(cluster.group(1)) if cluster else 1
    launch = [2 * size, 1, 1, int(threads.group(1)) if threads else 32, 1, 1, size, 1, 1]
    stated = re.match(r"// launch: ([\d ]+)\n", text)
    if stated:
        launch = [int(number) for number in stated.group(1).split()]
    return {"version": 1, "producer": "corpus.py", "chip": re.search(r"\.target\s+(\w+)", text).group(1), "kernel": name,
            "arguments": [{"name": f"arg{number}", "dtype": "i8", "shape": [64, 256], "strides": [256, 1], "access": "readwrite"}
                          for number, _ in enumerate(parameters)],
            "constraints": [],
            "launch": {"grid": launch[:3], "block": launch[3:6], "cluster": launch[6:], "shared_memory_bytes": 65536,
                       "non_portable_cluster": launch[6] > 8},
            "parameters": parameters}


def description_for(text):
    """A launch description for PTX: a buffer for each pointer and each tensor map."""
    manifest = manifest_for(text)
    buffers, arguments = [], []
    for number, parameter in enumerate(manifest["parameters"]):
        name = f"arg{number}"
        buffers.append({"name": name, "dtype": "f32", "shape": [64, 64], "fill": {"random": number}})
        if parameter["kind"] == "tensor_map":
            arguments.append({"tensor_map": {"buffer": name, "dtype": "u8", "dims": [256, 64], "strides_bytes": [256], "box": [64, 8]}})
        else:
            arguments.append({"buffer": name} if parameter["kind"] == "pointer" else {"u32": parameter["value"]})
    launch = manifest["launch"]
    return {"version": 1, "entry": manifest["kernel"], "grid": launch["grid"], "block": launch["block"], "cluster": launch["cluster"],
            "shared_memory_bytes": 65536, "buffers": buffers, "arguments": arguments}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("target", choices=["compiler", "simulator"])
    parser.add_argument("directory")
    parser.add_argument("--opt", required=True)
    parser.add_argument("--unittests", help="the folder of the unit tests; default: beside that of fp8-opt")
    options = parser.parse_args()
    corpus = Corpus(options.opt, options.directory)
    if options.target == "compiler":
        corpus.add_compiler_texts()
    else:
        corpus.add_simulator_texts(options.unittests or os.path.join(os.path.dirname(shutil.which(options.opt)), "../unittests"))


if __name__ == "__main__":
    main()
