#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts tables into docs/evidence/ForeignKernels.md.

usage: renew_page.py PAGE [--table FILE] [--faults FILE --log FILE] [--silicon RESULTS.json]

FILEs are what run.py, faults.py and silicon.py wrote. Rows of run.py's table take the places of those of the same kernels; the page keeps the
others.
"""

import argparse
import collections
import json
import re


def between(page, name, text):
    pattern = re.compile(rf"(<!-- {re.escape(name)}: begin -->\n).*?(<!-- {re.escape(name)}: end -->)", re.DOTALL)
    return pattern.sub(lambda found: found[1] + text.strip("\n") + "\n" + found[2], page)


def sections(table):
    """{project: (heading, head of the table, {kernel: row})}. A heading ends with a version."""
    found = {}
    for section in re.split(r"^(?=### )", table, flags=re.MULTILINE)[1:]:
        lines = section.strip().split("\n")
        project = re.match(r"### (DeepGEMM|CUTLASS|Triton|FlashInfer|FlashAttention|FlashMLA|ThunderKittens|TileLang|Marlin|CUB|CUDA C\+\+|CUDA samples|CuTe DSL)", lines[0])[1]
        rows = [line for line in lines[4:] if line.startswith("|")]
        found[project] = (lines[0], lines[2:4], {row.split("|")[1].strip(): row for row in rows})
    return found


def merged(page, table):
    old = sections(re.search(r"<!-- table of run.py: begin -->(.*?)<!-- table of run.py: end -->", page, re.DOTALL)[1])
    for project, (heading, head, rows) in sections(table).items():
        before = old.get(project, (heading, head, {}))
        old[project] = (heading, head, {**before[2], **rows})
    return "\n\n".join("\n".join([heading, "", *head, *rows.values()]) for heading, head, rows in old.values())


def survivors(results):
    """Each argument, and how many faults it is for."""
    counts = collections.Counter((r["fault"], r["argument"] or "**no argument**") for r in results if r["verdict"] == "survived")
    text = "| fault | survivors | why |\n|---|---|---|\n"
    return text + "".join(f"| {fault} | {count} | {reason} |\n" for (fault, reason), count in sorted(counts.items()))


def silicon(results):
    text = f"On {next(each['device'] for each in results.values() if 'device' in each)}:\n\n| kernel | elements | other bits | relative error |\n|---|---|---|---|\n"
    for name, result in results.items():
        compared = result.get("compared", [])
        errors = [each["relative_error"] for each in compared if each["relative_error"] is not None]
        text += (f"| {name} | {sum(each['elements'] for each in compared)} | {sum(each['differ'] for each in compared)} | "
                 f"{f'{max(errors):.2g}' if errors else 'by its own check'} |\n")
    return text


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    for name in ("--table", "--faults", "--log", "--silicon"):
        parser.add_argument(name)
    options = parser.parse_args()
    page = read(options.page)
    if options.table:
        page = between(page, "table of run.py", merged(page, read(options.table)))
    if options.faults:
        page = between(page, "table of faults.py", read(options.faults))
    if options.log:
        page = between(page, "survivors", survivors(json.loads(read(options.log))))
    if options.silicon:
        page = between(page, "H200", silicon(json.loads(read(options.silicon))))
    with open(options.page, "w", encoding="utf-8") as file:
        file.write(page)


main()
