// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of the products of mma.sync.

#include "ISA/TensorCore/MmaSyncProduct.h"

#include "Numerics/Accumulation.h"
#include "Numerics/Formats.h"

#include <algorithm>

using namespace fp8::sim;

void Factored::findExponents(MmaFormat formatA, MmaFormat formatB) {
  fp8::sim::findExponents(aExponents, a, m * k, getRow(formatA).least);
  fp8::sim::findExponents(bExponents, b, dense * kN, getRow(formatB).least);
}
Factored Factored::half(uint32_t which) const {
  Factored out;
  out.m = m;
  out.k = k / 2;
  out.dense = isSparse() ? dense : out.k;
  for (uint32_t to = 0; to < out.k; ++to) {
    uint32_t from = to / 2 * 4 + which * 2 + to % 2;
    for (uint32_t row = 0; row < m; ++row) {
      out.a[row * out.k + to] = a[row * k + from];
      if (isSparse())
        out.kept[row][to] = kept[row][from];
    }
    if (!isSparse())
      std::copy_n(b + from * kN, kN, out.b + to * kN);
  }
  if (isSparse())
    std::copy_n(b, dense * kN, out.b);
  return out;
}

void fp8::sim::addProducts(const fp8::chip::SumRule &rule, const Factored &f,
                           uint32_t row, Type c, Type d, uint64_t *cells) {
  float before[kN];
  double sum[kN];
  uint32_t bits[kN];
  for (uint32_t n = 0; n < kN; ++n)
    before[n] = c == Type::F16 ? f16ToFloat(uint16_t(cells[n]))
                               : bitCast<float>(uint32_t(cells[n]));
  static thread_local KeptRows rows;
  Factors b{f.b, f.bExponents};
  if (f.isSparse())
    b = rows.select(b, f.kept[row], f.k, kN, kN);
  accumulateRow(
      rule, sum, before, {f.a + row * f.k, f.aExponents + row * f.k}, b,
      {kN, f.k, kN, c == Type::F16 ? getRow(MmaFormat::F16).least : kLeastF32});
  if (d != Type::F16)
    roundRow(rule, bits, sum, kN);
  for (uint32_t n = 0; n < kN; ++n)
    cells[n] = d == Type::F16 ? doubleToF16(sum[n]) : bits[n];
}

/// sum + cell, rounded to the nearest.
static uint64_t addTo(uint64_t cell, uint64_t sum, Type c, Type d) {
  auto value = [](uint64_t bits, Type type) {
    return type == Type::F16 ? double(f16ToFloat(uint16_t(bits)))
                             : double(bitCast<float>(uint32_t(bits)));
  };
  double total = value(cell, c) + value(sum, d);
  if (d == Type::F16)
    return doubleToF16(total);
  return total != total ? 0x7fffffff : bitCast<uint32_t>(float(total));
}

void fp8::sim::multiplyFloat8(const Factored &factored, Type c, Type d,
                              Results &results) {
  const fp8::chip::SumRule &rule = fp8::chip::getSumRule(
      fp8::chip::MmaEngine::Warp, fp8::chip::ProductKind::Float16);
  Results products{};
  for (uint32_t which = 0; which < 2; ++which) {
    Factored half = factored.half(which);
    half.findExponents(MmaFormat::F16, MmaFormat::F16);
    for (uint32_t row = 0; row < half.m; ++row)
      addProducts(rule, half, row, d, d, products.cells[row]);
  }
  for (uint32_t row = 0; row < factored.m; ++row)
    for (uint32_t n = 0; n < kN; ++n)
      results.cells[row][n] =
          addTo(results.cells[row][n], products.cells[row][n], c, d);
}
