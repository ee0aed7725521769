# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data of a convolution of 3 x 3, padded by 1, its result in double, and the description of its launch.

Usage: make-convolution.py DIRECTORY
"""

import array
import itertools
import json
import pathlib
import random
import sys

IMAGES, HEIGHT, WIDTH, CHANNELS, OUTPUTS = 3, 4, 8, 8, 4

directory = pathlib.Path(sys.argv[1])
pixels = array.array("f", (random.gauss(0, 1) for _ in range(IMAGES * HEIGHT * WIDTH * CHANNELS)))
weights = array.array("f", (random.gauss(0, 1) for _ in range(9 * CHANNELS * OUTPUTS)))


def result(n, p, q, k):
    total = 0.0
    for r, s in itertools.product(range(3), range(3)):
        y, x = p + r - 1, q + s - 1
        if 0 <= y < HEIGHT and 0 <= x < WIDTH:
            pixel, tap = ((n * HEIGHT + y) * WIDTH + x) * CHANNELS, (r * 3 + s) * CHANNELS
            total += sum(pixels[pixel + c] * weights[(tap + c) * OUTPUTS + k] for c in range(CHANNELS))
    return total


places = itertools.product(range(IMAGES), range(HEIGHT), range(WIDTH), range(OUTPUTS))
right = array.array("f", (result(*place) for place in places))
for name, values in {"pixels": pixels, "weights": weights, "right": right}.items():
    (directory / f"{name}.bin").write_bytes(values.tobytes())

column = {"channels": CHANNELS, "pixels": 32, "lower_corner": [-1, -1], "upper_corner": [-1, -1]}
row = CHANNELS * 4
tensor_map = {
    "buffer": "pixels",
    "dtype": "f32",
    "dims": [CHANNELS, WIDTH, HEIGHT, IMAGES],
    "strides_bytes": [row, row * WIDTH, row * WIDTH * HEIGHT],
    "im2col": column,
}
description = {
    "version": 1,
    "grid": [IMAGES * HEIGHT * WIDTH // 32, 1, 1],
    "block": [32, 1, 1],
    "buffers": [
        {"name": "pixels", "dtype": "f32", "shape": [IMAGES, HEIGHT, WIDTH, CHANNELS], "file": "pixels.bin", "access": "read"},
        {"name": "weights", "dtype": "f32", "shape": [9, CHANNELS, OUTPUTS], "file": "weights.bin", "access": "read"},
        {"name": "out", "dtype": "f32", "shape": [len(right)], "fill": "poison"},
    ],
    "arguments": [{"tensor_map": tensor_map}, {"buffer": "weights"}, {"buffer": "out"}, {"u32": WIDTH}, {"u32": HEIGHT}],
    "expected": [{"buffer": "out", "file": "right.bin", "tolerance": {"frobenius": 1e-6, "max": 1e-4}}],
}
(directory / "launch.json").write_text(json.dumps(description))
# The corner of the pixels that another padding has.
column["upper_corner"] = [0, -1]
(directory / "wrong.json").write_text(json.dumps(description))
column.pop("pixels")
(directory / "bad.json").write_text(json.dumps(description))
