# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of benchmark/gpu/cliffs.py and benchmark/plot_every_m.py."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PLOT = os.path.join(SOURCE, "benchmark", "plot_every_m.py")
sys.path[:0] = [os.path.join(SOURCE, "benchmark"), os.path.join(SOURCE, "benchmark", "gpu")]
import cliffs
import plot_every_m
import table

RESULTS = """date,gpu,seed,m,n,k,peer,us
2026-01-02,A <GPU>,1,1,10,20,fp8.gemm,2.00
2026-01-02,A <GPU>,1,64,10,20,fp8.gemm,4.00
2026-01-02,A <GPU>,1,1,10,20,deepgemm,9.00
2026-01-02,A <GPU>,1,64,10,20,deepgemm,5.00
2026-01-02,A <GPU>,1,64,10,20,cublaslt,3.00
2026-01-02,A <GPU>,1,1,30,40,fp8.gemm,7.00
"""


class Cliffs(unittest.TestCase):
    def test_falls(self):
        self.assertEqual(cliffs.find_falls({1: 4.0, 3: 8.0, 2: 3.0, 9: 4.0}), [(1, 2, 4 / 3), (2, 2, 1.0), (3, 9, 2.0), (9, 9, 1.0)])

    def test_of_equals_the_first(self):
        self.assertEqual(cliffs.find_falls({1: 6.0, 2: 3.0, 3: 3.0})[0], (1, 2, 2.0))

    def test_bars(self):
        level = {m: 1.0 for m in range(1, 201)}
        self.assertTrue(cliffs.keeps_bars(cliffs.find_falls(level)))
        self.assertTrue(cliffs.keeps_bars(cliffs.find_falls({**level, **{50: 1.11, 60: 1.07}})), "two of 200 are one in a hundred")
        self.assertFalse(cliffs.keeps_bars(cliffs.find_falls({**level, **{50: 1.11, 60: 1.07, 70: 1.07}})), "three are more")
        self.assertFalse(cliffs.keeps_bars(cliffs.find_falls({**level, **{50: 1.13}})), "one is too steep")

    def test_description(self):
        lines = cliffs.describe_falls(cliffs.find_falls({1: 3.0, 2: 6.0, 3: 4.0, 4: 8.0}))
        self.assertEqual(lines, ["1 of 4 M take more than 1.06 times as long as a larger M (25.00 %); the most is 1.500 (M = 2 beside 3)",
                                 "  M = 2: 1.500 of M = 3"])

    def test_peers(self):
        shapes = table.every_m_peer_shapes(((10, 20),))
        self.assertEqual(shapes[0], (1, 10, 20))
        self.assertEqual(len(shapes), len(set(shapes)))
        padded = {(m + -m % 64, n, k) for m, n, k in shapes if m < 1100}
        self.assertTrue(padded - {(1152, 10, 20)} <= set(shapes), "what A is padded to is measured, too")


class Plots(unittest.TestCase):
    def run_plot(self, *arguments):
        return subprocess.run([sys.executable, "-B", PLOT, *arguments], capture_output=True, text=True, check=False)

    def plot(self, text):
        with tempfile.TemporaryDirectory() as directory:
            path, output = os.path.join(directory, "x.csv"), os.path.join(directory, "x.svg")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = self.run_plot(path, output)
            if not os.path.exists(output):
                return result, None
            with open(output, encoding="utf-8") as file:
                return result, file.read()

    def test_panels(self):
        result, image = self.plot(RESULTS)
        self.assertEqual(result.returncode, 0, result.stderr)
        xml.dom.minidom.parseString(image)
        # M = 1 padded is M = 64: 5 over 2; at M = 64 cuBLASLt's 3 over 4.
        self.assertIn("N = 10, K = 20: 1.37 times the best peer, least 0.75", image)
        self.assertIn(">N = 30, K = 40<", image)
        self.assertIn("A &lt;GPU&gt;", image)
        self.assertEqual(image.count("<polyline"), 4)

    def test_padding(self):
        self.assertEqual(plot_every_m.with_padding({1: 9.0, 64: 5.0, 65: 3.0}, 64), {1: 5.0, 64: 5.0, 65: 3.0})

    def test_axes(self):
        axes = plot_every_m.Axes(10, 20, [1, 1024], [1.0, 100.0])
        self.assertEqual(axes.point(1, axes.low), (10, 20 + plot_every_m.PANEL_HEIGHT))
        x, y = axes.point(32, axes.high)
        self.assertAlmostEqual(x, 10 + plot_every_m.PANEL_WIDTH / 2)
        self.assertAlmostEqual(y, 20)

    def test_errors(self):
        result, image = self.plot("date,gpu,seed,m,n,k,peer,us\n")
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no measurement; give a file that every_m.py wrote", result.stderr)
        self.assertIsNone(image)
        self.assertEqual(self.run_plot().stderr, "usage: plot_every_m.py RESULTS.csv OUT.svg\n")

    def test_the_plots_of_the_documents(self):
        with open(os.path.join(SOURCE, "docs", "Benchmark.md"), encoding="utf-8") as file:
            plots = re.findall(r"python3 benchmark/plot_every_m\.py (\S+) (\S+)", file.read())
        self.assertTrue(plots)
        for results, kept in plots:
            with self.subTest(kept), open(os.path.join(SOURCE, results), encoding="utf-8") as file:
                result, image = self.plot(file.read())
                self.assertEqual(result.returncode, 0, result.stderr)
                with open(os.path.join(SOURCE, kept), encoding="utf-8") as file:
                    self.assertEqual(image, file.read(), "make it anew, as docs/Benchmark.md says")


if __name__ == "__main__":
    unittest.main()
