# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a kernel of CUTLASS's examples in CuTe DSL on random operands, and prints the relative error against float64.

usage: fp8-simulate --ptx DUMP python cute_program.py KERNEL EXAMPLES DUMP

EXAMPLES: examples/python/CuTeDSL of a checkout; DUMP: the folder in which the DSL leaves its PTX. CUTE_DSL_LIBS names the DSL's runtime, linked with
the shared CUDA runtime (cute_dsl.py).
"""

import ctypes
import os
import sys

HERE = sys.path.pop(0)  # which has a cutlass.py of its own
os.environ.update(CUTE_DSL_KEEP="ptx", CUTE_DSL_DUMP_DIR=sys.argv[3])

import cuda.bindings.driver as driver
import cutlass
import cutlass.cute as cute
import numpy as np
from cutlass.cute.runtime import make_ptr

sys.path.append(HERE)
import formats

CUDA = ctypes.CDLL("libcudart.so.13")
NUMBERS = {"f16": cutlass.Float16, "bf16": cutlass.BFloat16, "f32": cutlass.Float32}
RANDOM = np.random.default_rng(5)
STREAM = driver.CUstream(0)


class Operand:
    """A buffer of random numbers, or of a result."""

    def __init__(self, dtype, *shape, result=False):
        self.dtype, self.shape = dtype, shape
        stored = np.full(formats.size(dtype, shape), 0xff, np.uint8) if result else formats.random(dtype, RANDOM, shape)
        self.bytes = stored.nbytes
        self.values = None if result else formats.decode(dtype, stored, shape)
        address = ctypes.c_void_p()
        assert CUDA.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(self.bytes)) == 0
        assert CUDA.cudaMemcpy(address, stored.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.bytes), 1) == 0
        self.address = address.value
        self.pointer = make_ptr(NUMBERS[dtype], self.address, cute.AddressSpace.gmem, assumed_align=32)

    def read(self):
        assert CUDA.cudaDeviceSynchronize() == 0
        stored = np.empty(self.bytes, np.uint8)
        assert CUDA.cudaMemcpy(stored.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(self.address), ctypes.c_size_t(self.bytes), 2) == 0
        return formats.decode(self.dtype, stored, self.shape)


def example(folder, name):
    cute_folder = os.path.join(sys.argv[2], "cute")
    sys.path[:0] = [os.path.join(cute_folder, folder), cute_folder]
    return __import__(name)


def tensor_op_gemm(m, n, k):
    """C = A B^T by mma.sync; A and B lie with M and N contiguous."""
    made = example("ampere/kernel/dense_gemm", "tensorop_gemm").TensorOpGemm(cutlass.Float16, cutlass.Float16, cutlass.Float32, (2, 2, 1))
    a, b, c = Operand("f16", k, m), Operand("f16", k, n), Operand("f16", m, n, result=True)

    @cute.jit
    def launch(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer, stream: driver.CUstream):
        made(cute.make_tensor(a, cute.make_layout((m, k, 1), stride=(1, m, m * k))), cute.make_tensor(b, cute.make_layout((n, k, 1), stride=(1, n, n * k))),
             cute.make_tensor(c, cute.make_layout((m, n, 1), stride=(n, 1, m * n))), stream)

    return launch, (a.pointer, b.pointer, c.pointer, STREAM), c, a.values.T @ b.values


def rms_norm(rows, columns):
    made = example("blackwell/kernel/rmsnorm", "rmsnorm").RMSNormKernel
    module = sys.modules["rmsnorm"]
    kernel = made(cutlass.Float16, columns, True, module.RMSNormConfig(cutlass.Float16, columns, True, 100))
    x, weight, y = Operand("f16", rows, columns), Operand("f16", columns), Operand("f16", rows, columns, result=True)

    @cute.jit
    def launch(x: cute.Pointer, weight: cute.Pointer, y: cute.Pointer, stream: driver.CUstream):
        kernel(x, weight, y, rows, 1e-5, stream)

    wanted = x.values / np.sqrt((x.values**2).mean(1, keepdims=True) + 1e-5) * weight.values
    return launch, (x.pointer, weight.pointer, y.pointer, STREAM), y, wanted


KERNELS = {"rms_norm_sm100": lambda: rms_norm(4, 32768), "tensor_op_sm100": lambda: tensor_op_gemm(256, 128, 128)}


def main():
    launch, arguments, result, wanted = KERNELS[sys.argv[1]]()
    compiled = cute.compile(launch, *arguments)
    vars(compiled)["num_devices"] = 1  # else cuda.bindings asks the CUDA runtime that it contains
    compiled(*arguments)
    error = np.linalg.norm(result.read() - wanted) / np.linalg.norm(wanted)
    print(f"relative error {error:.3g}")


main()
