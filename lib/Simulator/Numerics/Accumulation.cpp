// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products: exact, and as Hopper's tensor cores form them. The inner
// loops vectorise.

#include "Numerics/Accumulation.h"

#include "Numerics/Formats.h"

#include <cmath>

using namespace fp8::sim;

// The choice between clones comes before ThreadSanitizer has begun, which
// instruments what chooses.
#if defined(__x86_64__) && defined(__gnu_linux__) &&                           \
    !defined(__SANITIZE_THREAD__)
#define FP8_VECTORISED                                                         \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FP8_VECTORISED
#endif

namespace {

FP8_VECTORISED
void addExact(double *__restrict sum, const double *__restrict a,
              const double *__restrict b, uint32_t n, uint32_t k,
              uint32_t pitch) {
  for (uint32_t j = 0; j < k; j += 4) {
    const double *b0 = b + size_t(j) * pitch, *b1 = b0 + pitch,
                 *b2 = b1 + pitch, *b3 = b2 + pitch;
    double a0 = a[j], a1 = a[j + 1], a2 = a[j + 2], a3 = a[j + 3];
    for (uint32_t x = 0; x < n; ++x)
      sum[x] += a0 * b0[x] + a1 * b1[x] + a2 * b2[x] + a3 * b3[x];
  }
}

/// The largest of the products' powers; a product of 0 has none.
FP8_VECTORISED
void findLargest(double *__restrict largest, const double *__restrict a,
                 const double *__restrict b, uint32_t n, uint32_t k,
                 uint32_t pitch) {
  for (uint32_t j = 0; j < k; ++j) {
    const double *row = b + size_t(j) * pitch;
    for (uint32_t x = 0; x < n; ++x) {
      double power = a[j] * row[x];
      largest[x] = largest[x] < power ? power : largest[x];
    }
  }
}

/// Adds up the terms in multiples of 1 / perUnit[x], each cut off toward zero.
FP8_VECTORISED
void addUnits(double *__restrict units, const double *__restrict perUnit,
              const double *__restrict sum, const double *__restrict a,
              const double *__restrict b, uint32_t n, uint32_t k,
              uint32_t pitch) {
  for (uint32_t x = 0; x < n; ++x)
    units[x] = double(int32_t(sum[x] * perUnit[x]));
  for (uint32_t j = 0; j < k; ++j) {
    const double *row = b + size_t(j) * pitch;
    for (uint32_t x = 0; x < n; ++x)
      units[x] += double(int32_t(a[j] * row[x] * perUnit[x]));
  }
}

/// `value` with so many bits behind the leading one, cut off toward zero.
double cutOff(double value, int bits) {
  return bitCast<double>(bitCast<uint64_t>(value) &
                         ~((uint64_t(1) << (52 - bits)) - 1));
}

void addHopper(double *sum, Factors a, Factors b, uint32_t n, uint32_t k,
               uint32_t pitch) {
  static thread_local double exact[256], largest[256], perUnit[256], units[256];
  for (uint32_t x = 0; x < n; ++x) {
    exact[x] = sum[x];
    largest[x] = powerOf(sum[x], 0);
  }
  addExact(exact, a.values, b.values, n, k, pitch);
  findLargest(largest, a.powers, b.powers, n, k, pitch);
  for (uint32_t x = 0; x < n; ++x)
    perUnit[x] = std::isfinite(exact[x]) && largest[x] > 0
                     ? double(1 << kHopperFractionBits) / largest[x]
                     : 0;
  addUnits(units, perUnit, sum, a.values, b.values, n, k, pitch);
  // Infinities and NaN are what they are.
  for (uint32_t x = 0; x < n; ++x)
    sum[x] = perUnit[x] > 0 ? cutOff(units[x] / perUnit[x], kHopperFractionBits)
                            : exact[x];
}

} // namespace

double fp8::sim::powerOf(double value, double least) {
  double power =
      bitCast<double>(bitCast<uint64_t>(value) & 0x7ff0000000000000u);
  return value != 0 && power < least ? least : power;
}

void fp8::sim::accumulateRow(Accumulation mode, double *sum, Factors a,
                             Factors b, uint32_t n, uint32_t k,
                             uint32_t pitch) {
  if (mode == Accumulation::Hopper)
    addHopper(sum, a, b, n, k, pitch);
  else
    addExact(sum, a.values, b.values, n, k, pitch);
}
