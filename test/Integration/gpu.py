#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests that need a GPU: makes a folder of what they need where the compiler
is, and runs them where the GPU is, which needs this file, the folder and
Python 3 only.

usage: gpu.py make DIR --build=BUILD [--cases=FILE]  kernels, manifests and cases into DIR
       gpu.py pack DIR --build=BUILD [--cases=FILE]  and fp8-run and this file, as DIR/run
       gpu.py run DIR [--fp8-run=FILE] [--group=NAME] [--case=NAME] [--backend=cuda|sim]

`run` prints a line for each case, every reason for a skip with its number, and
last `N passed, N failed, N skipped`. Exit status 0 only if none failed and some
passed. DIR/run is `gpu.py run DIR`. With --backend=sim it runs on the simulator
what that can run: a look at the folder before it travels.

The table of cases is cases.json. Keys of a case:
  name, group   what it is called
  kernel        its file; that of a file in Inputs/, in test/Run/Inputs or beside
                the table, unless one of the next two is there
  lower, chip   the example that fp8-opt lowers to it, and for which chip
  config        the text of that GEMM's #fp8.gemm_config, if it is to have one
  assemble      the PTX that ptxas makes it of
  manifest      its launch manifest, if that is not KERNEL.json
  shapes        [M, N, K] of each run; the case becomes as many
  arguments     of fp8-run
  compare       true: the bytes that the kernel writes must be the simulator's
  slow          true: the simulator would take too long
  exit, error   the status, and a part of the error, of a run that must fail
  keys          what the line of JSON must have, and not as 0
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = "cases.json"


def find_ptxas():
    named = os.environ.get("FP8_PTXAS")
    return named or shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def expand(cases):
    """A case with shapes becomes one for each."""
    expanded = []
    for case in cases:
        for shape in case.pop("shapes", [None]):
            one = dict(case, arguments=list(case.get("arguments", [])))
            if shape:
                one["name"] += "-%dx%dx%d" % tuple(shape)
                one["arguments"] += ["--%s=%d" % pair for pair in zip("mnk", shape)]
            expanded.append(one)
    return expanded


def example(case, source, directory):
    """The file to lower: the example, or a copy of it with the case's config."""
    origin = os.path.join(source, "examples", case["lower"])
    if "config" not in case:
        return origin
    with open(origin, encoding="utf-8") as file:
        text = file.read()
    result = "outs(%d : memref<?x?xbf16>)"
    if text.count(result) != 1:
        sys.exit("gpu.py: %s has not one '%s' to put a config behind" % (origin, result))
    copy = os.path.join(directory, case["kernel"] + ".mlir")
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text.replace(result, "%s config <%s>" % (result, case["config"])))
    return copy


def copy_found(name, places, directory):
    target = os.path.join(directory, name)
    for place in places:
        if os.path.exists(os.path.join(place, name)):
            shutil.copy(os.path.join(place, name), target)
            return
    sys.exit("gpu.py: there is no %s in %s" % (name, ", ".join(places)))


def make_kernel(case, directory, build, table):
    """Makes the case's kernel and manifest; the reason if that cannot be done."""
    source = os.path.dirname(os.path.dirname(HERE))
    places = [os.path.dirname(table), os.path.join(HERE, "Inputs"), os.path.join(source, "test", "Run", "Inputs")]
    target = os.path.join(directory, case["kernel"])
    if "manifest" in case:
        copy_found(case["manifest"], places, directory)
    if os.path.exists(target):
        return None
    if "lower" in case:
        fp8_opt = os.path.join(build, "bin", "fp8-opt")
        if not os.path.exists(fp8_opt):
            return "packed without fp8-opt"
        command = [fp8_opt, example(case, source, directory),
                   "--fp8-gemm-to-ptx=chip=" + case["chip"], "--emit=ptx", "-o", target]
    elif "assemble" in case:
        origin = os.path.join(HERE, "Inputs", case["assemble"])
        if not find_ptxas():
            return "packed without ptxas"
        shutil.copy(origin + ".json", target + ".json")
        command = [find_ptxas(), "-arch=sm_90a", origin, "-o", target]
    else:
        copy_found(case["kernel"], places, directory)
        if "manifest" not in case:
            copy_found(case["kernel"] + ".json", places, directory)
        return None
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit("gpu.py: this command failed: %s\n%s" % (" ".join(command), result.stderr))
    return None


def write_cases(cases, directory):
    with open(os.path.join(directory, CASES), "w", encoding="utf-8") as file:
        json.dump(cases, file, indent=1)


def make(directory, build, table):
    table = os.path.abspath(table)
    with open(table, encoding="utf-8") as file:
        cases = expand(json.load(file))
    # Only ever a folder that this made.
    if os.path.exists(directory) and os.listdir(directory) and not os.path.exists(os.path.join(directory, CASES)):
        sys.exit("gpu.py: %s is there already and no packed folder: name another" % directory)
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    write_cases(cases, directory)  # marks the folder as made here, also if a kernel then fails
    for case in cases:
        reason = make_kernel(case, directory, build, table)
        if reason:
            case["missing"] = reason
    write_cases(cases, directory)


def pack(directory, build, table):
    make(directory, build, table)
    shutil.copy(os.path.join(build, "bin", "fp8-run"), os.path.join(directory, "fp8-run"))
    shutil.copy(os.path.abspath(__file__), os.path.join(directory, "run"))
    os.chmod(os.path.join(directory, "run"), 0o755)
    size = sum(entry.stat().st_size for entry in os.scandir(directory))
    print("%s: %.1f MB; on the machine with the GPU: python3 %s" % (
        directory, size / 1e6, os.path.join(directory, "run")))


