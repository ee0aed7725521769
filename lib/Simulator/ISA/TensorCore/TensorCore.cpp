// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors of tcgen05.mma and the product.

#include "ISA/TensorCore/TensorCore.h"

#include "Memory/Swizzle.h"
#include "Numerics/Accumulation.h"
#include "Numerics/Formats.h"
#include "Program/Program.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

std::optional<std::string>
fp8::sim::decodeInstructionDescriptor(uint32_t bits, MmaKind kind, bool pair,
                                      MmaShape &shape) {
  auto field = [&](unsigned low, unsigned count) {
    return bits >> low & ((1u << count) - 1);
  };
  auto wrong = [](const char *name, uint32_t value, const char *rule) {
    return std::string(name) + " is " + std::to_string(value) +
           "; the rule is " + rule;
  };
  if (field(2, 1))
    return std::string(
        "the sparsity bit is set, but sparse MMA is not supported");
  if (field(3, 1))
    return std::string("the saturate bit is set, which is for kind::i8 only");
  uint32_t d = field(4, 2), a = field(7, 3), b = field(10, 3);
  if (d > 1)
    return wrong("the D format", d, "0 (f16) or 1 (f32)");
  if (d == 0 && kind == MmaKind::TF32)
    return wrong("the D format", d, "1 (f32) for kind::tf32");
  auto format = [&](uint32_t value, MmaFormat &out) {
    switch (kind) {
    case MmaKind::F8F6F4:
      out = value == 0 ? MmaFormat::E4M3 : MmaFormat::E5M2;
      return value <= 1;
    case MmaKind::F16:
      out = value == 0 ? MmaFormat::F16 : MmaFormat::BF16;
      return value <= 1;
    case MmaKind::TF32:
      out = MmaFormat::TF32;
      return value == 2;
    }
    return false;
  };
  const char *rule = kind == MmaKind::F8F6F4
                         ? "0 (e4m3) or 1 (e5m2); the 6-bit and 4-bit formats "
                           "are not supported"
                     : kind == MmaKind::F16 ? "0 (f16) or 1 (bf16)"
                                            : "2 (tf32)";
  if (!format(a, shape.a))
    return wrong("the A format", a, rule);
  if (!format(b, shape.b))
    return wrong("the B format", b, rule);
  if (field(6, 1) || field(23, 1) || field(29, 1))
    return std::string("a reserved bit (6, 23 or 29) is set");
  if (field(30, 2))
    return std::string(
        "the maximum shift (bits 30-31) is set, which is for .ws only");
  shape.f32Accumulator = d == 1;
  shape.negateA = field(13, 1);
  shape.negateB = field(14, 1);
  shape.transposeA = field(15, 1);
  shape.transposeB = field(16, 1);
  shape.elementBytes = kind == MmaKind::F8F6F4 ? 1
                       : kind == MmaKind::F16  ? 2
                                               : 4;
  shape.k = 32 / shape.elementBytes;
  shape.n = field(17, 6) * 8;
  shape.m = field(24, 5) * 16;
  shape.pair = pair;
  if (pair) {
    if (shape.m != 128 && shape.m != 256)
      return wrong("M", shape.m, "128 or 256 for cta_group::2");
    // The table of PTX ISA 9.7.16.2.1 goes in steps of 32; kernels that ship
    // use steps of 16.
    if (shape.n < 16 || shape.n > 256 || shape.n % 16)
      return wrong("N", shape.n, "a multiple of 16 from 16 to 256");
    return std::nullopt;
  }
  if (shape.m != 64 && shape.m != 128)
    return wrong("M", shape.m, "64 or 128 for cta_group::1");
  // The table goes in steps of 16 where M is 128; kernels that ship use 8.
  if (shape.n < 8 || shape.n > 256 || shape.n % 8)
    return wrong("N", shape.n, "a multiple of 8 from 8 to 256");
  return std::nullopt;
}

std::optional<std::string>
fp8::sim::decodeMatrixDescriptor(uint64_t bits, bool mnMajor,
                                 unsigned elementBytes,
                                 MatrixDescriptor &descriptor) {
  auto field = [&](unsigned low, unsigned count) {
    return uint32_t(bits >> low & ((uint64_t(1) << count) - 1));
  };
  if (field(46, 3) != 1)
    return "bits 46-48 are " + std::to_string(field(46, 3)) +
           "; the rule is 1 (version of the descriptor)";
  if (field(14, 2) || field(30, 2) || field(53, 8))
    return std::string("a reserved bit is set");
  if (field(52, 1))
    return std::string(
        "the absolute leading dimension mode (bit 52) is not supported");
  switch (field(61, 3)) {
  case 0:
    descriptor.swizzle = Swizzle::None;
    break;
  case 2:
    descriptor.swizzle = Swizzle::B128;
    break;
  case 4:
    descriptor.swizzle = Swizzle::B64;
    break;
  case 6:
    descriptor.swizzle = Swizzle::B32;
    break;
  case 1:
    return std::string(
        "the layout 128-byte swizzle with 32-byte atoms (1) is not supported");
  default:
    return "the layout (bits 61-63) is " + std::to_string(field(61, 3)) +
           "; the rule is 0, 1, 2, 4 or 6";
  }
  descriptor.start = field(0, 14) << 4;
  descriptor.leading = field(16, 14) << 4;
  descriptor.stride = field(32, 14) << 4;
  descriptor.baseOffset = field(49, 3);
  descriptor.mnMajor = mnMajor;
  descriptor.elementBytes = elementBytes;
  if (descriptor.baseOffset)
    return std::string("the base offset is not zero, which is not supported; "
                       "start the swizzle pattern on its boundary");
  if (mnMajor && elementBytes == 4)
    return std::string("MN-major operands are not supported for kind::tf32");
  return std::nullopt;
}

