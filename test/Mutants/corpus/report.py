# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of who caught what, and the survivors that are argued for.

survivors.txt: a paragraph for each argument, [name] and its text, and under it the mutants it speaks for, one pattern a line:
  level | kernel | op | which | what
with shell wildcards, and alternatives by commas. `which` counts the ops of a kind in the order of the text; in PTX it says as well between
which instructions of the protocol one stands, as "4: relinquish > shared load".
"""

import collections
import fnmatch
import re
import typing

import proof

BEFORE_PTX = ["parser", "verifier", "derivation", "proof"]
CAUGHT = [*BEFORE_PTX, "comparison", "ptxas", "simulator", "numbers"]
HARMLESS = ["same code", "survived"]
WRONG = ["false word", "crashed"]


class Result(typing.NamedTuple):
    key: tuple  # level, kernel, op, which of its kind, what was done
    verdict: str  # who caught it
    said: str
    proved: str = ""  # what the proof says of a mutant of the dialect that lowers


def load_arguments(path):
    arguments, name = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            head = re.match(r"\[(.+)\]$", line)
            if head:
                name = head[1]
                arguments[name] = {"text": [], "patterns": []}
            elif line.count(" | ") == 4:
                arguments[name]["patterns"].append([field.strip() for field in line.split(" | ")])
            elif name and line.strip() and not line.startswith("#"):
                arguments[name]["text"].append(line.strip())
    return arguments


def matches(pattern, key):
    fields = [str(field) for field in key]
    return all(any(fnmatch.fnmatchcase(field, one.strip()) for one in wanted.split(",")) for wanted, field in zip(pattern, fields))


def argument_for(arguments, key):
    return next((name for name, a in arguments.items() if any(matches(p, key) for p in a["patterns"])), None)


def operator_of(what):
    return re.sub(r" (of )?\d.*", "", what)


def table(results, level):
    """Operator by who caught it."""
    rows = collections.defaultdict(collections.Counter)
    for key, verdict, *_ in results:
        if key[0] == level:
            rows[operator_of(key[4])][verdict] += 1
    columns = [c for c in CAUGHT + HARMLESS + WRONG if any(row[c] for row in rows.values())]
    lines = ["| operator | mutants | " + " | ".join(columns) + " |", "|---|" + "---|" * (len(columns) + 1)]
    for name, row in sorted(rows.items()) + [("all", sum(rows.values(), collections.Counter()))]:
        lines.append(f"| {name} | {sum(row.values())} | " + " | ".join(str(row[c] or "") for c in columns) + " |")
    return "\n".join(lines)


def summary(results, level, skipped):
    mine = [result for result in results if result.key[0] == level]
    killed, early = (sum(result.verdict in stages for result in mine) for stages in (CAUGHT, BEFORE_PTX))
    percent = 100 / max(1, len(mine))
    text = f"{level}: {killed} of {len(mine)} mutants killed, {percent * killed:.2f} %"
    text += f"; {early} before any PTX is made, {percent * early:.2f} %" if early else ""
    return text + (f"; {skipped} faults that no text can express" if skipped else "")


def confirmations(results):
    """Where refuted mutants go wrong on the simulator."""
    refuted = [result.said.startswith(proof.ELSEWHERE) for result in results if result.verdict == "proof"]
    return f"refuted: {refuted.count(False)} go wrong at the launch of the refutation, {refuted.count(True)} at another"


def kinds(results):
    """Which rules of the simulator caught how many."""
    found = collections.Counter()
    for _, verdict, said, _ in results:
        kind = re.match(r"\[([\w-]+)\]", said)
        if verdict == "simulator":
            found[kind[1] if kind else "other"] += 1
    return ", ".join(f"{kind} {count}" for kind, count in found.most_common())
