# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes structured kernels in Python: rings, roles and scopes as `with` statements that become the dialect's ops.

    module = Module()
    with module.kernel("gemm") as kernel:
        ...
        pipeline = kernel.pipeline(4, a=a_tile, b=b_tile)
        with kernel.role("load", warps=1):
            with kernel.range(blocks) as kb:
                with pipeline.produce() as stage:
                    stage.load(a=a[m, kb * 128], b=b[n, kb * 128])

`str(module)` is MLIR in phase 1 (docs/Phases.md), and each op in it names the line of Python that it comes from. docs/Python.md shows
whole kernels. The compiler checks the rules of the dialect; its errors name these lines. A `BuildError` is a misuse of Python's objects.
"""

from .ends import End
from .errors import BuildError, Location
from .host import Host
from .kernel import Kernel
from .module import Module
from .registers import Exchange, Product, Queue, Registers
from .rings import AccumulatorRing, EpilogueWarp, MmaWarp, TileRing, WorkRing
from .scalars import Scalar, ScalarVariable, ceildiv, math, maximum, minimum, select, shuffle
from .stages import AnswerStage, ConsumerStage, EpilogueStage, MmaStage, ProducerStage, RequestStage, Stage
from .types import Fragment, MemRef, Tile
from .views import AccumulatorView, Array, Barrier, Box, Map, TileView, WholeUnits

__all__ = [
    "AccumulatorRing", "AccumulatorView", "AnswerStage", "Array", "Barrier", "Box", "BuildError", "ConsumerStage", "End", "EpilogueStage",
    "EpilogueWarp", "Exchange", "Fragment", "Host", "Kernel", "Location", "Map", "MemRef", "MmaStage", "MmaWarp", "Module", "Product",
    "ProducerStage", "Queue", "Registers", "RequestStage", "Scalar", "ScalarVariable", "Stage", "Tile", "TileRing", "TileView", "WholeUnits",
    "WorkRing", "ceildiv", "math", "maximum", "minimum", "select", "shuffle",
]