uint32_t MatrixDescriptor::address(uint32_t row, uint32_t k) const {
  uint32_t span = swizzle == Swizzle::None ? 16 : spanBytes(swizzle);
  uint32_t offset;
  if (!mnMajor) {
    uint32_t byte = k * elementBytes;
    // 8 rows make a core matrix; without swizzle the next 16 bytes of K are a
    // leading dimension away.
    offset = row / 8 * stride + row % 8 * span;
    offset += swizzle == Swizzle::None ? byte / 16 * leading + byte % 16 : byte;
  } else {
    uint32_t byte = row * elementBytes;
    uint32_t across = swizzle == Swizzle::None ? stride : leading;
    uint32_t down = swizzle == Swizzle::None ? leading : stride;
    offset = byte / span * across + byte % span + k % 8 * span + k / 8 * down;
  }
  return swizzleAddress(swizzle, start + offset);
}

std::vector<SharedRun> fp8::sim::operandRuns(const MatrixDescriptor &descriptor,
                                             uint32_t cta, uint32_t rows,
                                             uint32_t k) {
  std::vector<SharedRun> runs;
  uint32_t perChunk = 16 / descriptor.elementBytes;
  auto add = [&](uint32_t address) {
    if (!runs.empty() && runs.back().begin + runs.back().size == address)
      runs.back().size += 16;
    else if (!runs.empty() && address + 16 == runs.back().begin)
      runs.back() = {cta, address, runs.back().size + 16, false};
    else
      runs.push_back({cta, address, 16, false});
  };
  if (!descriptor.mnMajor) {
    for (uint32_t r = 0; r < rows; ++r)
      for (uint32_t c = 0; c < k; c += perChunk)
        add(descriptor.address(r, c));
  } else {
    for (uint32_t c = 0; c < k; ++c)
      for (uint32_t r = 0; r < rows; r += perChunk)
        add(descriptor.address(r, c));
  }
  return runs;
}

const fp8::chip::SumRule &fp8::sim::findSumRule(chip::MmaEngine engine,
                                                const MmaShape &shape,
                                                bool exactly) {
  using chip::ProductKind;
  if (exactly)
    return kExactSums;
  return chip::getSumRule(engine, shape.elementBytes == 1 ? ProductKind::Float8
                                  : shape.elementBytes == 2
                                      ? ProductKind::Float16
                                      : ProductKind::TF32);
}

int fp8::sim::leastExponent(MmaFormat format) {
  switch (format) {
  case MmaFormat::E4M3:
    return -6;
  case MmaFormat::E5M2:
  case MmaFormat::F16:
    return -14;
  case MmaFormat::BF16:
  case MmaFormat::TF32:
    return -126;
  }
  return 0;
}

/// The values of a format of 8 bits; null for others.
static const float *findTable(MmaFormat format) {
  auto narrow = [](const std::array<double, 256> &wide) {
    std::array<float, 256> table;
    std::copy(wide.begin(), wide.end(), table.begin());
    return table;
  };
  static const std::array<float, 256> e4m3 = narrow(e4m3Table()),
                                      e5m2 = narrow(e5m2Table());
  return format == MmaFormat::E4M3   ? e4m3.data()
         : format == MmaFormat::E5M2 ? e5m2.data()
                                     : nullptr;
}

float fp8::sim::decodeElement(MmaFormat format, const uint8_t *at) {
  switch (format) {
  case MmaFormat::E4M3:
  case MmaFormat::E5M2:
    return findTable(format)[*at];
  case MmaFormat::F16: {
    uint16_t bits;
    std::memcpy(&bits, at, 2);
    return f16ToFloat(bits);
  }
  case MmaFormat::BF16: {
    uint16_t bits;
    std::memcpy(&bits, at, 2);
    return bf16ToFloat(bits);
  }
  case MmaFormat::TF32: {
    float value;
    std::memcpy(&value, at, 4);
    return truncateTF32(value);
  }
  }
  return 0;
}

