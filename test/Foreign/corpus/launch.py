# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A launch description for fp8-run (docs/launch.schema.json), made from NumPy arrays."""

import json
import os

import numpy as np

# Largest relative errors in the norm of Frobenius: of what 16 bits round off, of the sums' own rounding, and of Hopper's sums of
# products of 8 bits.
ROUNDED, EXACT, HOPPER_SUMS = 3e-3, 1e-5, 1e-3


class Launch:
    def __init__(self, grid, block, cluster=1, shared_bytes=0):
        """grid and block: up to three extents, x first; cluster: CTAs along x."""
        self.description = {"version": 1, "grid": extents(grid), "block": extents(block), "cluster": extents([cluster]),
                            "shared_memory_bytes": shared_bytes, "buffers": [], "arguments": [], "expected": []}
        self.arrays = {}

    def input(self, name, array):
        self.buffer(name, array, "read")

    def accumulator(self, name, array):
        """What the kernel adds to."""
        self.buffer(name, array, "readwrite")

    def buffer(self, name, array, access):
        file = name + ".bin"
        self.arrays[file] = np.ascontiguousarray(array)
        self.description["buffers"].append({"name": name, "bytes": array.nbytes, "file": file, "access": access})

    def output(self, name, size):
        """Bytes that the kernel must write."""
        self.description["buffers"].append({"name": name, "bytes": size, "fill": "poison", "access": "write"})

    def workspace(self, name, size):
        self.description["buffers"].append({"name": name, "bytes": size, "fill": "poison"})

    def pass_buffer(self, name):
        self.description["arguments"].append({"buffer": name})

    def pass_number(self, kind, *values):
        self.description["arguments"] += [{kind: value if kind[0] == "f" else int(value)} for value in values]

    def pass_map(self, tensor_map):
        self.description["arguments"].append({"tensor_map": tensor_map})

    def expect(self, name, dtype, values, frobenius, mask=None):
        """values: float64; frobenius: the largest relative error in that norm; elements outside the mask do not count."""
        expected = {"buffer": name, "dtype": dtype, "file": name + ".expected.npy", "tolerance": {"frobenius": frobenius}}
        self.arrays[expected["file"]] = np.asarray(values, np.float64)
        if mask is not None:
            expected["mask"] = name + ".mask.npy"
            self.arrays[expected["mask"]] = mask.astype(np.int8)
        self.description["expected"].append(expected)

    def write(self, folder):
        """Writes the description and its arrays; the description's path."""
        os.makedirs(folder, exist_ok=True)
        for file, array in self.arrays.items():
            path = os.path.join(folder, file)
            if file.endswith(".npy"):
                np.save(path, array)
            else:
                array.tofile(path)
        path = os.path.join(folder, "launch.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.description, file, indent=1)
        return path


def extents(values):
    return [int(value) for value in values] + [1] * (3 - len(values))


def tensor_map(buffer, dtype, dims, strides_bytes, box, swizzle="none"):
    """Innermost dimension first; strides of dimensions 1 and up."""
    return {"buffer": buffer, "dtype": dtype, "dims": [int(n) for n in dims], "strides_bytes": [int(n) for n in strides_bytes],
            "box": [int(n) for n in box], "swizzle": swizzle}
