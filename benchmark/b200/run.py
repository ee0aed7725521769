#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first hour on a Blackwell GPU, from a packed folder (pack.py): kernels in the order in which they are likely to fail, sums bit by
bit, figures that nobody has published. Needs a driver and Python 3. Each step is a process of its own with a time limit; each is on disk
as soon as it has ended.

usage: python3 run.py [--only=NAME,...] [--skip=NAME,...] [--planted] [--ptx] [--repeat=N] [--output=DIR] [--page=DIR]

  --only, --skip  steps by their names or groups: gemms, sums, probes, times, loads
  --planted       instead, faults that are put into kernels, to see that each is found: hangs, wrong numbers, a stray store
  --ptx           let the driver compile PTX, instead of the cubins; without it that is done when it refuses one
  --repeat        runs of each probe; 3
  --output        the folder of the results, results-DATE beside this file; if it has some, what runs now replaces its own there
  --page          make the page and the zip of what an earlier run left in DIR

Send back DIR/results.zip; DIR/results.md is the page. Exit status: 0 if all steps passed (or all faults were found), 1 if not, 2 if there
was no GPU to run on, 130 after Ctrl-C.
"""

import argparse
import datetime
import json
import os
import platform
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))

import machine
import page
import process
import results
import steps
import verdict

LIST_LIMIT_S = 120


def parse(arguments):
    parser = argparse.ArgumentParser(description="The first hour on a Blackwell GPU.", usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    names = lambda text: [name for name in text.split(",") if name]
    parser.add_argument("--only", type=names, default=[])
    parser.add_argument("--skip", type=names, default=[])
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--ptx", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output")
    parser.add_argument("--page")
    return parser.parse_args(arguments)


def find_gpu(log):
    """What fp8-run says of the first GPU; else a verdict."""
    outcome = process.run([os.path.join(HERE, "fp8-run"), "--list-devices"], LIST_LIMIT_S, log)
    if outcome.status == 0 and verdict.last_json(outcome.out):
        return json.loads(outcome.out.splitlines()[0]), None
    found = verdict.judge(outcome)
    name = verdict.NO_GPU if found.name == verdict.CRASHED and outcome.status == 1 else found.name
    return None, verdict.Verdict(name, verdict.error_lines(outcome.err))


def read_pack():
    with open(os.path.join(HERE, "pack.json"), encoding="utf-8") as file:
        return json.load(file)


def facts_of(pack, gpu):
    facts = {"pack": pack["version"], "python": platform.python_version(), "system": "%s %s" % (platform.platform(), " ".join(platform.libc_ver())),
             "started": datetime.datetime.now().isoformat(timespec="seconds")}
    if gpu:
        facts.update(gpu=gpu["device"], capability=gpu["capability"], cuda=gpu["driver"], runs=" ".join(gpu["runs"]))
        nvml = machine.Machine()
        facts.update({"driver": nvml.identity()["driver"]}, **{"idle_" + key: value for key, value in nvml.sample().items()})
    return facts


class Session:
    """One run: the steps one after another, whatever happens to each."""

    def __init__(self, pack, found, options):
        self.pack, self.found, self.options = pack, found, options

    def tell(self, entry):
        self.found.add(entry)
        line = "%-13s %-24s %6.1f s" % (entry["verdict"], entry["step"], entry.get("seconds", 0))
        print(line + ("  " + page.told(entry) if entry["verdict"] != verdict.PASSED else ""), flush=True)

    def start(self):
        gpu, problem = find_gpu(self.found.log("devices"))
        self.found.add({"facts": facts_of(self.pack, gpu)})
        chip = next((name for name in self.pack["chips"] if name in gpu["runs"]), None) if gpu else None
        if gpu and not chip:
            problem = verdict.Verdict(verdict.NO_GPU, "%s, of compute capability %s, runs none of %s" % (gpu["device"], gpu["capability"], ", ".join(self.pack["chips"])))
        return chip, problem

    def run(self):
        chip, problem = self.start()
        context = steps.Context(self.pack, chip or self.pack["chips"][0], self.found, HERE, self.options)
        chosen = steps.choose(steps.all_steps(context), self.options)
        if not chip:
            self.tell({"step": "machine", "title": "the driver and the GPU", "verdict": problem.name, "text": problem.text})
            self.leave(chosen, "there is no GPU to run on")
            return 2
        return self.each(chosen, steps.Health(context))

    def attempt(self, step):
        """The step; if the driver does not take a cubin, from there on as PTX, which it compiles."""
        entry = step.run()
        if entry["verdict"] != verdict.REFUSED or self.options.ptx or self.options.planted:
            return entry
        print("the driver refuses the cubin of '%s': it compiles PTX instead from here on" % step.name, flush=True)
        self.options.ptx = True
        return dict(step.run(), cubin_refused=entry["text"])

    def each(self, chosen, health):
        while chosen:
            step = chosen[0]
            begin = time.monotonic()
            try:
                entry = self.attempt(step)
            except KeyboardInterrupt:
                self.tell(dict(step.entry(), verdict=verdict.INTERRUPTED, seconds=time.monotonic() - begin))
                self.leave(chosen[1:], "the run was interrupted")
                return 130
            except Exception as error:  # pylint: disable=broad-except  # one step's failure is its own
                entry = dict(step.entry(), verdict=verdict.CRASHED, text="%s: %s" % (type(error).__name__, error))
            self.tell(dict(entry, seconds=time.monotonic() - begin))
            chosen = chosen[1:]
            if entry["verdict"] in verdict.SHAKEN:
                try:
                    well, why = health.recovers()
                except KeyboardInterrupt:
                    self.leave(chosen, "the run was interrupted")
                    return 130
                if not well:
                    self.leave(chosen, "the GPU does not answer since '%s': %s" % (step.name, why))
                    return 1
        return 0 if all(map(page.fine, self.found.steps())) else 1

    def leave(self, chosen, why):
        for step in chosen:
            self.found.add(dict(step.entry(), verdict=verdict.NOT_RUN, text=why))
        if chosen:
            print("%-13s %d more steps: %s" % (verdict.NOT_RUN, len(chosen), why), flush=True)


def stop(*_):
    raise KeyboardInterrupt


def main(arguments=None):
    options = parse(arguments)
    if options.page:
        found = results.Results(options.page)
        found.finish(page.page(found))
        return 0
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have made a job in the background ignore the first
        signal.signal(number, stop)
    os.chmod(os.path.join(HERE, "fp8-run"), 0o755)  # a zip may not keep it
    directory = options.output or os.path.join(HERE, datetime.datetime.now().strftime("results-%Y%m%d-%H%M%S"))
    found = results.Results(directory)
    status = 1
    try:
        status = Session(read_pack(), found, options).run()
    except KeyboardInterrupt:
        status = 130
    finally:
        found.finish(page.page(found))
        print("\n%s\npage: %s\nsend back: %s" % (page.summary(found.steps())[0] if found.steps() else "nothing ran", found.path(results.PAGE), found.path(results.ARCHIVE)), flush=True)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as problem:
        sys.exit("error: %s" % problem)
