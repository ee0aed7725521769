// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The product of tcgen05.mma.

#include "ISA/TensorCore/TensorCore.h"

#include "Numerics/Formats.h"
#include "Numerics/IntegerSums.h"
#include "Numerics/ScaledSums.h"
#include "Numerics/Vectorised.h"

#include <algorithm>
#include <limits>

using namespace fp8::sim;

namespace {

constexpr uint32_t kMaxN = 256, kMaxK = 64, kMaxM = 128, kMaxBlocks = 4;

/// Rows of A and B, decoded, as [row][k] and [k][row]. The rows of B have no
/// gaps, so that the host's nearest cache holds them.
struct Matrices {
  std::array<float, kMaxM * kMaxK> a;
  alignas(
      64) std::array<float, 2 * kMaxN * kMaxK> b; ///< twice K where A is sparse
  std::array<int16_t, kMaxM * kMaxK> aExponents;
  std::array<int16_t, 2 * kMaxN * kMaxK> bExponents;
  std::array<int8_t, kMaxM * kMaxK> aShorts;
  std::array<int8_t, 2 * kMaxN * kMaxK> bShorts;
  IntegerRow aIntegers; ///< of the row that is computed
  IntegerColumns bIntegers;

  Factors row(uint32_t r, bool isShort) const {
    const uint32_t at = r * kMaxK;
    return {&a[at], &aExponents[at], isShort ? &aShorts[at] : nullptr};
  }
  Factors columns(uint32_t n, bool isShort) const {
    return {&b[n], &bExponents[n], isShort ? &bShorts[n] : nullptr};
  }
};

/// The scales of one operand, as [block][row].
struct Scales {
  std::array<double, kMaxBlocks * kMaxN> values;
  std::array<int16_t, kMaxBlocks * kMaxN> exponents;

  BlockScales from(uint32_t row) const {
    return {&values[row], &exponents[row], kMaxN};
  }
};

/// Where the scales of an operand lie (PTX ISA 9.7.16.10.7.2): those of row r
/// in the word of lane r % 32 and column `column` + r / 32, from byte `id` on,
/// and the same in the other three quarters of the lanes.
struct ScalePlace {
  const char *name;
  uint32_t column, id, rows;
};

/// Reads the scales of `blocks` blocks a row.
std::optional<std::string> loadScales(const MmaScales &scales,
                                      const ScalePlace &place, uint32_t blocks,
                                      TensorMemory &tensor, Scales &out) {
  const Scale *codes =
      scales.type == ScaleType::UE8M0 ? ue8m0Scales() : ue4m3Scales();
  uint32_t mask = scales.count == 4 ? ~0u : (1u << (8 * scales.count)) - 1;
  for (uint32_t r = 0; r < place.rows; ++r) {
    uint32_t column = place.column + r / 32;
    uint32_t word = tensor.cell(r % 32, column) >> (8 * place.id) & mask;
    for (uint32_t lane = r % 32 + 32; lane < kTensorLanes; lane += 32)
      if ((tensor.cell(lane, column) >> (8 * place.id) & mask) != word)
        return "the scale factors of row " + std::to_string(r) + " of " +
               place.name + " differ between lanes " + std::to_string(r % 32) +
               " and " + std::to_string(lane) + " of column " +
               std::to_string(column) +
               "; each quarter of the lanes must hold them all";
    for (uint32_t block = 0; block < blocks; ++block) {
      uint32_t at = block * scales.count / blocks;
      const Scale &scale = codes[word >> (8 * at) & 255];
      out.values[block * kMaxN + r] = scale.value;
      out.exponents[block * kMaxN + r] = scale.exponent;
    }
  }
  return std::nullopt;
}

/// f32 accumulators, multiplied by a power of two.
FP8_VECTORISED
void scaleAccumulators(float *__restrict out, const uint32_t *__restrict cells,
                       uint32_t n, float scale) {
  for (uint32_t x = 0; x < n; ++x)
    out[x] = bitCast<float>(cells[x]) * scale;
}

class Product {
public:
  Product(const MmaOperation &op, const std::array<MmaSide, 2> &sides)
      : op(op), s(op.shape), sides(sides),
        blocks(op.rule->perTerm > 1 ? s.k / uint32_t(op.rule->perTerm) : 1),
        isShort(getRow(s.a).isShort() && getRow(s.b).isShort() && !s.sparse &&
                !s.scales.any()),
        isInteger(isShort && s.result == MmaResult::F32 &&
                  s.dColumns() % kIntegerBlock == 0 &&
                  hasIntegerSums(*op.rule)) {}

