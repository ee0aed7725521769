# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of benchmark/gpu/operands.py on the CPU."""

import os
import sys
import unittest

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmark", "gpu"))
import operands


class Reference(unittest.TestCase):
    def setUp(self):
        self.operands = operands.Operands((30, 200, 272), 1, device="cpu", least_bytes=200_000)
        self.one = self.operands.sets[0]
        self.reference, self.bound = self.operands.references[0]

    def test_layout(self):
        one = self.one
        self.assertEqual(len(self.operands), 4)
        self.assertEqual((one.a_scale.shape, one.a_scale.stride()), ((3, 30), (32, 1)))
        self.assertEqual((one.b_scale.shape, one.b_scale.stride()), ((2, 3), (3, 1)))
        self.assertEqual((one.b.shape, one.b.stride(), one.d.shape), ((200, 272), (272, 1), (30, 200)))
        self.assertEqual(one.a.float().abs().max(), 448)
        self.assertFalse(torch.equal(one.a.float(), self.operands.sets[1].a.float()))

    def test_one_row(self):
        one = operands.OperandSet((1, 8, 272), torch.Generator(), "cpu")
        self.assertEqual((one.a.stride(), one.a_scale.stride(), one.b.stride()), ((272, 1), (4, 1), (272, 1)))

    def test_rows_of_scales(self):
        """As each library lays them out, or alike for all."""
        one = operands.OperandSet((30, 8, 272), torch.Generator(), "cpu")
        self.assertEqual((one.a_scale.stride(0), one.own_a_scale.stride(0)), (32, 32))
        one = operands.OperandSet((33, 8, 272), torch.Generator(), "cpu")
        self.assertEqual((one.a_scale.stride(0), one.own_a_scale.stride(0)), (36, 64))
        self.assertTrue(torch.equal(one.a_scale, one.own_a_scale))
        one = operands.OperandSet((33, 8, 272), torch.Generator(), "cpu", scale_bytes=16)
        self.assertEqual((one.a_scale.stride(0), one.own_a_scale.stride(0)), (36, 36))

    def test_elements(self):
        one = self.one
        for m, n in ((0, 0), (29, 199), (7, 127), (8, 128)):
            value = magnitude = 0.0
            for block in range(3):
                scale = one.a_scale[block, m].item() * one.b_scale[n // 128, block].item()
                for k in range(block * 128, min(272, block * 128 + 128)):
                    product = one.a[m, k].item() * one.b[n, k].item()
                    value += scale * product
                    magnitude += abs(scale * product)
            self.assertAlmostEqual(self.reference[m, n].item(), value, delta=1e-12 * magnitude)
            ulp = operands.ulp_bf16(self.reference[m, n]).item()
            self.assertAlmostEqual(self.bound[m, n].item(), ulp + magnitude / 2048, delta=1e-6 * magnitude)

    def test_ulp(self):
        values = torch.tensor([1.0, 1.99, -2.0, 0.0, 0.5, 2.0 ** -130, 3e38], dtype=torch.float64)
        exponents = [-7, -7, -6, -133, -8, -133, 120]
        self.assertEqual(operands.ulp_bf16(values).tolist(), [2.0 ** exponent for exponent in exponents])
        for dtype, least, most, one in ((torch.float16, -24, 5, -10), (torch.float32, -149, 104, -23),
                                        (torch.float8_e4m3fn, -9, 5, -3), (torch.float8_e5m2, -16, 13, -2)):
            values = torch.tensor([0.0, 3e38, 1.0], dtype=torch.float64)
            self.assertEqual(operands.ulp(values, dtype).tolist(), [2.0 ** least, 2.0 ** most, 2.0 ** one])

    def test_verdict(self):
        right = [reference.to(torch.bfloat16) for reference, _ in self.operands.references]
        verdict = self.operands.judge(right)
        self.assertTrue(verdict.right)
        self.assertEqual((verdict.elements, verdict.frobenius), (4 * 30 * 200, 0.0))
        self.assertLess(verdict.worst, 0.5)
        for value in (float("nan"), float("inf"), self.reference[3, 4].item() + 4 * self.bound[3, 4].item()):
            wrong = [d.clone() for d in right]
            wrong[0][3, 4] = value
            verdict = self.operands.judge(wrong)
            self.assertFalse(verdict.right)
            self.assertGreater(verdict.worst, 1)
            self.assertRegex(str(verdict), r"1 of 24000 elements are wrong; first: set 0, d\[3,4\] is ")

    def test_poison_is_wrong(self):
        outputs = [one.d for one in self.operands.sets]
        operands.poison(outputs)
        verdict = self.operands.judge(outputs)
        self.assertEqual(verdict.wrong, verdict.elements)

    def test_every_set_is_judged(self):
        with self.assertRaises(ValueError):
            self.operands.judge([self.one.d])


if __name__ == "__main__":
    unittest.main()
