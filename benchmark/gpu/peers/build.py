# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds another project's Hopper kernels as a shared library that the benchmark
times beside ours (docs/Benchmark.md, "A peer built elsewhere"). Takes checkouts of
those projects; none of their code is here.

usage: build.py deepgemm --deepgemm=DIR --cutlass=DIR --output=FILE [--rows=MxNxK,...] [--random=SEED] [--every-m]
                [--processors=N] [--nvcc=FILE]
       build.py cutlass --cutlass=DIR --output=FILE [--nvcc=FILE]
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import deepgemm_tiles
import table

# Not -arch=sm_90a, with which nvcc 13.0 compiles for compute_90 as well. Without -DNDEBUG assertions are calls, and these serialise wgmma.
FLAGS = ["-gencode=arch=compute_90a,code=sm_90a", "-O3", "-DNDEBUG", "--expt-relaxed-constexpr", "--expt-extended-lambda",
         "-Xcompiler=-fPIC,-O3,-fvisibility=hidden", "-Xptxas=--warn-on-spills,--warn-on-local-memory-usage"]
LINK_FLAGS = ["-shared", "-cudart=static", "-Xcompiler=-static-libstdc++,-static-libgcc", "-Xlinker=--exclude-libs=ALL,-s"]
# As DeepGEMM's own compiler of kernels has them.
DEEPGEMM_FLAGS = ["-std=c++20", "--ptxas-options=--register-usage-level=10", "--diag-suppress=39,161,174,177,186,940"]
# CUTLASS_ENABLE_GDC_FOR_SM90: kernels wait for their predecessors by themselves, which programmatic launches take.
CUTLASS_FLAGS = ["-std=c++17", "--diag-suppress=20012", "-DCUTLASS_ENABLE_GDC_FOR_SM90"]


class Variant(NamedTuple):
    """A kernel of CUTLASS. Its tiles have 128 rows at least, and columns in multiples of 128, as B's scales have."""
    tile: tuple[int, int]
    cluster: tuple[int, int]
    pingpong: bool = False

    @property
    def name(self) -> str:
        return "%dx%d, cluster %dx%d" % (*self.tile, *self.cluster) + ", pingpong" * self.pingpong

    def macros(self, identifier: str) -> list[str]:
        values = {"TILE_M": self.tile[0], "TILE_N": self.tile[1], "CLUSTER_M": self.cluster[0], "CLUSTER_N": self.cluster[1],
                  "PINGPONG": int(self.pingpong), "VARIANT": identifier, "VARIANT_NAME": '"%s"' % self.name}
        return ["-D%s=%s" % item for item in values.items()]


VARIANTS = (Variant((256, 128), (1, 2)), Variant((256, 128), (2, 1)), Variant((128, 128), (1, 2)), Variant((128, 128), (2, 1)),
            Variant((128, 128), (1, 1)))


def with_padded(shapes: set[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The shapes; of those with few rows also what they become where A is padded (peers.PaddedPeer)."""
    return sorted(shapes | {(64, n, k) for m, n, k in shapes if m < 64})


def deepgemm_kernels(shapes: list[tuple[int, int, int]], processors: int) -> str:
    """The lines that deepgemm.cu includes."""
    lines = []
    for shape in shapes:
        tile = deepgemm_tiles.choose(*shape, processors)
        numbers = (*shape, tile.block_m, tile.block_n, tile.swizzle_d, tile.stages, tile.math_threads, tile.multicast)
        lines.append('KERNEL(%s, %s, %d, "%s")\n' % (", ".join(map(str, numbers)), str(tile.multicast_a).lower(),
                                                    tile.shared_bytes, tile.name))
    return "".join(lines)


def write(directory: str, name: str, text: str) -> None:
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.write(text)


def deepgemm(options: argparse.Namespace, directory: str) -> list[list[str]]:
    """What nvcc is asked for, but for the files of objects."""
    rows = table.read_rows(os.path.join(os.path.dirname(HERE), "rows.csv"))
    rows = table.select_rows(rows, [name for name in options.rows.split(",") if name], "all")
    rows += table.draw_rows(options.random) if options.random is not None else []
    shapes = {row.shape for row in rows} | (set(table.every_m_peer_shapes()) if options.every_m else set())
    write(directory, "deepgemm-kernels.inc", deepgemm_kernels(with_padded(shapes), options.processors))
    includes = [directory, os.path.join(options.deepgemm, "deep_gemm", "include"), os.path.join(options.cutlass, "include")]
    return [[*FLAGS, *DEEPGEMM_FLAGS, "-DFP8_PEER_PROCESSORS=%d" % options.processors, *("-I" + name for name in includes),
             os.path.join(HERE, "deepgemm.cu")]]


def cutlass(options: argparse.Namespace, directory: str) -> list[list[str]]:
    identifiers = ["variant%d" % i for i in range(len(VARIANTS))]
    write(directory, "cutlass-variants.inc", "".join("VARIANT(%s)\n" % one for one in identifiers))
    includes = [directory, os.path.join(options.cutlass, "include"), os.path.join(options.cutlass, "tools", "util", "include")]
    flags = [*FLAGS, *CUTLASS_FLAGS, *("-I" + name for name in includes)]
    compilations = [[*flags, os.path.join(HERE, "cutlass.cu")]]
    for identifier, variant in zip(identifiers, VARIANTS):
        compilations.append([*flags, *variant.macros(identifier), os.path.join(HERE, "cutlass_variant.cu")])
    return compilations


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("peer", choices=["deepgemm", "cutlass"])
    parser.add_argument("--deepgemm", help="a checkout of DeepGEMM")
    parser.add_argument("--cutlass", required=True, help="a checkout of CUTLASS; for DeepGEMM, of the commit that it names")
    parser.add_argument("--output", required=True, help="the shared library")
    parser.add_argument("--rows", default="", help="MxNxK,...: DeepGEMM's kernels for these rows only")
    parser.add_argument("--random", type=int, metavar="SEED", help="and for the rows that are drawn from that seed")
    parser.add_argument("--every-m", action="store_true", help="and for the shapes of every_m.py")
    parser.add_argument("--processors", type=int, default=132, help="multiprocessors of the GPU, a constant of DeepGEMM's kernels")
    parser.add_argument("--nvcc", default="nvcc")
    options = parser.parse_args(arguments)
    if options.peer == "deepgemm" and not options.deepgemm:
        parser.error("deepgemm takes --deepgemm=DIR, a checkout of DeepGEMM")
    return options


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    with tempfile.TemporaryDirectory() as directory:
        try:
            compilations = {"deepgemm": deepgemm, "cutlass": cutlass}[options.peer](options, directory)
        except ValueError as error:
            sys.exit("build.py: error: %s" % error)
        objects = [os.path.join(directory, "%d.o" % i) for i in range(len(compilations))]
        commands = [[options.nvcc, *flags, "-c", "-o", file] for flags, file in zip(compilations, objects)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            statuses = list(pool.map(lambda command: subprocess.run(command, check=False).returncode, commands))
        if any(statuses):
            return 1
        return subprocess.run([options.nvcc, *LINK_FLAGS, "-o", options.output, *objects], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
