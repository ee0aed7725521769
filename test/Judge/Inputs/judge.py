# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SentryWard's verdict on one launch of a kernel: its PTX as rewrite.py leaves it, its manifest as launch.py binds it.

usage: judge.py PTX MANIFEST M N K [--batch L] [--multiprocessors N]

Runs in a Python that has SentryWard 0.1.1. Prints the whole answer; the status is 0 if the kernel is race-free.
"""

import argparse
import dataclasses
import json
import os
import resource
import sys
import tempfile

from launch import ASSUMPTIONS, Binding
from rewrite import rewrite

LIMIT = 900  # seconds


@dataclasses.dataclass
class Verdict:
    result: str
    clean: bool
    codes: list  # what the diagnostics are called, each once
    seconds: float  # of CPU
    answer: dict

    def __str__(self):
        return self.result + (f" ({', '.join(self.codes)})" if self.codes else "")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def judge(ptx, manifest, sizes, multiprocessors):
    import sentryward

    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, name) for name in ("kernel.ptx", "input.json")]
        with open(paths[0], "w", encoding="utf-8") as file:
            file.write(rewrite(ptx))
        with open(paths[1], "w", encoding="utf-8") as file:
            json.dump(Binding(manifest, sizes, multiprocessors).kernel_input(), file)
        start = cpu_seconds()
        answer = sentryward.verify(paths[0], input=paths[1], timeout_seconds=LIMIT)
        seconds = cpu_seconds() - start
    if answer.get("semantic_assumptions", ASSUMPTIONS) != ASSUMPTIONS:
        raise RuntimeError(f"SentryWard took for granted {answer['semantic_assumptions']} and was asked for {ASSUMPTIONS}")
    passed = all(answer["checks"].get(check) == "passed" for check in ("synchronization", "memory"))
    silent = answer.get("warning_count") == 0 and not answer["warnings"] and answer.get("warnings_complete", True)
    codes = list(dict.fromkeys(diagnostic["code"] for diagnostic in answer["diagnostics"]))
    return Verdict(answer["result"], answer["result"] == "race_free" and passed and silent, codes, seconds, answer)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ptx")
    parser.add_argument("manifest")
    for name in ("m", "n", "k"):
        parser.add_argument(name, type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--multiprocessors", type=int, default=148)
    options = parser.parse_args()
    with open(options.ptx, encoding="utf-8") as ptx, open(options.manifest, encoding="utf-8") as manifest:
        verdict = judge(ptx.read(), json.load(manifest), vars(options), options.multiprocessors)
    print(json.dumps(verdict.answer, indent=2))
    sys.exit(not verdict.clean)


if __name__ == "__main__":
    main()
