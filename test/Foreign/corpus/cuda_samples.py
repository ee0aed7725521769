# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NVIDIA's samples for CUDA. They compare with the host; where a problem is large, what is compiled has a smaller one."""

import os

import numpy as np

import exact
from kernels import Program, change, compile_program, prints
from launch import EXACT

PROJECT = "CUDA samples"
# Samples for tensor cores: fewer tiles, and the comparison with the host.
SMALLER = [(r"define ([MNK])_TILES \d{3,}", r"define \1_TILES 8"), (r"define CPU_DEBUG 0", "define CPU_DEBUG 1")]


def sample(name, chip, folder, kernel, judge, arguments=(), changes=(), only=None, **options):
    """only: the files to compile; else all of the folder."""

    def compile_it(settings, path):
        root = settings.checkout("cuda-samples")
        sources = os.path.join(root, "Samples", folder)
        files = [os.path.join(sources, file) for file in only or sorted(os.listdir(sources)) if file.endswith((".cu", ".cpp"))]
        main = path + ".cu"
        with open(files[0], encoding="utf-8") as original:
            text = change(original.read(), changes, files[0])
        with open(main, "w", encoding="utf-8") as smaller:
            smaller.write(text)
        compile_program(settings, main, path, chip, ["-std=c++17", "-O1", "-w", f"-I{root}/Common", "-I" + sources, "-I" + os.path.dirname(files[0]), *files[1:]])

    return Program("samples_" + name, PROJECT, chip, compile_it, lambda settings: list(arguments), judge, kernel, **options)


def matches(output):
    """Judges a sample that prints each element that differs from the host's."""
    return "Verifying correctness" in output and "mismatch" not in output, None


def tensor_cores(name, kernel, types, m, k, factors=(1.1, 1.2), tolerance=EXACT, changes=()):
    """D = alpha A B^T + beta C."""
    folder = "3_CUDA_Features/" + name
    float32 = [float(np.float32(factor)) for factor in factors]
    return sample(name, "sm_90a", folder, kernel, matches, changes=[*changes, *SMALLER],
                  exact=exact.affine_product(m, m, k, types, *float32, tolerance))


KERNELS = [tensor_cores("cudaTensorCoreGemm", "*compute_gemm*", ("f16", "f16", "f32"), 128, 128),
           tensor_cores("bf16TensorCoreGemm", "*compute_bf16gemm*", ("bf16", "bf16", "f32"), 128, 128),
           tensor_cores("tf32TensorCoreGemm", "*compute_tf32gemm*", ("tf32", "tf32", "f32"), 128, 64),
           tensor_cores("immaTensorCoreGemm", "*compute_gemm_imma*", ("u8", "u8", "i32"), 128, 128, (1, 1), 0),
           tensor_cores("dmmaTensorCoreGemm", "*compute_dgemm*", ("f64", "f64", "f64"), 64, 128, tolerance=1e-14,
                        changes=[(r"define K_TILES \d+", "define K_TILES 32")])]
