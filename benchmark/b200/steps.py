# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps: what each runs, and what is made of it."""

import os
import secrets
import shlex
import sys
import time
from typing import Any, NamedTuple

import figures
import machine
import parts
import process
import sums
import verdict
import waits

WATCHDOG_S = 20
LIMIT_S = 240       # of a product: its reference may take a while
PROBE_LIMIT_S = 90
HEALTH_LIMIT_S = 60
HEALTH_PAUSES_S = (0, 5, 15, 30)
SAMPLE_S = 0.05


class Context(NamedTuple):
    """What every step needs: the pack's table, the chip, the results, the pack's folder, the options of run.py."""
    pack: dict
    chip: str
    found: Any
    directory: str
    options: Any


class Step:
    """`group`: what --only and --skip may call it, too."""

    group = ""

    def __init__(self, context, name, title):
        self.pack, self.chip, self.found, self.directory, self.options = context
        self.name, self.title = name, title

    def entry(self):
        return {"step": self.name, "title": self.title}

    def file(self, *names):
        return os.path.join(self.directory, self.chip, *names)

    def kernel(self, name):
        """The cubin, or the PTX where there is none, or it is asked for."""
        cubin = self.file(name + ".cubin")
        return self.file(name + ".ptx") if self.options.ptx or not os.path.exists(cubin) else cubin

    def fp8_run(self, kernel, arguments, manifest=None):
        return [os.path.join(self.directory, "fp8-run"), kernel, "--manifest=" + (manifest or os.path.splitext(kernel)[0] + ".json"), "--backend=cuda", *arguments]

    def process(self, command, name, limit_s, environment=None, during=None):
        return process.run(command, limit_s, self.found.log(name), environment, during)

    def told(self, found, outcome, **more):
        """The entry of a step that ends with this verdict."""
        return dict(self.entry(), verdict=found.name, text=found.text, waits=[list(one) for one in found.waits], command=shlex.join(
            [os.path.relpath(word, self.directory) if word.startswith(self.directory) else word for word in outcome.command]), **more)


class Health(Step):
    """A kernel without anything of Blackwell's, which tells whether the GPU still answers."""

    def __init__(self, context):
        super().__init__(context, "health", "whether the GPU answers")

    def recovers(self):
        """Whether it answers, at once or after a while; else why not."""
        for pause in HEALTH_PAUSES_S:
            time.sleep(pause)
            outcome = self.process(self.fp8_run(self.kernel("health"), ["--m=33", "--n=65", "--k=144", "--watchdog=%d" % WATCHDOG_S]), "health", HEALTH_LIMIT_S)
            found = verdict.judge(outcome)
            if found.name == verdict.PASSED:
                return True, ""
        return False, "%s, %s" % (found.name, found.text)


class Gemm(Step):
    """A kernel of the library on several shapes; if one hangs, the same with limits for its waits."""

    group = "gemms"

    def __init__(self, context, row):
        super().__init__(context, row["name"], row["title"])
        self.row, self.seed = row, secrets.randbits(31)

    def runs(self):
        return self.row["runs"] if "runs" in self.row else [self.row["run"]]

    def command(self, kernel, arguments):
        seeded = [*arguments, "--seed=%d" % self.seed]
        if self.row.get("worker") == "tails":
            return [sys.executable, os.path.join(self.directory, "tails.py"), kernel, os.path.join(self.directory, "libfp8runtime.so"), *seeded]
        watchdog = [] if any(word.startswith("--watchdog") for word in arguments) else ["--watchdog=%d" % WATCHDOG_S]
        return self.fp8_run(kernel, seeded + watchdog)

    def attempt(self, kernel, arguments, name):
        outcome = self.process(self.command(kernel, arguments), name, self.row.get("limit_s", LIMIT_S), self.row.get("environment"))
        return verdict.judge(outcome), outcome

    def run(self):
        runs = []
        name = self.row.get("kernel", self.name)
        for index, text in enumerate(self.runs()):
            found, outcome = self.attempt(self.kernel(name), text.split(), "%s-%d" % (self.name, index))
            runs.append({"arguments": text, "seed": self.seed, "verdict": found.name, "numbers": found.numbers, "seconds": outcome.seconds})
            if found.name != verdict.PASSED:
                more = self.diagnose(text.split()) if found.name in (verdict.HANG, verdict.LATE) and not outcome.stuck else {}
                return dict(self.told(found, outcome, runs=runs), **self.expectation(), **more)
        return dict(self.entry(), verdict=verdict.PASSED, runs=runs, **self.expectation())

    def expectation(self):
        return {"expect": self.row["expect"]} if "expect" in self.row else {}

    def diagnose(self, arguments):
        """The same run of the kernel whose waits give up: who waits, for what."""
        kernel = self.kernel(self.row.get("kernel", self.name) + ".waits")
        if not os.path.exists(kernel):
            return {"diagnosis": "there is no form of this kernel with limits for its waits"}
        found, _ = self.attempt(kernel, arguments, self.name + "-waits")
        if found.name == verdict.PASSED:
            return {"diagnosis": "with limits for its waits the kernel ends, and is right: the hang depends on timing, or on the loop that is unrolled without them"}
        text = waits.explain(found.waits)
        return {"diagnosis": text if found.waits else "%s (%s: %s)" % (text, found.name, found.text.strip()), "waits": [list(one) for one in found.waits]}


