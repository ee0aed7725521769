# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of this project in Triton, for its compiler to make PTX of (triton_compile.py)."""

import triton
import triton.language as tl


@triton.jit
def matmul_tma(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = a_desc.load([pid_m * BM, k])
        b = b_desc.load([pid_n * BN, k])
        acc = tl.dot(a, b.T, acc)
    c_desc.store([pid_m * BM, pid_n * BN], acc.to(c_desc.dtype))


@triton.jit
def matmul_ptr(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    rm, rn, rk = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    a_at = a_ptr + rm[:, None] * K + rk[None, :]
    b_at = b_ptr + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        mask = rk < K - k
        a = tl.load(a_at, mask=(rm < M)[:, None] & mask[None, :], other=0.0)
        b = tl.load(b_at, mask=(rn < N)[None, :] & mask[:, None], other=0.0)
        acc = tl.dot(a, b, acc)
        a_at += BK
        b_at += BK
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None] & (rn < N)[None, :])


@triton.jit
def matmul_persistent(a_desc, b_desc, c_desc, M, N, K, SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    for tile in tl.range(tl.program_id(0), tiles, SMS, flatten=not WS, warp_specialize=WS):
        m, n = tile // tiles_n * BM, tile % tiles_n * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            a = a_desc.load([m, k * BK])
            b = b_desc.load([n, k * BK])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([m, n], acc.to(c_desc.dtype))


@triton.jit
def matmul_device_descriptors(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([pid_m * BM, k]), b_desc.load([pid_n * BN, k]).T, acc)
    c_desc.store([pid_m * BM, pid_n * BN], acc.to(tl.float16))


@triton.jit
def matmul_scaled(a_desc, b_desc, as_ptr, bs_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr, VEC: tl.constexpr):
    """Block scales, one for VEC elements of K, in the layout that tcgen05.cp takes: (rows/128, k/VEC/4, 32, 4, 4)."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    PACK: tl.constexpr = 2 if KIND == "e2m1" else 1
    SK: tl.constexpr = BK // VEC // 4
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    r0, r1 = tl.arange(0, 32), tl.arange(0, 4)
    inner = r0[None, None, :, None, None] * 16 + r1[None, None, None, :, None] * 4 + r1[None, None, None, None, :]
    step = K // VEC // 4
    am = pid_m * (BM // 128) + tl.arange(0, BM // 128)
    bn = pid_n * (BN // 128) + tl.arange(0, BN // 128)
    for k in range(0, K // BK):
        a = a_desc.load([pid_m * BM, k * (BK // PACK)])
        b = b_desc.load([pid_n * BN, k * (BK // PACK)])
        sk = k * SK + tl.arange(0, SK)
        sa = tl.load(as_ptr + (am[:, None, None, None, None] * step + sk[None, :, None, None, None]) * 512 + inner)
        sb = tl.load(bs_ptr + (bn[:, None, None, None, None] * step + sk[None, :, None, None, None]) * 512 + inner)
        sa = sa.trans(0, 3, 2, 1, 4).reshape(BM, BK // VEC)
        sb = sb.trans(0, 3, 2, 1, 4).reshape(BN, BK // VEC)
        acc = tl.dot_scaled(a, sa, KIND, b.T, sb, KIND, acc)
    rm, rn = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def attention(q_desc, k_desc, v_desc, o_desc, scale, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, WS: tl.constexpr):
    pid, head = tl.program_id(0), tl.program_id(1)
    q = q_desc.load([head * S + pid * BM, 0])
    m_i = tl.full((BM,), float("-inf"), tl.float32)
    l_i = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    rows = pid * BM + tl.arange(0, BM)
    end = (pid + 1) * BM if CAUSAL else S
    for start in tl.range(0, end, BN, warp_specialize=WS):
        k = k_desc.load([head * S + start, 0])
        s = tl.dot(q, k.T) * scale
        if CAUSAL:
            s = tl.where(rows[:, None] >= (start + tl.arange(0, BN))[None, :], s, -1e30)
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.math.exp2(s - m_new[:, None])
        alpha = tl.math.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = v_desc.load([head * S + start, 0])
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_new
    o_desc.store([head * S + pid * BM, 0], (acc / l_i[:, None]).to(o_desc.dtype))


@triton.jit
def softmax(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + at, mask=at < N, other=float("-inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * N + at, e / tl.sum(e, 0), mask=at < N)


@triton.jit
def split_k(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    pid_m, pid_n, pid_k = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rm, rn, rk = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(pid_k * (K // SPLIT), (pid_k + 1) * (K // SPLIT), BK):
        acc = tl.dot(tl.load(a_ptr + rm[:, None] * K + k + rk[None, :]), tl.load(b_ptr + rn[None, :] * K + k + rk[:, None]), acc)
    tl.atomic_add(c_ptr + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def gather_scatter(x_desc, y_desc, from_ptr, to_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Doubles rows of a matrix, and puts them elsewhere; rows that do not exist are zeros, or are not written."""
    column = tl.program_id(0) * COLUMNS
    at = tl.arange(0, ROWS)
    rows = x_desc.gather(tl.load(from_ptr + at), column)
    y_desc.scatter(rows + rows, tl.load(to_ptr + at), column)
