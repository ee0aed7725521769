#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches packed kernels of alternating shapes on two streams, 10,000 times: every launch must give the bytes that
the first gave, which were judged, and no memory may be lost.

usage: stress.py DIR [--seconds=N] [--seed=N] [--launches=N]

Prints a line for each kernel and shape, one for the launches and one for the memory.
"""

import argparse
import sys
import time

import torch

import gemms

SHAPES = [(64, 512, 1024), (200, 328, 1040), (1, 576, 4096), (129, 2112, 512), (512, 1024, 512), (1000, 264, 144),
          (300, 8, 400), (1024, 1536, 784)]
STREAMS = 2
# Memory that is taken once, late, is no loss.
WARM_LAUNCHES = 1000
CHECK_EVERY = 500
# What Python itself may take of the host's memory.
HOST_GROWTH = 8 << 20


def host_memory():
    with open("/proc/self/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS:"))


class Work:
    """A kernel and a shape: what D's memory must hold after a launch, and a D for each stream."""

    def __init__(self, gpu, kernel, shape, seed):
        self.kernel, self.name = kernel, "stress-%dx%dx%d-%s" % (*shape, kernel)
        problem = gemms.Problem(shape, seed, gpu.device)
        self.judged, output, arguments = gemms.check(gpu, problem, kernel, 0.75)
        self.expected = output.storage.clone()
        self.outputs, self.arguments = [], []
        for _ in range(STREAMS):
            own = gemms.Output(shape[:2], kernel, gpu.device)
            self.outputs.append(own)
            self.arguments.append([(dtype, own.view if value is output.view else value) for dtype, value in arguments])

    def enqueue(self, gpu, stream, counter):
        """One launch on poisoned memory; adds to the counter the bytes that are wrong. Nothing waits."""
        output = self.outputs[stream]
        output.poison()
        gpu.enqueue(self.kernel, self.arguments[stream])
        counter.add_((output.storage != self.expected).sum())


class Launches:
    def __init__(self, gpu, works):
        self.gpu, self.works, self.streams = gpu, works, gpu.streams(STREAMS)
        self.counters = [torch.zeros((), dtype=torch.int64, device=gpu.device) for _ in self.streams]
        self.done = 0
        gpu.wait()  # what was made on another stream is there

    def wait(self):
        for stream in self.streams:
            with self.gpu.on(stream):
                self.gpu.wait()

    def run(self, count, end):
        """Runs `count` launches more; false if bytes were wrong, or the time is over."""
        for _ in range(count):
            # Each stream goes through all of the work, at another place of it than the other.
            stream = self.done % STREAMS
            work = self.works[(self.done // STREAMS + stream * (len(self.works) // 2)) % len(self.works)]
            with self.gpu.on(self.streams[stream]):
                work.enqueue(self.gpu, stream, self.counters[stream])
            self.done += 1
            if self.done % CHECK_EVERY == 0:
                self.wait()
                if self.wrong() or time.monotonic() > end:
                    return False
        self.wait()
        return not self.wrong()

    def wrong(self):
        return sum(int(counter) for counter in self.counters)

    def guilty(self):
        """The kernels whose last bytes are wrong."""
        return ", ".join(sorted({work.name for work in self.works for output in work.outputs
                                 if gemms.different_bytes(output.storage, work.expected)}))


def run(gpu, kernels, options, report):
    begin = time.monotonic()
    kernels = [kernel for kernel in kernels if kernel.group == "all"]
    works = []
    for number, kernel in enumerate(kernels):
        with report.guarded("stress-" + kernel.name):
            works.append(Work(gpu, kernel, SHAPES[number % len(SHAPES)], options.seed + number))
            report.tell(works[-1].name, works[-1].judged.problem, "seed %d" % (options.seed + number))
    if report.failed:
        return report.tell("stress-launches", "not begun, since not every kernel is right alone")
    launches = Launches(gpu, works)
    with report.guarded("stress-launches"):
        warm = min(WARM_LAUNCHES, options.launches // 2)
        right = launches.run(warm, begin + options.seconds)
        device_before, host_before = gpu.memory_in_use(), host_memory()
        right = right and launches.run(options.launches - warm, begin + options.seconds)
        device_growth, host_growth = gpu.memory_in_use() - device_before, host_memory() - host_before
        told = "%d launches of %d kernels and shapes on %d streams, in %.1f s" % (
            launches.done, len(works), STREAMS, time.monotonic() - begin)
        problem = None
        if launches.wrong():
            problem = "%d bytes are not as they were at first, after %s; at last those of %s" % (
                launches.wrong(), told, launches.guilty() or "none")
        elif not right or launches.done < options.launches:
            problem = "only " + told
        report.tell("stress-launches", problem, told)
        grown = "%d bytes of the GPU's memory and %d of the host's after the first %d launches" % (
            device_growth, host_growth, warm)
        lost = device_growth > 0 or host_growth > HOST_GROWTH
        report.tell("stress-memory", "growth of " + grown if lost else None, "growth of " + grown)
    return None


def main():
    parser = argparse.ArgumentParser(description="Launches packed GEMMs many times on two streams.")
    parser.add_argument("directory")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--launches", type=int, default=10000)
    options = parser.parse_args()
    report = gemms.Report()
    run(gemms.Gpu(options.directory), gemms.read_kernels(options.directory), options, report)
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
