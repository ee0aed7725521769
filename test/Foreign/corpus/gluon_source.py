# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Gluon, Triton's language of layouts and barriers, for the simulator to run: what each warp does is written down."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, allocate_tensor_memory, fence_async_shared, mbarrier,
                                                                 tcgen05_commit, tcgen05_mma, tma)
from triton.experimental.gluon.language.nvidia.hopper import warpgroup_mma, warpgroup_mma_wait


@gluon.jit
def load_tiles(a_desc, b_desc, a_ring, b_ring, free, full, m, n, K, BUFFERS: gl.constexpr):
    """The warp that copies tiles of A and B into the rings."""
    BK: gl.constexpr = a_desc.block_type.shape[1]
    for step in range(0, K // BK):
        slot = step % BUFFERS
        mbarrier.wait(free.index(slot), (step // BUFFERS + 1) & 1)
        mbarrier.expect(full.index(slot), a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        tma.async_load(a_desc, [m, step * BK], full.index(slot), a_ring.index(slot))
        tma.async_load(b_desc, [step * BK, n], full.index(slot), b_ring.index(slot))


@gluon.jit
def multiply_tiles(a_ring, b_ring, free, full, done, sums, steps, BUFFERS: gl.constexpr):
    """The warp that issues the MMAs."""
    for step in range(0, steps):
        slot = step % BUFFERS
        mbarrier.wait(full.index(slot), step // BUFFERS & 1)
        tcgen05_mma(a_ring.index(slot), b_ring.index(slot), sums, use_acc=step > 0)
        tcgen05_commit(free.index(slot))
    tcgen05_commit(done)


@gluon.jit
def store_sums(c_desc, done, sums, staging, m, n):
    """The warps of the epilogue."""
    mbarrier.wait(done, 0)
    staging.store(sums.load().to(c_desc.dtype))
    fence_async_shared()
    tma.async_store(c_desc, [m, n], staging)
    tma.store_wait(pendings=0)


@gluon.jit
def rings(a_desc, b_desc, BUFFERS: gl.constexpr):
    a_ring = gl.allocate_shared_memory(a_desc.dtype, [BUFFERS] + a_desc.block_type.shape, a_desc.layout)
    b_ring = gl.allocate_shared_memory(b_desc.dtype, [BUFFERS] + b_desc.block_type.shape, b_desc.layout)
    free = mbarrier.allocate_mbarrier(batch=BUFFERS)
    full = mbarrier.allocate_mbarrier(batch=BUFFERS)
    for slot in gl.static_range(BUFFERS):
        mbarrier.init(free.index(slot), count=1)
        mbarrier.init(full.index(slot), count=1)
    return a_ring, b_ring, free, full


@gluon.jit
def matmul_blackwell(a_desc, b_desc, c_desc, K, BUFFERS: gl.constexpr):
    BM: gl.constexpr = c_desc.block_type.shape[0]
    BN: gl.constexpr = c_desc.block_type.shape[1]
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    a_ring, b_ring, free, full = rings(a_desc, b_desc, BUFFERS)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    sums = allocate_tensor_memory(gl.float32, [BM, BN], TensorMemoryLayout([BM, BN], col_stride=1))
    staging = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    steps = K // a_desc.block_type.shape[1]
    gl.warp_specialize([
        (store_sums, (c_desc, done, sums, staging, m, n)),
        (load_tiles, (a_desc, b_desc, a_ring, b_ring, free, full, m, n, K, BUFFERS)),
        (multiply_tiles, (a_ring, b_ring, free, full, done, sums, steps, BUFFERS)),
    ], [1, 1], [24, 24])


@gluon.jit
def multiply_on_hopper(c_desc, a_ring, b_ring, free, full, staging, m, n, steps, BUFFERS: gl.constexpr):
    """The warpgroup that multiplies and stores."""
    BM: gl.constexpr = c_desc.block_type.shape[0]
    BN: gl.constexpr = c_desc.block_type.shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, BN, 16])
    sums = gl.zeros((BM, BN), gl.float32, layout)
    for step in range(0, steps):
        slot = step % BUFFERS
        mbarrier.wait(full.index(slot), step // BUFFERS & 1)
        sums = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), sums, is_async=True)
        sums = warpgroup_mma_wait(num_outstanding=0, deps=(sums, ))
        mbarrier.arrive(free.index(slot), count=1)
    staging.store(sums.to(c_desc.dtype))
    fence_async_shared()
    tma.async_store(c_desc, [m, n], staging)
    tma.store_wait(pendings=0)


@gluon.jit
def matmul_hopper(a_desc, b_desc, c_desc, K, BUFFERS: gl.constexpr):
    m, n = gl.program_id(0) * c_desc.block_type.shape[0], gl.program_id(1) * c_desc.block_type.shape[1]
    a_ring, b_ring, free, full = rings(a_desc, b_desc, BUFFERS)
    staging = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    steps = K // a_desc.block_type.shape[1]
    gl.warp_specialize([
        (multiply_on_hopper, (c_desc, a_ring, b_ring, free, full, staging, m, n, steps, BUFFERS)),
        (load_tiles, (a_desc, b_desc, a_ring, b_ring, free, full, m, n, K, BUFFERS)),
    ], [1], [24])


@gluon.jit
def gather_rows(x_desc, y_desc, rows_ptr, ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    """Y's rows are those of X that rows_ptr names, by tile::gather4; and X's get them back by a reduction."""
    layout: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, gl.num_warps()], [1, 0]))
    rows = gl.load(rows_ptr + gl.arange(0, ROWS, layout))
    tile = gl.allocate_shared_memory(x_desc.dtype, [ROWS, COLUMNS], x_desc.layout)
    arrived = mbarrier.allocate_mbarrier()
    mbarrier.init(arrived, count=1)
    fence_async_shared()
    mbarrier.expect(arrived, ROWS * COLUMNS * 4)
    tma.async_gather(x_desc, rows, 0, arrived, tile)
    mbarrier.wait(arrived, 0)
    tma.async_atomic_add(y_desc, [0, 0], tile)
    tma.store_wait(pendings=0)