def find_device(fp8_run):
    """What the first GPU is, or a string that says why there is none."""
    try:
        result = subprocess.run([fp8_run, "--list-devices"], capture_output=True, text=True,
                                check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if result.returncode:
        return (result.stderr.strip().splitlines() or ["fp8-run --list-devices fails"])[-1]
    return json.loads(result.stdout.splitlines()[0])


def manifest_of(case, directory):
    return os.path.join(directory, case.get("manifest", case["kernel"] + ".json"))


def why_skip(case, directory, device):
    """Why the case does not run on the device; on the simulator if that is None."""
    if "missing" in case:
        return case["missing"]
    if not device:
        if case.get("slow"):
            return "too large for the simulator"
        if case["kernel"].endswith(".cubin") or "exit" in case:
            return "only a GPU shows it"
        return None
    with open(manifest_of(case, directory), encoding="utf-8") as file:
        chip = json.load(file)["chip"]
    if chip not in device["runs"]:
        return "%s does not run on compute capability %s" % (chip, device["capability"])
    return None


def first_difference(case, directory, fp8_run, backend):
    """Runs on the simulator and on the backend; the line of JSON of the latter, and what is wrong."""
    with tempfile.TemporaryDirectory() as work:
        dumps = []
        for place in dict.fromkeys(["sim", backend]):
            dumps.append(os.path.join(work, place))
            line, problem = run_case(case, directory, fp8_run, place, ["--dump=" + dumps[-1]])
            if problem:
                return line, problem
        contents = []
        for dump in dumps:
            with open(dump, "rb") as file:
                contents.append(file.read())
        simulated, other = contents[0], contents[-1]
    if simulated == other:
        return line, None
    wrong = [i for i, pair in enumerate(zip(simulated, other)) if pair[0] != pair[1]]
    at = wrong[0] if wrong else min(len(simulated), len(other))
    start = at // 16 * 16
    return line, "%d of %d bytes differ, first byte %d; from %d on, the simulator: %s, %s: %s" % (
        len(wrong), len(simulated), at, start, simulated[start:start + 16].hex(" ", 4), backend,
        other[start:start + 16].hex(" ", 4))


def run_case(case, directory, fp8_run, backend, more=()):
    """The last line of output as JSON, and what is wrong with the run."""
    arguments, keys = case["arguments"], case.get("keys", [])
    if backend == "sim":  # which has no clock
        arguments, keys = [argument for argument in arguments if not argument.startswith(("--time", "--clock"))], []
    command = [fp8_run, os.path.join(directory, case["kernel"]), "--manifest=" + manifest_of(case, directory),
               "--backend=" + backend] + arguments + list(more)
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    except subprocess.TimeoutExpired:
        return {}, "no end after 300 s, not even by the watchdog: " + " ".join(command)
    try:
        line = json.loads(result.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        line = {}
    problems = []
    if result.returncode != case.get("exit", 0):
        problems.append("exit status %d" % result.returncode)
    if line.get("ok") is not (case.get("exit", 0) == 0):
        problems.append("ok is %s" % line.get("ok"))
    if case.get("error", "") not in str(line.get("error", "")):
        problems.append("the error is not '%s'" % case["error"])
    problems += ["no '%s'" % key for key in keys if not line.get(key)]
    if not problems:
        return line, None
    return line, "%s\n$ %s\n%s%s" % ("; ".join(problems), " ".join(command), result.stderr, result.stdout)


def describe(line):
    text = []
    if "us" in line:
        text.append("%.1f us" % line["us"])
    if "tflops" in line:
        text.append("%.3g TFLOP/s over %d sets of operands" % (line["tflops"], line["operand_sets"]))
    return ", ".join(text)


def run(directory, fp8_run, group, name, backend):
    fp8_run = os.path.abspath(fp8_run or os.path.join(directory, "fp8-run"))
    with open(os.path.join(directory, CASES), encoding="utf-8") as file:
        cases = [case for case in json.load(file) if group in (None, case["group"])
                 and name in (None, case["name"])]
    device = find_device(fp8_run) if backend == "cuda" else None
    passed = failed = 0
    reasons = collections.Counter()
    if isinstance(device, str):
        reasons["no GPU: " + device] = len(cases)
        cases = []
    elif device:
        print("%(device)s, compute capability %(capability)s, driver %(driver)s" % device)
    for case in cases:
        reason = why_skip(case, directory, device)
        if reason:
            reasons[reason] += 1
            continue
        check = first_difference if case.get("compare") else run_case
        line, problem = check(case, directory, fp8_run, backend)
        more = problem or (describe(line) if device else "")
        print("%s: %s %s" % ("FAIL" if problem else "PASS", case["name"], more), flush=True)
        failed += problem is not None
        passed += problem is None
    for reason, number in sorted(reasons.items()):
        print("skipped: %d (%s)" % (number, reason))
    print("%d passed, %d failed, %d skipped" % (passed, failed, sum(reasons.values())))
    return 0 if passed and not failed else 1


def main():
    if os.path.basename(sys.argv[0]) == "run":  # a packed folder
        sys.argv[1:1] = ["run", HERE]
    parser = argparse.ArgumentParser(description="The tests that need a GPU.")
    parser.add_argument("command", choices=["make", "pack", "run"])
    parser.add_argument("directory")
    parser.add_argument("--build", default="build")
    parser.add_argument("--fp8-run")
    parser.add_argument("--group")
    parser.add_argument("--case")
    parser.add_argument("--backend", choices=["cuda", "sim"], default="cuda")
    parser.add_argument("--cases", default=os.path.join(HERE, CASES))
    options = parser.parse_args()
    if options.command == "run":
        sys.exit(run(options.directory, options.fp8_run, options.group, options.case, options.backend))
    (make if options.command == "make" else pack)(options.directory, options.build, options.cases)


if __name__ == "__main__":
    main()
