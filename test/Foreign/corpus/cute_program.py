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
NUMBERS = {"f16": cutlass.Float16, "bf16": cutlass.BFloat16, "f32": cutlass.Float32, "e4m3": cutlass.Float8E4M3FN, "e2m1": cutlass.Float4E2M1FN,
           "ue8m0": cutlass.Float8E8M0FNU, "ue4m3": cutlass.Float8E4M3FN}
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


@cute.jit
def matrix(pointer: cute.Pointer, rows: cutlass.Constexpr, columns: cutlass.Constexpr):
    return cute.make_tensor(pointer, cute.make_layout((rows, columns, 1), stride=(columns, 1, rows * columns)))


def product(kernel, m, n, k, *rest):
    """(function to compile, its arguments, the result, what it should be) of C = A B^T."""
    a, b, c = Operand("f16", m, k), Operand("f16", n, k), Operand("f32", m, n, result=True)

    @cute.jit
    def launch(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer, stream: driver.CUstream):
        kernel(matrix(a, m, k), matrix(b, n, k), matrix(c, m, n), *rest, stream)

    return launch, (a.pointer, b.pointer, c.pointer, STREAM), c, a.values @ b.values.T


def dense(two_ctas, tile, cluster):
    made = example("blackwell/kernel/dense_gemm", "dense_gemm_persistent").PersistentDenseGemmKernel(
        cutlass.Float32, two_ctas, tile, cluster, True)
    return product(made, 512, 256, 256, 2)


def hopper():
    made = example("hopper/kernel/dense_gemm", "dense_gemm").HopperWgmmaGemmKernel(cutlass.Float32, (128, 128), (2, 1))
    return product(made, 512, 256, 256)


def block_scaled(dtype, scale_type, block, k, tile, cluster):
    """Scales lie as tcgen05.cp wants them: 512 bytes have 128 rows and four blocks of K."""
    module = example("blackwell/kernel/blockscaled_gemm", "dense_blockscaled_gemm_persistent")
    made = module.Sm100BlockScaledPersistentDenseGemmKernel(block, tile, cluster)
    m, n = 512, 256
    a, b, c = Operand(dtype, m, k), Operand(dtype, n, k), Operand("bf16", m, n, result=True)
    scales = [Operand(scale_type, rows // 128, k // block // 4, 32, 4, 4) for rows in (m, n)]
    major = (module.OperandMajorMode.K, module.OperandMajorMode.K, cutlass.utils.LayoutEnum.ROW_MAJOR)

    @cute.jit
    def launch(a: cute.Pointer, b: cute.Pointer, a_scales: cute.Pointer, b_scales: cute.Pointer, c: cute.Pointer, stream: driver.CUstream):
        made(a, b, a_scales, b_scales, c, major, (m, n, k, 1), 2, stream)

    by_row = [np.repeat(each.values.transpose(0, 3, 2, 1, 4).reshape(-1, k // block), block, axis=1) for each in scales]
    wanted = (a.values * by_row[0]) @ (b.values * by_row[1]).T
    return launch, (a.pointer, b.pointer, scales[0].pointer, scales[1].pointer, c.pointer, STREAM), c, wanted


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


KERNELS = {
    "dense_sm100": lambda: dense(False, (128, 128), (1, 1)),
    "dense_2cta_sm100": lambda: dense(True, (256, 128), (2, 1)),
    "mxfp8_sm100": lambda: block_scaled("e4m3", "ue8m0", 32, 256, (128, 128), (1, 1)),
    "nvfp4_2cta_sm100": lambda: block_scaled("e2m1", "ue4m3", 16, 512, (256, 128), (2, 1)),
    "rms_norm_sm100": lambda: rms_norm(4, 32768),
    "dense_sm90": hopper,
}


def main():
    launch, arguments, result, wanted = KERNELS[sys.argv[1]]()
    compiled = cute.compile(launch, *arguments)
    vars(compiled)["num_devices"] = 1  # else cuda.bindings asks the CUDA runtime that it contains
    compiled(*arguments)
    error = np.linalg.norm(result.read() - wanted) / np.linalg.norm(wanted)
    print(f"relative error {error:.3g}")


main()
