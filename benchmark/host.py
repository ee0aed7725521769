#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times what calls of fp8.gemm cost the host: a warm one, and the first with an M
that was never seen, of a kernel that is known. Takes the installed package, torch
and a GPU; without a GPU only the choice of a configuration is timed.

usage: host.py [--n=N] [--k=K] [--calls=COUNT] [--rounds=COUNT]
"""

import argparse
import functools
import json
import statistics
import time

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
        self.a, self.b = make(MOST_ROWS, k), make(n, k)
        self.b_scale = torch.rand(-(-n // 128), -(-k // 128), device="cuda")
        self.a_scale = torch.rand(-(-k // 128), MOST_ROWS, device="cuda")
        self.d = torch.empty(MOST_ROWS, n, dtype=torch.bfloat16, device="cuda")

    def operands(self, m):
        # Scales of rows that are a multiple of 16 bytes apart are read where they are.
        return self.a[:m], self.a_scale[:, :m], self.b, self.b_scale

    def warm(self, m, count, out):
        operands, d = self.operands(m), self.d[:m] if out else None
        self.gemm(*operands, d=d)
        found = []
        for _ in range(count // BATCH):
            start = time.perf_counter_ns()
            for _ in range(BATCH):
                self.gemm(*operands, d=d)
            found.append((time.perf_counter_ns() - start) / 1e3 / BATCH)
            self.torch.cuda.synchronize()
        return describe(found)

    def scaled_mm(self, m, count):
        """torch's own call, with one scale for each tensor: the least that it checks."""
        a, b, one = self.a[:m], self.b.t(), self.torch.ones((), device="cuda")
        call = lambda: self.torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=self.torch.bfloat16)  # pylint: disable=protected-access
        call()
        found = []
        for _ in range(count // BATCH):
            start = time.perf_counter_ns()
            for _ in range(BATCH):
                call()
            found.append((time.perf_counter_ns() - start) / 1e3 / BATCH)
            self.torch.cuda.synchronize()
        return describe(found)

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
    options = parser.parse_args()
    try:
        import torch
        gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    except ImportError:
        gpu = ""
    print(json.dumps({"choice": time_choices(options.n, options.k, gpu)}), flush=True)
    if not gpu:
        return
    calls = Calls(options.n, options.k)
    print(json.dumps({"new M": calls.new_rows(), "gpu": gpu}), flush=True)
    for _ in range(options.rounds):
        print(json.dumps({"warm, new D": calls.warm(64, options.calls, False), "warm, d": calls.warm(64, options.calls, True),
                          "scaled_mm": calls.scaled_mm(64, options.calls)}), flush=True)


if __name__ == "__main__":
    main()