void fp8::sim::loadOperand(const MatrixDescriptor &descriptor,
                           const MmaShape &shape, MmaFormat format, bool negate,
                           const uint8_t *shared, uint32_t rows, float *out,
                           uint32_t rowPitch, uint32_t kPitch) {
  const float *table = findTable(format);
  uint32_t perChunk = 16 / shape.elementBytes;
  uint32_t outer = descriptor.mnMajor ? shape.k : rows,
           inner = descriptor.mnMajor ? rows : shape.k;
  for (uint32_t o = 0; o < outer; ++o)
    for (uint32_t c = 0; c < inner; c += perChunk) {
      const uint8_t *at =
          shared + (descriptor.mnMajor ? descriptor.address(c, o)
                                       : descriptor.address(o, c));
      for (uint32_t e = 0; e < perChunk && c + e < inner; ++e) {
        float value = table
                          ? table[at[e]]
                          : decodeElement(format, at + e * shape.elementBytes);
        uint32_t r = descriptor.mnMajor ? c + e : o,
                 k = descriptor.mnMajor ? o : c + e;
        out[size_t(r) * rowPitch + size_t(k) * kPitch] =
            negate ? -value : value;
      }
    }
}

/// Rows of A and B, decoded, as [row][k] and [k][row].
namespace {
constexpr uint32_t kMaxN = 256, kMaxK = 32, kMaxM = 128;
struct Matrices {
  std::array<float, kMaxM * kMaxK> a;
  std::array<float, kMaxN * kMaxK> b;
  std::array<int16_t, kMaxM * kMaxK> aExponents;
  std::array<int16_t, kMaxN * kMaxK> bExponents;

  Factors row(uint32_t r) const {
    return {&a[r * kMaxK], &aExponents[r * kMaxK]};
  }
  Factors columns(uint32_t n) const { return {&b[n], &bExponents[n]}; }
};
} // namespace

/// cells[n] = cells[n] * scale (or 0) + the product of `a` and columns of `b`.
static void accumulateCells(const MmaOperation &op, uint32_t *cells, Factors a,
                            Factors b) {
  static thread_local std::array<float, kMaxN> before;
  static thread_local std::array<double, kMaxN> sum;
  const MmaShape &s = op.shape;
  uint32_t columns = s.dColumns();
  for (uint32_t n = 0; n < columns; ++n) {
    // An f16 accumulator takes the low half of its cell.
    float old = s.f32Accumulator ? bitCast<float>(cells[n])
                                 : f16ToFloat(uint16_t(cells[n]));
    before[n] = op.accumulate ? old * op.scaleD : 0;
  }
  accumulateRow(*op.rule, sum.data(), before.data(), a, b,
                {columns, s.k, kMaxN,
                 s.f32Accumulator ? kLeastF32 : leastExponent(MmaFormat::F16)});
  if (s.f32Accumulator)
    return roundRow(*op.rule, cells, sum.data(), columns);
  for (uint32_t n = 0; n < columns; ++n)
    cells[n] = doubleToF16(sum[n]);
}

/// Row `r` of A from tensor memory.
static void loadRow(const MmaOperation &op, TensorMemory &tensor, uint32_t r,
                    float *out) {
  const MmaShape &s = op.shape;
  const auto *bytes =
      reinterpret_cast<const uint8_t *>(tensor.lane(s.lane(r)) + op.aColumn);
  for (uint32_t k = 0; k < s.k; ++k) {
    float value = decodeElement(s.a, bytes + k * s.elementBytes);
    out[k] = s.negateA ? -value : value;
  }
}

void fp8::sim::multiply(const MmaOperation &op,
                        const std::array<MmaSide, 2> &sides) {
  const MmaShape &s = op.shape;
  static thread_local Matrices matrices;
  // B as [k][n], so that a row of the product is a sum of rows. Each CTA of a
  // pair holds one half of N.
  uint32_t count = s.pair ? 2 : 1;
  for (uint32_t side = 0; side < count; ++side)
    loadOperand(op.b, s, s.b, s.negateB, sides[side].shared, s.bRows(),
                matrices.b.data() + side * s.bRows(), 1, kMaxN);
  for (uint32_t k = 0; k < s.k; ++k)
    findExponents(&matrices.bExponents[k * kMaxN], &matrices.b[k * kMaxN], s.n,
                  leastExponent(s.b));
  for (uint32_t side = 0; side < count; ++side) {
    TensorMemory &tensor = *sides[side].tensor;
    if (!op.aInTensorMemory)
      loadOperand(op.a, s, s.a, s.negateA, sides[side].shared, s.aRows(),
                  matrices.a.data(), kMaxK, 1);
    for (uint32_t r = 0; r < s.aRows(); ++r) {
      if (op.aInTensorMemory)
        loadRow(op, tensor, r, &matrices.a[r * kMaxK]);
      findExponents(&matrices.aExponents[r * kMaxK], &matrices.a[r * kMaxK],
                    s.k, leastExponent(s.a));
      for (uint32_t half = 0; half < (s.folded() ? 2u : 1u); ++half) {
        uint32_t lane = s.lane(r) + half * 64;
        if (!(op.disabledLanes[side * 4 + lane / 32] >> (lane % 32) & 1))
          accumulateCells(op, tensor.lane(lane) + op.dColumn, matrices.row(r),
                          matrices.columns(half * s.dColumns()));
      }
    }
  }
}
