// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is cut off lies below 2^-termBits of the largest exponent of a term. An
// upper bound of that exponent is enough to know that nothing is.

#include "Numerics/IntegerSums.h"

#include "Numerics/Formats.h"
#include "Numerics/Vectorised.h"

#include <algorithm>
#include <cstdlib>

#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace fp8::sim;

namespace {

/// The unit of a row, or column, is 2^-bits of the largest exponent. 32
/// products of integers, each below 4 * 2^(kRowBits + kColumnBits), fit an
/// int32_t.
constexpr int kRowBits = 8, kColumnBits = 13;
/// Beyond any exponent, for zeros, infinities and NaN: the sum of two is an
/// exponent of f32.
constexpr int32_t kMostExponent = 50;

/// Of functions that are compiled with the instructions of their callers.
#define FP8_INLINED inline __attribute__((always_inline))

FP8_INLINED int32_t exponentOf(int32_t magnitude) {
  return std::clamp((magnitude >> 23) - 127, -kMostExponent, kMostExponent);
}
/// 2^exponent.
FP8_INLINED float powerOfTwo(int32_t exponent) {
  return bitCast<float>((exponent + 127) << 23);
}

template <typename F>
FP8_INLINED void forBits(uint32_t bits, F f) {
  for (; bits; bits &= bits - 1)
    f(uint32_t(__builtin_ctz(bits)));
}

/// The bits of the largest magnitude of each column.
FP8_VECTORISED
void findMagnitudes(int32_t *__restrict most, const float *__restrict b,
                    uint32_t n, uint32_t pitch) {
  for (uint32_t x = 0; x < n; ++x)
    most[x] = 0;
  for (uint32_t j = 0; j < kIntegerTerms; ++j, b += pitch)
    for (uint32_t x = 0; x < n; ++x)
      most[x] = std::max(most[x], bitCast<int32_t>(b[x]) & 0x7fffffff);
}

/// The rows of a block that have a number which is no integer, a bit each.
FP8_VECTORISED
uint32_t findLeft(const float *__restrict b, const float *__restrict scales,
                  uint32_t pitch) {
  uint32_t left = 0;
  for (uint32_t j = 0; j < kIntegerTerms; ++j, b += pitch) {
    uint32_t differ = 0;
    for (uint32_t x = 0; x < kIntegerBlock; ++x) {
      const float scaled = b[x] * scales[x];
      differ |= float(int32_t(scaled)) != scaled;
    }
    left |= uint32_t(differ != 0) << j;
  }
  return left;
}

/// The integers of two rows of a block.
FP8_VECTORISED
void storePairs(int16_t *__restrict pairs, const float *__restrict even,
                const float *__restrict odd, const float *__restrict scales) {
  for (uint32_t x = 0; x < kIntegerBlock; ++x) {
    pairs[2 * x] = int16_t(int32_t(even[x] * scales[x]));
    pairs[2 * x + 1] = int16_t(int32_t(odd[x] * scales[x]));
  }
}

//===-- Sums of products of integers --------------------------------------===//

/// dots[x] = the products of a row and column x; `columns`: those of column 0,
/// `pitch`: columns in a pair of rows.
using MultiplyPairs = void (*)(int32_t *dots, const int32_t *pairs,
                               const int16_t *columns, uint32_t n,
                               uint32_t pitch);

void multiplyPairs(int32_t *dots, const int32_t *pairs, const int16_t *columns,
                   uint32_t n, uint32_t pitch) {
  std::fill_n(dots, n, 0);
  for (uint32_t j = 0; j < kIntegerTerms / 2; ++j, columns += 2 * pitch) {
    const int32_t even = int16_t(pairs[j]), odd = pairs[j] >> 16;
    for (uint32_t x = 0; x < n; ++x)
      dots[x] += even * columns[2 * x] + odd * columns[2 * x + 1];
  }
}

// No compiler finds the instruction that multiplies pairs and adds them up.
#ifdef __x86_64__
__attribute__((target("avx512bw"))) void
multiplyPairs512(int32_t *dots, const int32_t *pairs, const int16_t *columns,
                 uint32_t n, uint32_t pitch) {
  for (uint32_t x = 0; x < n; x += 32) {
    __m512i first = _mm512_setzero_si512(), second = first;
    const int16_t *column = columns + 2 * x;
    for (uint32_t j = 0; j < kIntegerTerms / 2; ++j, column += 2 * pitch) {
      const __m512i pair = _mm512_set1_epi32(pairs[j]);
      first = _mm512_add_epi32(
          first, _mm512_madd_epi16(pair, _mm512_loadu_si512(column)));
      second = _mm512_add_epi32(
          second, _mm512_madd_epi16(pair, _mm512_loadu_si512(column + 32)));
    }
    _mm512_storeu_si512(dots + x, first);
    _mm512_storeu_si512(dots + x + 16, second);
  }
}

__attribute__((target("avx2"))) void
multiplyPairs256(int32_t *dots, const int32_t *pairs, const int16_t *columns,
                 uint32_t n, uint32_t pitch) {
  for (uint32_t x = 0; x < n; x += 16) {
    __m256i first = _mm256_setzero_si256(), second = first;
    auto *column = reinterpret_cast<const __m256i_u *>(columns + 2 * x);
    for (uint32_t j = 0; j < kIntegerTerms / 2; ++j, column += pitch / 8) {
      const __m256i pair = _mm256_set1_epi32(pairs[j]);
      first = _mm256_add_epi32(
          first, _mm256_madd_epi16(pair, _mm256_loadu_si256(column)));
      second = _mm256_add_epi32(
          second, _mm256_madd_epi16(pair, _mm256_loadu_si256(column + 1)));
    }
    auto *to = reinterpret_cast<__m256i_u *>(dots + x);
    _mm256_storeu_si256(to, first);
    _mm256_storeu_si256(to + 1, second);
  }
}
#endif

MultiplyPairs findMultiplyPairs() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512bw"))
    return multiplyPairs512;
  if (__builtin_cpu_supports("avx2"))
    return multiplyPairs256;
#endif
  return multiplyPairs;
}

