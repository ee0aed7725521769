#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What fp8-check-proof accepts, and what it rejects.

usage: certificates.py accept              the certificates of all kernels of cases.py that are proved
       certificates.py corrupt [--count=N]  N certificates with one field changed
       certificates.py forge               proofs of right kernels, given to wrong ones
Options: --opt=FP8-OPT --check=FP8-CHECK-PROOF --dir=DIR, --seed=N

A certificate that was changed is first checked as it is: its digest is wrong. Then it is sealed again, as one who forges it would do. It must be
rejected then, too, or say something that is true: the same as before, since only the way of the proof was changed, or something of a kernel that
ends, too. Of the latter, skeleton_run.py runs the changed skeleton at small sizes.
"""

import argparse
import collections
import concurrent.futures
import copy
import hashlib
import json
import os
import random
import re
import subprocess
import sys

import cases

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
import skeleton_run

# Kernels of each kind of statement and decision.
CORRUPTED = ("ring", "streams", "nest", "persistent", "tmem", "scales", "queue", "pair")
# What is there for messages only.
MESSAGES = re.compile(r"\.(name|site|role|ranks)(\[\])?$")


def seal(certificate):
    """Gives a certificate the digest of what it holds."""
    certificate.pop("digest", None)
    text = json.dumps(certificate, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    certificate["digest"] = hashlib.sha256(text.encode()).hexdigest()


class Tools:
    """The compiler and the checker, and a folder for what they exchange."""

    def __init__(self, options):
        self.options = options
        os.makedirs(options.dir, exist_ok=True)

    def path(self, name):
        return os.path.join(self.options.dir, name)

    def prove(self, case):
        """The certificate, or None, and the skeleton of a case."""
        source, output, verdicts = (self.path(case.name + ending) for ending in (".mlir", ".proof.json", ".json"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(case.text())
        for old in (output, verdicts):
            if os.path.exists(old):
                os.remove(old)
        subprocess.run([self.options.opt, source, f"--fp8-prove=chip={case.chip} json={verdicts} certificate={output}", "-o", os.devnull],
                       capture_output=True, check=False)
        certificate = None
        if os.path.exists(output):
            with open(output, encoding="utf-8") as file:
                certificate = json.load(file)
        with open(verdicts, encoding="utf-8") as file:
            return certificate, json.load(file)["kernels"][0]["skeleton"]

    def check(self, certificate, name):
        """Whether it is accepted, and what is said."""
        path = self.path(name + ".checked.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(certificate if isinstance(certificate, str) else json.dumps(certificate))
        done = subprocess.run([self.options.check, path], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode not in (0, 1):
            raise ValueError(f"{path}: fp8-check-proof ends with {done.returncode}: {done.stderr}")
        return done.returncode == 0, (done.stdout + done.stderr).strip()

    def map(self, function, items):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as executor:
            return list(executor.map(function, items))


def proved_cases():
    return [case for case in cases.load().values() if case.kind != "refused" and case.expected_proof == "proved"]


def accept(tools):
    def judge(case):
        certificate, _ = tools.prove(case)
        if certificate is None:
            return f"{case.name}: no certificate"
        accepted, said = tools.check(certificate, case.name)
        return None if accepted and f"kernel '{certificate['kernel']}'" in said else f"{case.name}: {said}"

    judged = tools.map(judge, proved_cases())
    problems = [problem for problem in judged if problem]
    print("\n".join(problems))
    print(f"{len(judged) - len(problems)} certificates accepted, {len(problems)} not")
    return bool(problems)


def fields(value, path=""):
    """Each place of a JSON value: its path with all numbers as one, the container, and the key."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        place = path + ("." + key if isinstance(value, dict) else "[]")
        yield place, value, key
        if isinstance(inner, (dict, list)):
            yield from fields(inner, place)


def mutate(value, generator):
    """Something else, or `del` for nothing."""
    kind = generator.randrange(8)
    if kind == 0:
        return del_
    if kind == 1:
        return generator.choice([None, "", [], {}, -1, 2**62, "wait", [0], 1.5])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + generator.choice([1, -1, 2, -value, 7])
    if isinstance(value, str):
        return generator.choice(["wait", "signal", "fork", "add", "constant", "jump", value + "x"])
    if isinstance(value, list) and value:
        changed = list(value)
        generator.shuffle(changed)
        return changed if kind > 4 and changed != value else value[:-1] if kind > 2 else value + value[-1:]
    return del_


