#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The corrections of the cost model that a table of benchmark/tuned has: what kernels took in surveys of a GPU, over what the
model predicts (docs/Chooser.md, "Corrections"). No GPU is needed.

usage: corrections.py write TABLE [CSV...] [--fp8-opt=FILE]
       corrections.py check TABLE [--fp8-opt=FILE]
       corrections.py score TABLE [--by=shape|nk|k] [--folds=N] [--fp8-opt=FILE]

CSV are surveys in benchmark/results/survey; by default those that the table names. Write them anew when a term or a constant of the model
changes. `check` fails if they are not those of today's model.

`score` says what the choices lose on rows that the corrections have not seen: rows are divided into folds, and those of each are chosen with
corrections of the others. `--by=nk` keeps rows of one N and K in one fold, `--by=k` those of one K.
"""

import argparse
import json
import math
import os
import random
import re
import sys
import tempfile

import chooser
import inputs
import tune

HERE = os.path.dirname(os.path.abspath(__file__))
SURVEYS = os.path.join(HERE, "results", "survey")
FOLDS = {"shape": lambda shape: shape, "nk": lambda shape: shape[1:], "k": lambda shape: shape[2]}


def kernel_of(config):
    """What of a configuration tells corrections apart."""
    fields = config.split(", ")
    return ", ".join(field for field in fields if re.match(r"tile|split_k|edge = fit", field)) + (
        ", launch = programmatic" + chooser.SIGNAL if chooser.SIGNAL in config else "")


def read_surveys(table):
    """Of each survey: shape: configuration: microseconds; and whether its kernels waited for A."""
    paths = [os.path.join(SURVEYS, name) for name in table["surveys"]]
    return [(chooser.read_measured(path, {}), chooser.waited_for_a(path)) for path in paths]


def without_timed_again(of_survey, again):
    """The times of a survey whose kernels waited for A, but for those of kernels that were timed again since: pairs of shape and configuration."""
    return {shape: {config: us for config, us in of_shape.items() if chooser.SIGNAL not in config or (shape, config) not in again}
            for shape, of_shape in of_survey.items()}


def ratios_of(measured, ranking):
    """Of each survey, kernel and shape: the times over those predicted, in thousandths beyond 1000."""
    found = {}
    for of_survey in measured:
        for shape, of_shape in of_survey.items():
            predicted = {}
            for one in ranking[shape][1:]:
                predicted.setdefault(chooser.as_measured(one["config"], of_shape), one["us"])
            for config, us in of_shape.items():
                if config in predicted:
                    found.setdefault(kernel_of(config), []).append([*shape, round(1000 * (us / predicted[config] - 1))])
    return [{"config": config, "measured": sorted(rows)} for config, rows in sorted(found.items())]


def rank(options, table, shapes, tuned=""):
    return chooser.rank(options.fp8_opt, sorted(shapes), table["chip"], table["gpu"], tuned)


def find(options):
    """The table, its surveys, and the corrections that follow from them by today's model."""
    table = tune.load_table(options.table)
    if getattr(options, "csv", None):
        table["surveys"] = options.csv
    if not table.get("surveys"):
        raise inputs.InputError("%s names no surveys: name them on the command line" % options.table)
    surveys = read_surveys(table)
    ranking = rank(options, table, {shape for of_survey, _ in surveys for shape in of_survey})
    again = {(shape, config) for of_survey, waited in surveys if not waited for shape, of_shape in of_survey.items() for config in of_shape}
    measured = [chooser.without_wait(without_timed_again(of_survey, again), ranking) if waited else of_survey for of_survey, waited in surveys]
    return table, measured, ratios_of(measured, ranking)


def write(options):
    table, _, corrections = find(options)
    table["corrections"] = corrections
    tune.print_table(table, options.table)
    print("%s: %d times of %d kernels, from %d surveys" % (
        options.table, sum(len(one["measured"]) for one in corrections), len(corrections), len(table["surveys"])))


def are_alike(some, others):
    """Whether two lists of corrections are the same, but for what rounding makes of one thousandth."""
    def flat(corrections):
        return {(one["config"], *row[:3], number): row[3] for one in corrections for number, row in enumerate(one["measured"])}
    left, right = flat(some), flat(others)
    return left.keys() == right.keys() and all(abs(left[key] - right[key]) <= 1 for key in left)


def check(options):
    table, _, corrections = find(options)
    if not are_alike(table.get("corrections", []), corrections):
        sys.exit("corrections.py: the corrections of %s are not those of today's model: run 'corrections.py write %s'" % (
            options.table, options.table))
    print("%s: the corrections are those of today's model" % options.table)


def losses_of(measured, ranking):
    """Of each survey and shape: what the first of the ranking that was measured takes, over the fastest."""
    losses = []
    for of_survey in measured:
        for shape, of_shape in of_survey.items():
            by_time = (chooser.as_measured(one["config"], of_shape) for one in ranking.get(shape, ())[1:])
            first = next((config for config in by_time if config in of_shape), None)
            if first and len(of_shape) > 1:
                losses.append(of_shape[first] / min(of_shape.values()))
    return losses


def describe(losses):
    mean = 100 * (math.exp(sum(map(math.log, losses)) / len(losses)) - 1)
    return "%.2f %% lost in the geometric mean, no more than 3 %% in %.1f %% of %d rows, more than 8 %% in %d" % (
        mean, 100 * sum(loss <= 1.03 for loss in losses) / len(losses), len(losses), sum(loss > 1.08 for loss in losses))


def score(options):
    table, measured, corrections = find(options)
    shapes = sorted({shape for of_survey in measured for shape in of_survey})
    key = FOLDS[options.by]
    keys = sorted({key(shape) for shape in shapes})
    random.Random(0).shuffle(keys)
    fold_of = {one: number % options.folds for number, one in enumerate(keys)}
    ranking = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "others.json")
        for fold in range(options.folds):
            others = [{"config": one["config"], "measured": [row for row in one["measured"] if fold_of[key(tuple(row[:3]))] != fold]}
                      for one in corrections]
            tune.print_table({"chip": table["chip"], "gpu": table["gpu"], "entries": [], "corrections": others}, path)
            ranking.update(rank(options, table, [shape for shape in shapes if fold_of[key(shape)] == fold], path))
    print("without corrections: " + describe(losses_of(measured, rank(options, table, shapes))))
    print("with those of other rows: " + describe(losses_of(measured, ranking)))


def main():
    parser = argparse.ArgumentParser(description="The corrections of the cost model that a table has.")
    commands = parser.add_subparsers(required=True)
    for run, text in ((write, "writes them into the table"), (check, "fails if they are not those of today's model"),
                      (score, "says what the choices lose on rows that the corrections have not seen")):
        command = commands.add_parser(run.__name__, help=text)
        command.set_defaults(run=run)
        command.add_argument("table")
        if run is write:
            command.add_argument("csv", nargs="*", help="names of surveys in benchmark/results/survey; by default those that the table names")
        if run is score:
            command.add_argument("--by", choices=sorted(FOLDS), default="shape", help="what rows of one fold have in common")
            command.add_argument("--folds", type=int, default=8)
        command.add_argument("--fp8-opt", default=os.path.join(HERE, "..", "build", "bin", "fp8-opt"))
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    inputs.run(main)
