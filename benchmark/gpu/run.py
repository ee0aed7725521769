#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times our kernels and their peers on this machine's GPU, from a packed folder
(pack.py): rows by priority until the time is up, each measurement into a CSV file,
the table on the standard output.

usage: run [--all] [--rows=NAME,...] [--set=NAME] [--kernels=NAME,...] [--peers=NAME,...] [--program=NAME=COMMAND ...]
           [--random=SEED] [--default] [--floor] [--serial] [--scale-bytes=N] [--seconds=S] [--seed=N] [--output=FILE]

Exit status 0 only if every row that was begun has a right result of ours.
"""

import argparse
import datetime
import os
import secrets
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))

import report
import supervise
import table

PEERS = ("cublaslt", "cublaslt-best", "triton", "triton-swapped")


def default_output(date):
    """Into the repository's results where this is one's build folder, else beside this file."""
    results = os.path.join(HERE, "results")
    for place in ("benchmark/results", os.path.join(HERE, "..", "..", "benchmark", "results")):
        if os.path.isdir(os.path.dirname(place)):
            results = os.path.normpath(place)
            break
    os.makedirs(results, exist_ok=True)
    return os.path.join(results, "gpu-%s.csv" % date.strftime("%Y%m%d-%H%M%S"))


def parse(arguments):
    parser = argparse.ArgumentParser(description="Times our kernels and their peers on this machine's GPU.")
    names = lambda text: [name for name in text.split(",") if name]
    parser.add_argument("--all", action="store_true", help="every candidate of a row instead of its first")
    parser.add_argument("--rows", type=names, default=[], help="MxNxK of the rows to measure")
    parser.add_argument("--set", default="baseline", help="the rows to measure, if not named: baseline, decode, middle, ragged, models or all")
    parser.add_argument("--random", type=int, default=None, metavar="SEED", help="rows drawn from that seed, instead of a set")
    parser.add_argument("--serial", action="store_true", help="no programmatic launches, ours or the peers'")
    parser.add_argument("--default", action="store_true", help="fp8.gemm of the installed package, too: the table is then about that")
    parser.add_argument("--floor", action="store_true", help="a kernel that only reads A and B and writes D, too: it is no peer")
    parser.add_argument("--kernels", type=names, default=[], help="these on every row, instead of its candidates")
    parser.add_argument("--peers", type=names, default=list(PEERS), help="of " + ", ".join(PEERS) + "; '' for none")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=COMMAND",
                        help="a peer built elsewhere: a program, or a library that ends in .so")
    parser.add_argument("--scale-bytes", type=int, default=None,
                        help="rows of A's scales are a multiple of this apart, for all; by default as each library's quantiser lays them out: 128 for ours, 16 for others")
    parser.add_argument("--seconds", type=float, default=3600.0, help="begin no row that would pass this")
    parser.add_argument("--seed", type=int, default=None, help="of the operands; fresh without it")
    parser.add_argument("--output", default=None, help="the CSV file")
    options = parser.parse_args(arguments)
    unknown = set(options.peers) - set(PEERS)
    if unknown:
        parser.error("there is no peer '%s'; there are %s" % (min(unknown), ", ".join(PEERS)))
    for program in options.program:
        if "=" not in program:
            parser.error("--program takes NAME=COMMAND, not '%s'" % program)
    return options


def kernels_of(row, configurations, options):
    """The names of the kernels to time."""
    names = options.kernels or configurations.candidates(row, options.all, options.serial)
    for name in names:
        if name not in configurations.kernels:
            raise ValueError("there is no kernel '%s'; there are %s" % (name, ", ".join(configurations.kernels)))
    return [name for name in names if not (options.serial and configurations.is_programmatic(name))]


def describe(row, one):
    text = "%-17s %-14s %-28s" % (row.name, one["peer"], one["configuration"])
    if one.get("us"):
        text += " %9.2f us %7.1f TFLOP/s" % (one["us"], one["tflops"])
    return text + ("  FAILED: " + one["error"] if one.get("error") else "")


def measure(rows, configurations, options, supervisor, output):
    """The comparisons of the rows measured; the last may be incomplete."""
    begin = time.monotonic()
    deadline, longest = begin + options.seconds, 0.0
    comparisons = []
    for row in rows:
        start = time.monotonic()
        if start + longest * 1.2 > deadline:
            print("out of time: left out %s and later rows" % row.name, flush=True)
            break
        request = {"shape": row.shape, "seed": secrets.randbits(32) if options.seed is None else options.seed,
                   "kernels": kernels_of(row, configurations, options), "peers": options.peers, "serial": options.serial, "default": options.default, "floor": options.floor,
                   "scale_bytes": options.scale_bytes, "programs": dict(program.split("=", 1) for program in options.program)}
        try:
            measurements, done = supervisor.row(request, deadline)
        except supervise.StartFailure as failure:
            print("error: nothing more can be measured: %s; what the process printed says why" % failure, flush=True)
            break
        date = datetime.datetime.now().isoformat(timespec="seconds")
        for one in measurements:
            one.update(zip("mnk", row.shape), date=date, limit_us=row.limit_us, seed=request["seed"])
            output.add(one)
            print(describe(row, one), flush=True)
        print("%-17s %.0f s" % (row.name, time.monotonic() - start), flush=True)
        if measurements:
            comparisons.append(report.Comparison(row, measurements))
        longest = max(longest, time.monotonic() - start) if done else longest
    return comparisons


def main(arguments=None):
    options = parse(arguments)
    date = datetime.datetime.now()
    path = options.output or default_output(date)
    configurations = table.read_configurations(os.path.join(HERE, "configurations.json"))
    every = table.read_rows(os.path.join(HERE, "rows.csv"))
    rows = table.select_rows(every, options.rows, options.set) if options.random is None else table.draw_rows(options.random)
    for row in rows:
        kernels_of(row, configurations, options)  # says now what is misspelt
    output = report.CsvFile(path)
    note = lambda text: print("  " + text, flush=True)
    supervisor = supervise.Supervisor([sys.executable, os.path.join(HERE, "worker.py"), HERE], note)
    comparisons = measure(rows, configurations, options, supervisor, output)
    supervisor.end()
    output.close()
    if not comparisons:
        os.remove(path)
        return 1
    order = {row.name: index for index, row in enumerate(every)}
    comparisons.sort(key=lambda one: order.get(one.row.name, one.row.priority))
    print("\n" + report.markdown(comparisons))
    print("measurements: " + path)
    return 0 if all(one.ours for one in comparisons) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as problem:
        sys.exit("error: %s" % problem)