del_ = object()


def corrupt_one(certificate, place, number, generator):
    """A copy with one field of that place changed; the path of the field."""
    changed = copy.deepcopy(certificate)
    found = [its for its in fields(changed) if its[0] == place]
    path, container, key = generator.choice(found)
    new = mutate(container[key], generator)
    if new is del_:
        del container[key]
    else:
        container[key] = new
    return changed, path


def judge_corrupted(tools, certificate, changed, path, name):
    """How the change was found, or why it does no harm; what is wrong, in capitals."""
    if changed == certificate:
        return "NO CHANGE"
    accepted, _ = tools.check(changed, name)
    if accepted:
        return "THE DIGEST IS RIGHT"
    seal(changed)
    accepted, _ = tools.check(changed, name)
    if not accepted:
        return "rejected"
    if MESSAGES.search(path):
        return "only messages differ"
    parts = ("kernel", "cluster", "skeleton", "assumptions", "version")
    if all(changed[part] == certificate[part] for part in parts):
        return "the same claim, proved in another way"
    failure = skeleton_run.find_failure(changed["skeleton"])
    return "the claim about another kernel, which ends" if failure is None else f"ACCEPTED, AND DOES NOT END AT {failure}"


def corrupt(tools):
    generator = random.Random(tools.options.seed)
    all_cases = cases.load()
    certificates = []
    for case in proved_cases():
        if case.is_base:
            certificates.append(tools.prove(case)[0])
    places = sorted({its[0] for certificate in certificates for its in fields(certificate) if its[0] != ".digest"})
    by_place = {place: [its for its in certificates if any(place == found[0] for found in fields(its))] for place in places}
    changes = []
    while len(changes) < tools.options.count:
        place = places[len(changes) % len(places)]
        certificate = generator.choice(by_place[place])
        changed, path = corrupt_one(certificate, place, len(changes), generator)
        if changed != certificate:
            changes.append((certificate, changed, path, f"corrupt{len(changes)}"))
    results = tools.map(lambda change: judge_corrupted(tools, *change), changes)
    for (_, _, path, name), result in zip(changes, results):
        if result.isupper() or result.startswith("ACCEPTED"):
            print(f"{name}: {path}: {result}")
    for result, count in sorted(collections.Counter(results).items()):
        print(f"{count} {result}")
    wrong = sum(result.isupper() or result.startswith("ACCEPTED") for result in results)
    print(f"{len(places)} fields, {len(results)} changes, {wrong} accepted that should not be")
    return bool(wrong)


def transplant(certificate, skeleton):
    """The certificate with another skeleton."""
    forged = certificate | {"skeleton": skeleton}
    seal(forged)
    return forged


def make_spinning(certificate):
    """A certificate for a process that signals for ever if a parameter is positive: a loop whose rank stays as it is."""
    program = [{"kind": "branch", "site": 0, "condition": 2, "to": 4}, {"kind": "wait", "site": 0, "end": 0},
               {"kind": "signal", "site": 0, "end": 0}, {"kind": "jump", "site": 0, "to": 0}]
    skeleton = {"parameters": [{"name": "n", "scope": 0, "least": 0}], "names": [], "coupled": False,
                "expressions": [["constant", 0], ["parameter", 0], ["less", 0, 1]],
                "ends": [{"name": "end", "channel": 0, "fills": True}],
                "channels": [{"name": "ring", "slots": 1, "data": False, "site": 0}],
                "processes": [{"name": "fill", "site": 0, "program": program}]}
    nodes = [{"kind": "fork", "sum": 2, "yes": 1, "no": 3}, {"kind": "loop", "rank": 2, "turn": 2, "after": 4, "keeps": []},
             {"kind": "back", "moves": [[0, 3]], "to": 1}, {"kind": "end", "moves": [[0, 1]]}, {"kind": "end", "moves": [[0, 1]]}]
    sums = [["parameter", 0], ["constant", -1], ["add", 0, 1]]
    spinning = dict(certificate, kernel="spin", cluster=1, skeleton=skeleton, witness={"expressions": sums, "nodes": nodes})
    seal(spinning)
    return spinning


