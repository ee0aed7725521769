#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws GEMM ops, and expects all proofs of each kernel that they become, and a certificate that fp8-check-proof accepts.

usage: gemms.py FP8-OPT FP8-CHECK-PROOF DIRECTORY [--count N] [--seed S] [--suite GEMM.mlir] [--jobs N]

Every other op has a configuration, which is drawn, too; of the others the compiler chooses it for the extents. Configurations that no
kernel has are refused, which the last line counts. With --suite the ops are not drawn: they are that of a text with each configuration of
the suite (test/Run/Inputs/suite.py), for both engines.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import subprocess
import sys

# In place of this folder, which has modules of the same names.
sys.path[0] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Run", "Inputs")
import defaults  # pylint: disable=wrong-import-position
import epilogues  # pylint: disable=wrong-import-position
import suite  # pylint: disable=wrong-import-position

# `options`: the chip, and what else the pipeline is told; `fits`: some kernel has its configuration.
Op = collections.namedtuple("Op", ["name", "text", "options", "fits"])

CLUSTERS = ["1 x 2", "2 x 1", "2 x 2", "4 x 1", "1 x 4", "2 x 4", "4 x 2"]
COLUMNS = [32, 48, 64, 96, 128, 160, 192, 224, 256]


def draw_config(rng, chip):
    """A configuration, of which some parts may not go together."""
    hopper = chip.startswith("sm_9")
    pair = not hopper and rng.random() < 0.5
    rows = rng.choice([8, 16, 24, 40, 48, 64, 64, 72, 80, 128, 192, 256]) if hopper else 256 if pair else 128
    columns = rng.choice([64, 128, 192]) if rows % 64 else rng.choice(COLUMNS)
    parts = [f"tile = {rows} x {columns} x 128"]
    if pair:
        parts.append("cta_group = 2")
    if hopper and rng.random() < 0.4:
        parts.append(f"split_k = {rng.choice([2, 3, 4, 5, 6, 8])}")
    elif rng.random() < 0.4:
        parts.append(f"cluster = {rng.choice(CLUSTERS)}")
    if rng.random() < 0.3:
        parts.append(f"stages = {rng.randint(2, 4)}")
    if rng.random() < 0.5:
        parts.append("scheduler = " + rng.choice(["persistent", "one_tile"] + ([] if hopper else ["clc"])))
    if rng.random() < 0.2:
        parts.append(f"band = {rng.choice([1, 2, 3, 4])}")
    if rng.random() < 0.2:
        parts.append("launch = programmatic")
    return ", ".join(parts)


def draw(count, seed):
    rng = random.Random(seed)
    for index in range(count):
        point = defaults.draw(rng, defaults.CHIPS[index // 2 % len(defaults.CHIPS)])
        if index % 2:
            point = point | dict.fromkeys("mnk") | {"config": draw_config(rng, point["chip"])}
        yield Op(defaults.describe(point), epilogues.text(point), defaults.get_options(point), not point["config"])


def list_suite(text):
    for chip, points, schedulers in [("sm_100a", suite.configurations(), suite.SCHEDULERS),
                                     ("sm_90a", suite.hopper_configurations(), suite.HOPPER_SCHEDULERS)]:
        for index, point in enumerate(points):
            config = suite.describe(index, point, schedulers)
            yield Op(f"{chip}, {config}", suite.configure(text, config), chip, True)


def prove(opt, check, directory, index, op):
    """What becomes of the op: proved, refused, not proved, or proved with a certificate that is rejected, and what was said."""
    path, ptx = (os.path.join(directory, f"{index}.{ending}") for ending in ("mlir", "ptx"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(op.text)
    options = f"--fp8-gemm-to-ptx=chip={op.options} require-proof"
    done = subprocess.run([opt, path, options, "--emit=ptx", "-o", ptx], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        done = subprocess.run([check, f"--ptx={ptx}", f"{ptx}.proof.json"], capture_output=True, text=True, check=False)
        return ("proved" if done.returncode == 0 else "rejected"), done.stderr
    is_verdict = any(words in done.stderr for words in ("is not complete", "does not end", "miscounts", "breaks ownership", "does not compute"))
    return "not proved" if is_verdict or done.returncode < 0 or op.fits else "refused", done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("opt", "check", "directory"):
        parser.add_argument(name)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suite")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.suite:
        with open(options.suite, encoding="utf-8") as file:
            ops = list(list_suite(file.read()))
    else:
        ops = list(draw(options.count, options.seed))
    os.makedirs(options.directory, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda job: prove(options.opt, options.check, options.directory, *job), enumerate(ops)))
    for index, (verdict, said) in enumerate(results):
        if verdict in ("not proved", "rejected"):
            print(f"{options.directory}/{index}.mlir, {ops[index].name}: {said}")
    counts = {word: [verdict for verdict, said in results].count(word) for word in ("proved", "refused", "not proved", "rejected")}
    print(f"{len(ops)} ops: " + ", ".join(f"{count} {word}" for word, count in counts.items()))
    sys.exit(counts["not proved"] + counts["rejected"] > 0)


if __name__ == "__main__":
    main()