/// What a row of columns adds up to, besides the integers. The unit is what is
/// cut off.
struct alignas(64) Rest {
  int32_t units[IntegerColumns::kMost];
  float scales[IntegerColumns::kMost];   ///< units per 1
  int32_t shifts[IntegerColumns::kMost]; ///< the integers' unit is 2^shift
  int32_t lost[IntegerColumns::kMost];   ///< not 0: a term may lose a bit
};

/// Begins with the accumulators, of which -0 may be lost: it is no integer.
/// Returns whether all sums may be.
FP8_VECTORISED
bool beginRest(Rest &rest, const float *__restrict before,
               const int32_t *__restrict exponents, int32_t rowExponent,
               uint32_t n, int termBits) {
  int32_t all = -1;
  for (uint32_t x = 0; x < n; ++x) {
    const int32_t products = exponents[x] + rowExponent;
    const int32_t own = (bitCast<int32_t>(before[x]) >> 23 & 255) - 127;
    const int32_t top = std::max(own, products);
    const int32_t shift = products - kRowBits - kColumnBits - (top - termBits);
    const int32_t below = shift >> 31; // the integers' unit is too small
    const float scale = bitCast<float>((termBits + 127 - top) << 23);
    const float scaled = before[x] * scale;
    const int32_t units = int32_t(scaled);
    rest.units[x] = units;
    rest.scales[x] = scale;
    rest.shifts[x] = shift & ~below;
    rest.lost[x] =
        below | (bitCast<int32_t>(float(units)) ^ bitCast<int32_t>(scaled));
    all &= below;
  }
  return all;
}

/// Adds the products of a factor of the row that is left, or whose row of B is.
/// Those of infinities and NaN lose bits.
FP8_VECTORISED
void addToRest(Rest &rest, float a, const float *__restrict b, uint32_t first,
               uint32_t end) {
  for (uint32_t x = first; x < end; ++x) {
    const float term = b[x] * a * rest.scales[x];
    const int32_t whole = int32_t(term);
    rest.units[x] = int32_t(uint32_t(rest.units[x]) + uint32_t(whole));
    rest.lost[x] |= bitCast<int32_t>(float(whole) - term);
  }
}

FP8_INLINED uint32_t magnitude(int32_t value) {
  return value < 0 ? 0u - uint32_t(value) : uint32_t(value);
}

/// Adds the integers, and rounds toward zero.
FP8_VECTORISED
void endSums(uint32_t *__restrict bits, Rest &rest,
             const int32_t *__restrict dots, uint32_t n) {
  for (uint32_t x = 0; x < n; ++x) {
    const uint32_t dot = uint32_t(dots[x]);
    const int32_t shift = rest.shifts[x];
    // Below 2^30, there is room for the rest.
    rest.lost[x] |= int32_t(dot << (shift + 1)) >> (shift + 1) ^ dots[x];
    const int32_t sum = int32_t((dot << shift) + uint32_t(rest.units[x]));
    const float nearest = float(sum);
    const uint32_t over =
        uint32_t(magnitude(int32_t(nearest)) > magnitude(sum));
    const float unit =
        bitCast<float>((254u << 23) - bitCast<uint32_t>(rest.scales[x]));
    bits[x] = bitCast<uint32_t>(
        bitCast<float>(bitCast<uint32_t>(nearest) - over) * unit);
  }
}

