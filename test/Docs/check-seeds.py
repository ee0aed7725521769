#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the table of docs/evidence/Seeds.md to the code. Every item of the seeds has its
row; every op and type of a row stands in the IR of the row's kernel, which
computes right numbers on the simulator; and what the last cell says is tried:

  no-op in KERNEL               each op of the form, lowered to nothing, makes
                                the kernel fail
  follows in KERNEL, VARIATION: NUMBER a to b
                                a derived number follows a parameter
  refused in KERNEL, VARIATION: `error`
                                a mistake is not compiled

usage: check-seeds.py BINARIES WORK_DIR FILE [--rows 1,2,...] [--schedules N]
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys

ITEMS = {
    "MmaWarp": "opc mma_threads epilogue_threads tmem output_pipeline dealloc_barrier Dealloc Pipeline Sync Tmem __init__ "
               "create per_k_stage acquire_k_stage_linear release",
    "EpilogueWarp": "opc mma_threads epilogue_threads tmem output_pipeline dealloc_barrier Dealloc Pipeline Sync Tmem "
                    "__init__ create per_k_stage acquire_k_stage_linear release",
    "EpilogueKContext": "origin input_origin opc num_input_stages output_pipeline_ptr input_pipeline_ptr output_stage "
                        "input_stage_index CombinedStageType cta_group InputPipelineType num_output_stages "
                        "OutputPipelineType OutputStageType __init__ __enter__ __exit__",
    "EpiLoadPipeline": "num_stages pipeline __init__ init_barriers produce acquire_producer wait_consumer producer_mbar "
                       "producer_step consume consume_explicit acquire_consumer wait_producer consumer_stage consumer_step",
    "OutputTilePipeline": "opc pipeline tmem mma_complete_mask BarrierArray cta_group num_stages Pipeline Stage "
                          "stage_stride_cols Tmem __init__ init_barriers acquire_for_mma release_from_mma "
                          "acquire_for_epilogue release_from_epilogue producer consumer acquire_mma_linear "
                          "acquire_epilogue_linear get_pipeline per_k per_k_epilogue",
}
# Rows of these documents are about the ring that has that tile.
RINGS = {"EpiLoadPipeline": "c"}
EXTENTS = "--m=130 --n=192 --k=656 --multiprocessors=2"
# What is changed in a kernel's text, all occurrences.
VARIATIONS = {
    "2 accumulators": [("!fp8.output_pipeline<3, ", "!fp8.output_pipeline<2, ")],
    "3 accumulators": [("!fp8.output_pipeline<2, ", "!fp8.output_pipeline<3, ")],
    "32 columns": [("128x64xf32", "128x32xf32"), ("64x128xf8E4M3FN", "32x128xf8E4M3FN"), ("constant 64 :", "constant 32 :")],
    "3 slots of scales": [("!fp8.pipeline<4, s:", "!fp8.pipeline<3, s:")],
    "3 slots of C": [("!fp8.pipeline<2, c:", "!fp8.pipeline<3, c:")],
    "4 epilogue warps": [("warps(8)", "warps(4)"), (", 8>", ", 4>"), ("constant 352", "constant 224")],
    "a CTA pair": [("outs(%d : memref<?x?xbf16>)",
                    "outs(%d : memref<?x?xbf16>) config<tile = 256 x 64 x 128, cta_group = 2>")],
    "2 MMA warps": [('"mma" warps(1)', '"mma" warps(2)')],
    "the old warps": [("scf.yield %w5, %s5, %f5", "scf.yield %wk, %s5, %f5")],
    "the old scales": [("scf.yield %w5, %s5, %f5", "scf.yield %w5, %sk, %f5")],
    "128 arrivals on the ring of C": [("consumer_arrivals = 4} : !fp8.producer", "consumer_arrivals = 128} : !fp8.producer")],
    "128 arrivals on the accumulators": [("consumer_arrivals = 4} : !acc", "consumer_arrivals = 128} : !acc")],
}

