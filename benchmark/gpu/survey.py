#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times many of our kernels on many rows in little time, from a packed folder (pack.py), for
benchmark/refit.py to fit the cost model to: all that configurations.json names, once round by
round, until the time is over. It is no comparison with others (run): short rows have fewer replays.

usage: survey.py [--rows=MxNxK,...] [--seconds=S] [--rounds=N] [--seed=N] [--output=FILE] [--skip-us=US] [--alone]

Each kernel runs on the same operands, launch behind launch in a CUDA graph over sets that exceed the
L2 cache. A result is right if it is close to that of the row's first kernel on one set, NaN being
there before; a kernel that is wrong, or fails, is named and keeps no time.

With --alone a kernel starts when the preceding one has ended, as behind a kernel of another library, whatever its configuration says. The
peer is "fp8-alone" then, so that no tool takes its times for others.
"""

import argparse
import ctypes
import datetime
import os
import statistics
import sys
import time
import traceback

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))  # a packed folder has inputs.py beside this file
import inputs

inputs.require("torch")
# pylint: disable=wrong-import-position
import torch

import clock
import machine
import operands
import peers
import report
import runtime
import table

HERE = os.path.dirname(os.path.abspath(__file__))
REPLAYS = 7
LEAST_REPLAY_US = 500.0
# Rows of more work run into the power limit, which is a matter of what ran before: without rests, kernels that take 20 us differ by up to 20 %
# between rounds. They are timed as the comparison times them.
REST_FROM_US = 7.0


class Row:
    """The operands of a row, and its kernels ready to launch."""

    def __init__(self, shape, generator):
        self.shape = shape
        least = max(operands.LEAST_BYTES, 4 * torch.cuda.get_device_properties(0).L2_cache_size)
        count = max(2, least // operands.OperandSet.input_bytes(shape) + 1)
        self.sets = [operands.OperandSet(shape, generator, "cuda") for _ in range(count)]
        torch.cuda.synchronize()
        self.expected = None

    def prepare(self, kernel):
        return [kernel.prepare([(peers.DTYPES[tensor.dtype], tensor) for tensor in (one.a, one.own_a_scale, one.b, one.b_scale, one.d)])
                for one in self.sets]

    def time(self, launches):
        """Microseconds of a launch."""
        limit_us, replays, replay_us, least = table.find_limit(*self.shape), REPLAYS, LEAST_REPLAY_US, 1
        if limit_us >= REST_FROM_US:
            replays, replay_us, least = clock.REPLAYS, clock.LEAST_REPLAY_US, clock.LEAST_LAUNCHES
            time.sleep(clock.REST_S)
        often = max(int(replay_us / (1.3 * limit_us + 3)), least - 1) // len(launches) + 1
        handles = (runtime._binding.Handle * (often * len(launches)))(*[one.owned.handle for one in launches] * often)
        timing = runtime._binding.Timing()
        launches[0].library.call("fp8LaunchTime", handles, len(handles), replays, 0, ctypes.byref(timing))
        return timing.median_microseconds

    def is_right(self, launches):
        """Whether D of the first set is close to the first kernel's. Kernels add in orders of their own."""
        d = self.sets[0].d
        d.fill_(float("nan"))
        torch.cuda.synchronize()
        launches[0].run()
        torch.cuda.synchronize()
        if self.expected is None:
            self.expected = d.clone()
            return bool(torch.isfinite(d.float().sum()))
        error = (d.float() - self.expected.float()).abs()
        return bool((error <= 0.02 * self.expected.float().abs() + 2e-3 * self.expected.float().abs().amax()).all())


class Survey:
    def __init__(self, options, configurations):
        self.options, self.configurations = options, configurations
        self.library = runtime.Library(os.path.join(HERE, "libfp8runtime.so"))
        self.device = runtime.Device(self.library)
        self.generator = torch.Generator(device="cuda")
        self.generator.manual_seed(options.seed)
        self.kernels, self.times, self.wrong = {}, {}, {}
        self.end = time.monotonic() + options.seconds

    def load(self, name):
        if name not in self.kernels:
            path = os.path.join(HERE, "kernels", name + ".cubin")
            self.kernels[name] = runtime.Kernel.load(self.device, path, self.options.alone)
        return self.kernels[name]

    def measure(self, shape, names):
        """One round of a row; false if the time is over."""
        row = Row(shape, self.generator)
        for name in names:
            if time.monotonic() > self.end:
                return False
            if (shape, name) in self.wrong:
                continue
            try:
                launches = row.prepare(self.load(name))
                if (shape, name) not in self.times and not row.is_right(launches):
                    raise ArithmeticError("D is not close to that of " + names[0])
                self.times.setdefault((shape, name), []).append(row.time(launches))
            except (runtime.RuntimeFailure, OSError, ArithmeticError) as error:
                self.wrong[shape, name] = str(error).splitlines()[0]
                print("%dx%dx%d %s: %s" % (*shape, name, self.wrong[shape, name]), flush=True)
        return True

    def run(self):
        rows = {tuple(map(int, row.split("x"))): self.configurations.rows[row] for row in self.options.rows or self.configurations.rows}
        rows = {shape: names for shape, names in rows.items() if table.find_limit(*shape) <= self.options.skip_us}
        for number in range(self.options.rounds):
            # No kernel always follows the same one.
            for shape, names in rows.items():
                if not self.measure(shape, names if number % 2 == 0 else list(reversed(names))):
                    return
                torch.cuda.empty_cache()

    def write(self):
        identity = machine.Machine().identity()
        common = dict(identity, gpu=identity["gpu"] or torch.cuda.get_device_properties(0).name, torch=torch.__version__,
                      date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S"),
                      peer=report.ALONE if self.options.alone else report.OURS, seed=self.options.seed)
        output = report.CsvFile(self.options.output)
        for ((m, n, k), name), times in self.times.items():
            us = statistics.median(times)
            output.add(dict(common, m=m, n=n, k=k, configuration=self.configurations.kernels[name]["config"], us=round(us, 3),
                            tflops=round(2 * m * n * k / us / 1e6, 1), us_rounds=" ".join("%.3f" % one for one in times), right=True,
                            limit_us=round(table.find_limit(m, n, k), 2)))
        output.close()
        print("%s: %d kernels on %d rows of %s, %d left out" % (
            self.options.output, len(self.times), len({shape for shape, _ in self.times}), common["gpu"], len(self.wrong)))


def main():
    parser = argparse.ArgumentParser(description="Times many kernels on many rows in little time.")
    parser.add_argument("--rows", type=lambda text: [name for name in text.split(",") if name], default=[],
                        help="of configurations.json only these")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--skip-us", type=float, default=3000, help="no row whose limit is longer")
    parser.add_argument("--alone", action="store_true", help="no kernel starts before the preceding one has ended")
    parser.add_argument("--output", default="survey.csv")
    options = parser.parse_args()
    configurations = table.read_configurations(os.path.join(HERE, "configurations.json"))
    unknown = set(options.rows) - set(configurations.rows)
    if unknown:
        raise inputs.InputError("configurations.json has no row '%s': name some of %s" % (min(unknown), ", ".join(configurations.rows)))
    survey = Survey(options, configurations)
    try:
        survey.run()
    except Exception:  # what was measured until then counts
        traceback.print_exc()
    survey.write()
    return 0 if survey.times else 1


if __name__ == "__main__":
    inputs.run(main)
