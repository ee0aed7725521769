# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of host programs compute, in float64: each function takes the places of the operands among the program's
allocations, and returns what fills them (recorded.py) and says the result."""

import numpy as np

from launch import EXACT, ROUNDED


def product(m, n, k, types=("f16", "f16", "f32"), places=(1, 2, 4), column_major=True, finish=None, tolerance=None, own=False, b_rows=False):
    """D = A B^T, with A (m, k) and B (n, k); b_rows: B is (k, n). places: of A, B and D; own: the program's numbers are kept, for a D of
    few bits."""

    def exact(recorded):
        take = recorded.read if own else recorded.fill
        a, b = take(places[0], types[0], m, k), take(places[1], types[1], *((k, n) if b_rows else (n, k)))
        d = a @ (b if b_rows else b.T)
        d = finish(d) if finish else d
        recorded.expect(places[2], types[2], d.T if column_major else d, tolerance or (EXACT if types[2] == "f32" else ROUNDED))

    return exact


def affine_product(m, n, k, types, alpha, beta, tolerance=EXACT):
    """D = alpha A B^T + beta C. The program allocates A, B, C and D."""

    def exact(recorded):
        a, b, c = recorded.fill(1, types[0], m, k), recorded.fill(2, types[1], n, k), recorded.fill(3, types[2], m, n)
        recorded.expect(4, types[2], alpha * (a @ b.T) + beta * c, tolerance)

    return exact


def sparse_product(m, n, k, places=(1, 2, 4)):
    """As the program has pruned A, which another kernel has compressed."""

    def exact(recorded):
        a, b = recorded.read(places[0], "f16", m, k), recorded.fill(places[1], "f16", n, k)
        recorded.expect(places[2], "f32", (a @ b.T).T, EXACT)

    return exact


def batched_product(m, n, k, count):
    """D = A B^T + C, of column-major A and B, for each of the batch."""

    def exact(recorded):
        a, b = recorded.fill(1, "f16", count, k, m), recorded.fill(2, "f16", count, k, n)
        c = recorded.fill(3, "f16", count, n, m)
        recorded.expect(4, "f32", b.transpose(0, 2, 1) @ a + c, EXACT)

    return exact


def grouped_product(shapes, types):
    """D = alpha A B^T + beta C of each group, one behind the other. The program allocates A, B, C, D, another D, and the factors."""

    def exact(recorded):
        sizes = [sum(x * y for x, y in pairs) for pairs in zip(*(((m, k), (n, k), (m, n)) for m, n, k in shapes))]
        a, b, c = (recorded.fill(place, dtype, size) for place, dtype, size in zip((1, 2, 3), types, sizes))
        parts, at = [], np.zeros(3, int)
        for (m, n, k), alpha, beta in zip(shapes, recorded.read(6, "f32", len(shapes)), recorded.read(7, "f32", len(shapes))):
            a_of, b_of, c_of = (whole[begin:begin + rows * columns].reshape(rows, columns)
                                for whole, begin, rows, columns in zip((a, b, c), at, (m, n, n), (k, k, m)))
            parts.append((alpha * (b_of @ a_of.T) + beta * c_of).ravel())
            at += np.array((m * k, n * k, m * n))
        recorded.expect(4, types[2], np.concatenate(parts), ROUNDED)

    return exact


def ragged_product(m, most, k, columns, types):
    """D = A B^T of each group, of which B and D have room for `most` columns and have some. The program allocates the numbers of
    columns, A, B, C and D."""

    def exact(recorded):
        a, b = recorded.fill(2, types[0], len(columns), m, k), recorded.fill(3, types[1], len(columns), most, k)
        mask = np.arange(most)[None, :, None] < np.array(columns)[:, None, None]
        recorded.expect(5, types[2], b @ a.transpose(0, 2, 1), ROUNDED, np.broadcast_to(mask, (len(columns), most, m)))

    return exact


def block_scales(recorded, place, dtype, rows, blocks):
    """Scales as tcgen05.cp wants them: 512 bytes have 128 rows and four blocks of K; the blocks come first."""
    stored = recorded.fill(place, dtype, rows // 128, blocks // 4, 32, 4, 4)
    return stored.transpose(0, 3, 2, 1, 4).reshape(rows, blocks)


def block_scaled_product(m, n, k, types, scale_type, block, scales=(6, 7), result=4, factors=()):
    """Scales of a row and `block` of K, and factors of the whole. The program allocates A and B first; the places of the rest."""

    def exact(recorded):
        a, b = recorded.fill(1, types[0], m, k), recorded.fill(2, types[1], n, k)
        a *= np.repeat(block_scales(recorded, scales[0], scale_type, m, k // block), block, axis=1)
        b *= np.repeat(block_scales(recorded, scales[1], scale_type, n, k // block), block, axis=1)
        factor = np.prod([recorded.read(place, "f32", 1) for place in factors])
        recorded.expect(result, types[2], factor * (a @ b.T), ROUNDED)

    return exact


def blockwise_product(m, n, k, places, result, own, finish, tolerance):
    """Scales of 128 by 128, of which those along M or N follow each other. places: of A, its scales, B, its scales and D."""

    def exact(recorded):
        take = recorded.read if own else recorded.fill
        scaled = []
        for rows, at in ((m, places[0:2]), (n, places[2:4])):
            values, scales = take(at[0], "e4m3", rows, k), take(at[1], "f32", k // 128, rows // 128)
            scaled.append(values * np.repeat(np.repeat(scales.T, 128, axis=0), 128, axis=1))
        recorded.expect(places[4], result, finish(scaled[0] @ scaled[1].T).T, tolerance)

    return exact


def top_softmax(count, factor):
    """Of each row the softmax over its largest numbers, and zeros."""

    def finish(d):
        d = factor * d
        kept = d >= np.sort(d, axis=1)[:, -count, None]
        powers = np.where(kept, np.exp(d - d.max(1, keepdims=True)), 0)
        return powers / powers.sum(1, keepdims=True)

    return finish


def attention(length, depth, dtype):
    """One head. The program allocates Q, K, V and O."""

    def exact(recorded):
        q, k, v = (recorded.fill(place, dtype, length, depth) for place in (1, 2, 3))
        scores = q @ k.T / depth**0.5
        weights = np.exp(scores - scores.max(1, keepdims=True))
        recorded.expect(4, "f16", weights / weights.sum(1, keepdims=True) @ v, ROUNDED)

    return exact


def relu(values):
    return np.maximum(values, 0)


def saturated(values):
    """What e4m3 can hold."""
    return np.clip(values, -448, 448)
