#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests that need a GPU: makes a folder of what they need where the compiler
is, and runs them where the GPU is, which needs the folder and Python 3 only; some
need PyTorch or compute-sanitizer, too.

usage: gpu.py make DIR --build=BUILD [--cases=FILE] [--group=NAME,...]  kernels, manifests and cases into DIR
       gpu.py pack DIR --build=BUILD [--cases=FILE] [--group=NAME,...]  and fp8-run and what runs them, as DIR/run
       gpu.py run DIR [--fp8-run=FILE] [--group=NAME,...] [--case=NAME] [--backend=cuda|sim] [--seconds=N] [--jobs=N]

`run` prints a line for each case, every reason for a skip with its number, and
last `N passed, N failed, N skipped`. Exit status 0 only if none failed and some
passed. DIR/run is `gpu.py run DIR`. With --backend=sim it runs on the simulator
what that can run: a look at the folder before it travels. Cases that are not begun
after --seconds count as failed.

The table of cases is cases.json. Keys of a case:
  name, group   what it is called
  kernel        its file; that of a file in Inputs/, in test/Run/Inputs or beside
                the table, unless one of the next three is there
  lower, chip   the example that fp8-opt lowers to it, and for which chip
  gemm, chip    the GEMM op that fp8-opt lowers to it, as test/Run/Inputs/epilogues.py
                writes it: "c=bf16,beta,bias=f32,function=relu,scale,d=f16"
  config        the text of that GEMM's #fp8.gemm_config, if it is to have one
  options       more options of --fp8-gemm-to-ptx
  drop          lines of the PTX that have this text are left out of it: a fault
  assemble      the PTX that ptxas makes it of
  patch         the JSON Patch (RFC 6902) that makes its launch manifest of KERNEL.json
  shapes        [M, N, K] of each run; the case becomes as many
  arguments     of fp8-run
  compare       true: the bytes that the kernel writes must be the simulator's; "near": only
                nearly, for functions that a GPU approximates; `make` adds the `floor`
  sanitize      tools of compute-sanitizer, which must find nothing; the case becomes as many
  findings      true: the tool must find something
  slow          true: the simulator would take too long
  exit, error   the status, and a part of the error, of a run that must fail
  keys          what the line of JSON must have, and not as 0
or, instead of a kernel:
  program       the Python file that tests many kernels and prints a line for each test
  gemms         the table of these kernels
  wheel         true, instead of a table: it uses the Python package, which ./dev wheel has made
  host          instead of a table: an example of host and device in one module, which becomes an executable file
  seconds       how long it may take
"""
import argparse
import concurrent.futures
import glob
import itertools
import json
import os
import shutil
import subprocess
import sys
import zipfile

import run as running
from cases import written_element

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BENCHMARK = os.path.join(SOURCE, "benchmark", "gpu")
LIBRARY = "libfp8runtime.so"
HOST_LIBRARY = "libfp8host.so"
LLVM = "/usr/lib/llvm-22"
HOST_PASSES = ["--convert-linalg-to-loops", "--expand-strided-metadata", "--lower-affine", "--convert-scf-to-cf", "--convert-to-llvm",
               "--reconcile-unrealized-casts"]
STAND_IN = "libfp8fakecuda.so"
CHIP = "sm_90a"
# What the programs among the cases import, and read.
MODULES = {HERE: ["gemms.py", "shapes.py", "stress.py"],
           os.path.join(SOURCE, "python", "fp8"): ["_binding.py"],
           BENCHMARK: ["clock.py", "numerics.py", "operands.py", "runtime.py", "table.py", "rows.csv", "configurations.json"]}
# The package's tests of PyTorch's tensors, and what these import and read; they lie in the folder as in the sources.
TESTS = ["test/python/" + name for name in ("test_torch*.py", "conftest.py", "test_device.py", "test_foreign.py")] + ["examples/foreign/scale.ptx", "examples/training.py"]

sys.path += [os.path.join(SOURCE, "test", "Run", "Inputs"), os.path.join(SOURCE, "test", "lib"), BENCHMARK]


def fail(text):
    sys.exit("gpu.py: " + text)


def execute(*commands):
    for command in commands:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            fail("this command failed: %s\n%s" % (" ".join(command), result.stderr))


def find_ptxas():
    named = os.environ.get("FP8_PTXAS")
    return named or shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def expand(cases):
    """A case with shapes becomes one for each, one with tools of the sanitizer one for each of these."""
    expanded = []
    for case in cases:
        for shape in case.pop("shapes", [None]):
            one = dict(case, arguments=list(case.get("arguments", [])))
            if shape:
                one["name"] += "-%dx%dx%d" % tuple(shape)
                one["arguments"] += ["--%s=%d" % pair for pair in zip("mnk", shape)]
            tools = one.pop("sanitize", [])
            expanded += [dict(one, name="%s-%s" % (one["name"], tool), sanitize=tool) for tool in tools] or [one]
    return expanded


def with_config(origin, config, target):
    """A copy of the example with the case's config."""
    with open(origin, encoding="utf-8") as file:
        text = file.read()
    result = "outs(%d : memref<?x?xbf16>)"
    if text.count(result) != 1:
        fail("%s has not one '%s' to put a config behind" % (origin, result))
    with open(target, "w", encoding="utf-8") as file:
        file.write(text.replace(result, "%s config <%s>" % (result, config)))


