// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptors and the product of wgmma.mma_async.

#include "ISA/TensorCore/WgmmaOperation.h"

#include "Machine/Cta.h"
#include "Numerics/Accumulation.h"
#include "Numerics/Formats.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

using namespace fp8::sim;

static constexpr uint32_t kMaxN = 256, kMaxK = 32;

std::optional<std::string>
fp8::sim::decodeWgmmaDescriptor(uint64_t bits, unsigned elementBytes,
                                MatrixDescriptor &out) {
  auto field = [&](unsigned low, unsigned count) {
    return uint32_t(bits >> low & ((uint64_t(1) << count) - 1));
  };
  if (field(14, 2) || field(30, 2) || field(46, 3) || field(52, 10))
    return std::string("a reserved bit (14-15, 30-31, 46-48 or 52-61) is set; "
                       "the descriptor of tcgen05.mma has another format");
  static const Swizzle swizzles[] = {Swizzle::None, Swizzle::B128, Swizzle::B64,
                                     Swizzle::B32};
  out.swizzle = swizzles[field(62, 2)];
  out.start = field(0, 14) << 4;
  out.leading = field(16, 14) << 4;
  out.stride = field(32, 14) << 4;
  out.baseOffset = field(49, 3);
  out.elementBytes = elementBytes;
  if (out.baseOffset)
    return std::string("the base offset is not zero, which is not supported; "
                       "start the swizzle pattern on its boundary");
  return std::nullopt;
}

/// Eight columns, of which four lanes have the even and the odd ones.
static void joinColumns(uint32_t *bits, const uint64_t *even,
                        const uint64_t *odd) {
  uint64_t pairs[4];
  for (uint32_t lane = 0; lane < 4; ++lane)
    pairs[lane] = uint32_t(even[lane]) | odd[lane] << 32;
  std::memcpy(bits, pairs, sizeof(pairs));
}
static void splitColumns(const uint32_t *bits, uint64_t *even, uint64_t *odd) {
  uint64_t pairs[4];
  std::memcpy(pairs, bits, sizeof(pairs));
  for (uint32_t lane = 0; lane < 4; ++lane) {
    even[lane] = uint32_t(pairs[lane]);
    odd[lane] = pairs[lane] >> 32;
  }
}

/// Row r of D has its even and odd columns in four lanes of one warp; a
/// register has two columns of f16.
void WgmmaOperation::loadRow(uint32_t r, uint32_t *bits) const {
  const Warp &warp = *warps[r / 16];
  const uint32_t lane = r % 8 * 4;
  const uint32_t half = r % 16 / 8;
  if (shape.result == MmaResult::F16)
    for (uint32_t x = 0; x < shape.n; ++x)
      bits[x] = uint32_t(warp.row(rows[x / 8 * 2 + half])[lane + x % 8 / 2] >>
                         x % 2 * 16) &
                0xffff;
  else
    for (uint32_t x = 0; x < shape.n; x += 8) {
      const uint32_t n = (x / 8 * 2 + half) * 2;
      joinColumns(bits + x, warp.row(rows[n]) + lane,
                  warp.row(rows[n + 1]) + lane);
    }
}

void WgmmaOperation::storeRow(uint32_t r, const uint32_t *bits) const {
  Warp &warp = *warps[r / 16];
  const uint32_t lane = r % 8 * 4;
  const uint32_t half = r % 16 / 8;
  if (shape.result == MmaResult::F16)
    for (uint32_t x = 0; x < shape.n; x += 2)
      warp.row(rows[x / 8 * 2 + half])[lane + x % 8 / 2] = bits[x] | bits[x + 1]
                                                                         << 16;
  else
    for (uint32_t x = 0; x < shape.n; x += 8) {
      const uint32_t n = (x / 8 * 2 + half) * 2;
      splitColumns(bits + x, warp.row(rows[n]) + lane,
                   warp.row(rows[n + 1]) + lane);
    }
}

/// A's fragment: a register holds 4 bytes of a row, the second and the
/// fourth of them of the row 8 below, the third and the fourth of the other
/// half of K.
void WgmmaOperation::loadFragment(float *out) const {
  const uint32_t *registers = rows + resultRows(shape.result, shape.n);
  for (uint32_t r = 0; r < kWgmmaM; ++r)
    for (uint32_t byte = 0; byte < 32; byte += shape.elementBytes) {
      uint32_t n = byte / 16 * 2 + r % 16 / 8;
      uint32_t bits =
          uint32_t(warps[r / 16]->row(registers[n])[r % 8 * 4 + byte % 16 / 4]);
      uint8_t bytes[4];
      std::memcpy(bytes, &bits, 4);
      float value = decodeElement(shape.a, bytes + byte % 4);
      out[r * kMaxK + byte / shape.elementBytes] =
          shape.negateA ? -value : value;
    }
}

