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

CAUGHT = ["parser", "verifier", "derivation", "comparison", "ptxas", "simulator", "numbers"]
HARMLESS = ["same code", "survived"]


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
    for key, verdict, _ in results:
        if key[0] == level:
            rows[operator_of(key[4])][verdict] += 1
    columns = [c for c in CAUGHT + HARMLESS + ["crashed"] if any(row[c] for row in rows.values())]
    lines = ["| operator | mutants | " + " | ".join(columns) + " |", "|---|" + "---|" * (len(columns) + 1)]
    for name, row in sorted(rows.items()) + [("all", sum(rows.values(), collections.Counter()))]:
        lines.append(f"| {name} | {sum(row.values())} | " + " | ".join(str(row[c] or "") for c in columns) + " |")
    return "\n".join(lines)


def summary(results, level, skipped):
    mine = [r for r in results if r[0][0] == level]
    killed = sum(verdict in CAUGHT for _, verdict, _ in mine)
    text = f"{level}: {killed} of {len(mine)} mutants killed, {100 * killed / max(1, len(mine)):.2f} %"
    return text + (f"; {skipped} faults that no text can express" if skipped else "")


def kinds(results):
    """Which rules of the simulator caught how many."""
    found = collections.Counter()
    for _, verdict, said in results:
        kind = re.match(r"\[([\w-]+)\]", said)
        if verdict == "simulator":
            found[kind[1] if kind else "other"] += 1
    return ", ".join(f"{kind} {count}" for kind, count in found.most_common())