# An op of the form: `op` of `type` (or of ring `name`) in `scope` of `type`.
OF = r"(?: of (?:`(![\w.]+)`|ring `(\w+)`))?"
ELEMENT = re.compile(r"`((?:fp8|nvvm)\.[\w.]+)`" + OF + r"(?: in `(fp8\.\w+)`" + OF + ")?")
CHECK = re.compile(r"(no-op|follows|refused) in (.*)$")
LINK = re.compile(r"\[[^\]]+\]\(([^)]+)\)")
ROW = re.compile(r"^\| (\d+) \| `(\w+)` \| (.*) \| (.*) \| (.*) \|$")

# A kernel, perhaps varied, perhaps with an op lowered to nothing: (op, of, part, part-of).
Variant = collections.namedtuple("Variant", "kernel variation no_op", defaults=(None, None))
Outcome = collections.namedtuple("Outcome", "error ir ptx report run log", defaults=("", "", "", None, None, ""))
Row = collections.namedtuple("Row", "line number document item form checks")


def type_text(kind, ring, default_ring):
    """A regular expression that a type of the op's must match."""
    ring = ring or default_ring
    slots = "!fp8.pipeline<[0-9]+,.%s:" % ring if ring else ""
    return "%s<%s" % (kind, slots) if kind else slots


def no_ops(row):
    """The ops that the form names, as fp8-test-opt's pass selects them."""
    for op, kind, ring, scope, scope_kind, scope_ring in ELEMENT.findall(row.form):
        default = RINGS.get(row.document)
        text = type_text(kind, ring, default)
        if scope:
            yield scope, type_text(scope_kind, scope_ring, default), op, "" if op.startswith("nvvm") else text
        else:
            yield op, text, "", ""


