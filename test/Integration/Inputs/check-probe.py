# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every probe of a folder that gpu.py made on the simulator and compares the bytes with
what the PTX ISA says, worked out here.

usage: check-probe.py FP8-RUN DIR
"""

import json
import os
import struct
import subprocess
import sys

fp8_run, folder = sys.argv[1:]
UNWRITTEN = 0xABABABAB


def source(count):
    """The words that fp8-run fills argument 0 with."""
    return [1 << 24 | i for i in range(count)]


def box(manifest):
    tensor, _, size, x, y = manifest["parameters"]
    element = {"i8": 1, "bf16": 2}[tensor["dtype"]]
    width, rows, pitch = tensor["dims"][0] * element, tensor["dims"][1], tensor["strides_bytes"][0]
    data = b"".join(struct.pack("<I", word) for word in source(pitch * rows // 4))
    span = {"none": 0, "32B": 32, "64B": 64, "128B": 128}[tensor["swizzle"]]
    result = bytearray(size["value"])
    row_bytes = tensor["box"][0] * element
    for at in range(size["value"]):
        column, row = x["value"] * element + at % row_bytes, y["value"] + at // row_bytes
        if 0 <= column < width and 0 <= row < rows:
            value = data[row * pitch + column]
        else:
            value = NAN[at % 2] if tensor["oob_fill"] == "nan" else 0
        result[PLACE[span](at)] = value
    return bytes(result)


NAN = (0xF7, 0x7F)  # as an H200 has it in bf16; NVIDIA does not say which NaN
# By the bits of an address: 128B XORs bits 4-6 with 7-9, 64B bits 4-5 with 7-8, 32B bit 4 with 7.
PLACE = {
    0: lambda at: at,
    32: lambda at: at ^ (at >> 3 & 0x10),
    64: lambda at: at ^ (at >> 3 & 0x30),
    128: lambda at: at ^ (at >> 3 & 0x70),
}


def store(manifest):
    """Shared memory holds what probe-store.sm_90a.ptx fills it with; rows are written in whole 16 bytes."""
    tensor, x, y = manifest["parameters"]
    element = {"i8": 1, "f16": 2, "f32": 4}[tensor["dtype"]]
    width, rows = -(-tensor["dims"][0] * element // 16) * 16, tensor["dims"][1]
    span = {"none": 0, "64B": 64, "128B": 128}[tensor["swizzle"]]
    data = b"".join(struct.pack("<I", at * 0x9E3779B1 & 0x7F7F7F7F) for at in range(0, 4096, 4))
    pitch, row_bytes = tensor["strides_bytes"][0], tensor["box"][0] * element
    result = bytearray(b"\xff" * (24 * pitch))
    for at in range(row_bytes * tensor["box"][1]):
        column, row = x["value"] * element + at % row_bytes, y["value"] + at // row_bytes
        if column < width and row < rows:
            result[row * pitch + column] = data[PLACE[span](at)]
    return bytes(result)


def tile(column, row):
    """A box of 128 x 8 bytes of a tensor with rows of 256."""
    words = source(16 * 64)
    return [words[(row + r) * 64 + column // 4 + c] for r in range(8) for c in range(32)]


def words(*lists):
    return b"".join(struct.pack("<I", word) for part in lists for word in part)


def expected(name, manifest):
    if name.startswith("probe-box"):
        return box(manifest)
    if name.startswith("probe-store"):
        return store(manifest)
    if name == "probe-phase":
        # Parity 0 has ended in odd phases, parity 1 in even ones; every second arrival ends a phase.
        steps, phase = [], 0
        for arrival in range(6):
            pending = 2 - arrival % 2
            phase += arrival % 2
            steps.append([phase % 2, 1 - phase % 2, arrival % 2, pending])
        return words(*steps)
    if name == "probe-remote-arrive":
        return words(*[[0xC0DE0000 + 0x100 * (1 - rank) + 31 - lane for lane in range(32)] for rank in range(2)])
    if name == "probe-multicast":
        return words(tile(0, 0), [UNWRITTEN] * 256, tile(0, 0), tile(128, 8))
    if name == "probe-expect-tx":
        return words([0, 1], tile(0, 0), tile(128, 0), tile(0, 8), tile(128, 8))
    sys.exit("check-probe.py: nothing is known of " + name)


right, launches = 0, set()
with open(os.path.join(folder, "cases.json"), encoding="utf-8") as file:
    cases = [case for case in json.load(file) if case["group"] == "probes"]
for case in cases:
    manifest = os.path.join(folder, case.get("manifest", case["kernel"] + ".json"))
    dump = os.path.join(folder, case["name"] + ".out")
    subprocess.run([fp8_run, os.path.join(folder, case["kernel"]), "--manifest=" + manifest, "--backend=sim",
                    "--schedules=8", "--dump=" + dump], check=True, capture_output=True)
    with open(manifest, encoding="utf-8") as file:
        text = file.read()
    launches.add((case["kernel"], text))
    wanted = expected(case["name"], json.loads(text))
    with open(dump, "rb") as file:
        found = file.read()
    wrong = [i for i, pair in enumerate(zip(wanted, found)) if pair[0] != pair[1]]
    if len(wanted) != len(found) or wrong:
        print("%s: %d of %d bytes differ, first %s" % (case["name"], len(wrong), len(wanted), wrong[:8]))
    else:
        right += 1
print("%d probes are as they should be, %d launches differ" % (right, len(launches)))
