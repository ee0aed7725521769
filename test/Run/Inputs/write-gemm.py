# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a GEMM op in a function: examples/gemm.mlir, with what that leaves out.

usage: write-gemm.py OUT.mlir [--batch] [--b-block N] [--a-scale TYPE] [--b-scale TYPE] [--d TYPE] [--config CONFIG] [--layout NAME=LAYOUT ...]
       [--sizes L,M,N,K]

Extents are dynamic, or with --sizes static. A layout is the strides of an operand, as in a=512,4096,1; those of scales are dynamic otherwise.
"""

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--batch", action="store_true")
parser.add_argument("--b-block", type=int, default=128)
parser.add_argument("--a-scale", default="f32")
parser.add_argument("--b-scale", default="f32")
parser.add_argument("--d", default="bf16")
parser.add_argument("--config", default="")
parser.add_argument("--layout", action="append", default=[])
parser.add_argument("--sizes", default="")
options = parser.parse_args()

layouts = dict(layout.split("=") for layout in options.layout)
batch, m, n, k = (options.sizes or "?,?,?,?").split(",")


def ceil_div(extent, block):
    return extent if extent == "?" else str(-(-int(extent) // block))


column_scales = options.b_block == 1
shapes = {
    "a": (m, k, "f8E4M3FN"),
    "a_scale": (ceil_div(k, 128), m, options.a_scale),
    "b": (n, k, "f8E4M3FN"),
    "b_scale": (ceil_div(k, 128), n, options.b_scale) if column_scales else
               (ceil_div(n, options.b_block), ceil_div(k, 128), options.b_scale),
    "d": (m, n, options.d),
}


def memref(name):
    rows, columns, element = shapes[name]
    extents = ([batch] if options.batch else []) + [rows, columns]
    strides = layouts.get(name, "")
    if not strides and not options.sizes and (name == "a_scale" or (name == "b_scale" and column_scales)):
        strides = ",".join(["?"] * (len(extents) - 1) + ["1"])
    layout = f", strided<[{strides.replace(',', ', ')}]>" if strides else ""
    return f"memref<{'x'.join(extents + [element])}{layout}>"


inputs = [name for name in shapes if name != "d"]
arguments = ",\n                ".join(
    f'%{name}: {memref(name)} {{fp8.name = "{name}", fp8.access = "{"write" if name == "d" else "read"}"}}'
    for name in shapes)
config = f" config<{options.config}>" if options.config else ""
block = f" {{b_block = {options.b_block}}}" if options.b_block != 128 else ""
with open(options.out, "w") as out:
    out.write(f"""func.func @gemm({arguments}) attributes {{fp8.problem = "blockwise_gemm"}} {{
  fp8.blockwise_gemm ins({', '.join('%' + name for name in inputs)} : {', '.join(map(memref, inputs))})
    outs(%d : {memref('d')}){config}{block}
  return
}}
""")