class Lab:
    """Compiles and runs variants of kernels."""

    def __init__(self, binaries, directory, schedules):
        self.binaries, self.directory, self.schedules = binaries, directory, schedules
        os.makedirs(directory, exist_ok=True)

    def tool(self, name, *arguments):
        command = [os.path.join(self.binaries, name), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def run(self, numbered):
        number, variant = numbered
        path = os.path.join(self.directory, "%d.mlir" % number)
        with open(variant.kernel, encoding="utf-8") as file:
            text = file.read()
        for old, new in VARIATIONS.get(variant.variation, []):
            if old not in text:
                return Outcome(error="the kernel has no '%s' to vary" % old)
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        passes = ["--fp8-gemm-to-ptx=chip=sm_100a"]
        if variant.no_op:
            options = zip(("op", "of", "part", "part-of"), variant.no_op)
            passes.insert(0, "--test-fp8-no-op=" + " ".join("%s=%s" % o for o in options if o[1]))
        compiled = self.tool("fp8-test-opt", path, *passes, "--emit=ptx", "-o", path + ".ptx")
        if compiled.returncode:
            return Outcome(error=compiled.stderr)
        run = self.tool("fp8-run", path + ".ptx", "--backend=sim", *EXTENTS.split(), "--barriers", "--max-errors=1",
                        "--step-limit=4000000", "--schedules=%d" % self.schedules)
        result = json.loads((run.stdout.splitlines() or ["{}"])[-1])
        if variant.no_op:
            return Outcome(run=result, log=run.stderr)
        ir = "".join(self.tool("fp8-opt", path, "--fp8-structure-gemm", *passes).stdout
                     for passes in ([], ["--inline", "--fp8-flatten-scopes"]))
        report = json.loads(self.tool("fp8-opt", path, "--fp8-report=format=json", "-o", os.devnull).stdout)[0]
        with open(path + ".ptx", encoding="utf-8") as file:
            return Outcome(ir=ir, ptx=file.read(), report=report, run=result, log=run.stderr)


def numbers(outcome):
    """What may follow a parameter: derived in the report, in the PTX, or observed."""
    rings = {ring["name"]: ring for ring in outcome.report["rings"]}
    accumulators = rings["output pipeline"]
    barriers = {barrier["name"]: barrier for barrier in accumulators["barriers"]}
    full = barriers["full"]["offset"]
    found = {
        "accumulators": accumulators["stages"],
        "columns": accumulators["tmem_columns"],
        "barriers": barriers["full"]["depth"] + barriers["empty"]["depth"],
        "deallocation": barriers["deallocation"]["arrivals"],
        "hand-off": barriers["hand-off (named)"]["arrivals"],
        "threads": outcome.report["threads"],
        "cta_group": int(re.search(r"tcgen05\.alloc\.cta_group::(\d)", outcome.ptx)[1]),
        "CTAs told": sum(b["symbol_offset"] == full and b["phases"] > 0 for b in outcome.run["barriers"]),
    }
    found.update(("slots of " + name.split()[-1], ring["stages"]) for name, ring in rings.items() if ring is not accumulators)
    return found


def why(outcome):
    """How a run failed, in a few words; None if it did not."""
    if outcome.run.get("ok"):
        return None
    rule = re.search(r"error: .*\[([\w-]+)\]$", outcome.log, re.M)
    if rule:
        return rule[1]
    return "wrong numbers" if outcome.run.get("wrong") else "no result"


def read_rows(path, report):
    document, rows = None, []
    with open(path, encoding="utf-8") as file:
        for line, text in enumerate(file, 1):
            if text.startswith("## "):
                document = text[3:].strip()
            match = ROW.match(text)
            if match:
                number, item, form, _, checks = match.groups()
                rows.append(Row(line, int(number), document, item, form, tuple(checks.split("; "))))
            elif text.startswith("| ") and not text.startswith("| # "):
                report(line, "a row has a number, an item in backticks, a form, a difference and a check")
    expected = [(document, item) for document, items in ITEMS.items() for item in items.split()]
    found = [(row.document, row.item) for row in rows]
    for document, item in expected:
        if found.count((document, item)) != 1:
            report(0, "%s.%s has %d rows" % (document, item, found.count((document, item))))
    for place, row in enumerate(rows, 1):
        if row.number != place or (row.document, row.item) not in expected:
            report(row.line, "row %d is %s.%s, which is no item of the seeds, or out of place"
                   % (row.number, row.document, row.item))
    return rows


class Checker:
    def __init__(self, path, lab):
        self.path, self.lab, self.errors = path, lab, []
        self.outcomes, self.caught = {}, collections.Counter()

    def report(self, line, message):
        self.errors.append("%s:%d: error: %s" % (self.path, line, message))

    def parse(self, row, check):
        """(kind, kernels, variation, what is expected) of a check; None if it is not understood."""
        match = CHECK.match(check)
        kernels = [os.path.normpath(os.path.join(os.path.dirname(self.path), k)) for k in LINK.findall(check)]
        missing = [kernel for kernel in kernels if not os.path.isfile(kernel)]
        if not match or not kernels or missing:
            self.report(row.line, "there is no file %s" % missing[0] if missing else "not a check: '%s'" % check)
            return None
        variation, _, expected = match[2].rpartition("), ")[2].partition(": ")
        if match[1] != "no-op" and variation not in VARIATIONS:
            self.report(row.line, "there is no variation '%s'" % variation)
            return None
        return match[1], kernels, variation, expected

    def variants(self, row, check):
        kind, kernels, variation, _ = check
        found = [Variant(kernel) for kernel in kernels]
        if kind == "no-op":
            return found + [Variant(k, None, op) for k in kernels for op in no_ops(row)]
        return found + [Variant(kernels[0], variation)]

    def check_right(self, row, variant):
        outcome = self.outcomes[variant]
        if outcome.error or why(outcome):
            self.report(row.line, "%s does not compute right numbers%s: %s"
                        % (variant.kernel, " with " + variant.variation if variant.variation else "", outcome.error or why(outcome)))
            return False
        return True

    def check_no_op(self, row, kernels):
        ops = list(no_ops(row))
        if not ops:
            self.report(row.line, "no op to leave out in '%s'" % row.form)
        for op in ops:
            outcomes = [self.outcomes[Variant(kernel, None, op)] for kernel in kernels]
            name = " ".join(filter(None, op))
            stands = [o for o in outcomes if "that it could leave out" not in o.error]
            if not stands:
                self.report(row.line, "no kernel of this row has the op %s" % name)
            for outcome in stands:
                if outcome.error:
                    self.report(row.line, "without %s nothing is compiled: %s" % (name, outcome.error))
                elif why(outcome) is None:
                    self.report(row.line, "without %s the numbers are still right" % name)

    def check_follows(self, row, kernel, variation, expected):
        match = re.fullmatch(r"(.+) (\d+) to (\d+)", expected)
        if not match or match[2] == match[3]:
            self.report(row.line, "expected a number, 'a to b', but got '%s'" % expected)
            return
        found = [numbers(self.outcomes[v]).get(match[1]) for v in (Variant(kernel), Variant(kernel, variation))]
        if found != [int(match[2]), int(match[3])]:
            self.report(row.line, "%s: %s is %s and %s" % (expected, match[1], *found))

    def check_form(self, row, kernels):
        """What the form names stands in the IR of a kernel that was run."""
        text = "\n".join(self.outcomes[Variant(kernel)].ir for kernel in kernels)
        for name in re.findall(r"`(!?[\w.]+)`", row.form):
            if not name.startswith("nvvm.") and not re.search(r"(?<![\w.])%s\b" % re.escape(name), text):
                self.report(row.line, "no kernel of this row has %s" % name)

    def check_row(self, row, checks):
        for kind, kernels, variation, expected in checks:
            if not all([self.check_right(row, Variant(kernel)) for kernel in kernels]):
                continue
            self.check_form(row, kernels)
            if kind == "no-op":
                self.check_no_op(row, kernels)
            elif kind == "refused":
                error = self.outcomes[Variant(kernels[0], variation)].error
                if expected.strip("`") not in error or not expected.startswith("`error: "):
                    self.report(row.line, "refused otherwise, or not at all: %s" % error.partition("\n")[0])
            elif self.check_right(row, Variant(kernels[0], variation)):
                self.check_follows(row, kernels[0], variation, expected)

    def check(self, only):
        rows = read_rows(self.path, self.report)
        rows = [row for row in rows if not only or row.number in only]
        checks = {row: [c for c in (self.parse(row, text) for text in row.checks) if c] for row in rows}
        variants = list(dict.fromkeys(v for row in rows for check in checks[row] for v in self.variants(row, check)))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            self.outcomes = dict(zip(variants, pool.map(self.lab.run, enumerate(variants))))
        for row in rows:
            self.check_row(row, checks[row])
        return self.summary([check[0] for row in rows for check in checks[row]], len(rows))

    def summary(self, kinds, count):
        caught = collections.Counter(why(o) for v, o in self.outcomes.items() if v.no_op and not o.error)
        lines = ["%d rows: %s" % (count, ", ".join("%d %s" % (n, k) for k, n in sorted(collections.Counter(kinds).items()))),
                 "%d ops left out: %s" % (sum(caught.values()), ", ".join("%d %s" % (n, k) for k, n in caught.most_common()))]
        return "\n".join(self.errors + lines + ["%d errors" % len(self.errors)])


def main():
    parser = argparse.ArgumentParser()
    for name in ("binaries", "directory", "file"):
        parser.add_argument(name)
    parser.add_argument("--rows", type=lambda text: {int(n) for n in text.split(",")}, default=set())
    parser.add_argument("--schedules", type=int, default=3)
    options = parser.parse_args()
    checker = Checker(options.file, Lab(options.binaries, options.directory, options.schedules))
    print(checker.check(options.rows))
    return 1 if checker.errors else 0


if __name__ == "__main__":
    sys.exit(main())