class Sums(Step):
    """One kind of products: every case's bits beside the simulator's, and the rules that explain them."""

    group = "sums"

    def __init__(self, context, kind, rows):
        super().__init__(context, "sums-" + kind, "sums of %s bit by bit" % kind)
        self.kind, self.rows = kind, rows

    def measure(self, row):
        """The words of a case, or None; the verdict and the outcome."""
        dump = self.found.log(row["name"] + ".bin")
        outcome = self.process(self.fp8_run(self.kernel("sums/" + row["kernel"]), ["--dump=" + dump, "--watchdog=%d" % WATCHDOG_S], self.file("sums", row["name"] + ".json")),
                               row["name"], PROBE_LIMIT_S)
        found = verdict.judge(outcome)
        if found.name != verdict.PASSED:
            return None, found, outcome
        with open(dump, "rb") as file:
            return sums.unpack(file.read()), found, outcome

    def run(self):
        measured, differ, texts = [], 0, []
        for row in self.rows:
            words, found, outcome = self.measure(row)
            if words is None:
                return self.told(found, outcome)
            with open(self.file("sums", row["name"] + ".expected"), "rb") as file:
                count, first = sums.compare(words, sums.unpack(file.read()))
            differ += count
            if count:
                texts.append("%s: %d of %d sums have other bits, first row %d, column %d" % (row["name"], count, len(words), *divmod(first, sums.COLUMNS)))
            measured.append((sums.Case(*[tuple(value) if isinstance(value, list) else value for value in row["case"]]), words))
        return dict(self.entry(), verdict=verdict.DIFFERS if differ else verdict.PASSED, text="\n".join(texts), sums=[self.explained(measured, differ)])

    def explained(self, measured, differ):
        assumed = sums.Rule(*self.pack["rules"][self.chip][self.kind])
        rules = sums.explain(measured, self.rows[0]["rows"])
        where = "the row of %s in lib/Chip/SumRules.cpp" % self.kind
        says = "confirms %s" % where if not differ and assumed in rules else "refutes %s%s" % (where, "" if rules else "; no rule of this form explains it")
        return {"kind": self.kind, "elements": sum(len(words) for _, words in measured), "differ": differ, "assumed": str(assumed),
                "explained": [str(rule) for rule in rules], "says": says}


class PlantedSums(Sums):
    """Operands of another seed than the table's: every case must differ."""

    group = "planted"

    def __init__(self, context, row, kind, rows):
        super().__init__(context, kind, rows)
        self.name, self.title, self.row = row["name"], row["title"], row

    def measure(self, row):
        other = next(one for one in self.rows if one["kernel"] == row["kernel"] and one["name"] != row["name"])
        return super().measure(other)

    def run(self):
        return dict(super().run(), expect=self.row["expect"])


class Probe(Step):
    """A kernel that reads clocks, several times."""

    group = "probes"

    def __init__(self, context, row):
        super().__init__(context, row["name"], "figures: " + "; ".join(figure["name"] for figure in row["figures"]))
        self.row = row

    def run(self):
        dumps = []
        for index in range(self.options.repeat):
            dump = self.found.log("%s-%d.bin" % (self.name, index))
            outcome = self.process(self.fp8_run(self.kernel("probes/" + self.name), ["--dump=" + dump, "--watchdog=%d" % WATCHDOG_S]), "%s-%d" % (self.name, index), PROBE_LIMIT_S)
            found = verdict.judge(outcome)
            if found.name != verdict.PASSED:
                return self.told(found, outcome)
            with open(dump, "rb") as file:
                dumps.append(file.read())
        return dict(self.entry(), verdict=verdict.PASSED, figures=figures.evaluate(self.row["figures"], dumps, self.row["samples"], self.row["wide"]))


