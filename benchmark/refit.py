#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two ends of a refit of the cost model to a GPU: which kernels to time there, and the constants that follow from the times.

usage: refit.py candidates OUTPUT [--fp8-opt=FILE] [--random=SEED,...] [--rows=MxNxK,...] [--top=N] [--spread=N]
       refit.py predict CONFIGURATIONS CSV --chip=CHIP --gpu=NAME [--fp8-opt=FILE] [--fp8-run=FILE] [--jobs=N]
       refit.py fit CSV [--fp8-opt=FILE] [--library=FILE] [--machine=NAME] [--most-us=US] [--constants=NAME,...] [--output=FILE]

All take --scales=mx, for kernels with scales of MXFP8.

Between the ends pack.py makes a folder of OUTPUT, whose survey.py times the kernels. For a GPU that nobody here has, `predict` writes
what the timing model (docs/Timing.md) predicts instead. Rows are those of benchmark/gpu/rows.csv and 40 drawn from each
seed. Each has the model's favourites, the first ones with both launches, and some of the others that other rows' favourites have,
so that the fit also learns what is slow.

The last fits constants to every second row and says what the choices then lose on the others. It then fits them to all rows, prints them
as lib/Chip/Machines.cpp has them, and writes a machine file.
"""

import argparse
import concurrent.futures
import csv
import datetime
import json
import math
import os
import random
import sys
import tempfile

import chooser
import inputs
import timing
import tune

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "gpu"))
import table  # pylint: disable=wrong-import-position

# A kernel that is predicted to take longer than that many times the fastest teaches little.
SPREAD_WITHIN = 1.4


def rows_of(named, seeds, most_us):
    """Shapes, those of rows.csv first, with no duplicates."""
    for name in named:
        inputs.parse_shape(name)
    rows = [row for row in table.read_rows(os.path.join(HERE, "gpu", "rows.csv"))]
    rows += table.select_rows(rows, named) if named else []
    for seed in seeds:
        rows += table.draw_rows(seed)
    return list(dict.fromkeys(row.shape for row in rows if row.limit_us <= most_us))


def pick(candidates, top, either, spread, known, draw):
    """The configurations to time on a row: favourites, the other launch of some, and `spread` of the others that are in `known`."""
    configs = [one["config"] for one in candidates[:top]]
    configs += [tune.with_other_launch(config) for config in configs[:either]]
    others = [one["config"] for one in candidates[top:] if one["us"] <= SPREAD_WITHIN * candidates[0]["us"] and one["config"] in known]
    configs += draw.sample(others, min(spread, len(others)))
    return list(dict.fromkeys(configs))


def candidates(options):
    shapes = rows_of(options.rows, options.random, options.most_us)
    explained = chooser.explain(options.fp8_opt, shapes, options.chip, machine=options.machine, every_m=True, scales=options.scales)
    draw = random.Random(0)
    favourites = {shape: pick(explained[shape]["candidates"], options.top, options.either, 0, (), draw) for shape in shapes}
    known = {config for configs in favourites.values() for config in configs}
    rows, kernels = {}, {}
    for shape in shapes:
        configs = pick(explained[shape]["candidates"], options.top, options.either, options.spread, known, draw)
        kernels.update({tune.name_of(config): {"config": config} for config in configs})
        rows["%dx%dx%d" % shape] = [tune.name_of(config) for config in configs]
    with inputs.writing(options.output) as file:
        json.dump({"kernels": dict(sorted(kernels.items())), "rows": rows}, file, indent=1)
    print("%s: %d kernels for %d rows, %d times" % (options.output, len(kernels), len(rows), sum(map(len, rows.values()))))


def predict(options):
    told = tune.read_configurations(options.configurations)
    with inputs.reading(options.configurations, inputs.CONFIGURATIONS):
        rows = [(*inputs.parse_shape(shape), told["kernels"][name]["config"]) for shape, names in told["rows"].items() for name in names]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # Compiled first, since kernels serve several rows.
        list(pool.map(lambda config: timing.compile_kernel(options, config, folder), dict.fromkeys(row[3] for row in rows)))
        times = list(pool.map(lambda row: timing.predict(options, row, folder), rows))
    with inputs.writing(options.csv, newline="") as file:
        output = csv.DictWriter(file, ("date", "gpu", "m", "n", "k", "peer", "configuration", "us", "right"))
        output.writeheader()
        for row, us in zip(rows, times):
            output.writerow({"date": datetime.date.today().isoformat(), "gpu": "%s, predicted" % options.gpu, "m": row[0], "n": row[1], "k": row[2],
                             "peer": chooser.OURS, "configuration": row[3], "us": "%.3f" % us, "right": True})
    print("%s: %d kernels on %d rows" % (options.csv, len(rows), len(told["rows"])))


def fit_to(measured, gpu, options, path):
    """Writes the machine file that follows from the times, and returns what it says."""
    scale = {"f32": "f32", "mx": "f8E8M0FNU"}[options.scales]
    entries = [{"m": m, "n": n, "k": k, "config": config, "us": us} for (m, n, k), of_shape in measured.items() for config, us in of_shape.items()]
    with inputs.using_fp8() as fp8:
        from fp8 import calibration
        spec = fp8.GemmSpec(d_contiguous=True, a_scale_dtype=scale, b_scale_dtype=scale)
        text = calibration.fit(entries, options.chip, gpu, options.machine or None, spec=spec, constants=options.constants)
    with inputs.writing(path) as file:
        file.write(text)
    return json.loads(text)


def fit(options):
    os.environ.setdefault("FP8_LIBRARY", os.path.abspath(options.library))
    sys.path.insert(0, os.path.join(HERE, "..", "python"))
    with inputs.reading(options.csv, inputs.RESULTS) as file:
        gpu = next(row["gpu"] for row in csv.DictReader(file))
    measured = chooser.read_measured(options.csv, {})
    measured = {shape: measured[shape] for shape in sorted(measured) if min(measured[shape].values()) <= options.most_us}
    if len(measured) < 2:
        inputs.fail(options.csv, "has right measurements of ours on %d rows, of 2 or more that a fit needs" % len(measured), inputs.RESULTS)
    if chooser.waited_for_a(options.csv):  # the model predicts kernels that do not
        measured = chooser.without_wait(measured, chooser.rank(options.fp8_opt, list(measured), options.chip, options.machine, scales=options.scales))
    fitted, held_out = ({shape: measured[shape] for shape in list(measured)[start::2]} for start in (0, 1))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "machine.json")
        fit_to(fitted, gpu, options, path)
        lines, losses, _ = chooser.compare(held_out, chooser.rank(options.fp8_opt, sorted(held_out), options.chip, path, scales=options.scales))
    print("\n".join(lines))
    mean = 100 * (math.exp(sum(map(math.log, losses)) / len(losses)) - 1)
    print("\n%d rows that were not fitted to: lost: %.2f %% in the geometric mean, %.1f %% at most, no more than 3 %% in %.0f %% and than 8 %% in %.0f %% of them" % (
        len(losses), mean, 100 * (max(losses) - 1), *(100 * sum(loss <= most for loss in losses) / len(losses) for most in (1.03, 1.08))))
    found = fit_to(measured, gpu, options, options.output)
    print("".join("    /*%s=*/%g,\n" % item for item in found["constants"].items() if not item[0].startswith("clustersOf")))
    print("%s: %d kernels of %s; half are predicted within %.1f %%, nine in ten within %.1f %%" % (
        options.output, found["kernels"], gpu, 100 * found["median_error"], 100 * found["ninetieth_error"]))


def main():
    parser = argparse.ArgumentParser(description="The two ends of a refit of the cost model.")
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("candidates", help="which kernels to time")
    first.set_defaults(run=candidates)
    first.add_argument("output")
    first.add_argument("--fp8-opt", default=os.path.join(HERE, "..", "build", "bin", "fp8-opt"))
    first.add_argument("--chip", default="sm_90a")
    first.add_argument("--scales", choices=sorted(chooser.SCALES), default="f32", help="mx: those of MXFP8")
    first.add_argument("--machine", default="", help="whose favourites; by default the chip's")
    first.add_argument("--random", type=lambda text: [int(seed) for seed in text.split(",") if seed], default=[], help="seeds of rows")
    first.add_argument("--rows", type=lambda text: [row for row in text.split(",") if row], default=[], help="MxNxK,... of other rows")
    first.add_argument("--top", type=int, default=6, help="favourites of a row")
    first.add_argument("--either", type=int, default=2, help="of which that many have both launches")
    first.add_argument("--spread", type=int, default=3, help="others of a row")
    first.add_argument("--most-us", type=float, default=2500, help="no row whose limit is longer")
    between = commands.add_parser("predict", help="their times by the timing model, in place of a survey")
    between.set_defaults(run=predict, keep=None)
    between.add_argument("configurations")
    between.add_argument("csv")
    between.add_argument("--fp8-opt", default=first.get_default("fp8_opt"))
    between.add_argument("--fp8-run", default=os.path.join(HERE, "..", "build", "bin", "fp8-run"))
    between.add_argument("--scales", choices=sorted(timing.SCALES), default="f32")
    between.add_argument("--chip", required=True)
    between.add_argument("--gpu", required=True, help="as fp8-run --gpu takes it")
    between.add_argument("--jobs", type=int, default=os.cpu_count())
    second = commands.add_parser("fit", help="the constants")
    second.set_defaults(run=fit)
    second.add_argument("csv")
    second.add_argument("--fp8-opt", default=first.get_default("fp8_opt"))
    second.add_argument("--library", default=os.path.join(HERE, "..", "build", "lib", "libfp8.so"))
    second.add_argument("--chip", default="sm_90a")
    second.add_argument("--machine", default="", help="to begin from; by default the GPU's, or the chip's")
    second.add_argument("--scales", choices=sorted(timing.SCALES), default="f32")
    second.add_argument("--constants", type=lambda text: [name for name in text.split(",") if name], default=[], help="those that are fitted; all if left out")
    second.add_argument("--most-us", type=float, default=math.inf, help="leave out rows that take longer")
    second.add_argument("--output", default="machine.json")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    inputs.run(main)