  std::optional<std::string> run() {
    loadB();
    for (uint32_t side = 0; side < (s.pair ? 2u : 1u); ++side)
      if (auto wrong = runSide(side))
        return wrong;
    return std::nullopt;
  }

private:
  const MmaOperation &op;
  const MmaShape &s;
  const std::array<MmaSide, 2> &sides;
  /// Terms of a row that have scales of their own.
  const uint32_t blocks;
  /// Short exponents are enough.
  const bool isShort;
  /// Sums are of integers, where no term loses a bit.
  const bool isInteger;
  /// Of the side that is computed: its tensor memory has the metadata.
  TensorMemory *metadata = nullptr;

  /// Two elements that share a byte are kept together.
  Grain grain() const {
    return s.elementBytes == 4 ? Grain::OneOfTwo
           : s.k > s.kStored() ? Grain::TwoPairsOfFour
                               : Grain::TwoOfFour;
  }

  static Matrices &matrices() {
    static thread_local Matrices all;
    return all;
  }
  static Scales &scales(bool a) {
    static thread_local Scales both[2];
    return both[a];
  }

  /// B as [k][n], so that a row of the product is a sum of rows. Each CTA of a
  /// pair holds one half of N.
  void loadB() {
    Matrices &m = matrices();
    for (uint32_t side = 0; side < (s.pair ? 2u : 1u); ++side)
      loadOperand(*op.b, s, s.b, s.negateB, sides[side].shared,
                  m.b.data() + side * s.bRows(), 1, s.n);
    if (op.zeroColumns.any())
      clearColumns();
    if (blocks > 1)
      return; // terms have the exponents of their scales
    if (isInteger)
      findIntegers(m.bIntegers, m.b.data(), s.n, s.n);
    const size_t count = size_t(s.sparse ? 2 : 1) * s.k * s.n;
    if (isShort)
      findShortExponents(m.bShorts.data(), m.b.data(), count,
                         getRow(s.b).least);
    else
      findExponents(m.bExponents.data(), m.b.data(), count, getRow(s.b).least);
  }

  void clearColumns() {
    const uint32_t rows = (s.sparse ? 2 : 1) * s.k;
    for (uint32_t n = 0; n < s.n; ++n)
      for (uint32_t k = 0; op.zeroColumns[n] && k < rows; ++k)
        matrices().b[size_t(k) * s.n + n] = 0;
  }

  /// The elements of B that row `r` of A multiplies, of the columns from
  /// `first` on.
  Factors columns(uint32_t r, uint32_t first) {
    static thread_local KeptRows rows;
    Factors all = matrices().columns(first, isShort);
    if (!s.sparse)
      return all;
    Kept kept{};
    for (uint32_t chunk = 0; chunk < s.k / keptOfChunk(grain()); ++chunk) {
      MetadataPlace at =
          findInTensorMemory(r, chunk, s.elementBytes == 1, s.selector);
      keepChunk(kept, chunk,
                metadata->cell(at.lane, op.metadataColumn + at.column) >>
                        at.shift &
                    15,
                grain());
    }
    return rows.select(all, kept, s.k, s.dColumns(), s.n);
  }

  std::optional<std::string> runSide(uint32_t side) {
    Matrices &m = matrices();
    TensorMemory &tensor = *sides[side].tensor;
    metadata = &tensor;
    if (s.scales.any()) {
      if (auto wrong = loadScales(
              s.scales, {"A", op.aScaleColumn, s.scales.aId, s.aRows()}, blocks,
              tensor, scales(true)))
        return wrong;
      if (auto wrong =
              loadScales(s.scales, {"B", op.bScaleColumn, s.scales.bId, s.n},
                         blocks, tensor, scales(false)))
        return wrong;
    }
    if (op.a)
      loadOperand(*op.a, s, s.a, s.negateA, sides[side].shared, m.a.data(),
                  kMaxK, 1);
    for (uint32_t r = 0; r < s.aRows(); ++r)
      for (uint32_t part = 0; part < s.folds(); ++part) {
        uint32_t lane = op.firstLane + s.lane(r) + part * s.foldLanes();
        if (part == 0 || !op.a)
          prepareRow(r, tensor, lane);
        if (!(op.disabledLanes[side * 4 + lane / 32] >> (lane % 32) & 1))
          accumulate(tensor.lane(lane) + op.dColumn, r, part * s.dColumns());
      }
    return std::nullopt;
  }

  /// Row `r` of A, for what goes to `lane`: each part of a folded accumulator
  /// has a copy of A beside it in tensor memory.
  void prepareRow(uint32_t r, TensorMemory &tensor, uint32_t lane) {
    Matrices &m = matrices();
    if (!op.a) {
      // By quarters of the lanes, as tcgen05.shift: the ISA does not say, and
      // no hardware was asked.
      uint32_t from = op.shiftsA && lane % 32 != 31 ? lane + 1 : lane;
      loadTensorRow(s, tensor.lane(from) + op.aColumn, &m.a[r * kMaxK]);
    }
    if (isInteger)
      findIntegers(m.aIntegers, &m.a[r * kMaxK]);
    else
      findRowExponents(r);
  }

