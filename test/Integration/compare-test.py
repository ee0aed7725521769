# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of how bytes of a GPU are compared with the simulator's (cases.py)."""

import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases


def pack(element, values):
    if element == "bf16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack("<%d%s" % (len(values), cases.FORMATS[element][1]), *values)


class Differences(unittest.TestCase):
    def test_first(self):
        ours, theirs = pack("bf16", [1, 2, 3, 4]), pack("bf16", [1, 2.5, 3, -4])
        self.assertEqual(cases.first_difference(ours, theirs, "cuda", "bf16"), "2 of 8 bytes differ, in 2 of 4 elements of "
                         "bf16, first byte 2; from 0 on, the simulator: 803f0040 40408040, cuda: 803f2040 404080c0")
        self.assertIn("0 of 8 bytes differ, first byte 6;", cases.first_difference(ours, ours[:6], "cuda"))

    def test_near(self):
        values = [float(value) for value in range(1, 200)]
        for element, error, right in (("f32", 2e-4, True), ("f32", 5e-4, False), ("f16", 1e-4, True), ("bf16", 0.01, False)):
            other = [value * (1 + error) for value in values]
            said, problem = cases.near(4e-4, pack(element, values), pack(element, other), element)
            self.assertEqual(problem is None, right, (element, error))
            self.assertRegex(said or problem, r"\d+ of 199 elements differ, Frobenius distance [\d.e-]+, floor 0.0")

    def test_near_wants_every_element(self):
        values = pack("f32", [1.0, 2.0])
        self.assertIsNone(cases.near(4e-4, values, values, "f32")[1])
        self.assertIsNotNone(cases.near(4e-4, values, pack("f32", [1.0, float("nan")]), "f32")[1])
        self.assertIsNotNone(cases.near(4e-4, values, values[:4], "f32")[1])


if __name__ == "__main__":
    unittest.main()