Kept WgmmaOperation::keptOf(uint32_t r) const {
  Kept kept{};
  const bool pairs = shape.elementBytes == 4;
  const uint32_t chunks = pairs ? shape.k : shape.k / 2;
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    MetadataPlace at =
        findInWarp(r % 16, chunk, chunks, shape.elementBytes == 1, selector);
    keepChunk(kept, chunk, metadata[r / 16 * 32 + at.lane] >> at.shift & 15,
              pairs ? Grain::OneOfTwo : Grain::TwoOfFour);
  }
  return kept;
}

/// Row r of D: what it was, plus the products of a row of A and B.
void WgmmaOperation::computeRow(uint32_t r, Factors a, Factors b) const {
  using Limits = std::numeric_limits<int32_t>;
  static thread_local std::array<float, kMaxN> before;
  static thread_local std::array<double, kMaxN> sum;
  static thread_local std::array<uint32_t, kMaxN> bits;
  if (accumulate)
    loadRow(r, bits.data());
  if (!accumulate || shape.result == MmaResult::S32)
    std::fill_n(before.begin(), shape.n, 0.0f);
  else if (shape.result == MmaResult::F32)
    std::memcpy(before.data(), bits.data(), shape.n * sizeof(float));
  else
    for (uint32_t x = 0; x < shape.n; ++x)
      before[x] = f16ToFloat(uint16_t(bits[x]));
  accumulateRow(*rule, sum.data(), before.data(), a, b,
                {shape.n, shape.k, kMaxN,
                 shape.result == MmaResult::F16 ? getRow(MmaFormat::F16).least
                                                : kLeastF32});
  if (shape.result == MmaResult::F32)
    roundRow(*rule, bits.data(), sum.data(), shape.n);
  else
    for (uint32_t x = 0; x < shape.n; ++x) {
      if (shape.result == MmaResult::F16) {
        bits[x] = doubleToF16(sum[x]);
        continue;
      }
      // The products of integers fit f32.
      int64_t total = int64_t(sum[x]) + (accumulate ? int32_t(bits[x]) : 0);
      if (shape.saturates)
        total = std::clamp<int64_t>(total, Limits::min(), Limits::max());
      bits[x] = uint32_t(total);
    }
  storeRow(r, bits.data());
}

void WgmmaOperation::run() const {
  static thread_local std::array<float, kWgmmaM * kMaxK> aMatrix;
  static thread_local std::array<float, kMaxN * 2 * kMaxK> bMatrix;
  static thread_local std::array<int16_t, kWgmmaM * kMaxK> aExponents;
  static thread_local std::array<int16_t, kMaxN * 2 * kMaxK> bExponents;
  static thread_local std::array<int8_t, kWgmmaM * kMaxK> aShorts;
  static thread_local std::array<int8_t, kMaxN * 2 * kMaxK> bShorts;
  const MmaFormatRow &formatA = getRow(shape.a), &formatB = getRow(shape.b);
  const bool isShort = formatA.isShort() && formatB.isShort() && !sparse;
  const uint8_t *shared = warps[0]->cta.shared.data();
  loadOperand(*b, shape, shape.b, shape.negateB, shared, bMatrix.data(), 1,
              kMaxN);
  if (a)
    loadOperand(*a, shape, shape.a, shape.negateA, shared, aMatrix.data(),
                kMaxK, 1);
  else
    loadFragment(aMatrix.data());
  if (isShort)
    findShortExponents(aShorts.data(), aMatrix.data(), aMatrix.size(),
                       formatA.least);
  else
    findExponents(aExponents.data(), aMatrix.data(), aMatrix.size(),
                  formatA.least);
  for (uint32_t at = 0; at < b->k * kMaxN; at += kMaxN)
    if (isShort)
      findShortExponents(&bShorts[at], &bMatrix[at], shape.n, formatB.least);
    else
      findExponents(&bExponents[at], &bMatrix[at], shape.n, formatB.least);
  const Factors dense{bMatrix.data(), bExponents.data(),
                      isShort ? bShorts.data() : nullptr};
  std::unique_ptr<KeptRows> keptRows;
  if (sparse)
    keptRows = std::make_unique<KeptRows>();
  for (uint32_t r = 0; r < kWgmmaM; ++r)
    computeRow(r,
               {&aMatrix[r * kMaxK], &aExponents[r * kMaxK],
                isShort ? &aShorts[r * kMaxK] : nullptr},
               sparse
                   ? keptRows->select(dense, keptOf(r), shape.k, shape.n, kMaxN)
                   : dense);
}
