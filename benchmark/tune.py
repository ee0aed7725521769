#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two ends of `./dev bench --tune`, which searches configurations on a GPU. Between them
stand benchmark/gpu/pack.py and the folder that it makes.

usage: tune.py candidates OUTPUT [--fp8-opt=FILE] [--rows=MxNxK,...] [--top=N]
       tune.py table CSV [--alone=CSV] [--configurations=FILE] [--chip=NAME] [--output=FILE] [--most-us=US]
       tune.py serial CSV TABLE [--configurations=FILE] [--chip=NAME]

The first writes which kernels to time on each row, as benchmark/gpu/configurations.json does: those
that the model puts first, some with both launches, and those of that file. The second writes the best of each row of
the measurements as a table for --fp8-choose-config=tuned=FILE, by default benchmark/tuned/GPU.json;
rows of a table that is there already and was not measured now stay. With the times that survey.py --alone measured of the same kernels,
an entry has the kernel whose mean time is the least of those with both times, and the fastest of serial launches (docs/Chooser.md, "Alone").
The third replaces what the entries of TABLE say of serial launches, where CSV, also of survey.py --alone, has times of that row.
"""

import argparse
import csv
import json
import os
import re
import sys

import chooser
import inputs

HERE = os.path.dirname(os.path.abspath(__file__))
# Of that many favourites of a row, both launches are timed.
EITHER_LAUNCH = 3
# A serial launch is taken if a programmatic one takes that many times as long: where kernels are long, the two differ by noise alone.
SERIAL_LOSES = 1.01
# Mean times that differ by less may be in another order when they are measured again, and times in a graph of kernels that differ by more are not.
ALIKE = 1.015
CLEARLY_FASTER = 0.99
PROGRAMMATIC = "launch = programmatic"
SUFFIXES = {PROGRAMMATIC: "-early", "edge = first": "-edge", "edge = fit": "-fit", "signal = wait": "-wait"}
CONFIGURATIONS = os.path.join(HERE, "gpu", "configurations.json")


def name_of(config):
    """A short name for a file: 64x32, 64x32-k2-early-wait, 256x128-g2-c4x1-s3."""
    tile, *others = config.split(", ")
    name = tile.replace("tile = ", "").replace(" ", "").rsplit("x", 1)[0]
    for field in others:
        key, _, value = field.partition(" = ")
        if field in SUFFIXES:
            name += SUFFIXES[field]
            continue
        name += "-" + {"cta_group": "g", "split_k": "k"}.get(key, key[0]) + re.sub(r"\W", "", value)
    return name


def serial(config):
    """The configuration launched serially."""
    return config.replace(", " + PROGRAMMATIC, "").replace(chooser.SIGNAL, "")


def with_other_launch(config):
    """The configuration launched the other way, with the signal that it has by default."""
    early = ", " + PROGRAMMATIC
    if early in config:
        return serial(config)
    fields, edge = re.fullmatch(r"(.*?)(, edge = \w+)?", config).groups()
    return fields + early + (edge or "")


def known_rows():
    with inputs.reading(os.path.join(HERE, "gpu", "rows.csv"), "restore it") as file:
        return [tuple(int(row[key]) for key in "mnk") for row in csv.DictReader(file)]


def candidates(options):
    """Kernels by name, and each row's names, the model's favourite first."""
    shapes = [inputs.parse_shape(name) for name in options.rows] or known_rows()
    unknown = set(shapes) - set(known_rows())
    if unknown:
        raise inputs.InputError("there is no row '%dx%dx%d' in benchmark/gpu/rows.csv; add it there" % min(unknown))
    explained = chooser.explain(options.fp8_opt, shapes, options.chip, options.top)
    configured = read_configurations(CONFIGURATIONS)
    kernels, rows = dict(configured["kernels"]), {}
    names = {chooser.normal(kernel["config"]): name for name, kernel in reversed(kernels.items())
             if set(kernel) == {"config"}}
    for shape in shapes:
        row = "%dx%dx%d" % shape
        configs = [one["config"] for one in explained[shape]["candidates"]]
        configs += [with_other_launch(config) for config in configs[:EITHER_LAUNCH]]
        for config in configs:
            kernels.setdefault(names.setdefault(config, name_of(config)), {"config": config})
        rows[row] = list(dict.fromkeys([names[config] for config in configs] + configured["rows"].get(row, [])))
    used = {name for tried in rows.values() for name in tried}
    with inputs.writing(options.output) as file:
        json.dump({"kernels": {name: kernels[name] for name in sorted(used)}, "rows": rows}, file, indent=1)
    print("%s: %d kernels for %d rows" % (options.output, len(used), len(rows)))


def read_configurations(path):
    """Kernels by name, and those of each row."""
    with inputs.reading(path, inputs.CONFIGURATIONS) as file:
        told = json.load(file)
        return {"kernels": {name: {**kernel, "config": kernel["config"]} for name, kernel in told["kernels"].items()}, "rows": dict(told["rows"])}


def read_times(path, kernels, peer=chooser.OURS):
    """The GPU's name, and for each shape {config: us} of the peer. Kernels that need more than their configuration to be made or launched are
    not what a configuration gives."""
    plain = {name: kernel["config"] for name, kernel in kernels.items() if set(kernel) == {"config"}}
    with inputs.reading(path, inputs.RESULTS) as file:
        measured = [row for row in csv.DictReader(file) if row["peer"] == peer]
        right = [(tuple(int(row[key]) for key in "mnk"), float(row["us"]), row["configuration"]) for row in measured if row["right"] == "True" and row["us"]]
        gpu = measured[0]["gpu"] if measured else None
    plain.update({row["configuration"]: row["configuration"] for row in measured if row["configuration"].startswith("tile = ")})  # a survey's
    left_out = {row["configuration"] for row in measured} - set(plain)
    if left_out:
        print("tune.py: not configurations to choose, so left out: " + ", ".join(sorted(left_out)), file=sys.stderr)
    times = {}
    for shape, us, name in right:
        if name not in left_out:
            of_shape, config = times.setdefault(shape, {}), chooser.normal(plain[name])
            of_shape[config] = min(us, of_shape.get(config, us))
    if not times:
        inputs.fail(path, "has no right measurement of '%s'" % peer, inputs.RESULTS if peer == chooser.OURS else chooser.TIME_ALONE)
    return gpu, times


def fastest(times):
    """For each shape the entry of the kernel that was the fastest."""
    best = {}
    for shape, of_shape in times.items():
        config = min(of_shape, key=lambda config: of_shape[config] * (1 if PROGRAMMATIC in config else SERIAL_LOSES))
        best[shape] = {"config": config, "us": of_shape[config]}
    return best


def best_in_the_mean(times, alone):
    """For each shape the entry of the kernel whose mean time is the least, of those that were also timed alone. Of kernels whose means are
    ALIKE another one is taken that is clearly faster behind a kernel of the library."""
    best = {}
    for shape, of_shape in times.items():
        both = {config: (us, alone[shape][config]) for config, us in of_shape.items() if config in alone.get(shape, ())}
        if both:
            config = min(both, key=lambda config: chooser.mean_time(*both[config]))
            most = ALIKE * chooser.mean_time(*both[config])
            fastest_alike = min((other for other in both if chooser.mean_time(*both[other]) <= most), key=lambda other: both[other][0])
            if both[fastest_alike][0] < CLEARLY_FASTER * both[config][0]:
                config = fastest_alike
            best[shape] = {"config": config, "us": both[config][0], "alone_us": both[config][1]}
    return best


def fastest_alone(alone):
    """For each shape what an entry says of serial launches: the kernel that took least alone."""
    best = {}
    for shape, of_shape in alone.items():
        config = min(of_shape, key=of_shape.get)
        best[shape] = {"serial": serial(config), "serial_us": of_shape[config]}
    return best


def read_table(path, chip):
    """A table that is there already, or an empty one."""
    if not os.path.exists(path):
        return {"entries": []}
    table = load_table(path)
    if table["chip"] != chip:
        raise inputs.InputError("%s is for %s, not for %s: name another file" % (path, table["chip"], chip))
    return table


def load_table(path):
    with inputs.reading(path, inputs.TABLE) as file:
        table = json.load(file)
        return {**table, "chip": table["chip"], "gpu": table["gpu"], "entries": [{**one, "us": one["us"], "config": one["config"]} for one in table["entries"]]}


def print_table(table, path):
    """Writes a table, an entry or a correction to a line. The GPU comes first: the package looks for it there."""
    keys = ["chip", "gpu"] + [key for key in table if key not in ("chip", "gpu")]
    texts = []
    for key in keys:
        lines = table[key] if key in ("entries", "corrections") else None
        text = json.dumps(table[key]) if lines is None else "[\n  %s\n]" % ",\n  ".join(map(json.dumps, lines))
        texts.append("%s: %s" % (json.dumps(key), text))
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with inputs.writing(path) as file:
        file.write("{%s}\n" % ", ".join(texts))


def write_table(options):
    kernels = read_configurations(options.configurations)["kernels"]
    gpu, times = read_times(options.csv, kernels)
    best = fastest(times)
    if options.alone:
        other, alone = read_times(options.alone, kernels, chooser.ALONE)
        if other != gpu:
            raise inputs.InputError("%s is of an %s, and %s of an %s: name times of one GPU" % (options.alone, other, options.csv, gpu))
        best_alone = fastest_alone(alone)
        best = {shape: {**one, **best_alone[shape]} for shape, one in best_in_the_mean(times, alone).items()}
        if not best:
            inputs.fail(options.alone, "has no time of a kernel of %s alone" % os.path.basename(options.csv), chooser.TIME_ALONE)
    if options.most_us:
        best = {shape: one for shape, one in best.items() if one["us"] <= options.most_us and shape in known_rows()}
    path = options.output or os.path.join(HERE, "tuned", gpu.split()[1].lower() + ".json")
    table = read_table(path, options.chip)
    if table.get("gpu", gpu) != gpu:
        raise inputs.InputError("%s is of an %s, not of an %s: name another file" % (path, table["gpu"], gpu))
    entries = {(one["m"], one["n"], one["k"]): one for one in table["entries"]}
    entries.update({(m, n, k): {"m": m, "n": n, "k": k, **one} for (m, n, k), one in best.items()})
    table.update(chip=options.chip, gpu=gpu, entries=[one for _, one in sorted(entries.items())])
    print_table(table, path)
    print("%s: %d entries, %d of them from %s" % (path, len(entries), len(best), os.path.basename(options.csv)))


def write_serial(options):
    """What the entries of a table say of serial launches, by times that survey.py --alone measured again."""
    gpu, alone = read_times(options.csv, read_configurations(options.configurations)["kernels"], chooser.ALONE)
    table = load_table(options.table)
    if (table["chip"], table["gpu"]) != (options.chip, gpu):
        raise inputs.InputError("%s is of an %s (%s), and %s of an %s (%s): name times of the table's GPU" % (
            options.table, table["gpu"], table["chip"], options.csv, gpu, options.chip))
    best = fastest_alone(alone)
    timed = [(one, best[shape]) for one in table["entries"] if (shape := (one["m"], one["n"], one["k"])) in best]
    if not timed:
        raise inputs.InputError("%s has no row with an entry in %s: name times of such rows" % (options.csv, options.table))
    changed = sum(one.get("serial") != found["serial"] for one, found in timed)
    for one, found in timed:
        one.update(found)
    print_table(table, options.table)
    print("%s: of %d entries timed in %s, %d now launch another kernel serially" % (
        options.table, len(timed), os.path.basename(options.csv), changed))


def main():
    parser = argparse.ArgumentParser(description="The two ends of ./dev bench --tune.")
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("candidates", help="which kernels to time")
    first.set_defaults(run=candidates)
    first.add_argument("output")
    first.add_argument("--fp8-opt", default=os.path.join(HERE, "..", "build", "bin", "fp8-opt"))
    first.add_argument("--rows", type=lambda text: [name for name in text.split(",") if name], default=[])
    first.add_argument("--top", type=int, default=12)
    second = commands.add_parser("table", help="the table of measurements")
    second.set_defaults(run=write_table)
    second.add_argument("csv")
    second.add_argument("--alone", metavar="CSV", help="times of the same kernels by survey.py --alone")
    second.add_argument("--configurations", default=CONFIGURATIONS, help="what the kernels of the measurements are")
    second.add_argument("--output")
    second.add_argument("--most-us", type=float, help="only rows of rows.csv that take no longer: of a survey, whose longer ones ran into the power limit")
    third = commands.add_parser("serial", help="the serial launches of a table's entries")
    third.set_defaults(run=write_serial)
    third.add_argument("csv", help="times of survey.py --alone")
    third.add_argument("table")
    third.add_argument("--configurations", default=CONFIGURATIONS, help="what the kernels of the measurements are")
    for command in (first, second, third):
        command.add_argument("--chip", default="sm_90a")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    inputs.run(main)