def tricks(certificate):
    """Certificates that say something false, by what they rely on."""
    spinning = make_spinning(certificate)

    def make(change):
        forged = copy.deepcopy(spinning)
        change(forged["skeleton"], forged["witness"])
        seal(forged)
        return forged

    def divide_by(number):
        def change(_, witness):
            # What a quotient that does not exist would be contradicts itself, so that ranks that grow would fall.
            witness["expressions"] += [["constant", number], ["divide", 0, 3], ["variable", 3], ["multiply", 0, 5], ["variable", 5], ["multiply", 0, 7]]
            witness["nodes"] = [{"kind": "fork", "sum": 2, "yes": 1, "no": 2}, {"kind": "fork", "sum": 4, "yes": 3, "no": 5},
                                {"kind": "end", "moves": [[0, 1]]},
                                {"kind": "loop", "rank": 6, "turn": 4, "keeps": []}, {"kind": "back", "moves": [[0, 3]], "to": 3},
                                {"kind": "loop", "rank": 8, "turn": 6, "keeps": []}, {"kind": "back", "moves": [[0, 3]], "to": 5}]
        return change

    def wait_at(channel, fills):
        def change(skeleton, witness):
            # Waits twice, and nobody ever signals.
            skeleton["ends"] = [{"name": "end", "channel": channel, "fills": fills}]
            skeleton["processes"][0]["program"] = [{"kind": "wait", "site": 0, "end": 0}] * 2
            witness["nodes"] = [{"kind": "end", "moves": [[0, 2]]}]
        return change

    def change_slots(number):
        def change(skeleton, witness):
            wait_at(0, True)(skeleton, witness)
            skeleton["channels"][0]["slots"] = number
        return change

    return {"a quotient by 0": make(divide_by(0)), "a quotient by -2": make(divide_by(-2)), "a channel without producers": make(wait_at(0, False)),
            "a channel that is not there": make(wait_at(7, False)), "an end without a channel": make(wait_at(-1, False)),
            "slots that wrap": make(change_slots(2 - 2**32)), "a number of more than 64 bits": make(change_slots(2**64 - 1))}


def forge(tools):
    """Gives each kernel that does not end the proof of its base and of its base's other children."""
    every = cases.load()
    wrong = [case for case in every.values() if case.is_wrong and case.expected_proof == "refuted" and not case.is_base]
    right = {case.name: case for case in proved_cases()}
    proofs = dict(zip(right, tools.map(lambda case: tools.prove(case)[0], right.values())))

    def judge(case):
        _, skeleton = tools.prove(case)
        siblings = [its for name, its in proofs.items()
                    if its and (name + ".mlir" == case.base or not right[name].is_base and right[name].base == case.base)]
        accepted = [its for its in siblings if tools.check(transplant(its, skeleton), "forged-" + case.name)[0]]
        return len(siblings), len(accepted), case.name

    results = tools.map(judge, wrong)
    for _, accepted, name in results:
        if accepted:
            print(f"{name}: {accepted} forged certificates are accepted")
    print(f"{len(results)} wrong kernels, {sum(its[0] for its in results)} forged certificates, {sum(its[1] for its in results)} accepted")
    accepted, said = tools.check(make_spinning(next(filter(None, proofs.values()))), "spin")
    print(f"a process that never ends: {said}")
    fooled = 0
    for name, forged in tricks(next(filter(None, proofs.values()))).items():
        was_accepted, said = tools.check(forged, "trick")
        fooled += was_accepted
        print(f"{name}: {said}")
    return accepted or fooled or any(its[1] for its in results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["accept", "corrupt", "forge"])
    parser.add_argument("--opt", default="fp8-opt")
    parser.add_argument("--check", default="fp8-check-proof")
    parser.add_argument("--dir", required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    return {"accept": accept, "corrupt": corrupt, "forge": forge}[options.action](Tools(options))


if __name__ == "__main__":
    sys.exit(main())
