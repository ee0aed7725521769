# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of benchmark/plot.py."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PLOT = os.path.join(SOURCE, "benchmark", "plot.py")
sys.path[:0] = [os.path.join(SOURCE, "benchmark"), os.path.join(SOURCE, "benchmark", "gpu")]
import plot
import report
import table


def row(m=64, **baseline):
    fields = {peer: "" for peer in table.BASELINE_PEERS}
    fields.update({key: str(value) for key, value in baseline.items()})
    return table.Row(dict(fields, m=m, n=1000, k=1000, priority=1, set="baseline", limit_us=1))


def measured(peer, tflops, one, right=True):
    m, n, k = one.shape
    return {"peer": peer, "configuration": "c", "right": right, "us": 2 * m * n * k / tflops / 1e6, "m": str(m), "n": str(n),
            "k": str(k), "gpu": "A <GPU>", "date": "2026-01-02T03:04:05"}


class Plots(unittest.TestCase):
    def test_bars(self):
        one = row(deepgemm=100, cublaslt=50)
        comparison = report.Comparison(one, [measured("fp8", 80, one), measured("other", 30, one), measured("cublaslt", 40, one),
                                             measured("cublaslt-best", 60, one)])
        bars = plot.bars(comparison)
        self.assertEqual([(bar.peer, round(bar.tflops), bar.pale) for bar in bars],
                         [("fp8", 80, False), ("deepgemm", 120, True), ("cublaslt", 60, False), ("other", 30, False)])
        self.assertEqual(plot.colour_of("other"), plot.OTHER_COLOUR)
        self.assertNotEqual(plot.colour_of("deepgemm", True), plot.colour_of("deepgemm"))

    def test_lengths(self):
        """The limit of the only row, 128 TFLOP/s, takes all of the width, and ours half of it."""
        one = row()
        text = plot.plot([one, row(m=32)], [measured("fp8", 64, one), measured("triton", 32, one)])
        document = xml.dom.minidom.parseString(text)
        widths = {shape.getAttribute("fill"): float(shape.getAttribute("width"))
                  for shape in document.getElementsByTagName("rect")[-2:]}
        whole = plot.WIDTH - plot.LEFT - plot.RIGHT
        self.assertEqual(widths, {plot.COLOURS["fp8"]: whole / 2, plot.COLOURS["triton"]: whole / 4})
        limit = document.getElementsByTagName("line")[-1]
        self.assertEqual(float(limit.getAttribute("x1")), plot.LEFT + whole)
        self.assertIn(">2.00<", text)
        self.assertIn("A &lt;GPU&gt;, 2026-01-02<", text)
        self.assertNotIn("32 x 1000", text)
        self.assertNotIn("Pale", text)

    def test_without_ours(self):
        one = row(deepgemm=100)
        text = plot.plot([one], [measured("fp8", 64, one, right=False)])
        self.assertIn("Pale", text)
        self.assertNotIn("fp8 (ours)", text)

    def test_steps(self):
        self.assertEqual([plot.step(most) for most in (7, 10, 11, 528, 1066, 1980)], [1, 1, 2, 100, 200, 200])


class Program(unittest.TestCase):
    def run_plot(self, *arguments):
        return subprocess.run([sys.executable, "-B", PLOT, *arguments], capture_output=True, text=True, check=False)

    def test_the_plots_of_the_documents(self):
        with open(os.path.join(SOURCE, "docs", "Benchmark.md"), encoding="utf-8") as file:
            commands = re.findall(r"python3 benchmark/plot\.py (.+)", file.read().replace("\\\n", ""))
        plots = [command.split() for command in commands]
        self.assertEqual(len(plots), 2)
        for *results, image in plots:
            with self.subTest(image), tempfile.TemporaryDirectory() as directory:
                output = os.path.join(directory, "x.svg")
                self.assertEqual(self.run_plot(*(os.path.join(SOURCE, path) for path in results), output).returncode, 0)
                with open(output, encoding="utf-8") as made, open(os.path.join(SOURCE, image), encoding="utf-8") as kept:
                    self.assertEqual(made.read(), kept.read(), "make it anew, as docs/Benchmark.md says")

    def test_errors(self):
        with tempfile.TemporaryDirectory() as directory:
            path, output = os.path.join(directory, "x.csv"), os.path.join(directory, "x.svg")
            with open(path, "w", encoding="utf-8") as file:
                file.write("m,n,k,peer,us,right,gpu\n1,2,3,fp8,1.0,True,G\n")
            result = self.run_plot(path, output)
            self.assertEqual(result.returncode, 2)
            self.assertIn("error: %s: has no 'date'; give a file of results" % path, result.stderr)
            with open(path, "w", encoding="utf-8") as file:
                file.write("m,n,k,peer,us,right,gpu,date\n1,2,3,fp8,1.0,True,G,2026\n")
            self.assertIn("error: no row of rows.csv was measured", self.run_plot(path, output).stderr)
            self.assertIn("nowhere", self.run_plot("/nowhere.csv", output).stderr)
            self.assertIn("nowhere", self.run_plot(path, "/nowhere.csv", output).stderr)
            self.assertFalse(os.path.exists(output))
        self.assertEqual(self.run_plot().stderr, "usage: plot.py RESULTS.csv... OUT.svg\n")


if __name__ == "__main__":
    unittest.main()
