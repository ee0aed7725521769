# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of the corpus: where each comes from, which phases are frozen, and how it is run. Together they have every op, type and
attribute of the dialect."""

# What takes a module as written to a phase (docs/Phases.md).
PHASES = {
    "op": [],
    "structured": ["--fp8-structure-gemm=chip={chip}"],
    "linear": ["--fp8-structure-gemm=chip={chip}", "--inline", "--fp8-flatten-scopes", "--fp8-lower-tile-loops"],
}

# Sources are files, or options of the script that prints GEMM ops. The sizes are ragged.
SIZES = ["--m=200", "--n=208", "--k=400"]
BYTECODE = {
    "gemm": dict(source="examples/gemm.mlir", chip="sm_100a", phases=["op", "structured", "linear"]),
    "gemm-epilogue": dict(print="c=bf16,beta,bias=f32,function=relu,scale,d=f8E4M3FN", chip="sm_100a", phases=["op", "structured", "linear"],
                          config="tile = 256 x 128 x 128, cta_group = 2, cluster = 2 x 1, scheduler = clc, launch = programmatic",
                          run=SIZES + ["--elementwise=relu"]),
    "gemm-hopper": dict(source="examples/gemm.mlir", chip="sm_90a", phases=["structured", "linear"]),
    "gemm-split-k": dict(print="d=bf16", chip="sm_90a", phases=["op", "structured", "linear"],
                         config="tile = 64 x 64 x 128, split_k = 4, launch = programmatic, signal = wait",
                         run=SIZES + ["--multiprocessors=8"]),
    "structured": dict(source="examples/structured.mlir", chip="sm_100a", phases=["structured", "linear"]),
    "bf16-gemm": dict(source="examples/bf16_gemm.mlir", chip="sm_100a", phases=["structured", "linear"]),
    "tensorwise-gemm": dict(source="examples/tensorwise_gemm.mlir", chip="sm_100a", phases=["structured", "linear"]),
    "mxfp8-gemm": dict(source="examples/mxfp8_gemm.mlir", chip="sm_100a", phases=["structured", "linear"]),
    "hopper": dict(source="examples/hopper.mlir", chip="sm_90a", phases=["structured", "linear"]),
    "explicit": dict(source="test/Run/explicit.mlir", chip="sm_100a", phases=["structured", "linear"]),
    "by-hand": dict(source="test/Run/linear.mlir", chip="sm_100a", phases=["linear"]),
}

# One for each version of the manifest.
MANIFESTS = {
    "version-1": dict(source="test/Run/read.mlir", options="chip=sm_100a"),
    "version-2": dict(print="d=bf16", config="tile = 64 x 16 x 128, launch = programmatic", options="chip=sm_90a"),
    "version-3": dict(source="test/Run/read.mlir", options="chip=sm_100a debug-waits=2000"),
    "version-4": dict(source="test/Run/read.mlir", options="chip=sm_100a profile"),
    "version-5": dict(print="d=bf16,constant", config="tile = 64 x 16 x 128, launch = programmatic", options="chip=sm_90a"),
    "version-6": dict(print="d=bf16", config="tile = 64 x 16 x 128, launch = programmatic, signal = wait", options="chip=sm_90a"),
    "version-7": dict(print="d=bf16", config="tile = 64 x 16 x 128, edge = fit", options="chip=sm_90a", run=["--m=40", "--n=208", "--k=400"]),
}
