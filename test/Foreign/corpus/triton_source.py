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


@triton.jit
def grouped_matmul(problems_ptr, addresses_ptr, groups, SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for g in range(groups):
        m, n, k = tl.load(problems_ptr + g * 3), tl.load(problems_ptr + g * 3 + 1), tl.load(problems_ptr + g * 3 + 2)
        tiles_m, tiles_n = tl.cdiv(m, BM), tl.cdiv(n, BN)
        tiles = tiles_m * tiles_n
        if tile >= last and tile < last + tiles:
            a_ptr = tl.load(addresses_ptr + g * 3).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(addresses_ptr + g * 3 + 1).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(addresses_ptr + g * 3 + 2).to(tl.pointer_type(tl.float16))
            a_desc = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [BM, BK])
            b_desc = tl.make_tensor_descriptor(b_ptr, [n, k], [k, 1], [BN, BK])
            c_desc = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [BM, BN])
            while tile >= last and tile < last + tiles:
                at_m, at_n = (tile - last) // tiles_n * BM, (tile - last) % tiles_n * BN
                acc = tl.zeros((BM, BN), dtype=tl.float32)
                for i in range(0, tl.cdiv(k, BK)):
                    acc = tl.dot(a_desc.load([at_m, i * BK]), b_desc.load([at_n, i * BK]).T, acc)
                c_desc.store([at_m, at_n], acc.to(tl.float16))
                tile += SMS
        last += tiles


@triton.jit
def layer_norm_backward(dx_ptr, dy_ptr, dw_ptr, x_ptr, w_ptr, locks_ptr, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """dx of a row; dw summed up by rows, under a lock."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    x = tl.load(x_ptr + row * N + columns, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * N + columns, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, 0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, 0) / N + 1e-5)
    normal = centred * rstd
    wdy = w * dy
    c1, c2 = tl.sum(normal * wdy, 0) / N, tl.sum(wdy, 0) / N
    tl.store(dx_ptr + row * N + columns, ((wdy - (normal * c1 + c2)) * rstd).to(tl.float16), mask=mask)
    group = row % GROUPS
    lock, count = locks_ptr + group, locks_ptr + GROUPS + group
    at = dw_ptr + group * N + columns
    part = dy * normal
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        part += tl.load(at, mask=mask)
    tl.store(at, part, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def attention_backward(q_desc, k_desc, v_desc, do_desc, dk_desc, dv_desc, dq_ptr, lse_ptr, delta_ptr, scale, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    n, head = tl.program_id(0), tl.program_id(1)
    base = head * S
    k = k_desc.load([base + n * BN, 0])
    v = v_desc.load([base + n * BN, 0])
    dk = tl.zeros((BN, D), dtype=tl.float32)
    dv = tl.zeros((BN, D), dtype=tl.float32)
    keys = n * BN + tl.arange(0, BN)
    for m in range(n * BN // BM * BM, S, BM):
        q = q_desc.load([base + m, 0])
        do = do_desc.load([base + m, 0])
        rows = m + tl.arange(0, BM)
        lse, delta = tl.load(lse_ptr + base + rows), tl.load(delta_ptr + base + rows)
        p = tl.exp2(tl.dot(k, q.T) * scale - lse[None, :])
        p = tl.where(rows[None, :] >= keys[:, None], p, 0.0)
        dv = tl.dot(p.to(tl.float16), do, dv)
        ds = (p * (tl.dot(v, do.T) - delta[None, :])).to(tl.float16)
        dk = tl.dot(ds, q, dk)
        dq = tl.dot(tl.trans(ds), k) * (scale * 0.6931471805599453)
        tl.atomic_add(dq_ptr + (base + rows)[:, None] * D + tl.arange(0, D)[None, :], dq, sem="relaxed")
    dk_desc.store([base + n * BN, 0], (dk * (scale * 0.6931471805599453)).to(tl.float16))
    dv_desc.store([base + n * BN, 0], dv.to(tl.float16))


@triton.jit
def _maximum_and_sum(a, b, c, d):
    return tl.maximum(a, c), b + d


@triton.jit
def scan_and_sort(x_ptr, sums_ptr, most_ptr, sorted_ptr, histogram_ptr, gathered_ptr, N: tl.constexpr, BINS: tl.constexpr):
    row = tl.program_id(0)
    at = row * N + tl.arange(0, N)
    x = tl.load(x_ptr + at)
    most, total = tl.associative_scan((x, x), 0, _maximum_and_sum)
    tl.store(sums_ptr + at, total)
    tl.store(most_ptr + at, most)
    ordered = tl.sort(x, descending=True)
    tl.store(sorted_ptr + at, ordered)
    tl.store(histogram_ptr + row * BINS + tl.arange(0, BINS), tl.histogram((x & (BINS - 1)), BINS))
    tl.store(gathered_ptr + at, tl.gather(ordered, (x & (N - 1)), 0))


@triton.jit
def matmul_types(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HOW: tl.constexpr):
    """C = A B^T of integers or floats; B of int4 has two codes, less 8, in a byte."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.int32 if HOW == "int8" else tl.float64 if HOW == "fp64" else tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + kk[None, :])
        if HOW == "int4":
            codes = tl.load(b_ptr + n[None, :] * (K // 2) + (k // 2 + tl.arange(0, BK // 2))[:, None])
            low, high = (codes & 15).to(tl.int8) - 8, (codes >> 4).to(tl.int8) - 8
            b = tl.join(low.T, high.T).reshape(BN, BK).T.to(tl.float16)
            acc = tl.dot(a, b, acc)
        else:
            b = tl.load(b_ptr + n[None, :] * K + kk[:, None])
            if HOW == "int8":
                acc = tl.dot(a, b, acc, out_dtype=tl.int32)
            elif HOW == "tf32x3" or HOW == "bf16x3":
                acc = tl.dot(a, b, acc, input_precision=HOW)
            else:
                acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def matmul_scaled_rows(a_ptr, b_ptr, as_ptr, bs_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, A: tl.constexpr, B: tl.constexpr, PACKA: tl.constexpr, PACKB: tl.constexpr):
    """A scale for 32 elements of K, which lies in the order of rows."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * (K // PACKA) + (k // PACKA + tl.arange(0, BK // PACKA))[None, :])
        b = tl.load(b_ptr + n[None, :] * (K // PACKB) + (k // PACKB + tl.arange(0, BK // PACKB))[:, None])
        sa = tl.load(as_ptr + m[:, None] * (K // 32) + (k // 32 + tl.arange(0, BK // 32))[None, :])
        sb = tl.load(bs_ptr + n[:, None] * (K // 32) + (k // 32 + tl.arange(0, BK // 32))[None, :])
        acc = tl.dot_scaled(a, sa, A, b, sb, B, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)
