#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicts what rows of benchmark/gpu/rows.csv take on a GPU that nobody here has (docs/Timing.md), without one:

    python3 benchmark/predictions.py --set baseline --set decode

Of each row the configurations that the chooser puts first are compiled, and the timing model predicts each: with scales of 128 elements of K, and with those
of MXFP8 (UE8M0).
"""

import argparse
import csv
import json
import os
import re
import tempfile

import chooser
import inputs
import timing

HERE = os.path.dirname(os.path.abspath(__file__))


def read_shapes(sets):
    with inputs.reading(os.path.join(HERE, "gpu", "rows.csv"), "restore it") as file:
        rows = list(csv.DictReader(file))
        unknown = set(sets) - {row["set"] for row in rows}
        if unknown:
            raise inputs.InputError("there is no set '%s' of rows; there are %s" % (min(unknown), ", ".join(sorted({row["set"] for row in rows}))))
        return [tuple(int(row[key]) for key in "mnk") for row in rows if row["set"] in sets]


class Predictor:
    def __init__(self, options, folder):
        self.options, self.ptx = options, os.path.join(folder, "kernel.ptx")

    def predict(self, text, shape):
        """Microseconds, and the engine that works most."""
        m, n, k = shape
        inputs.run_tool([self.options.fp8_opt, "-", f"--fp8-gemm-to-ptx=chip={self.options.chip} problem={m}x{n}x{k}", "--emit=ptx", "-o", self.ptx], text)
        command = [self.options.fp8_run, self.ptx, "--backend=sim", "--timing", f"--m={m}", f"--n={n}", f"--k={k}"]
        line = inputs.run_tool(command, option="--fp8-run").splitlines()[-1]
        told = json.loads(line)
        return told["predicted_us"], max(told["engines"].items(), key=lambda one: one[1])[0]

    def candidates(self, configs, shape, scales):
        """(microseconds, busiest engine, configuration) of each."""
        return [(*self.predict(timing.kernel(config, scales), shape), config) for config in configs]


def short(config):
    """The configuration without its words: 256x128, pair, cluster 2x2."""
    tile, *others = config.split(", ")
    words = [re.sub(r"tile = (\d+) x (\d+) x \d+", r"\1x\2", tile)]
    for field in others:
        key, _, value = field.partition(" = ")
        words.append({"cta_group": "pair", "launch": "early"}.get(key, f"{key} {value.replace(' ', '')}"))
    return ", ".join(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", dest="sets", help="of rows.csv; baseline and decode by default")
    parser.add_argument("--rows", help="MxNxK,... instead")
    parser.add_argument("--chip", default="sm_100a")
    parser.add_argument("--top", type=int, default=4, help="configurations of a row that are predicted")
    parser.add_argument("--fp8-opt", default="fp8-opt")
    parser.add_argument("--fp8-run", default="fp8-run")
    options = parser.parse_args()
    shapes = [inputs.parse_shape(row) for row in options.rows.split(",")] if options.rows else read_shapes(options.sets or ["baseline", "decode"])
    explained = {scales: chooser.explain(options.fp8_opt, shapes, options.chip, options.top, scales=scales) for scales in timing.SCALES}
    print("| M | N | K | chosen | us | fastest of %d | us | busiest engine | TFLOP/s | MXFP8 | us | fastest of %d | us |\n"
          "|--:|--:|--:|--|--:|--|--:|--|--:|--|--:|--|--:|" % (options.top, options.top))
    with tempfile.TemporaryDirectory() as folder:
        predictor = Predictor(options, folder)
        for shape in shapes:
            told, mx = (predictor.candidates([one["config"] for one in explained[scales][shape]["candidates"][:options.top]], shape, scales)
                        for scales in timing.SCALES)
            best, best_mx = min(told), min(mx)
            print("| %d | %d | %d | %s | %.1f | %s | %.1f | %s | %.0f | %s | %.1f | %s | %.1f |" % (
                *shape, short(told[0][2]), told[0][0], short(best[2]), best[0], best[1], 2 * shape[0] * shape[1] * shape[2] / best[0] / 1e6,
                short(mx[0][2]), mx[0][0], short(best_mx[2]), best_mx[0]), flush=True)


if __name__ == "__main__":
    inputs.run(main)
