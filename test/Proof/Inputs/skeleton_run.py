# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the skeleton of a certificate with given numbers, without any proof: by this the tests judge what fp8-check-proof accepts."""

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
        values = [self.value(its, variables) for its in rest[:{"not": 1, "select": 3}.get(kind, 2)]]  # more are not read
        return int({
            "add": lambda a, b: a + b, "multiply": lambda a, b: a * b, "divide": lambda a, b: a // b, "remainder": lambda a, b: a % b,
            "minimum": min, "maximum": max, "equal": lambda a, b: a == b, "less": lambda a, b: a < b,
            "and": lambda a, b: a > 0 and b > 0, "or": lambda a, b: a > 0 or b > 0, "not": lambda a: a <= 0,
            "select": lambda a, b, c: b if a > 0 else c}[kind](*values))

    def is_free(self, end, slot):
        channel = self.skeleton["channels"][self.skeleton["ends"][end]["channel"]]
        fills = self.skeleton["ends"][end].get("fills", False)
        needed = slot - channel["slots"] if fills else slot
        return all(self.ends[other][1] > needed for other in channel["consumers" if fills else "producers"])

    def block(self, block, variables):
        """Yields whenever the process waits."""
        for statement in block:
            self.steps += 1
            yield from self.statement(statement, variables)

    def statement(self, its, variables):
        kind = its["do"]
        if kind == "if":
            yield from self.block(its.get("first" if self.value(its["condition"], variables) > 0 else "second", []), variables)
        elif kind == "for":
            at, bound, step = (self.value(number, variables) for number in its["bounds"][:3])
            for at in range(at, bound, step):
                variables[its["variables"][0]] = at
                yield from self.block(its.get("first", []), variables)
                self.steps += 1
        elif kind == "while":
            while True:
                yield from self.block(its.get("first", []), variables)
                self.steps += 1
                if self.steps > MOST_STEPS or self.value(its["condition"], variables) <= 0:
                    break
                yield from self.block(its.get("second", []), variables)
        elif kind == "assign":
            new = {variable: self.value(number, variables) for variable, number, *_ in its.get("assign", [])}
            variables.update(new)
        elif kind != "require":
            yield from self.access(kind, its, variables)

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
            slots = self.skeleton["channels"][channel]["slots"]
            while self.skeleton["channels"][channel].get("data") and not self.is_free(end, counts[1] - 1 + slots):
                yield
        else:
            slot = counts[0] - 1
            self.answers.setdefault((channel, slot), int(slot < self.seed % 4))
            variables[its["assign"][0][0]] = self.answers[channel, slot]

    def check(self):
        """Raises NotEnding unless all processes end, and nothing is left."""
        running = [self.block(process["body"], {}) for process in self.skeleton["processes"]]
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
        for channel in self.skeleton["channels"]:
            counts = {self.ends[end][1] for side in ("producers", "consumers") for end in channel[side]}
            if channel.get("data") and channel["producers"] and channel["consumers"] and len(counts) > 1:
                raise NotEnding


def launches(skeleton, most):
    """Small values of the parameters."""
    bounds = []
    for parameter in skeleton["parameters"]:
        least = parameter["least"]
        bounds.append([value for step in (1, 64) for value in range(least, least + 6 * step, step) if value <= parameter.get("most", value)])
    chosen = itertools.product(*bounds) if len(bounds) < 3 else (
        [random.Random(seed * 31 + at).choice(values) for at, values in enumerate(bounds)] for seed in range(most))
    for values in itertools.islice(chosen, most):
        if all("below" not in its or value < values[its["below"]] for its, value in zip(skeleton["parameters"], values)):
            yield list(values)


def find_failure(skeleton, most=150):
    """The values of the parameters at which a run does not end, or None."""
    for seed, values in enumerate(launches(skeleton, most)):
        try:
            Run(skeleton, values, seed).check()
        except NotEnding:
            return values
    return None
