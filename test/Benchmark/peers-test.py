# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of benchmark/gpu/peers: DeepGEMM's tiles, and what build.py asks the compiler for."""

import os
import stat
import subprocess
import sys
import tempfile
import unittest

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmark", "gpu", "peers")
sys.path.insert(0, PEERS)
import build
import deepgemm_tiles

# What prints its arguments, and makes the file after -o.
COMPILER = """#!/bin/sh
echo "$@"
while [ "$1" != -o ]; do shift; done
: > "$2"
"""


class Tiles(unittest.TestCase):
    def test_choice(self):
        """Of the shapes that DeepGEMM itself is measured on, and a square one."""
        for shape, name in (((64, 2112, 7168), "64x16, 16 stages, cluster 1x1"), ((64, 24576, 1536), "64x96, 10 stages, cluster 2x1"),
                            ((128, 7168, 16384), "64x112, 9 stages, cluster 1x1"), ((128, 32768, 512), "128x128, 5 stages, cluster 1x2"),
                            ((4096, 2112, 7168), "128x192, 4 stages, cluster 2x1"), ((8192, 8192, 8192), "256x128, 3 stages, cluster 1x2")):
            self.assertEqual(deepgemm_tiles.choose(*shape).name, name)

    def test_what_fits(self):
        for k in (512, 16384):
            tiles = list(deepgemm_tiles.candidates(64, k, 132))
            self.assertEqual(len(tiles), len(set(tiles)))
            for tile in tiles:
                self.assertLessEqual(tile.shared_bytes, 232448)
                self.assertTrue(3 <= tile.stages <= 16 and min(tile.block_m, tile.block_n) <= 128)
            self.assertNotIn((128, 176), {tile[:2] for tile in tiles})
        self.assertIn(16, {tile.block_m for tile in deepgemm_tiles.candidates(16, 512, 132)})

    def test_an_odd_number_of_multiprocessors_has_no_clusters(self):
        self.assertEqual({tile.multicast for tile in deepgemm_tiles.candidates(64, 512, 131)}, {1})


class Build(unittest.TestCase):
    def build(self, *arguments):
        with tempfile.TemporaryDirectory() as directory:
            compiler = os.path.join(directory, "nvcc")
            with open(compiler, "w", encoding="utf-8") as file:
                file.write(COMPILER)
            os.chmod(compiler, stat.S_IRWXU)
            output = os.path.join(directory, "peer.so")
            result = subprocess.run([sys.executable, "-B", os.path.join(PEERS, "build.py"), *arguments, "--nvcc=" + compiler,
                                     "--output=" + output], capture_output=True, text=True, check=False)
            return result, os.path.exists(output)

    def test_deepgemm(self):
        result, made = self.build("deepgemm", "--deepgemm=/D", "--cutlass=/C", "--processors=114")
        self.assertTrue(made, result.stderr)
        compilation, link = result.stdout.splitlines()
        for text in ("-DFP8_PEER_PROCESSORS=114 ", "-I/D/deep_gemm/include -I/C/include ", "peers/deepgemm.cu", " -DNDEBUG "):
            self.assertIn(text, compilation)
        self.assertIn("-shared -cudart=static ", link)

    def test_deepgemm_kernels(self):
        rows = build.table.read_rows(os.path.join(PEERS, "..", "rows.csv"))
        shapes = build.with_padded({row.shape for row in rows + build.table.draw_rows(1)})
        lines = build.deepgemm_kernels(shapes, 132).splitlines()
        self.assertEqual(len(lines), len(shapes))
        # A of few rows is padded, too.
        self.assertTrue({(64, n, k) for m, n, k in shapes if m < 64} <= set(shapes))
        self.assertIn('KERNEL(64, 24576, 1536, 64, 96, 64, 10, 128, 2, false, 220000, "64x96, 10 stages, cluster 2x1")', lines)
        self.assertIn('KERNEL(4096, 7168, 2048, 256, 128, 128, 3, 256, 2, true, 216384, "256x128, 3 stages, cluster 1x2")', lines)

    def test_cutlass(self):
        result, made = self.build("cutlass", "--cutlass=/C")
        self.assertTrue(made, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), len(build.VARIANTS) + 2)
        self.assertEqual(sum('-DTILE_M=256 -DTILE_N=128 -DCLUSTER_M=1 -DCLUSTER_N=2 ' in line for line in lines), 1)
        self.assertEqual([lines[-1].count("/%d.o" % i) for i in range(len(lines) - 1)], [1] * (len(lines) - 1))

    def test_errors(self):
        self.assertIn("deepgemm takes --deepgemm=DIR", self.build("deepgemm", "--cutlass=/C")[0].stderr)
        result, made = self.build("deepgemm", "--deepgemm=/D", "--cutlass=/C", "--rows=64x0x128")
        self.assertIn("build.py: error: '64x0x128' is no row; write M, N and K as in 64x7168x2048", result.stderr)
        self.assertFalse(made or result.returncode == 0)


if __name__ == "__main__":
    unittest.main()
