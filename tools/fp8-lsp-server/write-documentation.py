#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the summaries and descriptions of the dialect's ops, types and attributes as a table in C++, one entry a name.

usage: write-documentation.py RECORDS OUT

RECORDS is what `llvm-tblgen --dump-json` makes of the dialect's TableGen files.
"""

import json
import sys
import textwrap

DIALECT = "Fp8_Dialect"


def get_names(records):
    """Yields the name as MLIR's text spells it, and the record."""
    for names, owner, prefix, key in (("Op", "opDialect", "", "opName"), ("TypeDef", "dialect", "!", "mnemonic"),
                                      ("AttrDef", "dialect", "#", "mnemonic")):
        for name in records["!instanceof"][names]:
            record = records[name]
            if record[owner]["def"] == DIALECT and record[key]:
                yield prefix + "fp8." + record[key], record


def get_markdown(record):
    summary = record["summary"].strip()
    description = textwrap.dedent(record["description"] or "").strip()
    return "\n\n".join(part for part in (summary[:1].upper() + summary[1:], description) if part)


def main():
    source, out = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        records = json.load(file)
    with open(out, "w", encoding="utf-8") as file:
        for name, record in sorted(get_names(records)):
            file.write('{"%s", R"markdown(%s)markdown"},\n' % (name, get_markdown(record)))


main()
