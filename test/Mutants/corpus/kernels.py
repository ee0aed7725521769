# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The good kernels: where each comes from, and on what it runs.

Extents are such that each ring laps three times at least, tiles have tails, and every CTA, or cluster of CTAs, has several tiles where
the kernel is persistent. A tile of 16 columns breaks no rule that one of 128 keeps, and is simulated in a tenth of the time.
"""

import dataclasses
import re

SMALL = "stages = 2, accumulators = 2"


@dataclasses.dataclass
class Kernel:
    name: str
    source: str  # below the repository
    config: str = ""  # of the GEMM op, none for kernels written by hand
    m: int = 136
    n: int = 104
    k: int = 272
    options: tuple = ("--multiprocessors=2",)
    passes: tuple = ()  # before faults are planted at dialect level
    deep: int = 4224  # another K, for what survives the first: more blocks than lanes
    columns: int = 16  # of a tile

    def text(self, root):
        with open(f"{root}/{self.source}", encoding="utf-8") as file:
            text = file.read()
        if self.config:
            text, count = re.subn(r"outs\(.*\)", rf"\g<0> config<{self.config}>", text)
            assert count == 1, self.source
        return text

    def file(self):
        return self.name.replace("/", "-")

    def runs(self):
        """The options of each run, until one fails."""
        yield [f"--m={self.m}", f"--n={self.n}", f"--k={self.k}", *self.options]
        yield ["--m=200", f"--n={2 * self.columns}", f"--k={self.deep}", *self.options]
        # One block of K in each of many tiles: the ring of scales, whose slot holds those of a group of blocks, is the one that is full.
        yield ["--m=260", f"--n={9 * self.columns}", "--k=112", *self.options]
        # A whole group of blocks and no rest, for columns that have another row of B's scales.
        yield ["--m=200", f"--n={128 + self.columns}", "--k=1024", *self.options]


GEMM = "examples/gemm.mlir"

OF_THE_OP = [
    Kernel("one-cta", GEMM, f"tile = 128 x 16 x 128, {SMALL}"),
    Kernel("three-stages", GEMM, "tile = 128 x 32 x 128, stages = 3, accumulators = 3", m=120, n=200, k=656, columns=32),
    Kernel("cluster", GEMM, f"tile = 128 x 16 x 128, cluster = 2 x 2, {SMALL}", n=136, options=("--multiprocessors=4",)),
    Kernel("pair", GEMM, f"tile = 128 x 16 x 128, cta_group = 2, {SMALL}", m=120),
    Kernel("clc", GEMM, f"tile = 128 x 16 x 128, cluster = 2 x 1, {SMALL}, scheduler = clc"),
    Kernel("pair-clc", GEMM, f"tile = 128 x 16 x 128, cta_group = 2, cluster = 2 x 2, {SMALL}, scheduler = clc", n=136,
           options=("--multiprocessors=4",)),
]
BY_HAND = [
    Kernel("structured", "examples/structured.mlir", m=136, n=264, k=528),
    Kernel("linear", "test/Run/linear.mlir", m=130, n=136, k=1168),
    Kernel("explicit", "test/Run/explicit.mlir", m=130, n=136, k=1168),
    Kernel("epilogue", "test/Run/epilogue.mlir", m=136, n=144, k=656),
    Kernel("read", "test/Run/read.mlir", m=130, n=72, k=656),
    Kernel("swapped", "test/Run/swapped-rings.mlir", m=130, n=136, k=1168),
]
PTX_KERNELS = OF_THE_OP + BY_HAND[:3]


def at_phase(kernel, phase, passes):
    return dataclasses.replace(kernel, name=f"{kernel.name}/{phase}", passes=passes)


ONE, TWO = ("--fp8-structure-gemm",), ("--fp8-structure-gemm", "--inline", "--fp8-flatten-scopes")
DIALECT_KERNELS = [at_phase(k, "1", ONE) for k in OF_THE_OP if k.name != "three-stages"]
DIALECT_KERNELS += [at_phase(k, "2", TWO) for k in OF_THE_OP if k.name != "three-stages"]
DIALECT_KERNELS += BY_HAND + [at_phase(BY_HAND[0], "2", TWO[1:])]