/// The blocks where a term may lose a bit.
FP8_VECTORISED
uint32_t findLost(const Rest &rest, uint32_t n) {
  uint32_t blocks = 0;
  for (uint32_t first = 0; first < n; first += kIntegerBlock) {
    const int32_t *lost = &rest.lost[first];
    int32_t any = 0;
    for (uint32_t x = 0; x < kIntegerBlock; ++x)
      any |= lost[x];
    blocks |= uint32_t(any != 0) << (first / kIntegerBlock);
  }
  return blocks;
}

} // namespace

bool fp8::sim::hasIntegerSums(const chip::SumRule &rule) {
  return rule.kind == chip::ProductKind::Float8 &&
         rule.products == kIntegerTerms && rule.perTerm == 1 &&
         rule.fillsFloat32() &&
         rule.rounding == chip::SumRounding::TowardZero &&
         rule.termBits >= kRowBits + kColumnBits && rule.termBits <= 25;
}

FP8_VECTORISED
void fp8::sim::findIntegers(IntegerRow &row, const float *a) {
  int32_t most = 0;
  for (uint32_t j = 0; j < kIntegerTerms; ++j)
    most = std::max(most, bitCast<int32_t>(a[j]) & 0x7fffffff);
  row.exponent = exponentOf(most);
  const float scale = powerOfTwo(kRowBits - row.exponent);
  int32_t integers[kIntegerTerms];
  uint32_t left = 0;
  for (uint32_t j = 0; j < kIntegerTerms; ++j) {
    const int32_t integer = int32_t(a[j] * scale);
    const bool isWhole = float(integer) == a[j] * scale;
    integers[j] = isWhole ? integer : 0;
    left |= uint32_t(!isWhole) << j;
  }
  row.left = left;
  for (uint32_t j = 0; j < kIntegerTerms; j += 2)
    row.pairs[j / 2] = int32_t(uint32_t(integers[j] & 0xffff) |
                               uint32_t(integers[j + 1]) << 16);
}

void fp8::sim::findIntegers(IntegerColumns &columns, const float *b, uint32_t n,
                            uint32_t pitch) {
  int32_t most[IntegerColumns::kMost];
  static const float none[kIntegerBlock] = {};
  columns.count = n;
  findMagnitudes(most, b, n, pitch);
  for (uint32_t first = 0; first < n; first += kIntegerBlock) {
    float scales[kIntegerBlock];
    for (uint32_t x = 0; x < kIntegerBlock; ++x) {
      const int32_t exponent = exponentOf(most[first + x]);
      columns.exponents[first + x] = exponent;
      scales[x] = powerOfTwo(kColumnBits - exponent);
    }
    uint32_t &left = columns.left[first / kIntegerBlock];
    left = findLeft(b + first, scales, pitch);
    auto row = [&](uint32_t j) {
      return left >> j & 1 ? none : b + first + size_t(j) * pitch;
    };
    for (uint32_t j = 0; j < kIntegerTerms; j += 2)
      storePairs(&columns.values[(size_t(j / 2) * n + first) * 2], row(j),
                 row(j + 1), scales);
  }
}

uint32_t fp8::sim::addIntegers(const chip::SumRule &rule, uint32_t *bits,
                               const float *before, const IntegerFactors &f) {
  static thread_local Rest ofThread;
  Rest &rest = ofThread;
  const uint32_t blocks = f.n / kIntegerBlock;
  const uint32_t *columnsLeft = &f.columns.left[f.first / kIntegerBlock];
  if (beginRest(rest, before, &f.columns.exponents[f.first], f.row.exponent,
                f.n, rule.termBits))
    return (1u << blocks) - 1;
  auto add = [&](uint32_t j, uint32_t first, uint32_t end) {
    addToRest(rest, f.a[j], f.b + size_t(j) * f.pitch, first, end);
  };
  forBits(f.row.left, [&](uint32_t j) { add(j, 0, f.n); });
  for (uint32_t block = 0; block < blocks; ++block) {
    const uint32_t x = block * kIntegerBlock;
    forBits(columnsLeft[block] & ~f.row.left,
            [&](uint32_t j) { add(j, x, x + kIntegerBlock); });
  }
  alignas(64) int32_t dots[IntegerColumns::kMost];
  static const MultiplyPairs multiply = findMultiplyPairs();
  multiply(dots, f.row.pairs.data(), &f.columns.values[2 * f.first], f.n,
           f.columns.count);
  endSums(bits, rest, dots, f.n);
  return findLost(rest, f.n);
}
