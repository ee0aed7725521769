# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a kernel of triton_source.py, without a GPU.

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

import triton_source


def main():
    job_path, path = sys.argv[1:]
    with open(job_path, encoding="utf-8") as file:
        job = json.load(file)
    function, constants = getattr(triton_source, job["function"]), job["constants"]
    places = {(function.arg_names.index(name),): value for name, value in constants.items()}
    source = ASTSource(function, {**job["signature"], **{name: "constexpr" for name in constants}}, places)
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