def write_gemm(options, config, target):
    import epilogues
    with open(target, "w", encoding="utf-8") as file:
        file.write(epilogues.text(epilogues.parse(options) | {"config": config}))


def find(name, places):
    for place in places:
        if os.path.exists(os.path.join(place, name)):
            return os.path.join(place, name)
    fail("there is no %s in %s" % (name, ", ".join(places)))


def copy_found(name, places, directory):
    shutil.copy(find(name, places), os.path.join(directory, name))


def write_manifest(case, places, directory):
    """The case's own manifest, its kernel's after a patch."""
    from patched import read_patched
    case["manifest"] = case["name"] + ".json"
    with open(os.path.join(directory, case["manifest"]), "w", encoding="utf-8") as file:
        file.write(read_patched(find(case["kernel"] + ".json", places), case.pop("patch")))


def drop_lines(path, text):
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    left = [line for line in lines if text not in line]
    if len(left) == len(lines):
        fail("%s has no line with '%s' to leave out" % (path, text))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(left)


def check_wheel(wheel):
    """That it was made of the sources as they are."""
    with zipfile.ZipFile(wheel) as packed:
        for path in glob.glob(os.path.join(SOURCE, "python", "fp8", "**", "*.py"), recursive=True):
            name = os.path.relpath(path, os.path.join(SOURCE, "python"))
            with open(path, "rb") as file:
                if name not in packed.namelist() or packed.read(name) != file.read():
                    fail("%s has another %s than the sources: make it anew, ./dev wheel" % (wheel, name))


