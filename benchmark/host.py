#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times what calls of fp8.gemm cost the host: a warm one, and the first with an M
that was never seen, of a kernel that is known. Takes the installed package, torch
and a GPU; without a GPU only the choice of a configuration is timed.

usage: host.py [--n=N] [--k=K] [--calls=COUNT] [--rounds=COUNT] [--parts]
"""

import argparse
import functools
import itertools
import json
import statistics
import time

import inputs

# A queue that fills makes launches wait.
BATCH = 50
MOST_ROWS = 1200


def describe(microseconds):
    ordered = sorted(microseconds)
    return {"median": round(statistics.median(ordered), 2), "least": round(ordered[0], 2), "p90": round(ordered[len(ordered) * 9 // 10], 2)}


def time_each(calls):
    found = []
    for call in calls:
        start = time.perf_counter_ns()
        call()
        found.append((time.perf_counter_ns() - start) / 1e3)
    return found


def time_choices(n, k, gpu):
    """The choice alone, as fp8.gemm makes it for each M."""
    from fp8 import GemmSpec
    from fp8._choice import Choices
    choices = Choices(GemmSpec(), "sm_90a", gpu)
    choose = choices._config_for  # pylint: disable=protected-access
    choose((5, n, k))
    return describe(time_each([lambda m=m: choose((m, n, k)) for m in range(1, MOST_ROWS, 7)]))


class Calls:
    def __init__(self, n, k):
        import torch
        import fp8
        self.torch = torch
        # K/128 rows of scales could be M, too.
        self.gemm = functools.partial(fp8.gemm, scale_layout="k_major")
        make = lambda rows, columns: torch.randn(rows, columns, device="cuda").to(torch.float8_e4m3fn)
        # 128 rows more, so that B can lie in two places.
        self.a, self.bs = make(MOST_ROWS, k), make(n + 128, k)
        self.b_scales = torch.rand(-(-n // 128) + 1, -(-k // 128), device="cuda")
        self.a_scale = torch.rand(-(-k // 128), MOST_ROWS, device="cuda")
        self.d = torch.empty(MOST_ROWS, n, dtype=torch.bfloat16, device="cuda")

    def operands(self, m, begin=0):
        """M rows, of A and of B from a multiple of 128 on; scales of rows that are a multiple of 16 bytes apart are read where they are."""
        rows, blocks = len(self.bs) - 128, len(self.b_scales) - 1
        return (self.a[begin : begin + m], self.a_scale[:, begin : begin + m],
                self.bs[begin : begin + rows], self.b_scales[begin // 128 : begin // 128 + blocks])

    def warm(self, m, count, out):
        operands, d = self.operands(m), self.d[:m] if out else None
        self.gemm(*operands, d=d)
        return describe(self.time_batches(lambda: self.gemm(*operands, d=d), count))

    def scaled_mm(self, m, count):
        """torch's own call, with one scale for each tensor: the least that it checks."""
        a, b, one = self.a[:m], self.operands(m)[2].t(), self.torch.ones((), device="cuda")
        call = lambda: self.torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=self.torch.bfloat16)  # pylint: disable=protected-access
        call()
        return describe(self.time_batches(call, count))

    def parts(self, m):
        """Of a warm call, and of one with a new M, the steps by themselves: nanoseconds."""
        import fp8._torch as warm
        from fp8._call import Call
        from fp8._library import functions
        # pylint: disable=protected-access
        self.gemm(*self.operands(m))
        tensors, d = self.operands(m), self.d[:m]
        call = Call(*tensors, scale_layout="k_major")
        description, key = warm._describe_call(call)
        plan, row = warm._plans.entries[key], warm.find_row(key[0])
        (rows, _), version = warm._rows.entries[(*row.key, *key[1:])], functions().fp8Version
        stream, new = warm._raw_stream(0), lambda: warm._quick_empty(plan.shape, plan.strides, plan.dtype)
        elsewhere = warm._describe(*self.operands(m, 128))
        where = itertools.cycle([(description, d.data_ptr()), (elsewhere, self.d[128 : 128 + m].data_ptr())])
        steps = {
            "a Call": lambda: Call(*tensors, None, None, None, 1.0, None, None, "k_major", 128, None, None),
            "the description": lambda: warm._describe(*tensors),
            "the same by attributes": lambda: warm.describe_attributes(*tensors),
            "its key, too": lambda: warm._describe_call(call),
            "the plan": lambda: warm._plans.entries.get(key),
            "a new D": new,
            "an address": d.data_ptr,
            "the stream": lambda: warm._raw_stream(0),
            "a call of the library by ctypes": lambda: version(),  # pylint: disable=unnecessary-lambda
            "the launch, D moved": lambda: warm._enqueue(plan.handle, plan.places, description, d.data_ptr(), stream),
            "the launch, all moved every other time": lambda: warm._enqueue(plan.handle, plan.places, *next(where), stream),
            "of a new M: the key": lambda: warm.find_row(key[0]),
            "of a new M: the choice": lambda: rows._choices._config_for((m, rows._n, rows._k)),
            "of a new M: all to the launch": lambda: rows.launch(row),
        }
        return {name: round(1000 * describe(self.time_batches(step, 1000))["median"]) for name, step in steps.items()}

    def time_batches(self, step, count):
        found = []
        for _ in range(count // BATCH):
            start = time.perf_counter_ns()
            for _ in range(BATCH):
                step()
            found.append((time.perf_counter_ns() - start) / 1e3 / BATCH)
            self.torch.cuda.synchronize()
        return found

    def new_rows(self):
        """Calls with an M that is new: even ones first, so that the kernels of odd ones are known."""
        for m in range(2, MOST_ROWS, 2):
            self.gemm(*self.operands(m))
        self.torch.cuda.synchronize()
        found = []
        given = [self.operands(m) for m in range(3, MOST_ROWS, 8)]
        for index, operands in enumerate(given):
            found += time_each([lambda operands=operands: self.gemm(*operands)])
            if index % BATCH == 0:
                self.torch.cuda.synchronize()
        return describe(found)


def main():
    parser = argparse.ArgumentParser(description="Times what calls of fp8.gemm cost the host.")
    parser.add_argument("--n", type=int, default=4096)
    parser.add_argument("--k", type=int, default=7168)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--parts", action="store_true", help="also times the steps of a call by themselves, in ns")
    options = parser.parse_args()
    try:
        import torch
        gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    except ImportError:
        gpu = ""
    with inputs.using_fp8():
        print(json.dumps({"choice": time_choices(options.n, options.k, gpu)}), flush=True)
    if not gpu:
        return
    calls = Calls(options.n, options.k)
    print(json.dumps({"new M": calls.new_rows(), "gpu": gpu}), flush=True)
    if options.parts:
        print(json.dumps({"parts, ns": calls.parts(64)}), flush=True)
    for _ in range(options.rounds):
        print(json.dumps({"warm, new D": calls.warm(64, options.calls, False), "warm, d": calls.warm(64, options.calls, True),
                          "scaled_mm": calls.scaled_mm(64, options.calls)}), flush=True)


if __name__ == "__main__":
    inputs.run(main)
