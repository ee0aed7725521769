#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels of the corpus on a GPU with the operands that the simulator had, and compares the results bit for bit.

usage: silicon.py pack --build DIR --checkouts DIR FOLDER [--only REGEX]   here, with what run.py left in DIR: needs ptxas
       silicon.py run FOLDER [--out RESULTS.json]                          there: needs a CUDA driver and Python 3, nothing else

A kernel is right where its bits are the simulator's, or where its error against float64 is within the bound of the description: sums of
atomics have no order of their own. `run` exits with 1 where one is not.
"""

import argparse
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CHIP = "sm_90a"
PTX_VERSION = "9.0"  # of CUDA 13.0
# Kernels whose simulated results a GPU of that chip can check.
DEFAULT = r"deepgemm_sm90|cutlass_(48|57|67)|triton_.*sm90|samples_|tilelang_.*sm90"
LIMIT_S = 60
# Buffers in which a kernel keeps tensor maps: their bytes are the driver's own.
OF_MAPS = {"cutlass_57_grouped": {"memory-19"}}
FORMATS = {"f32": ("f", 4), "f16": ("e", 2), "f64": ("d", 8), "i8": ("b", 1), "i32": ("i", 4)}


# --- pack


def simulate_once(settings, ptx, launch, dump):
    """What each buffer that the kernel may write holds after it."""
    import simulate
    result = simulate.run_description(settings, ptx, launch, 1, extra=["--dump=" + dump])
    with open(launch, encoding="utf-8") as file:
        description = json.load(file)
    with open(dump, "rb") as file:
        written = file.read()
    os.remove(dump)
    buffers, at = {}, 0
    for buffer in description["buffers"]:
        if buffer.get("access") != "read":
            buffers[buffer["name"]] = written[at:at + buffer["bytes"]]
            at += buffer["bytes"]
    return result, description, buffers


def assemble(settings, ptx, path):
    """The text may say a later version of PTX than the assembler knows, and use nothing of it: Triton's does."""
    ptxas = os.environ.get("FP8_PTXAS") or os.path.join(os.path.dirname(settings.nvcc), "ptxas")
    with open(ptx, encoding="utf-8") as file:
        text = file.read()
    if subprocess.run([ptxas, "-arch=" + CHIP, ptx, "-o", path], capture_output=True, check=False).returncode:
        with open(path + ".ptx", "w", encoding="utf-8") as file:
            file.write(re.sub(r"^\.version .*", ".version " + PTX_VERSION, text, flags=re.MULTILINE))
        subprocess.run([ptxas, "-arch=" + CHIP, path + ".ptx", "-o", path], check=True)
        os.remove(path + ".ptx")


def pack_one(settings, kernel, ptx, launch, folder):
    from families import entry_body
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.dirname(launch), folder)
    assemble(settings, ptx, os.path.join(folder, "kernel.cubin"))
    result, description, buffers = simulate_once(settings, ptx, launch, os.path.join(folder, "written"))
    with open(ptx, encoding="utf-8") as file:
        description["entry"] = entry_body(file.read(), description.get("entry", "")).split("(")[0].split()[-1]
    description["expected"] = [each for each in description["expected"] if each["buffer"] not in OF_MAPS.get(kernel.name, ())]
    for expected in description["expected"]:
        with open(os.path.join(folder, expected["buffer"] + ".simulated"), "wb") as file:
            file.write(buffers[expected["buffer"]])
    with open(os.path.join(folder, "launch.json"), "w", encoding="utf-8") as file:
        json.dump(description, file)
    print(f"{kernel.name}: packed; on the simulator: {result.verdict()}, relative error {result.error}")


def pack(options):
    import run
    from faults import Target
    settings = run.settings_of(options)
    for kernel in run.chosen(settings, options.only or DEFAULT):
        target = Target(settings, kernel)
        if target.prepare(settings, 1):
            pack_one(settings, kernel, target.ptx, target.launch, os.path.join(options.folder, kernel.name))
        else:
            print(f"{kernel.name}: left out, for it is not clean or was not run")
    shutil.copy(os.path.abspath(__file__), options.folder)
    shutil.copy(os.path.join(HERE, "driver.py"), options.folder)


# --- run