class Times(Step):
    """Launches of small products; figures are made of several of them."""

    group = "times"

    def __init__(self, context, rows, told):
        super().__init__(context, "times", "small products: launches, K blocks")
        self.rows, self.figures = rows, told

    def run(self):
        us, runs = {}, []
        for row in self.rows:
            outcome = self.process(self.fp8_run(self.kernel(row["kernel"]), row["run"].split() + ["--watchdog=%d" % WATCHDOG_S]), "times-" + row["name"], LIMIT_S)
            found = verdict.judge(outcome)
            if found.name != verdict.PASSED:
                return self.told(found, outcome)
            runs.append({"arguments": "%s %s" % (row["kernel"], row["run"]), "verdict": found.name, "numbers": found.numbers})
            us[row["name"]] = [found.numbers[key] for key in ("us", "us_fastest", "us_slowest")]
        made = []
        for figure in self.figures:
            values = [us[name] for name in figure["of"]]
            middle, low, high = [values[0][at] - (values[1][at] if len(values) > 1 else 0) for at in range(3)]
            made.append(figures.summary(figure, [figure.get("factor", 1) * value for value in (low, middle, middle, middle, high)]))
        return dict(self.entry(), verdict=verdict.PASSED, runs=runs, figures=made)


class Parts(Step):
    """A small product whose operands exceed the L2, with stamps: what its time consists of."""

    group = "times"

    def __init__(self, context, row):
        super().__init__(context, row["name"], row["title"])
        self.row = row

    def run(self):
        trace = self.found.log(self.name + ".json")
        outcome = self.process(self.fp8_run(self.kernel(self.name), self.row["run"].split() + ["--timeline=" + trace, "--watchdog=%d" % WATCHDOG_S]), self.name, LIMIT_S)
        found = verdict.judge(outcome)
        if found.name != verdict.PASSED:
            return self.told(found, outcome)
        told = [line.partition("timeline: ")[2] for line in outcome.err.splitlines() if "timeline: " in line]
        ctas = parts.parts(parts.read(trace))
        made = [figures.summary({"line": 15, "name": name, "unit": "us", "where": "", "tolerance": 0}, [cta[at] for cta in ctas]) for at, name in enumerate(parts.NAMES)]
        run = {"arguments": self.row["run"], "verdict": found.name, "numbers": found.numbers}
        return dict(self.entry(), verdict=verdict.PASSED, text="\n".join(told), runs=[run], figures=made)


class Load(Step):
    """A large product again and again, and what the GPU says of its clock and power meanwhile."""

    group = "loads"

    def __init__(self, context, row):
        super().__init__(context, row["name"], row["title"])
        self.row, self.samples, self.begin = row, [], 0.0

    def sample(self):
        self.samples.append(dict(self.nvml.sample(), s=round(time.monotonic() - self.begin, 3)))

    def run(self):
        self.nvml, self.begin = machine.Machine(), time.monotonic()
        outcome = self.process(self.fp8_run(self.kernel(self.row["kernel"]), self.row["run"].split() + ["--watchdog=60"]), self.name, LIMIT_S, during=self.sample)
        found = verdict.judge(outcome)
        if found.name != verdict.PASSED:
            return self.told(found, outcome)
        run = {"arguments": self.row["run"], "verdict": found.name, "numbers": found.numbers}
        return dict(self.entry(), verdict=verdict.PASSED, runs=[run], figures=self.made(), trace=self.samples)

    def made(self):
        """Of the upper half of the samples by power: while the GPU works, not while the reference is computed."""
        told = []
        usable = [sample for sample in self.samples if sample.get("power_w")]
        busy = sorted(usable, key=lambda sample: sample["power_w"])[-max(1, len(usable) // 10):]
        for key, unit in (("sm_mhz", "MHz"), ("power_w", "W"), ("celsius", "C")):
            values = [sample[key] for sample in busy if sample.get(key) is not None]
            if values:
                told.append(figures.summary({"line": 13, "name": "%s: %s while it draws most" % (self.title, key), "unit": unit, "where": "", "tolerance": 0}, values))
        return told


def all_steps(context):
    """Every step for the chip, in the order of docs/FirstHour.md; or those with faults."""
    rows = context.pack["kernels"][context.chip]
    if context.options.planted:
        return [PlantedSums(context, row, *next(iter(rows["sums"].items()))) if row.get("sums") else Gemm(context, row) for row in rows["planted"]]
    return [*[Gemm(context, row) for row in rows["gemms"]], *[Sums(context, kind, cases) for kind, cases in rows["sums"].items()],
            *[Probe(context, row) for row in rows["probes"]], Times(context, rows["times"], rows["time_figures"]), *[Parts(context, row) for row in rows["parts"]],
            *[Load(context, row) for row in rows["loads"]]]


def choose(steps, options):
    """Those that the options name, or do not."""
    names = {step.name for step in steps} | {step.group for step in steps}
    for name in options.only + options.skip:
        if name not in names:
            raise ValueError("there is no step '%s'; there are %s" % (name, ", ".join(sorted(names))))
    named = lambda step, chosen: step.name in chosen or step.group in chosen
    return [step for step in steps if (not options.only or named(step, options.only)) and not named(step, options.skip)]
