# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of what judges GEMMs on a GPU (gemms.py, shapes.py, stress.py), on the CPU: in place of the GPU something
that computes right results, and goes wrong in one way or another."""

import argparse
import contextlib
import io
import os
import sys
import unittest

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gemms
import shapes
import stress

PLAIN = [["a", "f8E4M3FN"], ["a_scale", "f32"], ["b", "f8E4M3FN"], ["b_scale", "f32"]]


def kernel(d="bf16", c=None, beta=None, bias=None, scale=None, function=None, group="all", tile="64x32", strided=True):
    point = dict(d=d, c=c, beta=beta, bias=bias, scale=scale, function=function, strided=strided)
    arguments = PLAIN + [["c", c]] * bool(c) + [["beta", "f32"]] * bool(beta) + [["bias", bias]] * bool(bias)
    arguments += [["d", d]] + [["d_scale", "f32"]] * bool(scale)
    name = "-".join([tile] + [str(value) for value in point.values() if value])
    return gemms.Kernel({"name": name, "tile": tile, "group": group, "point": point, "arguments": arguments})


EVERY = [kernel("bf16"), kernel("f16"), kernel("f32"), kernel("f8E4M3FN"), kernel("f8E5M2"), kernel("bf16", "bf16", True, "f32", True),
         kernel("f16", "f16", True, "bf16", True), kernel("f32", "f32", True, "f16", True),
         kernel("f8E4M3FN", "bf16", True, "bf16", True)]


class Host:
    """Computes what a kernel would, in another order than the reference; `fault` spoils D."""

    device = "cpu"

    def __init__(self, fault=None):
        self.fault, self.launches, self.memory = fault, 0, 0

    def enqueue(self, kernel, arguments):
        for (name, dtype), (given, tensor) in zip(kernel.arguments, arguments, strict=True):
            assert dtype == given and tensor.dtype == gemms.dtype_of(dtype), name
        values = {name: tensor for (name, _), (_, tensor) in zip(kernel.arguments, arguments)}
        total = 0.0
        for block in range(values["a_scale"].shape[0]):
            columns = slice(128 * block, 128 * block + 128)
            b_scale = values["b_scale"][:, block].repeat_interleave(128)[:values["b"].shape[0]]
            product = values["a"][:, columns].float() @ values["b"][:, columns].float().t()
            total = total + product * values["a_scale"][block][:, None] * b_scale
        if kernel.c and (not kernel.beta or values["beta"] != 0):
            total = total + (values["beta"] if kernel.beta else 1) * values["c"].float()
        if kernel.bias:
            total = total + values["bias"].float()
        if kernel.function == "relu":
            total = total.clamp(min=0)
        if kernel.function == "silu":
            total = total / 2 * (torch.tanh(total / 2) * (1 + 2 ** -11.2)) + total / 2
        if kernel.scale:
            total = total * values["d_scale"]
        if kernel.d in ("f8E4M3FN", "f8E5M2"):
            total = total.clamp(*(sign * torch.finfo(values["d"].dtype).max for sign in (-1, 1)))
        values["d"].copy_(total.to(values["d"].dtype))
        self.launches += 1
        if self.fault:
            self.fault(self, kernel, values)

    def wait(self):
        pass

    def streams(self, count):
        return list(range(count))

    def on(self, _):
        return contextlib.nullcontext()

    def memory_in_use(self):
        return self.memory


def judge(one, fault=None, beta=0.75, shape=(70, 200, 272)):
    judged, _, _ = gemms.check(Host(fault), gemms.Problem(shape, 3, "cpu"), one, beta)
    return judged


def spoil(row, column, factor):
    def fault(_, __, values):
        values["d"][row, column] = (values["d"][row, column].float() * factor).to(values["d"].dtype)
    return fault


class Judgement(unittest.TestCase):
    def test_right(self):
        for one in EVERY + [kernel("f32", "f32"), kernel("bf16", bias="bf16", function="relu"), kernel(strided=False)]:
            for beta in shapes.BETAS:
                judged = judge(one, beta=beta)
                self.assertIsNone(judged.problem, one)
                self.assertEqual(judged.elements, 70 * 200)
        self.assertIsNone(judge(EVERY[0], shape=(1, 8, 16)).problem)

    def test_tanh(self):
        """An error that tanh.approx may have is within the floor, which without it would be too low."""
        for d in ("bf16", "f16", "f32", "f8E4M3FN", "f8E5M2"):
            one = kernel(d, function="silu", scale=True)
            judged = judge(one)
            self.assertIsNone(judged.problem)
            self.assertGreater(judged.floor, sum(gemms.floors_of(one)))

    def test_one_wrong_element(self):
        for one in EVERY:
            judged = judge(one, spoil(69, 199, -3))
            self.assertRegex(judged.problem, r"^1 of 14000 elements are wrong; first: d\[69,199\] is .* instead of")

    def test_unwritten(self):
        def fault(_, one, values):
            values["d"].view(torch.uint8)[3, :one_size(one)] = gemms.POISON
        one_size = lambda one: gemms.dtype_of(one.d).itemsize
        for one in EVERY:
            self.assertRegex(judge(one, fault).problem, r"^1 of 14000 elements are wrong; first: d\[3,0\] is nan")

    def test_small_errors_everywhere(self):
        def truncate(_, __, values):
            values["d"].copy_((values["d"].float() * (1 - 2.0 ** -12)))
        judged = judge(kernel("f32"), truncate, shape=(200, 200, 272))
        self.assertRegex(judged.problem, "^the Frobenius distance is 0.000244, more than the floor 0.00020")

    def test_floor_of_few_elements(self):
        few, many = judge(kernel("f32"), shape=(1, 8, 1040)), judge(kernel("f32"), shape=(200, 200, 16))
        self.assertGreater(few.floor, 2 * many.floor)
        self.assertLess(many.floor, 1.03 * gemms.floors_of(kernel("f32"))[0])

    def test_guards(self):
        for at in (gemms.GUARD_BYTES - 1, -gemms.GUARD_BYTES, gemms.GUARD_BYTES + 400):  # before, behind, between rows
            def fault(_, __, values):
                storage = values["d"].untyped_storage()
                storage[at % len(storage)] = 0
            self.assertEqual(judge(EVERY[0], fault).problem, "1 bytes around D, or between its rows, were written")

    def test_second_time(self):
        def fault(host, _, values):
            if host.launches == 2:  # by one unit in the last place, which is right
                values["d"].view(torch.int16)[0, 0] += 1
        self.assertRegex(judge(EVERY[0], fault).problem, "^1 bytes of D are others the second time")

    def test_beta_is_applied(self):
        def fault(_, __, values):
            values["d"].sub_(0.01 * values["d_scale"].to(values["d"].dtype) * values["c"].to(values["d"].dtype))
        self.assertIsNotNone(judge(EVERY[7], fault).problem)


def printed(function, *arguments):
    report, text = gemms.Report(), io.StringIO()
    with contextlib.redirect_stdout(text):
        function(*arguments, report)
    return text.getvalue(), report.failed


class Shapes(unittest.TestCase):
    def test_ragged(self):
        found = shapes.ragged_shapes(60, 1)
        self.assertEqual(len(set(found)), 60)
        for m, n, k in found:
            self.assertTrue(1 <= m <= 5000 and 8 <= n <= 9000 and not n % 8 and 16 <= k <= 9000 and not k % 16)
        self.assertLess(min(m for m, _, _ in found), 16)
        self.assertGreater(max(m for m, _, _ in found), 4000)
        self.assertNotEqual(found, shapes.ragged_shapes(60, 2))

    def test_choice(self):
        every = [gemms.Kernel({"name": one.name + tile, "tile": tile, "group": "all", "arguments": [], "point": dict(
            d=one.d, c=one.c, beta=None, bias=None, scale=None, function=None)}) for one in EVERY for tile in ("1", "2", "3")]
        every += [kernel(group="rows", tile="row"), kernel(group="functions", function="silu")]
        for number in range(6):
            chosen = shapes.choose(every, number, every[-2].name)
            self.assertEqual([one.group for one in chosen], ["rows"] + ["all"] * 8 + ["functions"])
            self.assertEqual(sorted(one.d for one in chosen[1:-1]), sorted(2 * shapes.TYPES))
        self.assertEqual({one.tile for one in chosen[1:-1]}, {"1", "2", "3"})

    def options(self, **more):
        return argparse.Namespace(**dict({"seconds": 100, "seed": 5, "ragged": 0}, **more))

    def test_lines(self):
        rows = [((33, 40, 48), None), ((16, 24, 160), "row-none")]
        text, failed = printed(shapes.run, Host(), EVERY, rows, self.options())
        self.assertRegex(text, r"^PASS: shape-33x40x48 seed 5, 8 kernels, 10560 elements, error up to 0\.\d\d of the bound")
        self.assertIn("FAIL: shape-16x24x160 there is no kernel 'row-none', which configurations.json names first for it", text)
        self.assertEqual(failed, 1)

    def test_wrong(self):
        text, failed = printed(shapes.run, Host(spoil(2, 1, 9)), EVERY[:1], [((8, 8, 16), None)], self.options())
        self.assertRegex(text, r"^FAIL: shape-8x8x16 seed 5; 64x32-bf16-True: 1 of 64 elements are wrong; first: d\[2,1\]")
        self.assertEqual(failed, 1)

    def test_time(self):
        text, failed = printed(shapes.run, Host(), EVERY, [((8, 8, 16), None)], self.options(seconds=-1))
        self.assertEqual((text, failed), ("FAIL: shapes 1 of 1 were not run in -1 s\n", 1))

    def test_errors(self):
        def fault(_, __, ___):
            raise gemms.runtime.RuntimeFailure("cannot launch\nmore")
        text, failed = printed(shapes.run, Host(fault), EVERY, [((8, 8, 16), None)], self.options())
        self.assertEqual((text, failed), ("FAIL: shape-8x8x16 cannot launch\n", 1))


class Stress(unittest.TestCase):
    def run_with(self, fault=None, launches=40, seconds=1000):
        stress.SHAPES, stress.CHECK_EVERY = [(5, 16, 32), (9, 24, 160)], 10
        host = Host(fault)
        options = argparse.Namespace(seconds=seconds, seed=2, launches=launches)
        text, failed = printed(stress.run, host, EVERY[:3], options)
        return text, failed, host

    def test_right(self):
        text, failed, host = self.run_with()
        self.assertIn("PASS: stress-5x16x32-", text)
        self.assertIn("PASS: stress-launches 40 launches of 3 kernels and shapes on 2 streams", text)
        self.assertIn("PASS: stress-memory growth of 0 bytes", text)
        self.assertEqual((failed, host.launches), (0, 3 * 2 + 40))

    def test_one_wrong_launch_of_many(self):
        def fault(host, _, values):
            if host.launches == 3 * 2 + 25:
                values["d"][0, 0] = 0
        text, failed, _ = self.run_with(fault)
        self.assertRegex(text, r"FAIL: stress-launches [12] bytes are not as they were at first, after 30 launches")
        self.assertEqual(failed, 1)

    def test_wrong_alone(self):
        text, failed, _ = self.run_with(spoil(0, 0, 7))
        self.assertIn("FAIL: stress-launches not begun, since not every kernel is right alone", text)
        self.assertEqual(failed, 4)

    def test_memory(self):
        def fault(host, _, __):
            host.memory += 1
        text, failed, _ = self.run_with(fault)
        self.assertIn("FAIL: stress-memory growth of 20 bytes of the GPU's memory", text)
        self.assertEqual(failed, 1)

    def test_time(self):
        text, _, _ = self.run_with(seconds=-1)
        self.assertIn("FAIL: stress-launches only 10 launches", text)


if __name__ == "__main__":
    unittest.main()
