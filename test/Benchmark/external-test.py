# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the protocol for programs built elsewhere, with a program that makes
known bytes of its operands, and with some that break the rules."""

import os
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmark", "gpu"))
import external

GOOD = """
    import json, os, sys
    directory = sys.argv[-1]
    request = json.load(open(os.path.join(directory, "request.json")))
    for index in range(request["sets"]):
        read = lambda name: open(os.path.join(directory, "%s.%d.bin" % (name, index)), "rb").read()
        assert len(read("a_scale")) == 4 * request["a_scale_stride"]
        with open(os.path.join(directory, "d.%d.bin" % index), "wb") as file:
            file.write(read("a")[:4] + read("b")[:4])
    print("working")
    print("%g,tile 64, fast" % (request["replays"] + request["rest_s"]))
"""


class Programs(unittest.TestCase):
    def run_program(self, text, seconds=30):
        with tempfile.TemporaryDirectory() as directory:
            sets = [{"a": b"A%d.." % i, "a_scale": bytes(32), "b": b"B%d.." % i, "b_scale": bytes(4)} for i in range(2)]
            external.write_request(directory, (2, 2, 16), 8, sets, {"replays": 21, "rest_s": 0.25, "least_replay_us": 1})
            program = os.path.join(directory, "program.py")
            with open(program, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text))
            told = external.run_program([sys.executable, program], directory, seconds)
            return told, [external.read_result(directory, index, 8) for index in range(2)]

    def test_good(self):
        told, results = self.run_program(GOOD)
        self.assertEqual(told, (21.25, "tile 64, fast"))
        self.assertEqual(results, [b"A0..B0..", b"A1..B1.."])

    def test_rules(self):
        for text, message in (("print('no number')", "the last line is 'no number', not MICROSECONDS,CONFIGURATION"),
                              ("", "the last line is '', not"), ("print('nan,x')", "the last line is 'nan,x'"),
                              ("print('0,x')", "the last line is '0,x'"), ("print('1,x')", "left no d.0.bin"),
                              ("import sys; sys.exit('no GPU')", "exit status 1: no GPU"),
                              (GOOD.replace("[:4] +", "[:3] +"), "d.0.bin has 7 bytes instead of 8")):
            with self.assertRaisesRegex(external.ProgramFailure, message):
                self.run_program(text)

    def test_hang(self):
        with self.assertRaisesRegex(external.ProgramFailure, "no end after 1 s"):
            self.run_program("import time; time.sleep(60)", 1)

    def test_no_program(self):
        with self.assertRaisesRegex(external.ProgramFailure, "nowhere"):
            external.run_program(["/nowhere"], "/tmp")


if __name__ == "__main__":
    unittest.main()
