# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of a certificate with given numbers, without any proof: by this the tests judge what fp8-check-proof accepts."""

import itertools
import random
import zlib

MOST_STEPS = 20_000


class NotEnding(Exception):
    """Processes wait for one another, or leave something behind."""


class Run:
    """One run: the values of the parameters; data and answers of queues follow from `seed`."""

    def __init__(self, skeleton, parameters, seed):
        self.skeleton, self.parameters, self.seed = skeleton, parameters, seed
        self.ends = [[0, 0] for _ in skeleton["ends"]]
        self.answers, self.fields, self.steps = {}, {}, 0

    def value(self, number, variables):
        """What an expression is worth."""
        kind, *rest = self.skeleton["expressions"][number]
        if kind in ("constant", "parameter", "variable"):
            return {"constant": lambda at: at, "parameter": self.parameters.__getitem__, "variable": variables.__getitem__}[kind](rest[0])
        if kind == "opaque":
            key = str((self.seed, rest[0], [self.value(its, variables) for its in rest[1:]]))
            return zlib.crc32(key.encode()) % 4
        values = [self.value(its, variables) for its in rest[:3 if kind == "select" else 2]]  # more are not read
        return int({
            "add": lambda a, b: a + b, "multiply": lambda a, b: a * b, "divide": lambda a, b: a // b, "minimum": min,
            "less": lambda a, b: a < b, "and": lambda a, b: a > 0 and b > 0, "select": lambda a, b, c: b if a > 0 else c}[kind](*values))

    def is_free(self, end, slot):
        its = self.skeleton["ends"][end]
        needed = slot - self.skeleton["channels"][its["channel"]]["slots"] if its["fills"] else slot
        return all(self.ends[number][1] > needed for number, other in enumerate(self.skeleton["ends"])
                   if other["channel"] == its["channel"] and other["fills"] != its["fills"])

    def run(self, program):
        """Runs a process; yields whenever it waits."""
        variables, at = {}, 0
        while at < len(program):
            its, at = program[at], at + 1
            self.steps += 1
            if self.steps > MOST_STEPS:
                return
            if its["kind"] in ("assign", "jump"):
                new = {pair[0]: self.value(pair[1], variables) for pair in its.get("assign", [])}
                variables.update(new)
                if its["kind"] == "jump":
                    at = its["to"]
            elif its["kind"] == "branch":
                if self.value(its["condition"], variables) <= 0:
                    at = its["to"]
            else:
                yield from self.access(its["kind"], its, variables)

    def access(self, kind, its, variables):
        end = self.value(its["end"], variables)
        counts, channel = self.ends[end], self.skeleton["ends"][end]["channel"]
        if kind == "signal":
            counts[1] += 1
        elif kind == "wait":
            while not self.is_free(end, counts[0]):
                yield
            counts[0] += 1
        elif kind == "drain":
            its_channel = self.skeleton["channels"][channel] if 0 <= channel < len(self.skeleton["channels"]) else {}
            while its_channel.get("data") and not self.is_free(end, counts[1] - 1 + its_channel["slots"]):
                yield
        else:
            slot = counts[0] - 1
            self.answers.setdefault((channel, slot), int(slot < self.seed % 4))
            variables[its["assign"][0][0]] = self.answers[channel, slot]

    def check(self):
        """Raises NotEnding unless all processes end, and nothing is left."""
        running = [self.run(process["program"]) for process in self.skeleton["processes"]]
        while running:
            before, left = self.steps, []
            for process in running:
                try:
                    next(process)
                    left.append(process)
                except StopIteration:
                    pass
                if self.steps > MOST_STEPS:
                    return  # too large to say
            if len(left) == len(running) and self.steps == before:
                raise NotEnding
            running = left
        for number, channel in enumerate(self.skeleton["channels"]):
            ends = [(its["fills"], counts[1]) for its, counts in zip(self.skeleton["ends"], self.ends) if its["channel"] == number]
            if channel.get("data") and len({fills for fills, _ in ends}) > 1 and len({count for _, count in ends}) > 1:
                raise NotEnding


def launches(skeleton, most):
    """Small values of the parameters."""
    bounds = []
    for parameter in skeleton.get("parameters", []):
        least = parameter["least"]
        bounds.append([value for step in (1, 64) for value in range(least, least + 6 * step, step) if value <= parameter.get("most", value)])
    chosen = itertools.product(*bounds) if len(bounds) < 3 else (
        [random.Random(seed * 31 + at).choice(values) for at, values in enumerate(bounds)] for seed in range(most))
    for values in itertools.islice(chosen, most):
        if all("below" not in its or value < values[its["below"]] for its, value in zip(skeleton.get("parameters", []), values)):
            yield list(values)


def find_failure(skeleton, most=150):
    """The values of the parameters at which a run does not end, or None."""
    for seed, values in enumerate(launches(skeleton, most)):
        try:
            Run(skeleton, values, seed).check()
        except NotEnding:
            return values
    return None