def numbers(data, dtype):
    if dtype == "bf16":
        return [struct.unpack("<f", b"\0\0" + data[at:at + 2])[0] for at in range(0, len(data), 2)]
    code, size = FORMATS[dtype]
    return struct.unpack(f"<{len(data) // size}{code}", data)


def read_array(path, dtype):
    """A .npy file of float64 or int8, or bare bytes."""
    with open(path, "rb") as file:
        data = file.read()
    if not path.endswith(".npy"):
        return numbers(data, dtype)
    header = data[10:10 + struct.unpack("<H", data[8:10])[0]].decode()
    if "'fortran_order': False" not in header:
        sys.exit(f"{path}: the order of its elements is not C's")
    return numbers(data[10 + len(header):], "f64" if "'<f8'" in header else "i8")


def relative_error(got, wanted, counts):
    squares = sum(w * w for w, c in zip(wanted, counts) if c)
    differences = sum((g - w) ** 2 for g, w, c in zip(got, wanted, counts) if c)
    return math.sqrt(differences / squares) if squares else math.sqrt(differences)


def compare(folder, expected, data):
    """Elements that count, those whose bits differ from the simulator's, and the relative error against float64."""
    with open(os.path.join(folder, expected["buffer"] + ".simulated"), "rb") as file:
        simulated = file.read()
    dtype = expected["dtype"]
    size = 2 if dtype == "bf16" else FORMATS[dtype][1]
    count = len(data) // size
    counts = read_array(os.path.join(folder, expected["mask"]), "i8") if "mask" in expected else [1] * count
    differ = sum(1 for n in range(count) if counts[n] and data[n * size:(n + 1) * size] != simulated[n * size:(n + 1) * size])
    error = None
    if expected["file"].endswith(".npy"):
        error = relative_error(numbers(data, dtype), read_array(os.path.join(folder, expected["file"]), dtype), counts)
    bound = expected.get("tolerance", {}).get("frobenius", 0.0)
    return {"buffer": expected["buffer"], "elements": sum(map(bool, counts)), "differ": differ, "relative_error": error,
            "ok": differ == 0 or (error is not None and error <= bound)}


def run_one(folder):
    """In a process of its own: one line of JSON."""
    import driver
    with open(os.path.join(folder, "launch.json"), encoding="utf-8") as file:
        description = json.load(file)
    device = driver.Device()
    after = driver.launch(device, folder, description)
    holding_addresses = {buffer["name"] for buffer in description["buffers"] if buffer.get("fields")}
    compared = [compare(folder, each, after[each["buffer"]]) for each in description["expected"] if each["buffer"] not in holding_addresses]
    print(json.dumps({"device": device.name(), "ok": all(each["ok"] for each in compared), "compared": compared}))


def run_all(options):
    results = {}
    for name in sorted(os.listdir(options.folder)):
        folder = os.path.join(options.folder, name)
        if not os.path.exists(os.path.join(folder, "kernel.cubin")):
            continue
        command = [sys.executable, os.path.join(HERE, "silicon.py"), "one", folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
            results[name] = json.loads(done.stdout) if done.returncode == 0 else {"ok": False, "error": (done.stderr or done.stdout)[-400:]}
        except subprocess.TimeoutExpired:
            results[name] = {"ok": False, "error": f"hangs: not done in {LIMIT_S} s"}
        said = results[name]
        bits = ", ".join(f"{each['buffer']}: {each['differ']} of {each['elements']} elements differ"
                         + (f", relative error {each['relative_error']:.3g}" if each["relative_error"] is not None else "")
                         for each in said.get("compared", []) if each["differ"] or each["relative_error"] is not None)
        print(f"{'ok' if said['ok'] else 'NOT OK'}: {name}: {said.get('error') or bits or 'the same bits'}", flush=True)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    sys.exit(0 if results and all(each["ok"] for each in results.values()) else 1)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack")
    if "pack" in sys.argv[1:2]:
        import run
        run.add_common_arguments(packing)
    packing.add_argument("folder")
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--out")
    commands.add_parser("one").add_argument("folder")
    options = parser.parse_args()
    {"pack": pack, "run": run_all, "one": lambda options: run_one(options.folder)}[options.command](options)


if __name__ == "__main__":
    main()
