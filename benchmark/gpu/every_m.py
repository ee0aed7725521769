#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times fp8.gemm, as installed, for every M: M of 1 to --most, and random ones up to
--random-most, on each N and K. Peers run at the M of table.PEER_MS. A server sees
every M, so the time should not fall as M grows: for each M the table says how much
faster some larger M is (docs/Benchmark.md, "Every M"). With --step only every Nth M.

usage: every_m.py [--shapes=NxK,...] [--most=1100] [--step=N] [--random=200] [--random-most=16384] [--seed=N]
                  [--peers=cublaslt] [--program=NAME=LIBRARY.so ...] [--seconds=S] [--output=FILE]

The operands of an M are the first M rows of larger ones, so one reference in float64
serves all. Before an M is timed, D is poisoned, every element of one set's D is
compared with the reference, and the rows behind D must stay as they were.
What was measured of an N and K is in the file before the next begins.
The exit status is 0 if every M that was begun is right.
"""

import argparse
import csv
import datetime
import os
import random
import statistics
import sys
import time
import types

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))  # a packed folder has inputs.py beside this file
import inputs

inputs.require("torch", "fp8")
# pylint: disable=wrong-import-position
import torch

import cliffs
import clock
import external
import operands
import peers
import table

ROUNDS = 3
REPLAYS = 7
LEAST_REPLAY_US, LEAST_LAUNCHES = 400.0, 2
# The GPU rests in front of each measurement, and longer where that is long: else power bounds its clock, and the time depends on what ran before.
REST_S, REST_SHARE = 0.006, 1.5
FEW_ROWS = 4096
COLUMNS = ("date", "gpu", "seed", "m", "n", "k", "peer", "us")


class Prefixes:
    """Operands of `most` rows, of which an M takes the first."""

    def __init__(self, most, n, k, seed):
        self.most, self.n, self.k = most, n, k
        generator = torch.Generator(device="cuda")
        generator.manual_seed(seed)
        # Of few rows B alone must exceed the L2 cache.
        least = max(operands.LEAST_BYTES, 4 * torch.cuda.get_device_properties(0).L2_cache_size)
        # Of many rows two sets must do, for the references take eight bytes an element; part of them may stay in L2.
        count = max(2, least // (n * k) + 1) if most <= FEW_ROWS else 2
        self.sets = [operands.OperandSet((most, n, k), generator, "cuda") for _ in range(count)]
        self.references = [self.sets[0].reference(), self.sets[1].reference()]

    def first(self, m, gapless=False):
        """Sets of m rows; with `gapless` a copy of A's scales without gaps between their rows."""
        sets = []
        for one in self.sets:
            a_scale = one.a_scale[:, :m]
            sets.append(types.SimpleNamespace(a=one.a[:m], a_scale=a_scale.contiguous() if gapless else a_scale, own_a_scale=a_scale, b=one.b,
                                              b_scale=one.b_scale, d=one.d[:m]))
        return Rows((m, self.n, self.k), sets)

    def find_fault(self, m, product):
        """What is wrong with a set's D; None if nothing is."""
        index = m % 2
        reference, bound = self.references[index]
        self.sets[index].d.fill_(float("nan"))
        torch.cuda.synchronize()
        product.launch(index)
        torch.cuda.synchronize()
        d = product.outputs()[index]
        verdict = operands.Verdict()
        verdict.add(index, d, reference[:m], bound[:m])
        if not verdict.right:
            return str(verdict)
        if d.data_ptr() == self.sets[index].d.data_ptr() and not self.sets[index].d[m:].isnan().all():
            return "rows behind M were written"
        return None


class Rows:
    """The operands of one M, as peers take them."""

    def __init__(self, shape, sets):
        self.shape, self.sets = shape, sets

    def __len__(self):
        return len(self.sets)


