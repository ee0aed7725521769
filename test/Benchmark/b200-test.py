# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the first hour on a Blackwell GPU, without a GPU: what an outcome means, who waits for whom, how sums are explained,
what is made of samples, and that a run reports whatever happens to a step."""

import collections
import contextlib
import io
import json
import math
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
BENCHMARK = os.path.join(HERE, "..", "..", "benchmark")
for folder in ("gpu", "b200"):
    sys.path.insert(0, os.path.join(BENCHMARK, folder))
import expectations
import figures
import mma_probes
import page
import parts
import process
import ptx
import results
import run
import steps
import sums
import tails
import verdict
import waits


def recorded():
    with open(os.path.join(HERE, "Inputs", "hang-h200.txt"), encoding="utf-8") as file:
        return file.read()


def outcome(status, err="", out="", **more):
    return process.Outcome(["fp8-run"], status, out, err, 1.0, **more)


class Verdicts(unittest.TestCase):
    def expect(self, name, *arguments, **more):
        found = verdict.judge(outcome(*arguments, **more))
        self.assertEqual(found.name, name)
        return found

    def test_right(self):
        self.expect(verdict.PASSED, 0, "", '{"ok":true,"wrong":0}')

    def test_no_result_is_no_pass(self):
        self.expect(verdict.CRASHED, 0, "", "")
        self.expect(verdict.CRASHED, 0, "", '{"ok":false}')
        self.expect(verdict.CRASHED, -6)

    def test_wrong(self):
        found = self.expect(verdict.WRONG, 1, "k.ptx: error: wrong result: 32 of 64 elements wrong", '{"ok":false,"elements":64,"wrong":32,"unwritten":1,"rel_err":2.0}')
        self.assertIn("32 of 64 elements are wrong, 1 of them not written", found.text)
        self.expect(verdict.OUTSIDE, 1, "k.ptx: error: the kernel wrote outside of 'd', 0 bytes after its end", '{"ok":false}')
        self.expect(verdict.OUTSIDE, 1, "k.ptx: error: the kernel changed 'a', which the manifest says it only reads", '{"ok":false}')

    def test_errors_by_their_numbers(self):
        for number, name in ((700, verdict.FAULT), (719, verdict.FAULT), (715, verdict.TRAP), (218, verdict.REFUSED), (209, verdict.REFUSED), (2, verdict.MACHINE), (100, verdict.NO_GPU)):
            self.expect(name, 1, "fp8-run: error: kernel 'k' failed: cuEventQuery fails with CUDA_ERROR_SOME (%d, text)" % number, '{"ok":false}')

    def test_no_driver(self):
        self.expect(verdict.NO_GPU, 1, "fp8-run: error: no CUDA driver: cannot load libcuda.so.1 (...)", '{"ok":false}')

    def test_hangs(self):
        self.expect(verdict.HANG, 3, "fp8-run: error: kernel 'k' (grid 1x1x1) has not ended after 20 s", '{"ok":false}')
        self.expect(verdict.LATE, None, "", "", late=True)
        self.assertIn("stuck", self.expect(verdict.LATE, None, "", "", late=True, stuck=True).text)
        self.assertEqual(len(self.expect(verdict.HANG, 1, recorded(), '{"ok":false}').waits), 2)

    def test_every_verdict_has_a_meaning(self):
        names = [value for key, value in vars(verdict).items() if key.isupper() and isinstance(value, str)]
        self.assertEqual(set(names), set(verdict.MEANINGS))


class Waits(unittest.TestCase):
    def test_recorded(self):
        first, second = waits.find(recorded() + recorded())  # told twice, in the error and in the line of JSON
        self.assertEqual(first[:9], ("load", 8, (0, 0, 0), 6, 2.0, "empty", "pipeline a, b, a_scale, b_scale", 0, 0))
        self.assertEqual(first.needs, "8 arrivals of 'multiply' (one lane of each warp, after its reads)")
        self.assertEqual((second.role, second.cta, second.warps, second.barrier, second.parity), ("multiply", (2, 0, 0), 48, "full", 1))

    def test_explained(self):
        text = waits.explain(waits.find(recorded()))
        self.assertIn("load, warp 8 of CTA (0, 0, 0) waits for stage 0 of 'pipeline a, b, a_scale, b_scale' to be empty (parity 0), which needs 8 arrivals", text)
        self.assertNotIn("does not wait itself", text)
        alone = waits.explain(waits.find(recorded())[:1])
        self.assertIn("'multiply' does not wait itself", alone)
        self.assertIn("told nothing", waits.explain([]))


class Sums(unittest.TestCase):
    """The model in whole numbers against sums that are worked out by hand or by fractions."""

    RULE = sums.Rule(25, 23, True)

    def test_codes(self):
        value = lambda name, code: (lambda parts: parts and parts[0] * 2.0 ** parts[1])(sums.TYPES[name].parts(code))
        self.assertEqual([value("e4m3", code) for code in (0x7e, 0x38, 0xb8, 1, 0, 0x80)], [448, 1, -1, 2.0 ** -9, None, None])
        self.assertEqual([value("e5m2", code) for code in (0x7b, 1)], [57344, 2.0 ** -16])
        self.assertEqual([value("f16", 0x3c01), value("bf16", 0xc000)], [1 + 2.0 ** -10, -2])
        self.assertEqual(value("tf32", 0x3f801fff), 1)  # the last 13 bits do not count
        for name, form in (("f16", "<e"), ("f32", "<f")):
            drawn, kind = random.Random(1), sums.TYPES[name]
            for _ in range(200):
                code = drawn.getrandbits(kind.bits)
                known = struct.unpack(form, code.to_bytes(kind.bits // 8, "little"))[0]
                if math.isfinite(known):
                    self.assertEqual(value(name, code) or 0, known)

    def test_terms_are_cut_off(self):
        one, tiny = (1, 0, 0), (1, -26, -26)
        self.assertEqual(sums.total([one, tiny, tiny], self.RULE), 0x3f800000)
        self.assertEqual(sums.total([one, (1, -25, -25)] + [(1, -25, -25)] * 3, self.RULE), 0x3f800001)  # 4 * 2^-25 is a bit of the result
        self.assertEqual(sums.total([one, (-1, -26, -26)], self.RULE), 0x3f800000)                       # toward zero, not down
        self.assertEqual(sums.total([one, (-1, -25, -25)], self.RULE), 0x3f7fffff)
        # The largest exponent is the stored one, though a product of 1.5 by 1.5 has a bit more.
        self.assertEqual(sums.total([(9, -2, 0)] + [(1, -26, -26)] * 16, self.RULE), struct.unpack("<I", struct.pack("<f", 2.25))[0])

    def test_rounding(self):
        half = [(1, 0, 0), (1, -24, -24)]
        self.assertEqual(sums.total(half, sums.Rule(None, 23, False)), 0x3f800000)
        self.assertEqual(sums.total(half + [(1, -30, -30)], sums.Rule(None, 23, False)), 0x3f800001)
        self.assertEqual(sums.total(half + [(1, -30, -30)], sums.Rule(None, 23, True)), 0x3f800000)
        for number in ((0x3fff, -13, 0), (0x7fff, -14, 0)):
            self.assertEqual(sums.total([number], sums.Rule(25, 13, True)), 0x3ffffc00)
        self.assertEqual(sums.total([(1, -149, -149), (1, -150, -150)], sums.Rule(None, 23, True)), 1)  # subnormal
        self.assertEqual([sums.total([(1, 0, 0), (-1, 0, 0)], self.RULE), sums.total([], self.RULE)], [0, 0])

    def test_explained(self):
        cases = [sums.Case("c%d" % index, ("e4m3", "e4m3"), (0, 127), (0, 127), before, 7 + index) for index, before in enumerate((0x42053333, 0x49742400, 0x38d1b717))]
        for rule in (self.RULE, sums.Rule(13, 13, True), sums.Rule(None, 23, False)):
            measured = [(case, sums.model(case, 16, rule)) for case in cases]
            found = sums.explain(measured, 16)
            self.assertIn(rule, found)
            self.assertLess(len(found), 12)
        measured[0][1][5] ^= 1
        self.assertEqual(sums.explain(measured, 16), [])

    def test_scales_move_the_exponents(self):
        plain = sums.Case("c", ("e4m3", "e4m3"), (0x38, 0x39), (0x38, 0x39), 0, 5)
        scaled = plain._replace(scales=(sums.SCALE_BIAS + 3, sums.SCALE_BIAS + 4))
        ratio = {struct.unpack("<f", struct.pack("<I", other))[0] / struct.unpack("<f", struct.pack("<I", one))[0]
                 for one, other in zip(sums.model(plain, 4, self.RULE), sums.model(scaled, 4, self.RULE)) if one}
        self.assertEqual(ratio, {64.0})

    def test_compared(self):
        self.assertEqual(sums.compare([1, 2, 3], [1, 2, 3]), (0, None))
        self.assertEqual(sums.compare([1, 0, 0], [1, 2, 3]), (2, 1))
        self.assertEqual(sums.compare([1], [1, 2])[0], 1)


class Parts(unittest.TestCase):
    def slice(self, pid, begin, end, kind="work", barrier="full", ring="pipeline a, b"):
        return {"ph": "X", "pid": pid, "tid": 0, "ts": begin, "dur": end - begin, "cat": kind, "args": {"barrier": barrier, "ring": ring}}

    def test_parts(self):
        events = [self.slice(0, 1, 3, "start"), self.slice(0, 3, 5, "wait"), self.slice(0, 5, 6), self.slice(0, 6, 8, "wait"), self.slice(0, 8, 12),
                  self.slice(0, 3, 9.5, "wait", "full", "accumulators"), self.slice(0, 4, 11, "wait", "empty"), self.slice(0, 12, 20, "ended"), self.slice(1, 0, 5),
                  {"ph": "M", "pid": 0}]
        self.assertEqual(parts.parts(events), [(4, 3, 4)])


class Figures(unittest.TestCase):
    def take(self, rows, **figure):
        figure = dict({"line": 1, "name": "n", "unit": "cycles", "tolerance": 0.1, "where": ""}, **figure)
        data = struct.pack("<%d%s" % (sum(map(len, rows)), "Q" if figure.get("wide") else "I"), *[word for row in rows for word in row])
        return figures.evaluate([figure], [data, data], len(rows[0]), figure.get("wide", False))[0]

    def test_step(self):
        series = [[999] * 4 + [100] * 6, [999] * 4 + [420] * 6]
        told = self.take(series, take="step", series=[0, 1], steps=32, assumed=10)
        self.assertEqual((told["median"], told["verdict"]), (10, figures.AGREES))
        self.assertEqual(self.take(series, take="step", series=[0, 1], steps=32, assumed=12)["verdict"], figures.DIFFERS)
        self.assertEqual(self.take(series, take="step", series=[0, 1], steps=32)["verdict"], figures.NEW)
        self.assertEqual(self.take(series, take="step", series=[0, 1], steps=32, over=320)["median"], 32)

    def test_unwritten_samples_do_not_count(self):
        told = self.take([[7] * 5 + [0xffffffff] * 5], take="each", series=[0])
        self.assertEqual((told["median"], told["samples"]), (7, 2))
        self.assertIn("no samples", self.take([[0xffffffff] * 8], take="each", series=[0])["error"])

    def test_first(self):
        self.assertEqual(self.take([[400] + [100] * 9], take="first", series=[0])["median"], 300)

    def test_streams(self):
        rows = [[1000, 2000, 1900], [1100, 2100, 1900], [2 ** 64 - 1] * 3]
        self.assertAlmostEqual(self.take(rows, take="together", bytes=1100, wide=True)["median"], 2.0)
        self.assertAlmostEqual(self.take(rows, take="cycles", bytes=1900, wide=True)["median"], 1.0)
        self.assertAlmostEqual(self.take(rows, take="clock", wide=True)["median"], 1.9)
        self.assertEqual(self.take(rows + [[20000, 1, 1]], take="at-once", wide=True)["median"], 2)

    def test_only_some_ctas(self):
        self.assertAlmostEqual(self.take([[0, 1000, 500], [7, 8, 9]], take="cycles", bytes=1000, wide=True, ctas=1)["median"], 2.0)

    def test_handover(self):
        """SM 3 has two CTAs, the second of which has what the first freed 40 cycles before; SM 4 has two that did not wait; SM 5 has one."""
        rows = [[3, 1040, 1500], [3, 100, 1000], [4, 10, 700], [4, 20, 700], [5, 1, 2], [2 ** 64 - 1] * 3]
        told = self.take(rows, take="handover", wide=True)
        self.assertEqual((told["median"], told["samples"]), (40, 2))

    def test_every_probe_is_asked_for(self):
        for shape in mma_probes.SHAPES + mma_probes.TRANSFERS:
            self.assertIn(shape.name, expectations.figures("sm_100a", collections.defaultdict(lambda: 1)))

    def test_constants_are_the_sources(self):
        self.assertEqual(expectations.machine("kB200")["multiplyAddsPerCycle"], 8192)
        self.assertAlmostEqual(expectations.Expectations("sm_100a").constant("l2BytesPerCycle", 1 / 148)["assumed"], 8650 / 148)
        self.assertIn("kH200.l2BytesPerCycle", expectations.Expectations("sm_90a").constant("l2BytesPerCycle")["where"])
        self.assertEqual(expectations.rules("Warpgroup")["Float8"], [13, 13, True])
        self.assertEqual(expectations.rules("TensorMemory")["Float8"], [25, 23, True])
        self.assertLessEqual({"Float16", "TF32", "ScaledFloat8"}, set(expectations.rules("TensorMemory")))

    def test_manifest(self):
        manifest = ptx.Probe("p", "sm_100a", "", ["a", "b"], samples=3, inputs=64).manifest()
        self.assertEqual([one["shape"] for one in manifest["arguments"]], [[6], [16]])


class Tails(unittest.TestCase):
    """The reference and the judge, without a GPU: D is made of the sums."""

    def setUp(self):
        self.problem = tails.Problem(5, 24, 144, 3)
        self.data = bytearray(self.problem.d.data)
        for row, column, total, _ in self.problem.references():
            code = struct.unpack("<I", struct.pack("<f", total))[0] + 0x8000 >> 16
            at = row * self.problem.d.pitch + 2 * column
            self.data[at:at + 2] = struct.pack("<H", code)

    def judge(self):
        return self.problem.judge(bytes(self.data), 2.0 ** -11)

    def test_right(self):
        told = self.judge()
        self.assertTrue(told["ok"])
        self.assertEqual((told["elements"], told["wrong"], told["unwritten"], told["outside"]), (120, 0, 0, 0))

    def test_wrong_and_unwritten(self):
        self.data[0:2] = b"\xff\xff"
        self.data[3] ^= 0x40
        told = self.judge()
        self.assertEqual((told["ok"], told["wrong"], told["unwritten"]), (False, 2, 1))

    def test_gap(self):
        self.data[2 * 24] = 0
        self.assertEqual((self.judge()["ok"], self.judge()["outside"]), (False, 1))

    def test_strides(self):
        for _, tensor in self.problem.arguments():
            self.assertEqual(tensor.pitch % tensor.size, 0)
        self.assertGreater(self.problem.d.pitch, 2 * 24)
        self.assertEqual(self.problem.d.pitch % 16, 0)


class Processes(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def run_python(self, text, limit, **more):
        return process.run([sys.executable, "-c", text], limit, os.path.join(self.directory, "log"), **more)

    def test_ends(self):
        told = self.run_python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(5)", 60)
        self.assertEqual((told.status, told.out, told.err, told.late), (5, "out\n", "err\n", False))

    def test_limit_and_what_it_had_said(self):
        told = self.run_python("import subprocess, sys; print('begun', flush=True); subprocess.run(['sleep', '600'])", 1.0)
        self.assertEqual((told.status, told.late, told.stuck, told.out), (None, True, False, "begun\n"))

    def test_no_such_program(self):
        self.assertEqual(process.run(["/nowhere/program"], 5, os.path.join(self.directory, "log")).status, 127)

    def test_during(self):
        calls = []
        self.run_python("import time; time.sleep(0.3)", 60, during=lambda: calls.append(1))
        self.assertTrue(calls)


class Sessions(unittest.TestCase):
    """Whole runs with a program in the place of fp8-run, whose kernels do what their names say."""

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        shutil.copy(os.path.join(HERE, "Inputs", "fake-fp8-run.py"), os.path.join(self.directory, "fp8-run"))
        shutil.copy(os.path.join(HERE, "Inputs", "hang-h200.txt"), self.directory)
        os.chmod(os.path.join(self.directory, "fp8-run"), 0o755)
        os.makedirs(os.path.join(self.directory, "sm_100a"))
        os.environ["FAKE_GPU"] = os.path.join(self.directory, "wedged")
        self.addCleanup(os.environ.pop, "FAKE_GPU")
        for module, name, value in ((run, "HERE", self.directory), (steps, "HEALTH_PAUSES_S", (0, 0))):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)

    def session(self, *names, more=(), planted=(), probes=(), sum_rows=None):
        for name in names + planted:
            with open(os.path.join(self.directory, "sm_100a", name + ".waits.cubin"), "w", encoding="utf-8"):
                pass
        row = lambda name: {"name": name, "title": "a kernel that " + name, "run": "--m=1 --n=8 --k=16", "limit_s": 2}
        rows = {"gemms": [row(name) for name in names], "planted": [dict(row(name), expect=verdict.HANG) for name in planted], "sums": sum_rows or {}, "probes": list(probes),
                "times": [], "time_figures": [], "parts": [], "loads": []}
        with open(os.path.join(self.directory, "pack.json"), "w", encoding="utf-8") as file:
            json.dump({"version": "1", "chips": ["sm_100a"], "rules": {"sm_100a": {"Float8": [25, 23, True]}}, "kernels": {"sm_100a": rows}}, file)
        self.output = os.path.join(self.directory, "results")
        with contextlib.redirect_stdout(io.StringIO()):
            status = run.main(["--output=" + self.output, *more])
        with open(os.path.join(self.output, results.TABLE), encoding="utf-8") as file:
            self.table = json.load(file)
        with open(os.path.join(self.output, results.PAGE), encoding="utf-8") as file:
            self.page = file.read()
        return status, {step["step"]: step for step in self.table["steps"]}

    def test_all_pass(self):
        status, told = self.session("works", "works-too")
        self.assertEqual((status, [told[name]["verdict"] for name in told]), (0, [verdict.PASSED] * 3))
        self.assertIn("**3 of 3 steps are as they should be**", self.page)
        self.assertEqual(self.table["facts"]["gpu"], "Fake B200")
        with zipfile.ZipFile(os.path.join(self.output, results.ARCHIVE)) as archive:
            self.assertTrue({"results.json", "results.md", "journal.jsonl", "logs/works-0.err"} <= set(archive.namelist()))

    def test_a_hang_is_diagnosed_and_the_rest_runs(self):
        status, told = self.session("works", "hangs", "works-too")
        self.assertEqual((status, told["hangs"]["verdict"], told["works-too"]["verdict"]), (1, verdict.HANG, verdict.PASSED))
        self.assertIn("which needs 8 arrivals of 'multiply'", told["hangs"]["diagnosis"])
        self.assertEqual(len(told["hangs"]["waits"]), 2)
        self.assertIn("| load | 8 | (0, 0, 0) | 6 | empty of 'pipeline a, b, a_scale, b_scale' | 0 | 0 | 2.0 |", self.page)
        self.assertIn("1. `hangs`: look at the wait", self.page)

    def test_a_limit_and_a_crash(self):
        _, told = self.session("sleeps", "dies", "works")
        self.assertEqual([told[name]["verdict"] for name in ("sleeps", "dies", "works")], [verdict.LATE, verdict.CRASHED, verdict.PASSED])

    def test_a_refused_cubin_is_ptx_from_there_on(self):
        for name in ("refused", "works"):
            with open(os.path.join(self.directory, "sm_100a", name + ".cubin"), "w", encoding="utf-8"):
                pass
        status, told = self.session("refused", "works")
        self.assertEqual((status, told["refused"]["verdict"]), (0, verdict.PASSED))
        self.assertIn("NO_BINARY_FOR_GPU", told["refused"]["cubin_refused"])
        self.assertIn("(from PTX; the driver refused the cubin)", self.page)

    def test_a_wedged_gpu_leaves_the_rest_reported(self):
        status, told = self.session("works", "wedges", "works-too")
        self.assertEqual((status, told["works"]["verdict"], told["wedges"]["verdict"], told["works-too"]["verdict"]), (1, verdict.PASSED, verdict.FAULT, verdict.NOT_RUN))
        self.assertIn("the GPU does not answer since 'wedges'", told["works-too"]["text"])

    def test_interrupted(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a job in the background begins
        status, told = self.session("works", "interrupts", "works-too")
        self.assertEqual((status, told["interrupts"]["verdict"], told["works-too"]["verdict"]), (130, verdict.INTERRUPTED, verdict.NOT_RUN))
        self.assertIn("interrupted", self.page)

    def test_no_driver(self):
        with open(os.path.join(self.directory, "fp8-run"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 'fp8-run: error: no CUDA driver: cannot load libcuda.so.1' >&2\nexit 1\n")
        status, told = self.session("works")
        self.assertEqual((status, told["machine"]["verdict"], told["works"]["verdict"]), (2, verdict.NO_GPU, verdict.NOT_RUN))
        self.assertIn("see that nvidia-smi lists the GPU", self.page)

    def test_planted_faults_must_be_found(self):
        status, told = self.session(planted=("hangs", "works"), more=["--planted"])
        self.assertEqual((status, told["hangs"]["expect"], told["works"]["verdict"]), (1, verdict.HANG, verdict.PASSED))
        self.assertIn("planted a fault (hang) that was NOT found", self.page)
        shutil.rmtree(self.output)
        self.assertEqual(self.session(planted=("hangs",), more=["--planted"])[0], 0)
        self.assertIn("found as it was planted", self.page)

    def test_a_second_run_adds_to_the_results(self):
        self.session("works", "hangs")
        status, told = self.session("works", "hangs", more=["--only=works"])
        self.assertEqual((status, told["works"]["verdict"], told["hangs"]["verdict"], len(self.table["steps"])), (1, verdict.PASSED, verdict.HANG, 3))

    def test_probe(self):
        figure = {"line": 1, "name": "cycles", "take": "each", "series": [0], "unit": "cycles", "tolerance": 0.1, "where": "somewhere", "assumed": 80}
        _, told = self.session(probes=[{"name": "probe", "samples": 8, "wide": False, "figures": [figure]}])
        self.assertEqual((told["probe"]["figures"][0]["median"], told["probe"]["figures"][0]["verdict"]), (41.5, figures.DIFFERS))
        self.assertIn("| cycles | 41.5 cycles | 40 to 43 | 80 | somewhere | **differs**: 0.52 times |", self.page)

    def test_sums_refute_a_rule(self):
        os.makedirs(os.path.join(self.directory, "sm_100a", "sums"))
        with open(os.path.join(self.directory, "sm_100a", "sums", "c.expected"), "wb") as file:
            file.write(struct.pack("<8I", *[100] * 4, 40, 41, 42, 44))
        case = {"name": "c", "kernel": "k", "rows": 1, "case": ["c", ["e4m3", "e4m3"], [0, 127], [0, 127], 0, 1]}
        _, told = self.session(sum_rows={"Float8": [case]})
        self.assertEqual(told["sums-Float8"]["verdict"], verdict.DIFFERS)
        self.assertIn("c: 1 of 8 sums have other bits, first row 0, column 7", told["sums-Float8"]["text"])
        self.assertIn("refutes the row of Float8 in lib/Chip/SumRules.cpp", self.page)

    def test_what_was_done_is_on_disk_when_the_process_dies(self):
        self.session("works", "hangs")
        with open(os.path.join(self.output, results.JOURNAL), "a", encoding="utf-8") as file:
            file.write('{"step": "half a li')
        for name in (results.TABLE, results.PAGE, results.ARCHIVE):
            os.remove(os.path.join(self.output, name))
        self.assertEqual(run.main(["--page=" + self.output]), 0)
        with open(os.path.join(self.output, results.PAGE), encoding="utf-8") as file:
            self.assertIn("**hang**", file.read())

    def test_misspelt(self):
        with self.assertRaisesRegex(ValueError, "there is no step 'wroks'; there are .*works"):
            self.session("works", more=["--only=wroks"])

    def test_chosen(self):
        _, told = self.session("works", "hangs", more=["--skip=hangs,times"])
        self.assertEqual(list(told), ["works"])


if __name__ == "__main__":
    unittest.main()
