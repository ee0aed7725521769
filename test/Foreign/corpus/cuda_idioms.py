# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Idioms of CUDA C++ (cuda::barrier, cuda::pipeline, latches, cooperative groups, cuda::ptx, flags) in a host program of this project
(cuda_program.cu) that checks them in double."""

import os

from kernels import Program, compile_program, judge_relative_error

PROJECT = "CUDA C++"
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuda_program.cu")


def program(name, kernel, chip="sm_90a"):
    def compile_it(settings, path):
        compile_program(settings, SOURCE, path, chip, ["-std=c++17", "-O2", "-w", "-D" + name.upper()])

    return Program("cuda_" + name, PROJECT, chip, compile_it, lambda settings: [], judge_relative_error, kernel)


KERNELS = [program("barrier_ring", "*barrierRing*"), program("pipeline", "*pipelineRoles*"), program("cluster_softmax", "*clusterSoftmax*"),
           program("stream_k", "*streamK*"), program("all_reduce", "*allReduce*"), program("remote_async", "*remoteAsync*"),
           program("persistent_norm", "*persistentNorm*", "sm_100a"), program("programmatic", "*addBehind*", "sm_100a"), program("grid_sync", "*smooth*"),
           program("last_block", "*lastBlock*"), program("look_back", "*lookBack*"), program("leaving_threads", "*leavingThreads*"),
           program("spin_lock", "*spinLock*"), program("semaphores", "*semaphores*", "sm_100a")]
