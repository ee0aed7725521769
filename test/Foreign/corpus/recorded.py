# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A launch that fp8-simulate has recorded, with other operands, and what they make in float64."""

import json
import os

import numpy as np

import formats


class Recorded:
    """Buffers are numbered in the order in which the program allocated them."""

    def __init__(self, path, rng):
        self.path, self.rng = path, rng
        self.folder = os.path.dirname(path)
        with open(path, encoding="utf-8") as file:
            self.description = json.load(file)
        self.buffers = {buffer["name"]: buffer for buffer in self.description["buffers"]}
        self.description["expected"] = []

    def raw(self, number):
        """What the program has put there."""
        return np.fromfile(os.path.join(self.folder, self.buffers[f"memory-{number}"]["file"]), np.uint8)

    def read(self, number, dtype, *shape):
        """The program's numbers."""
        return formats.decode(dtype, self.raw(number)[:formats.size(dtype, shape)], shape)

    def fill(self, number, dtype, *shape):
        """Random numbers in the place of the program's; the numbers."""
        stored = self.raw(number)
        filled = formats.random(dtype, self.rng, shape)
        assert len(filled) <= len(stored), f"memory-{number} has {len(stored)} bytes"
        stored[:len(filled)] = filled
        buffer = self.buffers[f"memory-{number}"]
        buffer.pop("fields", None)  # words that only look like addresses
        stored.tofile(os.path.join(self.folder, buffer["file"]))
        return formats.decode(dtype, filled, shape)

    def expect(self, number, dtype, values, frobenius, mask=None):
        """values: the first numbers of the buffer; elements outside the mask do not count."""
        name = f"memory-{number}"
        count = self.buffers[name]["bytes"] * 8 // formats.BITS[dtype]
        assert values.size <= count, f"{name} has {count} numbers"
        wanted, counts = np.zeros(count), np.zeros(count, np.int8)
        wanted[:values.size], counts[:values.size] = values.ravel(), 1 if mask is None else mask.ravel()
        np.save(os.path.join(self.folder, name + ".expected.npy"), wanted)
        np.save(os.path.join(self.folder, name + ".mask.npy"), counts)
        self.description["expected"].append({"buffer": name, "dtype": formats.NAMES.get(dtype, dtype), "file": name + ".expected.npy",
                                             "mask": name + ".mask.npy", "tolerance": {"frobenius": frobenius}})

    def save(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.description, file, indent=1)
