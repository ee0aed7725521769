# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that are judged: where each comes from and what it is launched on.

usage: kernels.py FP8-OPT FP8-RUN WORKDIR [--full] [--only NAME]

Lowers each for sm_100a, runs it on the simulator, and has SentryWard judge the same launch: both must find nothing, on the same grid.
--full adds the kernels that take longer. Runs in a Python that has SentryWard 0.1.1.
"""

import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys

from judge import judge
from launch import Binding

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "test/Run/Inputs"))
import epilogues  # noqa: E402

SMALL = "stages = 2, accumulators = 2"


@dataclasses.dataclass
class Kernel:
    name: str
    sizes: tuple  # m, n, k, and of a batch the number of products
    config: str = ""  # of the GEMM op
    operands: str = ""  # and what follows its sum, as epilogues.py reads it
    source: str = ""  # a kernel written by hand, below the repository
    multiprocessors: int = 148
    full: bool = False  # too slow for each run of the tests

    def text(self):
        if self.source:
            with open(os.path.join(ROOT, self.source), encoding="utf-8") as file:
                return file.read()
        return epilogues.text(epilogues.parse(self.operands) | {"config": self.config})

    def named_sizes(self):
        return dict(zip(("m", "n", "k", "batch"), self.sizes))

    def options(self):
        """What fp8-run takes for this launch."""
        operands = epilogues.parse(self.operands)
        options = [f"--{name}={size}" for name, size in self.named_sizes().items()] + [f"--multiprocessors={self.multiprocessors}"]
        options += [f"--elementwise={operands['function']}"] if operands["function"] else []
        return options + (["--beta=1"] if operands["beta"] else [])


def by_hand(source, sizes, **others):
    return Kernel(os.path.splitext(os.path.basename(source))[0], sizes, source=source, **others)


PAIR = "cta_group = 2, stages = 2, accumulators = 4"  # 512 columns of tensor memory: SentryWard takes no fewer for a pair

KERNELS = [
    Kernel("one CTA", (128, 16, 640), f"tile = 128 x 16 x 128, {SMALL}"),
    Kernel("many tiles", (64, 112, 112), f"tile = 64 x 16 x 128, {SMALL}", multiprocessors=1),
    Kernel("pair", (128, 128, 384), "tile = 128 x 128 x 128, cta_group = 2, stages = 2, accumulators = 8"),
    Kernel("cluster", (256, 16, 384), f"tile = 128 x 16 x 128, cluster = 2 x 1, {SMALL}"),
    Kernel("clc", (128, 32, 384), f"tile = 128 x 16 x 128, cluster = 1 x 2, {SMALL}, scheduler = clc"),
    Kernel("batch", (128, 16, 384, 2), f"tile = 128 x 16 x 128, {SMALL}, scheduler = one_tile", "batch"),
    Kernel("all behind the sum", (128, 32, 384), f"tile = 128 x 32 x 128, {SMALL}", "c=bf16,beta,bias=f32,function=relu,scale"),
    by_hand("examples/structured.mlir", (128, 128, 640)),
    Kernel("default", (128, 128, 640), full=True),
    Kernel("ragged", (200, 24, 400), f"tile = 128 x 16 x 128, {SMALL}", multiprocessors=1, full=True),
    Kernel("many wide tiles", (128, 144, 112), f"tile = 128 x 16 x 128, {SMALL}", multiprocessors=1, full=True),
    Kernel("pair, many tiles", (128, 1152, 112), "tile = 128 x 128 x 128, cta_group = 2, stages = 2, accumulators = 8", multiprocessors=2, full=True),
    Kernel("cluster, many tiles", (256, 112, 112), f"tile = 128 x 16 x 128, cluster = 2 x 1, {SMALL}", multiprocessors=2, full=True),
    Kernel("programmatic", (128, 32, 640), f"tile = 128 x 32 x 128, {SMALL}, launch = programmatic", full=True),
    Kernel("64 rows", (64, 32, 640), f"tile = 64 x 32 x 128, {SMALL}", full=True),
    Kernel("one tile", (128, 32, 640), f"tile = 128 x 32 x 128, {SMALL}, scheduler = one_tile", full=True),
    Kernel("pair of 256 rows", (256, 128, 1152), f"tile = 256 x 128 x 128, {PAIR}", full=True),
    Kernel("pair, clc", (256, 128, 640), f"tile = 256 x 128 x 128, {PAIR}, scheduler = clc", full=True),
    Kernel("pair, one tile", (256, 256, 384), "tile = 256 x 256 x 128, cta_group = 2, stages = 2, accumulators = 2, scheduler = one_tile", full=True),
    Kernel("pairs 2 x 2", (512, 128, 384), "tile = 256 x 64 x 128, cta_group = 2, cluster = 2 x 2, stages = 2, accumulators = 8", full=True),
    Kernel("cluster 1 x 2", (128, 32, 640), f"tile = 128 x 16 x 128, cluster = 1 x 2, {SMALL}", full=True),
    Kernel("cluster 2 x 2", (256, 32, 640), f"tile = 128 x 16 x 128, cluster = 2 x 2, {SMALL}", full=True),
    Kernel("cluster 2 x 2, clc", (256, 32, 384), f"tile = 128 x 16 x 128, cluster = 2 x 2, {SMALL}, scheduler = clc", full=True),
    Kernel("clc, one CTA", (128, 32, 640), f"tile = 128 x 16 x 128, {SMALL}, scheduler = clc", full=True),
    Kernel("batch, clc", (128, 16, 384, 2), f"tile = 128 x 16 x 128, {SMALL}, scheduler = clc", "batch", full=True),
    Kernel("residual", (128, 32, 640), f"tile = 128 x 32 x 128, {SMALL}", "c=bf16", full=True),
    Kernel("bias, several tiles", (128, 96, 128), f"tile = 128 x 32 x 128, {SMALL}", "c=f32,bias=bf16,d=f32", multiprocessors=1, full=True),
    Kernel("e4m3", (128, 32, 640), f"tile = 128 x 32 x 128, {SMALL}", "scale,d=f8E4M3FN", full=True),
    by_hand("examples/tensorwise_gemm.mlir", (256, 256, 640), full=True),
    by_hand("examples/bf16_gemm.mlir", (256, 256, 640), full=True),
    by_hand("test/Run/read.mlir", (128, 64, 1024), full=True),
    by_hand("test/Run/linear.mlir", (128, 128, 640), full=True),
    by_hand("test/Run/swapped-rings.mlir", (128, 128, 640), full=True),
    by_hand("test/Run/k-groups.mlir", (128, 128, 1152), full=True),
    by_hand("test/Run/payloads.mlir", (128, 128, 640), full=True),
    by_hand("test/Run/epilogue.mlir", (128, 144, 384), full=True),
]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def lower(kernel, opt, work):
    """The PTX of a kernel, and its file; the manifest lies beside that."""
    stem = os.path.join(work, re.sub(r"\W+", "-", kernel.name))
    with open(f"{stem}.mlir", "w", encoding="utf-8") as file:
        file.write(kernel.text())
    run([opt, f"{stem}.mlir", "--fp8-gemm-to-ptx=chip=sm_100a", "--emit=ptx", "-o", f"{stem}.ptx"])
    with open(f"{stem}.ptx", encoding="utf-8") as file:
        return file.read(), f"{stem}.ptx"


def prepare(kernel, opt, runner, work):
    """PTX and manifest of a kernel that the simulator finds right, and its report."""
    ptx, path = lower(kernel, opt, work)
    said = run([runner, path, "--backend=sim", "--barriers", *kernel.options()])
    with open(f"{path}.json", encoding="utf-8") as manifest:
        return ptx, json.load(manifest), said


def check_grid(kernel, manifest, said):
    """Both judges must have had the same launch."""
    ran = [int(extent) for extent in re.search(r"grid (\d+)x(\d+)x(\d+)", said).groups()]
    judged = Binding(manifest, kernel.named_sizes(), kernel.multiprocessors).grid()
    if ran != judged:
        sys.exit(f"{kernel.name}: the simulator runs a grid of {ran}, and launch.py finds {judged}")
    return "x".join(map(str, ran))


def laps(said):
    """How many barriers complete more than one phase. Those that guard the end of tensor memory complete one by design."""
    report = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    lapping = [barrier["phases"] > barrier["inits"] for barrier in report["barriers"]]
    return f"{sum(lapping)} of {len(lapping)} barriers lap"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs=3)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only")
    options = parser.parse_args()
    opt, runner, work = options.paths
    os.makedirs(work, exist_ok=True)
    chosen = [k for k in KERNELS if (options.only == k.name if options.only else options.full or not k.full)]
    clean = 0
    for kernel in chosen:
        ptx, manifest, said = prepare(kernel, opt, runner, work)
        grid = check_grid(kernel, manifest, said)
        verdict = judge(ptx, manifest, kernel.named_sizes(), kernel.multiprocessors)
        clean += verdict.clean
        sizes = " x ".join(map(str, kernel.sizes))
        print(f"{kernel.name}, {sizes}, grid {grid}, {laps(said)}: {verdict}, {verdict.seconds:.1f} s", flush=True)
    print(f"{len(chosen)} kernels: {clean} race-free, {len(chosen) - clean} not")
    sys.exit(clean < len(chosen))


if __name__ == "__main__":
    main()
