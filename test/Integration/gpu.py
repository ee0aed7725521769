#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests that need a GPU: makes a folder of what they need where the compiler
is, and runs them where the GPU is, which needs this file, the folder and
Python 3 only.

usage: gpu.py make DIR --build=BUILD      kernels, manifests and cases into DIR
       gpu.py pack DIR --build=BUILD      and fp8-run and this file, as DIR/run
       gpu.py run DIR [--fp8-run=FILE] [--group=NAME] [--case=NAME]

`run` prints a line for each case, every reason for a skip with its number, and
last `N passed, N failed, N skipped`. Exit status 0 only if none failed and
there is a GPU. DIR/run is `gpu.py run DIR`.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = "cases.json"


def find_ptxas():
    named = os.environ.get("FP8_PTXAS")
    return named or shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def make_kernel(case, directory, build):
    """Makes the case's kernel and manifest; the reason if that cannot be done."""
    source = os.path.dirname(os.path.dirname(HERE))
    target = os.path.join(directory, case["kernel"])
    if os.path.exists(target):
        return None
    if "lower" in case:
        fp8_opt = os.path.join(build, "bin", "fp8-opt")
        if not os.path.exists(fp8_opt):
            return "packed without fp8-opt"
        command = [fp8_opt, os.path.join(source, "examples", case["lower"]),
                   "--fp8-gemm-to-ptx=chip=" + case["chip"], "--emit=ptx", "-o", target]
    elif "assemble" in case:
        origin = os.path.join(HERE, "Inputs", case["assemble"])
        if not find_ptxas():
            return "packed without ptxas"
        shutil.copy(origin + ".json", target + ".json")
        command = [find_ptxas(), "-arch=sm_90a", origin, "-o", target]
    else:
        for folder in (os.path.join(HERE, "Inputs"), os.path.join(source, "test", "Run", "Inputs")):
            origin = os.path.join(folder, case["kernel"])
            if os.path.exists(origin):
                shutil.copy(origin, target)
                shutil.copy(origin + ".json", target + ".json")
                return None
        sys.exit("gpu.py: there is no kernel " + case["kernel"])
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit("gpu.py: this command failed: %s\n%s" % (" ".join(command), result.stderr))
    return None


def make(directory, build):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    with open(os.path.join(HERE, CASES), encoding="utf-8") as file:
        cases = json.load(file)
    for case in cases:
        reason = make_kernel(case, directory, build)
        if reason:
            case["missing"] = reason
    with open(os.path.join(directory, CASES), "w", encoding="utf-8") as file:
        json.dump(cases, file, indent=1)


def pack(directory, build):
    make(directory, build)
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


def why_skip(case, directory, device):
    if "missing" in case:
        return case["missing"]
    with open(os.path.join(directory, case["kernel"] + ".json"), encoding="utf-8") as file:
        chip = json.load(file)["chip"]
    if chip not in device["runs"]:
        return "%s does not run on compute capability %s" % (chip, device["capability"])
    return None


def run_case(case, directory, fp8_run):
    """The last line of output as JSON, and what is wrong with the run."""
    command = [fp8_run, os.path.join(directory, case["kernel"]), "--backend=cuda"] + case["arguments"]
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
    problems += ["no '%s'" % key for key in case.get("keys", []) if not line.get(key)]
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


def run(directory, fp8_run, group, name):
    fp8_run = os.path.abspath(fp8_run or os.path.join(directory, "fp8-run"))
    with open(os.path.join(directory, CASES), encoding="utf-8") as file:
        cases = [case for case in json.load(file) if group in (None, case["group"])
                 and name in (None, case["name"])]
    device = find_device(fp8_run)
    passed = failed = 0
    reasons = collections.Counter()
    if isinstance(device, str):
        reasons["no GPU: " + device] = len(cases)
        cases = []
    else:
        print("%(device)s, compute capability %(capability)s, driver %(driver)s" % device)
    for case in cases:
        reason = why_skip(case, directory, device)
        if reason:
            reasons[reason] += 1
            continue
        line, problem = run_case(case, directory, fp8_run)
        print("%s: %s %s" % ("FAIL" if problem else "PASS", case["name"], problem or describe(line)), flush=True)
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
    options = parser.parse_args()
    if options.command == "run":
        sys.exit(run(options.directory, options.fp8_run, options.group, options.case))
    (make if options.command == "make" else pack)(options.directory, options.build)


if __name__ == "__main__":
    main()
