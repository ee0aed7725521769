# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a kernel of triton_source.py, or of gluon_source.py, without a GPU.

usage: triton_compile.py JOB.json OUT.ptx

The job names the function, its signature, the values of its constants, the architecture (90, 100) and the compiler's options. Beside the PTX
stands OUT.json: what the launch must know.
"""

import json
import os
import sys

os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource

import gluon_source
import triton_source


def signature_of(value):
    """Gluon's descriptor of {"element": name, "block": shape, "tile": shape} has the layout that the tile has in shared memory."""
    if not isinstance(value, dict):
        return value
    layout = gl.NVMMASharedLayout.get_default_for(value["tile"], {"fp16": gl.float16, "fp32": gl.float32}[value["element"]])
    return f"tensordesc<{value['element']}[{','.join(map(str, value['block']))}],{layout!r}>"


def main():
    job_path, path = sys.argv[1:]
    with open(job_path, encoding="utf-8") as file:
        job = json.load(file)
    in_gluon = hasattr(gluon_source, job["function"])
    function, constants = getattr(gluon_source if in_gluon else triton_source, job["function"]), job["constants"]
    places = {(function.arg_names.index(name),): value for name, value in constants.items()}
    signature = {name: signature_of(value) for name, value in job["signature"].items()}
    source = (GluonASTSource if in_gluon else ASTSource)(function, {**signature, **{name: "constexpr" for name in constants}}, places)
    made = triton.compile(source, target=GPUTarget("cuda", job["arch"], 32), options=job["options"])
    maps = getattr(made.metadata, "tensordesc_meta", None) or []
    launch = {"triton": triton.__version__, "shared": made.metadata.shared,
              "scratch": getattr(made.metadata, "global_scratch_size", 0) or 0,
              "maps": [{"box": list(each["block_size"]), "swizzle": each["swizzle"]} for each in maps]}
    with open(path[:-4] + ".json", "w", encoding="utf-8") as file:
        json.dump(launch, file)
    with open(path, "w", encoding="utf-8") as file:
        file.write(made.asm["ptx"])


main()