class Sweep:
    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + options.seconds
        self.file = None
        self.times, self.faults = {}, []  # (peer, n, k): {m: [us of each round]}
        self.programs = dict(program.split("=", 1) for program in options.program)

    def makers(self, m):
        """Name of each product that is timed at this M: a function of its operands that makes it."""
        makers = {"fp8.gemm": peers.DefaultPeer}
        if m in table.PEER_MS:
            for name, path in self.programs.items():
                makers[name] = lambda rows, name=name, path=path: external.LibraryPeer(
                    name, path, rows, lambda: torch.cuda.current_stream().cuda_stream)
            if "cublaslt" in self.options.peers and m % 4 == 0:
                makers["cublaslt"] = peers.CublasLtPeer
        return makers

    def prepare(self, prefixes, m):
        """The products of an M, captured: (name, clock)."""
        made = []
        for name, make in self.makers(m).items():
            try:
                product = make(prefixes.first(m, gapless=name == "cublaslt"))
                fault = prefixes.find_fault(m, product)
                if fault:
                    raise ArithmeticError(fault)
                made.append((name, clock.GraphClock(product, len(prefixes.sets), REPLAYS, LEAST_REPLAY_US, LEAST_LAUNCHES)))
            except (ArithmeticError, OSError, RuntimeError, external.ProgramFailure) as error:
                text = "%s %dx%dx%d: %s" % (name, m, prefixes.n, prefixes.k, str(error).splitlines()[0])
                print(text, flush=True)
                if name == "fp8.gemm":
                    self.faults.append(text)
        return made

    def measure(self, prefixes, ms, draw):
        """Prepares every M, then times all of them round by round, in an order that is drawn."""
        graphs, busy = {}, 0.0
        for m in ms:
            if time.monotonic() > self.end:
                return
            graphs[m] = self.prepare(prefixes, m)
        for _ in range(ROUNDS):
            draw.shuffle(ms)
            for m in ms:
                if time.monotonic() > self.end:
                    return
                for name, graph in graphs[m]:
                    time.sleep(REST_S + REST_SHARE * busy)
                    begin = time.monotonic()
                    us = statistics.median(graph.times(REPLAYS)) / graph.launches
                    busy = time.monotonic() - begin
                    self.times.setdefault((name, prefixes.n, prefixes.k), {}).setdefault(m, []).append(us)

    def run(self):
        draw = random.Random(self.options.seed)
        for n, k in self.options.shapes:
            begin = time.monotonic()
            more = sorted(draw.sample(range(self.options.most + 1, self.options.random_most + 1), self.options.random))
            many = {*more, *(m for m in table.PEER_MS if m > self.options.most)}
            for ms in (range(self.options.step, self.options.most + 1, self.options.step), sorted(many)):
                ms = list(ms)
                if ms:
                    self.measure(Prefixes(ms[-1], n, k, self.options.seed), ms, draw)
                torch.cuda.empty_cache()
            print("N=%d K=%d: %.0f s" % (n, k, time.monotonic() - begin), flush=True)
            self.write(n, k)
            if time.monotonic() > self.end:
                print("out of time", flush=True)
                break

    def write(self, n, k):
        """Adds what was measured of one N and K to the file, and says whether the time falls."""
        begun = self.file is not None
        self.file = self.file or open(self.options.output, "w", encoding="utf-8", newline="")
        writer = csv.writer(self.file, lineterminator="\n")
        if not begun:
            writer.writerow(COLUMNS)
        gpu = torch.cuda.get_device_properties(0).name
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        for (name, *shape), times in self.times.items():
            if shape != [n, k]:
                continue
            medians = {m: statistics.median(us) for m, us in sorted(times.items())}
            writer.writerows((date, gpu, self.options.seed, m, n, k, name, "%.2f" % us) for m, us in medians.items())
            if name == "fp8.gemm":
                falls = cliffs.find_falls(medians)
                verdict = "level" if cliffs.keeps_bars(falls) else "not level"
                print("N=%d K=%d: %s; %s" % (n, k, verdict, "\n".join(cliffs.describe_falls(falls))), flush=True)
        self.file.flush()


def read_shapes(text):
    return [tuple(map(int, one.split("x"))) for one in text.split(",")] if text else list(table.EVERY_M_SHAPES)


def positive(text):
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def main():
    parser = argparse.ArgumentParser(description="Times fp8.gemm for every M.")
    parser.add_argument("--shapes", type=read_shapes, default=read_shapes(""), help="NxK,...")
    parser.add_argument("--most", type=int, default=1100, help="every M from 1 to this")
    parser.add_argument("--step", type=positive, default=1, help="only the multiples of this")
    parser.add_argument("--random", type=int, default=200, help="so many random M above")
    parser.add_argument("--random-most", type=int, default=16384, help="the largest of them")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--peers", default="cublaslt", help="cublaslt, or '' for none")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=LIBRARY.so")
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--output", default="every-m.csv")
    sweep = Sweep(parser.parse_args())
    sweep.run()
    return 1 if sweep.faults else 0


if __name__ == "__main__":
    inputs.run(main)
