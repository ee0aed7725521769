# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the scripts of benchmark/ on bad inputs, and where packages are missing."""

import os
import subprocess
import sys
import tempfile
import unittest

BENCHMARK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmark")
sys.path.append(BENCHMARK)
import inputs

COLUMNS = "date,gpu,m,n,k,peer,configuration,us,right,us_rounds\n"
# What is wrong with a file, by its contents.
TABLES = {"m,n\n1,2\n": ": has no '", COLUMNS: "; give a file ", COLUMNS + "1,G 1,x,2,3,fp8,64x32,1.0,True,1\n": ": has a wrong value: ", "\udcff": ": has a wrong value: "}
OBJECTS = {"{}": ": has no '", "{": ":1:2: is no JSON: ", "[]": ": has a wrong value: "}


class BadInputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "input")
        self.output = os.path.join(self.folder, "output")

    def start(self, *command, packages=None):
        """The script with its arguments. Packages are looked up in the folder `packages` first."""
        environment = {name: value for name, value in os.environ.items() if name not in ("FP8_LIBRARY", "PYTHONPATH")}
        environment.update({"PYTHONPATH": packages} if packages else {})
        return subprocess.run([sys.executable, "-B", os.path.join(BENCHMARK, command[0]), *command[1:]], capture_output=True, text=True, check=False, env=environment)

    def expect(self, *command, says, script=None, status=2, packages=None):
        """One line of `script`, the one that is started or one that it starts."""
        result = self.start(*command, packages=packages)
        lines = result.stderr.splitlines()
        with self.subTest(command=command, stderr=result.stderr):
            self.assertEqual(result.returncode, status)
            self.assertEqual(len(lines), 1)
            self.assertTrue(lines[0].startswith("%s: error: " % (script or os.path.basename(command[0]))))
            self.assertIn(says, lines[0])
            self.assertFalse(os.path.exists(self.output))

    def expect_all(self, contents, *command):
        """The command on each of the contents, and on no file."""
        self.expect(*command, says="%s: cannot be read: " % self.path)
        for text, says in contents.items():
            with open(self.path, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            self.expect(*command, says=self.path + says if says[0] == ":" else says)
        os.remove(self.path)

    def test_results(self):
        for command in (["chooser.py", self.path], ["plot.py", self.path, self.output], ["plot_every_m.py", self.path, self.output],
                        ["timing.py", self.path], ["tune.py", "table", self.path, "--output=" + self.output], ["refit.py", "fit", self.path]):
            self.expect_all(TABLES, *command)

    def test_objects(self):
        measured = os.path.join(BENCHMARK, "results", "2026-11-22-h200-tune.csv")
        for command in (["timeline.py", self.path, self.output], ["corrections.py", "check", self.path],
                        ["tune.py", "table", measured, "--configurations=" + self.path, "--output=" + self.output],
                        ["refit.py", "predict", self.path, self.output, "--chip=sm_90a", "--gpu=h200"]):
            self.expect_all(OBJECTS, *command)

    def test_packing(self):
        self.expect("gpu/pack.py", self.output, "--configurations=" + self.path, says="%s: cannot be read: " % self.path)
        self.expect("gpu/pack.py", self.output, "--build=/nowhere", says="/nowhere/lib/libfp8runtime.so: there is no such library; build it")

    def test_tools(self):
        for command in (["chooser.py"], ["draw.py", self.output, "--seed=1"], ["predictions.py"], ["tune.py", "candidates", self.output],
                        ["refit.py", "candidates", self.output]):
            self.expect(*command, "--fp8-opt=/nowhere/fp8-opt", says="cannot run '/nowhere/fp8-opt': No such file or directory; build it, or name it with --fp8-opt")
        self.expect("latency.py", "/nowhere", "x.mlir", says="; build it, or name it with BIN_DIR")

    def test_packages(self):
        for package in inputs.PACKAGES:
            with open(os.path.join(self.folder, package + ".py"), "w", encoding="utf-8") as file:
                file.write("raise ModuleNotFoundError(\"No module named '%s'\")\n" % package)
        for folder in ("", "gpu"):
            for name in sorted(os.listdir(os.path.join(BENCHMARK, folder))):
                script = os.path.join(BENCHMARK, folder, name)
                if not name.endswith(".py"):
                    continue
                with open(script, encoding="utf-8") as file:
                    if "__main__" not in file.read():
                        continue
                self.assertNotIn("Traceback", self.start(script, "--help", packages=self.folder).stderr, script)
        for package, *command in (["fp8", "host.py"], ["torch", "gpu/every_m.py"], ["torch", "gpu/survey.py"], ["torch", "gpu/worker.py", self.folder]):
            self.expect(*command, says="cannot import %s: No module named '%s'; get it by '" % (package, package), packages=self.folder)
        self.expect("gpu/run.py", "--output=" + self.output, says="cannot import torch: No module named 'torch'; get it by '", script="worker.py", status=1, packages=self.folder)
        measured = os.path.join(BENCHMARK, "results", "2026-11-22-h200-tune.csv")
        self.expect("refit.py", "fit", measured, "--library=/nowhere/libfp8.so", says="/nowhere/libfp8.so, which is not there: ")

    def test_rows(self):
        for command in (["tune.py", "candidates", self.output], ["refit.py", "candidates", self.output], ["predictions.py"]):
            self.expect(*command, "--rows=1x2", says="a row is MxNxK, such as 64x7168x2048, but got '1x2'")
        self.expect("predictions.py", "--set=none", says="there is no set 'none' of rows; there are baseline, ")


if __name__ == "__main__":
    unittest.main()
