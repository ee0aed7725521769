# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the CUDA source of a kernel of TileLang's examples, without a GPU.

usage: tilelang_compile.py JOB.json OUT.cu

The job names the file and the function, its arguments, and the chip; an argument {"tensor": shape, "dtype": name} is an empty tensor. Beside the
source stands OUT.json: what the launch must know.
"""

import importlib.util
import json
import os
import sys
import unittest.mock

import tilelang
import torch
from tilelang import tvm
from tvm.target import Target

# By the numbers of CUtensorMapDataType and CUtensorMapSwizzle.
DTYPES = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz")
SWIZZLES = ("none", "32B", "64B", "128B")


def load(path):
    """The example as a module. What its own test imports and is not here, is replaced."""
    sys.path.insert(0, os.path.dirname(path))
    while True:
        spec = importlib.util.spec_from_file_location("example", path)
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            return module
        except ModuleNotFoundError as missing:
            sys.modules[missing.name] = unittest.mock.MagicMock()


def argument(value):
    if isinstance(value, dict):
        return torch.empty(value["tensor"], dtype=getattr(torch, value["dtype"]))
    return value


def tensor_map(call):
    """What TileLang passes to cuTensorMapEncodeTiled."""
    dtype, rank, buffer = int(call[2]), int(call[3]), str(call[4])
    numbers = [int(number) for number in call[5:]]
    dims, strides, box, steps = (numbers[i * rank:(i + 1) * rank] for i in range(4))
    _, swizzle = numbers[4 * rank:4 * rank + 2]
    return {"tensor_map": {"buffer": buffer, "dtype": DTYPES[dtype], "dims": dims, "strides_bytes": strides[1:], "box": box,
                           "element_strides": steps, "swizzle": SWIZZLES[swizzle]}}


def main():
    job_path, path = sys.argv[1:]
    with open(job_path, encoding="utf-8") as file:
        job = json.load(file)
    target = Target({"kind": "cuda", "arch": job["arch"]})
    function = getattr(load(job["file"]), job["function"])
    function = getattr(function, "jit_impl", function)  # behind a tuner
    with tvm.transform.PassContext(opt_level=3, config=function.pass_configs or {}), target:
        tir = function.get_tir(*map(argument, job["arguments"]))
        made = tilelang.lower(tir, target=target, enable_device_compile=False)
    (kernel,) = made.device_mod.functions.values()
    maps = {}
    for host in made.host_mod.functions.values():
        for variable, call in dict(host.attrs.get("tma_descriptor_args", {})).items():
            maps[str(variable)] = tensor_map(call)
    extents = {name: int(value) for name, value in kernel.attrs["thread_extent"].items()}
    facts = {"entry": str(kernel.attrs["global_symbol"]),
             "grid": [extents.get("blockIdx." + axis, 1) for axis in "xyz"],
             "block": [extents.get("threadIdx." + axis, 1) for axis in "xyz"],
             "cluster": [int(size) for size in kernel.attrs["cluster_dims"]] if "cluster_dims" in kernel.attrs else [1, 1, 1],
             "shared": int(kernel.attrs["dyn_shared_memory_buf"]) if "dyn_shared_memory_buf" in kernel.attrs else 0,
             "arguments": [maps.get(str(each), {"buffer": str(each)}) for each in kernel.params],
             "includes": [os.path.join(os.path.dirname(tilelang.__file__), folder) for folder in ("src", "3rdparty/cutlass/include")]}
    with open(path, "w", encoding="utf-8") as file:
        file.write(made.kernel_source)
    with open(path[:-3] + ".json", "w", encoding="utf-8") as file:
        json.dump(facts, file)


main()