  void findRowExponents(uint32_t r) {
    Matrices &m = matrices();
    if (isShort)
      findShortExponents(&m.aShorts[r * kMaxK], &m.a[r * kMaxK], s.k,
                         getRow(s.a).least);
    else if (blocks == 1)
      findExponents(&m.aExponents[r * kMaxK], &m.a[r * kMaxK], s.k,
                    getRow(s.a).least);
  }

  /// cells[n] = cells[n] * scale (or 0) + the product of row `r` of A and the
  /// columns of B from `first` on.
  void accumulate(uint32_t *cells, uint32_t r, uint32_t first) {
    alignas(64) static thread_local std::array<float, kMaxN> before;
    static thread_local std::array<double, kMaxN> sum;
    uint32_t columns = s.dColumns();
    if (s.result == MmaResult::S32)
      return accumulateIntegers(cells, r, first);
    if (!op.accumulate)
      std::fill_n(before.begin(), columns, 0.0f);
    else if (s.result == MmaResult::F32)
      scaleAccumulators(before.data(), cells, columns, float(op.scaleD));
    else // an f16 accumulator takes the low half of its cell
      for (uint32_t n = 0; n < columns; ++n)
        before[n] = float(f16ToFloat(uint16_t(cells[n])) * op.scaleD);
    if (isInteger)
      return accumulateByIntegers(cells, before.data(), r, first);
    addProducts(sum.data(), before.data(), r, first, columns);
    if (s.result == MmaResult::F32)
      return roundRow(*op.rule, cells, sum.data(), columns);
    for (uint32_t n = 0; n < columns; ++n)
      cells[n] = doubleToF16(sum[n]);
  }

  /// The same of f32 sums, whose accumulators are `before`.
  void accumulateByIntegers(uint32_t *cells, const float *before, uint32_t r,
                            uint32_t first) {
    const Matrices &m = matrices();
    uint32_t lost = addIntegers(*op.rule, cells, before,
                                {&m.a[r * kMaxK], &m.b[first], m.aIntegers,
                                 m.bIntegers, first, s.dColumns(), s.n});
    if (lost)
      findRowExponents(r);
    for (uint32_t x = 0; lost; lost >>= 1, x += kIntegerBlock)
      if (lost & 1) {
        double sum[kIntegerBlock];
        addProducts(sum, before + x, r, first + x, kIntegerBlock);
        roundRow(*op.rule, cells + x, sum, kIntegerBlock);
      }
  }

  /// The sums of `count` columns from `first` on, not rounded.
  void addProducts(double *sum, const float *before, uint32_t r, uint32_t first,
                   uint32_t count) {
    Factors a = matrices().row(r, isShort), b = columns(r, first);
    RowShape shape{count, s.k, s.n,
                   s.result == MmaResult::F16 ? getRow(MmaFormat::F16).least
                                              : kLeastF32};
    if (!s.scales.any())
      return accumulateRow(*op.rule, sum, before, a, b, shape);
    BlockScales own = scales(true).from(r), others = scales(false).from(first);
    if (blocks > 1)
      return accumulateBlocks(*op.rule, sum, before, a.values, own, b.values,
                              others, shape);
    accumulateScaledRow(*op.rule, sum, before, a, *own.exponents, b,
                        others.exponents, shape);
  }

  /// Sums of 32 products fit f32.
  void accumulateIntegers(uint32_t *cells, uint32_t r, uint32_t first) {
    using Limits = std::numeric_limits<int32_t>;
    static thread_local std::array<float, kMaxN> before{};
    static thread_local std::array<double, kMaxN> sum;
    uint32_t columns = s.dColumns();
    accumulateRow(*op.rule, sum.data(), before.data(),
                  matrices().row(r, isShort), this->columns(r, first),
                  {columns, s.k, s.n, kLeastF32});
    for (uint32_t n = 0; n < columns; ++n) {
      int64_t total = int64_t(sum[n]);
      if (op.accumulate)
        total += int32_t(cells[n]);
      if (s.saturates)
        total = std::clamp<int64_t>(total, Limits::min(), Limits::max());
      cells[n] = uint32_t(total);
    }
  }
};

} // namespace

std::optional<std::string>
fp8::sim::multiply(const MmaOperation &op,
                   const std::array<MmaSide, 2> &sides) {
  return Product(op, sides).run();
}