class Packer:
    def __init__(self, directory, build, table):
        self.directory, self.build = directory, build
        self.places = [os.path.dirname(os.path.abspath(table)), os.path.join(HERE, "Inputs"),
                       os.path.join(SOURCE, "test", "Run", "Inputs")]
        self.fp8_opt = os.path.join(build, "bin", "fp8-opt")
        self.library = os.path.join(build, "lib", LIBRARY)
        self.stand_in = os.path.join(build, "lib", STAND_IN)
        self.wheels = glob.glob(os.path.join(build, "python", "*.whl"))

    def lower(self, source, target, chip, options=""):
        execute([self.fp8_opt, source, "--fp8-gemm-to-ptx=" + ("chip=%s %s" % (chip, options)).strip(), "--emit=ptx", "-o", target])

    def missing(self, case):
        """What of this machine the case's kernel needs and has not."""
        if any(key in case for key in ("lower", "gemm", "gemms", "host")) and not os.path.exists(self.fp8_opt):
            return "packed without fp8-opt"
        if ("gemms" in case or case.get("compare") == "near") and not os.path.exists(self.library):
            return "packed without " + LIBRARY
        if any(key in case for key in ("assemble", "gemms")) and not find_ptxas():
            return "packed without ptxas"
        needed = [os.path.join(LLVM, "bin", "mlir-opt"), os.path.join(self.build, "lib", HOST_LIBRARY)]
        if "host" in case and not all(map(os.path.exists, needed)):
            return "packed without MLIR's tools, or " + HOST_LIBRARY
        if "wheel" in case and not self.wheels:
            return "packed without the Python package (./dev wheel)"
        if "wheel" in case and not os.path.exists(self.stand_in):
            return "packed without " + STAND_IN
        return None

    def make(self, case):
        """The case's kernel and its manifest."""
        if "wheel" in case:
            check_wheel(self.wheels[0])
            for program in glob.glob(os.path.join(HERE, "package*.py")) + [self.stand_in]:
                shutil.copy(program, self.directory)
            for path in itertools.chain(*(glob.glob(os.path.join(SOURCE, pattern)) for pattern in TESTS)):
                target = os.path.join(self.directory, os.path.relpath(path, SOURCE))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(path, target)
            return shutil.copy(self.wheels[0], self.directory)
        if "host" in case:
            shutil.copy(os.path.join(HERE, case["program"]), self.directory)
            return self.make_host(case)
        if "program" in case:
            return self.make_gemms(case["gemms"])
        target = os.path.join(self.directory, case["kernel"])
        if "lower" in case:
            origin = os.path.join(SOURCE, "examples", case["lower"])
            if "config" in case:
                with_config(origin, case["config"], target + ".mlir")
                origin = target + ".mlir"
            self.lower(origin, target, case["chip"], case.get("options", ""))
            return drop_lines(target, case["drop"]) if "drop" in case else None
        if "gemm" in case:
            write_gemm(case["gemm"], case.get("config"), target + ".mlir")
            self.lower(target + ".mlir", target, case["chip"])
            return os.remove(target + ".mlir")
        if "assemble" in case:
            origin = os.path.join(HERE, "Inputs", case["assemble"])
            shutil.copy(origin + ".json", target + ".json")
            return execute([find_ptxas(), "-arch=" + CHIP, origin, "-o", target])
        copy_found(case["kernel"], self.places, self.directory)
        copy_found(case["kernel"] + ".json", self.places, self.directory)
        return None

    def make_host(self, case):
        """The example as an executable file, with the library that it needs beside it."""
        base = os.path.join(self.directory, "host")
        tool = lambda name, *options: [os.path.join(LLVM, "bin", name), *options]
        execute([self.fp8_opt, os.path.join(SOURCE, "examples", case["host"]), "--fp8-gemm-to-ptx=chip=" + case["chip"], "--fp8-lower-launches", "-o", base + ".mlir"],
                tool("mlir-opt", base + ".mlir", *HOST_PASSES, "-o", base + ".llvm.mlir"),
                tool("mlir-translate", "--mlir-to-llvmir", base + ".llvm.mlir", "-o", base + ".ll"),
                tool("llc", "-O2", "-filetype=obj", "-relocation-model=pic", base + ".ll", "-o", base + ".o"))
        library = shutil.copy(os.path.join(self.build, "lib", HOST_LIBRARY), self.directory)
        execute(["cc", base + ".o", os.path.join(HERE, "Inputs", "print.c"), library, "-Wl,-rpath,$ORIGIN", "-o", base])
        for suffix in (".mlir", ".llvm.mlir", ".ll", ".o"):
            os.remove(base + suffix)

    def make_cubin(self, name, options, config, passes=""):
        """A cubin and its manifest in gemms/; its line of the index there."""
        import epilogues
        base = os.path.join(self.directory, "gemms", name)
        write_gemm(options, config, base + ".mlir")
        self.lower(base + ".mlir", base + ".ptx", CHIP, passes)
        execute([find_ptxas(), "-arch=" + CHIP, base + ".ptx", "-o", base + ".cubin"])
        os.replace(base + ".ptx.json", base + ".cubin.json")
        for suffix in (".mlir", ".ptx"):
            os.remove(base + suffix)
        with open(base + ".cubin.json", encoding="utf-8") as file:
            arguments = [[one["name"], one["dtype"]] for one in json.load(file)["arguments"]]
        return {"name": name, "point": epilogues.parse(options), "arguments": arguments}

    def gemms(self, table):
        """(group, tile, name, options, config, options of the pipeline) of every kernel that the table names."""
        import table as rows
        for group in ("all", "functions"):
            for tile in table["tiles"] if group == "all" else [table.get("function_tile")]:
                size = tile and "x".join(tile.split(" x ")[:2]) + ("-fit" if tile.endswith("edge = fit") else "")
                for options in table.get(group, []):
                    parts = options.replace("strided,", "").replace("=", "-").replace(",", "-")
                    yield group, size, "%s-%s" % (size, parts), options, "tile = " + tile, ""
        if table.get("rows"):
            configurations = rows.read_configurations(os.path.join(BENCHMARK, "configurations.json"))
            named = {name for row in rows.read_rows(os.path.join(BENCHMARK, "rows.csv"))
                     for name in configurations.candidates(row, False)}
            for name in sorted(named):
                kernel = configurations.kernels[name]
                yield "rows", name, "row-" + name, "d=bf16", kernel["config"], kernel.get("options", "")

    def make_gemms(self, table):
        copy_found(table, self.places, self.directory)
        with open(os.path.join(self.directory, table), encoding="utf-8") as file:
            wanted = list(self.gemms(json.load(file)))
        os.makedirs(os.path.join(self.directory, "gemms"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            made = list(pool.map(lambda one: dict(self.make_cubin(*one[2:]), group=one[0], tile=one[1]), wanted))
        with open(os.path.join(self.directory, "gemms", "index.json"), "w", encoding="utf-8") as file:
            json.dump(made, file, indent=1)
        for place, names in MODULES.items():
            for name in names:
                shutil.copy(os.path.join(place, name), self.directory)
        shutil.copy(self.library, self.directory)

    def add_floor(self, case):
        """What an approximate tanh may move the D of the case's kernel by, in the Frobenius norm (docs/Numerics.md)."""
        import numerics
        element = written_element(case, self.directory)
        case["floor"] = numerics.element_types(self.library)[element]["floors"]["tanh"]


def write_cases(cases, path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(cases, file, indent=1)


def make(directory, build, table, groups):
    """The kernels of the table's cases, or of those groups of it."""
    with open(table, encoding="utf-8") as file:
        cases = expand([case for case in json.load(file) if running.chosen_group(case, groups)])
    mark = os.path.join(directory, running.CASES)
    # Only ever a folder that this made.
    if os.path.exists(directory) and os.listdir(directory) and not os.path.exists(mark):
        fail("%s is there already and no packed folder: name another" % directory)
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    write_cases(cases, mark)  # marks the folder as made here, also if a kernel then fails
    packer, wanted = Packer(directory, build, table), {}
    for case in cases:
        if "patch" in case:
            write_manifest(case, packer.places, directory)
        reason = packer.missing(case)
        if reason:
            case["missing"] = reason
        else:
            wanted.setdefault(case.get("gemms", case.get("kernel", case["name"])), case)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(packer.make, wanted.values()):
            pass
    for case in cases:
        if case.get("compare") == "near" and "missing" not in case:
            packer.add_floor(case)
    write_cases(cases, mark)


def pack(directory, build, table, groups):
    make(directory, build, table, groups)
    shutil.copy(os.path.join(build, "bin", "fp8-run"), os.path.join(directory, "fp8-run"))
    for name in ("run.py", "cases.py"):
        shutil.copy(os.path.join(HERE, name), directory)
    os.replace(os.path.join(directory, "run.py"), os.path.join(directory, "run"))
    os.chmod(os.path.join(directory, "run"), 0o755)
    size = sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(directory) for name in names)
    print("%s: %.1f MB; on the machine with the GPU: python3 %s" % (
        directory, size / 1e6, os.path.join(directory, "run")))


def main():
    parser = argparse.ArgumentParser(description="The tests that need a GPU.")
    parser.add_argument("command", choices=["make", "pack", "run"])
    parser.add_argument("directory")
    parser.add_argument("--build", default="build")
    parser.add_argument("--cases", default=os.path.join(HERE, running.CASES))
    running.add_options(parser)
    options = parser.parse_args()
    if options.command == "run":
        sys.exit(running.run(options.directory, options))
    (make if options.command == "make" else pack)(options.directory, options.build, options.cases, options.group)


if __name__ == "__main__":
    main()
