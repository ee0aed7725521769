# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of what needs no GPU: the tables of benchmark/gpu, ratios, CSV, Markdown."""

import csv
import os
import sys
import tempfile
import unittest

GPU = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmark", "gpu")
sys.path.insert(0, GPU)
import report
import table

ALL_ROWS = table.read_rows(os.path.join(GPU, "rows.csv"))
ROWS = table.select_rows(ALL_ROWS, [])


def row(limit_us=5.0, m=64, **baseline):
    fields = {peer: "" for peer in table.BASELINE_PEERS}
    fields.update({key: str(value) for key, value in baseline.items()})
    return table.Row(dict(fields, m=m, n=7812, k=1000000, priority=1, set="baseline", limit_us=limit_us))


def measured(peer, tflops, one, right=True, configuration="c"):
    m, n, k = one.shape
    return {"peer": peer, "configuration": configuration, "right": right, "us": 2 * m * n * k / tflops / 1e6}


class Tables(unittest.TestCase):
    def test_rows_are_the_baseline(self):
        self.assertEqual(len(ROWS), 19)
        self.assertEqual(sorted(one.priority for one in ROWS), list(range(1, 20)))
        for one in ROWS:
            self.assertEqual(set(one.baseline), set(table.BASELINE_PEERS))
        best = [max(one.baseline[peer] for peer in ("deepgemm", "cublaslt", "cutlass")) for one in ROWS]
        self.assertEqual(round(report.geometric_mean(best)), 603)  # as that table says
        small = [one for one in ROWS if one.shape[0] <= 128]
        of_limit = [one.limit_us / (2e-6 * one.shape[0] * one.shape[1] * one.shape[2] / max(
            one.baseline[peer] for peer in ("deepgemm", "cublaslt", "cutlass"))) for one in small]
        self.assertAlmostEqual(report.geometric_mean(of_limit), 0.56, places=2)

    def test_every_row_has_kernels(self):
        configurations = table.read_configurations(os.path.join(GPU, "configurations.json"))
        searched = [one for one in ALL_ROWS if one.set in table.SEARCHED_SETS]
        self.assertEqual(set(configurations.rows), {one.name for one in searched})
        for one in searched:
            names = configurations.candidates(one, True)
            self.assertTrue(2 <= len(names) <= 4, names)
            self.assertEqual(configurations.candidates(one, False), names[:1])

    def test_selection_is_by_priority(self):
        self.assertEqual([one.priority for one in table.select_rows(ALL_ROWS, [])], list(range(1, 20)))
        self.assertEqual({one.set for one in ROWS}, {"baseline"})
        decode = table.select_rows(ALL_ROWS, [], "decode")
        self.assertEqual([one.priority for one in decode], list(range(1, 25)))
        self.assertTrue(all(one.shape[0] < 64 and not one.baseline for one in decode))
        self.assertEqual(len(table.select_rows(ALL_ROWS, [], "all")), len(ALL_ROWS))
        with self.assertRaisesRegex(ValueError, "there is no set 'x' of rows; there are all, baseline, decode, middle, models, ragged"):
            table.select_rows(ALL_ROWS, [], "x")
        names = ["8192x8192x8192", "64x2112x7168"]
        self.assertEqual([one.name for one in table.select_rows(ROWS, names)], names[::-1])
        with self.assertRaisesRegex(ValueError, "'64x2112' is no row; write M, N and K as in 64x7168x2048"):
            table.select_rows(ROWS, ["64x2112"])

    def test_sets_are_what_they_are_called(self):
        select = lambda name: [one.shape for one in table.select_rows(ALL_ROWS, [], name)]
        self.assertTrue(all(192 <= m <= 2048 for m, _, _ in select("middle")))
        self.assertTrue(all(m % 64 or m % 128 or n % 64 for m, n, _ in select("ragged")))
        self.assertLessEqual({576, 1536, 2304, 4608, 5120, 9216, 12288, 18432, 36864}, {extent for _, n, k in select("models") for extent in (n, k)})
        self.assertEqual(len({one.name for one in ALL_ROWS}), len(ALL_ROWS))

    def test_limits_are_computed_where_none_is_given(self):
        for one in ROWS:
            self.assertAlmostEqual(table.find_limit(*one.shape) / one.limit_us, 1, delta=0.02)

    def test_random_rows_follow_from_the_seed(self):
        rows = table.draw_rows(7)
        self.assertEqual([one.shape for one in rows], [one.shape for one in table.draw_rows(7)])
        self.assertNotEqual([one.shape for one in rows], [one.shape for one in table.draw_rows(8)])
        self.assertEqual(len(rows), 40)
        ms = sorted(one.shape[0] for seed in range(50) for one in table.draw_rows(seed))
        self.assertTrue(90 < ms[len(ms) // 2] < 180, ms[len(ms) // 2])  # the root of 16,384, 128
        self.assertTrue(ms[0] >= 1 and ms[-1] <= 16384)

    def test_what_is_misspelt(self):
        for text, message in (('{"kernels": {}, "rows": {"r": ["x"]}}', "row 'r' names kernel 'x'"),
                              ('{"kernels": {}, "rows": {"r": []}}', "row 'r' has no kernel"),
                              ('{"kernels": {"x": {"conifg": ""}}, "rows": {}}', "kernel 'x' must have"),
                              ('{"kernels": {"x": {"config": "", "constant_b": 1}}, "rows": {}}', "constant_b., true or false")):
            with self.assertRaisesRegex(ValueError, message):
                table.Configurations(text, "t.json")


class Ratios(unittest.TestCase):
    def test_against_the_best_measured(self):
        one = row()
        comparison = report.Comparison(one, [measured("fp8", 300, one), measured("fp8", 330, one, configuration="fast"),
                                             measured("cublaslt", 300, one), measured("triton", 100, one)])
        self.assertEqual((comparison.best_peer, comparison.ours["configuration"]), ("cublaslt", "fast"))
        self.assertAlmostEqual(comparison.ratio, 1.1)
        self.assertFalse(comparison.represented)

    def test_absent_peers_are_scaled_by_cublaslt(self):
        one = row(deepgemm=400, cublaslt=200, cutlass=100, triton=50)
        comparison = report.Comparison(one, [measured("fp8", 360, one), measured("cublaslt", 180, one)])
        self.assertAlmostEqual(comparison.peers["deepgemm"], 360)
        self.assertAlmostEqual(comparison.ratio, 1.0)
        self.assertEqual(comparison.represented, {"deepgemm", "cutlass", "triton"})
        # The best of cuBLASLt's algorithms is what the baseline has.
        comparison = report.Comparison(one, [measured("fp8", 360, one), measured("cublaslt", 100, one),
                                             measured("cublaslt-best", 180, one)])
        self.assertAlmostEqual(comparison.peers["deepgemm"], 360)

    def test_no_cublaslt(self):
        one = row(deepgemm=400, cublaslt=200)
        comparison = report.Comparison(one, [measured("fp8", 200, one)])
        self.assertAlmostEqual(comparison.ratio, 0.5)
        self.assertEqual(comparison.represented, {"deepgemm", "cublaslt"})

    def test_what_is_wrong_does_not_count(self):
        one = row(deepgemm=100)
        comparison = report.Comparison(one, [measured("fp8", 900, one, right=False), measured("fp8", 100, one),
                                             measured("triton", 900, one, right=False)])
        self.assertAlmostEqual(comparison.ratio, 1.0)
        comparison = report.Comparison(one, [measured("fp8", 900, one, right=False)])
        self.assertIsNone(comparison.ratio)
        self.assertIn("No right result of ours: " + one.name, report.markdown([comparison]))

    def test_means(self):
        small, large = row(limit_us=1000.0, deepgemm=100), row(m=4096, deepgemm=100)
        ours = measured("fp8", 200, small)
        ours["us"], small.limit_us = 2000.0, 1000.0
        comparisons = [report.Comparison(small, [ours]), report.Comparison(large, [measured("fp8", 50, large)])]
        comparisons[0].peers = {"deepgemm": comparisons[0].tflops / 2}
        text = report.markdown(comparisons)
        self.assertIn("geometric mean 1.000 over 2 rows, least 0.500 (%s)" % large.name, text)
        self.assertIn("M <= 128: geometric mean 0.500 of the limit over 1 rows", text)


    def test_the_default_is_the_headline(self):
        one = row()
        comparison = report.Comparison(one, [measured("fp8", 330, one, configuration="fast"), measured("fp8.gemm", 300, one),
                                             measured("deepgemm", 200, one)])
        self.assertAlmostEqual(comparison.ratio, 1.5)
        self.assertEqual(comparison.searched["configuration"], "fast")
        self.assertEqual(list(comparison.peers), ["deepgemm"])
        # A default that is wrong is not replaced by a candidate.
        comparison = report.Comparison(one, [measured("fp8", 330, one), measured("fp8.gemm", 300, one, right=False)])
        self.assertIsNone(comparison.ours)

    def test_the_floor_is_no_peer(self):
        """It is faster than all, and neither right nor wrong."""
        one = row()
        floor = dict(measured("floor", 900, one, right=None), right="")
        comparison = report.Comparison(one, [measured("fp8", 450, one), measured("cublaslt", 300, one), floor])
        self.assertEqual(list(comparison.peers), ["cublaslt"])
        self.assertAlmostEqual(comparison.of_floor, 0.5)
        text = report.markdown([comparison])
        self.assertIn("| limit/us | floor us | floor/us | configuration |", text)
        self.assertIn("M <= 128: geometric mean 0.500 of the floor over 1 rows", text)
        without = report.markdown([report.Comparison(one, [measured("fp8", 450, one)])])
        self.assertNotIn("floor", without)

    def test_what_is_in_the_band_counts_as_one(self):
        one = row()
        for tflops, spread, counted in ((101, 0.02, 1.0), (99, 0.02, 1.0), (103, 0.02, 1.03), (97, 0.02, 0.97), (110, 0.2, 1.1)):
            for noisy in ("fp8", "deepgemm"):
                pair = {"fp8": measured("fp8", tflops, one), "deepgemm": measured("deepgemm", 100, one)}
                us = pair[noisy]["us"]
                pair[noisy]["us_rounds"] = "%f %f %f" % (us * (1 - spread), us, us * (1 + spread))
                comparison = report.Comparison(one, list(pair.values()))
                self.assertAlmostEqual(comparison.counted, counted)
                self.assertAlmostEqual(comparison.ratio, tflops / 100)


class Output(unittest.TestCase):
    def test_csv(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "x.csv")
            file = report.CsvFile(path)
            file.add({"m": 64, "peer": "fp8", "us": 1.5, "right": True})
            file.add({"m": 64, "peer": "p", "error": 'a "quoted", text'})
            with open(path, newline="", encoding="utf-8") as stream:  # written though the file is still open
                lines = list(csv.DictReader(stream))
            file.close()
        self.assertEqual(tuple(lines[0]), report.COLUMNS)
        self.assertEqual((lines[0]["us"], lines[0]["right"], lines[0]["error"]), ("1.5", "True", ""))
        self.assertEqual(lines[1]["error"], 'a "quoted", text')

    def test_markdown(self):
        one = row(deepgemm=400, cublaslt=200)
        text = report.markdown([report.Comparison(one, [measured("fp8", 300, one, configuration="64x32"),
                                                        measured("cublaslt", 200, one)])])
        lines = text.splitlines()
        self.assertEqual(lines[0], "| M | N | K | ours | cublaslt | deepgemm | best peer | **ratio** | ±% | searched | us | "
                                   "limit us | limit/us | configuration |")
        self.assertEqual(lines[1].count("|"), lines[0].count("|"))
        self.assertIn("| 300 | 200 | 400* | deepgemm | **0.750** |", lines[2])
        self.assertTrue(lines[2].endswith("| 64x32 |"))


if __name__ == "__main__":
    unittest.main()
