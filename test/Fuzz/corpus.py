#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collects what the fuzzers mutate: the project's examples and tests, and what fp8-opt makes of them.

usage: corpus.py compiler|simulator DIRECTORY --opt FP8-OPT
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
BLACKWELL = kernels.PTX_KERNELS + [kernels.Kernel(name, f"examples/{name}_gemm.mlir") for name in ("bf16", "tensorwise")]

PREAMBLE = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<10>;
  .reg .b16 %h<20>;
  .reg .b32 %r<60>;
  .reg .b64 %d<40>;
  .reg .f32 %f<30>;
  .reg .f64 %e<20>;
  .reg .b64 %out, %o;
  .reg .b32 %t;
  .shared .align 16 .b8 smem[4096];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4;
  add.s64 %o, %o, %out;
""" + "".join(f"  mov.b32 %r{i}, {i}; mov.b64 %d{i}, {i}; mov.b32 %f{i}, 0f3f800000; mov.b16 %h{i}, {i}; setp.eq.u32 %p{i}, %t, {i};\n"
              for i in range(8))


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

    def add_simulator_texts(self):
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
        self.add_snippets()

    def add_snippets(self):
        """The instructions in the simulator's unit tests, a kernel for each text."""
        literal = r'"(?:[^"\\\n]|\\.)*"'
        texts = set()
        for path in files("test/Simulator/**/*Test.cpp", "test/Simulator/**/*.h"):
            code = read(path)
            texts.update(re.findall(r'R"\((.*?)\)"', code, re.DOTALL))
            for found in re.findall(rf"{literal}(?:\s*{literal})*", code):
                pieces = [piece[1:-1] for piece in re.findall(literal, found)]
                texts.add("".join(pieces).replace("\\n", "\n"))
        for number, text in enumerate(sorted(text for text in texts if ";" in text)):
            whole = PREAMBLE + text + "\n  st.global.b32 [%o], %r0;\n  ret;\n}\n"
            self.write(f"snippet-{number}.ptx", whole)
            self.write(f"snippet-{number}.ptx.json", json.dumps(manifest_for(whole), indent=1))


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
    return {"version": 1, "producer": "corpus.py", "chip": re.search(r"\.target\s+(\w+)", text).group(1), "kernel": name,
            "arguments": [{"name": f"arg{number}", "dtype": "i8", "shape": [64, 256], "strides": [256, 1], "access": "readwrite"}
                          for number, _ in enumerate(parameters)],
            "constraints": [],
            "launch": {"grid": [2 * size, 1, 1], "block": [int(threads.group(1)) if threads else 32, 1, 1], "cluster": [size, 1, 1],
                       "shared_memory_bytes": 65536, "non_portable_cluster": size > 8},
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
    options = parser.parse_args()
    corpus = Corpus(options.opt, options.directory)
    if options.target == "compiler":
        corpus.add_compiler_texts()
    else:
        corpus.add_simulator_texts()


if __name__ == "__main__":
    main()
