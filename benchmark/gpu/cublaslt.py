# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuBLASLt's block-scaled product with the fastest of the algorithms that its
heuristic returns, by the library that torch has loaded: torch itself takes the
first. Numbers of enumerators are those of cublasLt.h (CUDA 13.0)."""

import ctypes

import torch

import peers

COMPUTE_32F, R_32F, R_16BF, R_8F_E4M3, OP_T = 68, 0, 14, 28, 1
TRANSA, A_SCALE_POINTER, B_SCALE_POINTER, A_SCALE_MODE, B_SCALE_MODE = 3, 17, 18, 31, 32
SCALE_VEC128, SCALE_BLK128X128 = 4, 5
PREFERENCE_WORKSPACE = 1
WORKSPACE_BYTES = 64 << 20
MOST_ALGORITHMS = 16


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t"""
    _fields_ = [("algorithm", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
                ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]


class Library:
    def __init__(self):
        self.functions = ctypes.CDLL("libcublasLt.so.%s" % torch.version.cuda.split(".")[0])
        self.handle = self.make("cublasLtCreate")

    def call(self, name, *arguments):
        status = getattr(self.functions, name)(*arguments)
        if status:
            raise RuntimeError("%s fails with status %d" % (name, status))

    def make(self, name, *arguments):
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made

    def describe(self, a_scale, b_scale):
        """The product as cuBLASLt sees it, by columns: D^T = (B^T)^T A^T, so its A is our B."""
        description = self.make("cublasLtMatmulDescCreate", COMPUTE_32F, R_32F)
        for attribute, kind, value in ((TRANSA, ctypes.c_int, OP_T), (A_SCALE_MODE, ctypes.c_int, SCALE_BLK128X128),
                                       (B_SCALE_MODE, ctypes.c_int, SCALE_VEC128),
                                       (A_SCALE_POINTER, ctypes.c_void_p, b_scale.data_ptr()),
                                       (B_SCALE_POINTER, ctypes.c_void_p, a_scale.data_ptr())):
            held = kind(value)
            self.call("cublasLtMatmulDescSetAttribute", description, ctypes.c_int(attribute), ctypes.byref(held),
                      ctypes.c_size_t(ctypes.sizeof(held)))
        return description

    def layout(self, dtype, rows, columns):
        return self.make("cublasLtMatrixLayoutCreate", ctypes.c_int(dtype), ctypes.c_uint64(rows),
                         ctypes.c_uint64(columns), ctypes.c_int64(rows))

    def algorithms(self, description, a, b, d):
        preference = self.make("cublasLtMatmulPreferenceCreate")
        held = ctypes.c_size_t(WORKSPACE_BYTES)
        self.call("cublasLtMatmulPreferenceSetAttribute", preference, ctypes.c_int(PREFERENCE_WORKSPACE),
                  ctypes.byref(held), ctypes.c_size_t(ctypes.sizeof(held)))
        results, found = (Heuristic * MOST_ALGORITHMS)(), ctypes.c_int()
        self.call("cublasLtMatmulAlgoGetHeuristic", self.handle, description, a, b, d, d, preference,
                  ctypes.c_int(MOST_ALGORITHMS), results, ctypes.byref(found))
        return [one for one in results[:found.value] if one.state == 0]


class Products:
    """The products of all sets, and the algorithms for them."""

    def __init__(self, operands):
        m, n, k = operands.shape
        if m % 4:
            raise RuntimeError("cuBLASLt wants A's scales without gaps and M a multiple of 4")
        self.library, self.sets = Library(), operands.sets
        self.scales = [peers.padded(one.b_scale) for one in self.sets]
        self.descriptions = [self.library.describe(one.a_scale, scale) for one, scale in zip(self.sets, self.scales)]
        self.a = self.library.layout(R_8F_E4M3, k, n)
        self.b = self.library.layout(R_8F_E4M3, k, m)
        self.d = self.library.layout(R_16BF, n, m)
        self.workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=self.sets[0].a.device)
        self.algorithms = self.library.algorithms(self.descriptions[0], self.a, self.b, self.d)
        if not self.algorithms:
            raise RuntimeError("cuBLASLt has no algorithm for this product")

    def enqueue(self, index, algorithm, stream):
        one, alpha, beta = self.sets[index], ctypes.c_float(1), ctypes.c_float(0)
        address = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
        self.library.call("cublasLtMatmul", self.library.handle, self.descriptions[index], ctypes.byref(alpha),
                          address(one.b), self.a, address(one.a), self.b, ctypes.byref(beta), address(one.d), self.d,
                          address(one.d), self.d, ctypes.byref(algorithm.algorithm), address(self.workspace),
                          ctypes.c_size_t(WORKSPACE_BYTES), ctypes.c_void_p(stream))


class CublasLtBestPeer:
    name = "cublaslt-best"

    def __init__(self, products, number):
        self.products, self.number = products, number
        self.configuration = "algorithm %d of %d" % (number + 1, len(products.algorithms))

    def launch(self, index):
        self.products.enqueue(index, self.products.algorithms[self.number], torch.cuda.current_stream().cuda_stream)

    def outputs(self):
        return [one.d for one in self.products.sets]


def tuned(operands, clock):
    """The fastest algorithm by `clock`: peer -> microseconds."""
    products = Products(operands)
    candidates = [CublasLtBestPeer(products, number) for number in range(len(products.algorithms))]
    return min(candidates, key=clock)
