#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the cost model of --fp8-choose-config to what was measured on a GPU, without one:
what the model takes for each row of a CSV file of `./dev bench --all`, how long that took
there, and how much longer than the fastest that is.

usage: chooser.py [CSV] [--alone=CSV] [--fp8-opt=FILE] [--chip=NAME] [--scales=mx] [--machine=NAME] [--tuned=FILE] [--as-timed] [--most=PERCENT]
                  [--most-us=US]

CSV is by default that of benchmark/results whose measurements are the latest. Where the model's first
choice was not measured, marked with a star, the first of its ranking that was counts. The ranking has each
configuration with either launch. With the times that survey.py --alone measured of the same kernels, mean times are compared, by
which the chooser ranks (docs/Chooser.md, "Alone"). Exit status 0 only if the geometric mean of the losses is at most PERCENT, and 2 where an input is bad.
"""

import argparse
import csv
import glob
import json
import math
import os
import re
import sys

import inputs

HERE = os.path.dirname(os.path.abspath(__file__))
SIGNAL = ", signal = wait"
OURS = "fp8"
ALONE = "fp8-alone"  # launched when the preceding kernel had ended
TIME_ALONE = "time the same kernels with survey.py --alone"
ONE_BAND = 18  # GemmSchedule::kOneBand
# Kernels that were timed earlier waited for A, even if the kernel in front did not write it.
A_IS_EARLY_FROM = "2026-11-30 21:00:00"

# The types of A's scales and B's: of blocks of 128 elements of K, or of MXFP8.
SCALES = {"f32": ("memref<{kb}x{m}xf32, strided<[{stride}, 1]>>", "memref<{nb}x{kb}xf32>"),
          "mx": ("memref<{mb}x{kb}x32x16xf8E8M0FNU>", "memref<{nb}x{kb}x32x16xf8E8M0FNU>")}
# The shape as types, which is how a user says it. Where D has rows that are not known, the kernel serves every M, as those of fp8.gemm do.
FUNCTION = """\
func.func @row_{m}_{n}_{k}(%a: memref<{m}x{k}xf8E4M3FN>, %as: {a_scale}, %b: memref<{n}x{k}xf8E4M3FN>,
                           %bs: {b_scale}, %d: memref<{rows}x{n}xbf16>) {{
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<{m}x{k}xf8E4M3FN>, {a_scale}, memref<{n}x{k}xf8E4M3FN>,
                         {b_scale}) outs(%d : memref<{rows}x{n}xbf16>)
  return
}}
"""


def explain(fp8_opt, shapes, chip, top=0, launch="fastest", machine="", every_m=False, tuned="", scales="f32"):
    """What --fp8-explain-config says of each shape (m, n, k); with `every_m` of kernels that serve every M."""
    text = ""
    for m, n, k in shapes:
        a_scale, b_scale = (one.format(m=m, mb=-(-m // 128), kb=-(-k // 128), nb=-(-n // 128), stride=-(-m // 4) * 4) for one in SCALES[scales])
        text += FUNCTION.format(m=m, n=n, k=k, a_scale=a_scale, b_scale=b_scale, rows="?" if every_m else m)
    options = "chip=%s top=%d launch=%s format=json output=-" % (chip, top, launch) + (" machine='%s'" % machine if machine else "") + (
        " tuned='%s'" % tuned if tuned else "")
    command = [fp8_opt, "-", "--fp8-explain-config=" + options, "-o", os.devnull]
    return dict(zip(shapes, json.loads(inputs.run_tool(command, text))))


def mean_time(us, alone_us):
    """What the chooser ranks by (lib/Transforms/Gemm/LaunchRanking.h)."""
    return us + (alone_us - us) / 3


def rank(fp8_opt, shapes, chip, machine="", tuned="", scales="f32"):
    """The candidates of each shape with either launch: what is chosen, by the table `tuned` if it has the shape, then all by their predicted mean time, which the table may correct."""
    chosen = explain(fp8_opt, shapes, chip, top=1, machine=machine, tuned=tuned, scales=scales)
    either = [explain(fp8_opt, shapes, chip, launch=launch, machine=machine, tuned=tuned, scales=scales) for launch in ("serial", "programmatic")]
    ranking = {}
    for shape in shapes:
        by_time = sorted((one for each in either for one in each[shape]["candidates"]), key=lambda one: mean_time(one["us"], one["alone_us"]))
        config = chosen[shape]["config"]
        predicted = next((one["us"] for one in by_time if one["config"] == config), math.nan)
        ranking[shape] = [{"config": config, "us": predicted}] + by_time
    return ranking


def normal(config):
    """A configuration as the compiler prints it."""
    spaced = re.sub(r"\s*=\s*", " = ", re.sub(r"(?<=\d)\s*x\s*(?=\d)", " x ", config))
    return ", ".join(" ".join(field.split()) for field in spaced.split(","))


def config_of(name, kernels):
    """The configuration of a kernel by its name in the CSV file."""
    if name in kernels:
        return normal(kernels[name]["config"])
    if name.startswith("tile = "):  # as survey.py has it
        return normal(name)
    tile = re.fullmatch(r"(\d+)x(\d+)(?:-k(\d+))?(-early)?", name)  # as tune.py names them
    if not tile:
        return None
    return ("tile = %s x %s x 128" % tile.groups()[:2] + (", split_k = " + tile[3] if tile[3] else "") +
            (", launch = programmatic" if tile[4] else ""))


def last_measured(kernels):
    """The file of benchmark/results whose measurements of configurations are the latest."""
    def date_of(path):
        with inputs.reading(path, inputs.RESULTS) as file:
            return max((row["date"] for row in csv.DictReader(file)), default="")
    latest_first = sorted(glob.glob(os.path.join(HERE, "results", "*.csv")), key=date_of, reverse=True)
    return next((path for path in latest_first if read_measured(path, kernels)), os.path.join(HERE, "results"))


def read_measured(path, kernels, peer=OURS):
    """Shape: configuration: microseconds, of what was right of the peer; the fastest of several. Where no tile ends within M, which edge is first says nothing."""
    measured = {}
    with inputs.reading(path, inputs.RESULTS) as file:
        for row in csv.DictReader(file):
            config = config_of(row["configuration"], kernels) if row["peer"] == peer else None
            if not config or row["right"] != "True" or not row["us"]:
                continue
            of_shape = measured.setdefault((int(row["m"]), int(row["n"]), int(row["k"])), {})
            rows = -(-int(row["m"]) // int(re.match(r"tile = (\d+)", config)[1]))
            if int(row["m"]) % int(re.match(r"tile = (\d+)", config)[1]) == 0:
                config = config.replace(", edge = first", "")
            if 8 < rows <= ONE_BAND:  # a band of all rows of tiles runs them in the same order, however many it may have
                config = config.replace(", band = %d," % rows, ", band = %d," % ONE_BAND)
            of_shape[config] = min(float(row["us"]), of_shape.get(config, math.inf))
    return measured


def waited_for_a(path):
    """Whether the kernels of the file waited for A even if it was constant."""
    with inputs.reading(path, inputs.RESULTS) as file:
        return all(row.get("date", "").replace("T", " ") < A_IS_EARLY_FROM for row in csv.DictReader(file))


def without_wait(measured, ranking):
    """The times of kernels that waited for A, less the share by which the model expects them to be faster now."""
    less = {}
    for shape, of_shape in measured.items():
        shares = {}
        for one in ranking.get(shape, ())[1:]:
            ahead = -one["terms"]["ahead"]
            shares.setdefault(as_measured(one["config"], of_shape), ahead / (one["us"] - one["terms"]["correction"] + ahead))
        less[shape] = {config: us * (1 - shares.get(config, 0)) for config, us in of_shape.items()}
    return less


def with_alone(measured, alone):
    """The mean times of the kernels that were also timed alone."""
    means = {shape: {config: mean_time(us, alone[shape][config]) for config, us in of_shape.items() if config in alone.get(shape, ())}
             for shape, of_shape in measured.items()}
    return {shape: of_shape for shape, of_shape in means.items() if of_shape}


def as_measured(config, of_shape):
    """The configuration by its name among those measured, most of which lack fields that came later."""
    for field in ("", ", l2_promotion = 128", ", band = (9|1[0-8])", ", b_scales = lanes"):
        config = re.sub(field, "", config)
        if config in of_shape:
            break
    return config


def with_signals_of(ranking, measured):
    """The ranking, without kernels that signal behind their wait where none was measured: among the others the choice is as it was then."""
    if any(SIGNAL in config for of_shape in measured.values() for config in of_shape):
        return ranking
    return {shape: [one for one in ranked if SIGNAL not in one["config"]] for shape, ranked in ranking.items()}


def short(config):
    return re.sub(r"^tile = (\d+ x \d+) x 128", r"\1", config).replace(", launch = programmatic", ", early")


def compare(measured, ranking):
    """Lines of a table, and the losses."""
    lines = ["| M | N | K | chosen | predicted us | measured us | best us | best | loss |", "|--:|--:|--:|--|--:|--:|--:|--|--:|"]
    losses, stars = [], 0
    for shape in sorted(measured):
        of_shape, candidates = measured[shape], ranking[shape]
        ranked = [dict(one, config=as_measured(one["config"], of_shape)) for one in candidates]
        star = " (*)" if ranked[0]["config"] not in of_shape else ""
        ranked = [one for one in ranked if one["config"] in of_shape]
        if not ranked:
            lines.append("| %d | %d | %d | none of the candidates was measured |" % shape)
            continue
        stars += bool(star)
        us = of_shape[ranked[0]["config"]]
        best = min(of_shape, key=of_shape.get)
        losses.append(us / of_shape[best])
        lines.append("| %d | %d | %d | %s%s | %.2f | %.2f | %.2f | %s | %.1f %% |" % (
            shape + (short(ranked[0]["config"]), star, ranked[0]["us"], us, of_shape[best], short(best), 100 * (losses[-1] - 1))))
    return lines, losses, stars


def main():
    parser = argparse.ArgumentParser(description="Holds the cost model to what was measured on a GPU.")
    parser.add_argument("csv", nargs="?", help="measurements; by default the last of benchmark/results")
    parser.add_argument("--alone", default="", metavar="CSV", help="times of the same kernels by survey.py --alone")
    parser.add_argument("--fp8-opt", default=os.path.join(HERE, "..", "build", "bin", "fp8-opt"))
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--scales", choices=sorted(SCALES), default="f32", help="mx: those of MXFP8")
    parser.add_argument("--machine", default="", help="as --fp8-choose-config takes it; by default the chip's")
    parser.add_argument("--tuned", default="", metavar="FILE", help="a table of measured configurations, such as the package has of a GPU: the choice is then that of fp8.gemm")
    parser.add_argument("--as-timed", action="store_true", help="take the times of kernels that waited for A as they are, and not less what A gains by the model if it is loaded early")
    parser.add_argument("--most-us", type=float, default=math.inf, help="leave out rows that take longer: a short survey of them runs into the power limit")
    parser.add_argument("--most", type=float, default=3.0, help="per cent that may be lost")
    options = parser.parse_args()
    with inputs.reading(os.path.join(HERE, "gpu", "configurations.json"), inputs.CONFIGURATIONS) as file:
        kernels = json.load(file)["kernels"]
    path = options.csv or last_measured(kernels)
    measured = {shape: of_shape for shape, of_shape in read_measured(path, kernels).items() if min(of_shape.values()) <= options.most_us}
    if not measured:
        inputs.fail(path, "has no right measurement of ours" + (" of %g us or less" % options.most_us if options.most_us < math.inf else ""), inputs.RESULTS)
    ranking = rank(options.fp8_opt, sorted(measured), options.chip, options.machine, options.tuned, options.scales)
    if waited_for_a(path) and not options.as_timed:
        measured = without_wait(measured, ranking)
    if options.alone:
        measured = with_alone(measured, read_measured(options.alone, kernels, ALONE))
        if not measured:
            inputs.fail(options.alone, "has no time of a kernel of %s alone" % os.path.basename(path), TIME_ALONE)
    lines, losses, stars = compare(measured, with_signals_of(ranking, measured))
    print("\n".join(lines))
    mean = 100 * (math.exp(sum(map(math.log, losses)) / len(losses)) - 1)
    print("\n%s: %d rows, %d of whose first choices were not measured; lost: %.2f %% in the geometric mean, %.1f %% at most, no more than 3 %% in %.0f %% of them" % (
        os.path.basename(path), len(losses), stars, mean, 100 * (max(losses) - 1), 100 * sum(loss <= 1.03 for loss in losses) / len(losses)))
    return 0 if mean <= options.most else 1


if __name__ == "__main__":
    inputs.run(main)
