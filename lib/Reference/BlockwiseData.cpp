// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeded operands. Only exact or correctly rounded operations are used, and no
// library function that may differ between machines.
#include "fp8/Reference/BlockwiseData.h"

#include "fp8/Reference/Float8.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fp8::reference {
namespace {
/// SplitMix64's output function: a good hash of a counter.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t streamOf(uint64_t seed, uint64_t stream) {
  return mix(seed + mix(stream));
}

int64_t sumOfQuarters(uint64_t bits) {
  return (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) +
         (bits >> 48);
}

/// Near-normal, mean 0, variance 1, within 4.9: the sum of eight uniform
/// variables, exact in integers.
float nearNormal(uint64_t stream, uint64_t counter) {
  int64_t sum = sumOfQuarters(mix(stream + 2 * counter)) +
                sumOfQuarters(mix(stream + 2 * counter + 1));
  constexpr float perUnit = 1.0f / 53509.0f; // 65536 * sqrt(8 / 12)
  return static_cast<float>(sum - 4 * 65535) * perUnit;
}

constexpr uint64_t goldenRatio = 0x9e3779b97f4a7c15;   // frac(phi) * 2^64
constexpr uint64_t squareRootOf2 = 0x6a09e667f3bcc908; // frac(sqrt 2) * 2^64

/// A scale between 2^-10.5 and 2^-3.5 that differs between near neighbours of a
/// grid: the fraction of offset + i * phi + j * sqrt(2) chooses it.
float scaleAt(uint64_t offset, uint64_t i, uint64_t j) {
  uint64_t point = offset + i * goldenRatio + j * squareRootOf2;
  double binades = static_cast<double>(point >> 11) * 0x1p-53 * 7;
  int whole = static_cast<int>(binades);
  // Straight lines between powers of two: exact, and monotonic.
  return static_cast<float>(std::ldexp(1 + (binades - whole), whole - 10) *
                            0.70703125);
}

float maximumMagnitude(const float *values, int64_t count) {
  float result = 0;
  for (int64_t i = 0; i < count; ++i)
    result = std::max(result, std::fabs(values[i]));
  return result;
}

void quantise(const float *values, int64_t count, float scale, uint8_t *out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = encodeE4M3FN(values[i] / scale);
}

float scaleFor(float amax) { return amax > 0 ? amax / 448 : 1; }

void makeA(BlockwiseData &data, uint64_t seed) {
  uint64_t stream = streamOf(seed, 1), offset = streamOf(seed, 2);
  float values[scaleBlock];
  for (int64_t row = 0; row < data.m; ++row)
    for (int64_t block = 0; block < data.kBlocks(); ++block) {
      int64_t start = row * data.k + block * scaleBlock;
      int64_t count = std::min(scaleBlock, data.k - block * scaleBlock);
      for (int64_t i = 0; i < count; ++i)
        values[i] = nearNormal(stream, start + i);
      float scale = scaleFor(maximumMagnitude(values, count));
      quantise(values, count, scale, data.a.data() + start);
      data.aScale[block * data.aScaleStride + row] =
          scaleAt(offset, row, block);
    }
}

void makeB(BlockwiseData &data, uint64_t seed) {
  uint64_t stream = streamOf(seed, 3), offset = streamOf(seed, 4);
  std::vector<float> values(scaleBlock * scaleBlock);
  for (int64_t nBlock = 0; nBlock < data.nBlocks(); ++nBlock)
    for (int64_t kBlock = 0; kBlock < data.kBlocks(); ++kBlock) {
      int64_t rows = std::min(scaleBlock, data.n - nBlock * scaleBlock);
      int64_t columns = std::min(scaleBlock, data.k - kBlock * scaleBlock);
      auto start = [&](int64_t row) {
        return (nBlock * scaleBlock + row) * data.k + kBlock * scaleBlock;
      };
      float amax = 0;
      for (int64_t row = 0; row < rows; ++row) {
        float *line = values.data() + row * scaleBlock;
        for (int64_t i = 0; i < columns; ++i)
          line[i] = nearNormal(stream, start(row) + i);
        amax = std::max(amax, maximumMagnitude(line, columns));
      }
      float scale = scaleFor(amax);
      for (int64_t row = 0; row < rows; ++row)
        quantise(values.data() + row * scaleBlock, columns, scale,
                 data.b.data() + start(row));
      data.bScale[nBlock * data.kBlocks() + kBlock] =
          scaleAt(offset, nBlock, kBlock);
    }
}

/// Plants values that IEEE arithmetic must carry through, spread so that most
/// of D stays finite.
void plantSpecials(BlockwiseData &data, uint64_t seed) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  uint64_t stream = streamOf(seed, 5);
  auto pick = [&](uint64_t which, int64_t below) {
    return static_cast<int64_t>(mix(stream + which) % below);
  };
  if (!data.m || !data.n || !data.k)
    return;
  data.a[pick(0, data.m) * data.k + pick(1, data.k)] = 0x7f;
  data.a[pick(2, data.m) * data.k + pick(3, data.k)] = 0xff;
  data.b[pick(4, data.n) * data.k + pick(5, data.k)] = 0x7f;
  int64_t zeroRow = pick(6, data.m);
  std::fill_n(data.a.data() + zeroRow * data.k, data.k, uint8_t(0x80));
  const float scales[] = {nan, infinity, -infinity, 0.0f, -1.5f, 0x1p-140f};
  uint64_t counter = 16;
  for (float scale : scales) {
    int64_t row = pick(counter++, data.m);
    data.aScale[pick(counter++, data.kBlocks()) * data.aScaleStride + row] =
        scale;
  }
  if (data.nBlocks() > 1)
    data.bScale[pick(counter, data.kBlocks())] = infinity;
}
} // namespace

BlockwiseData makeBlockwiseData(int64_t m, int64_t n, int64_t k, uint64_t seed,
                                DataKind kind) {
  BlockwiseData data;
  data.m = m;
  data.n = n;
  data.k = k;
  data.aScaleStride = (m + 3) / 4 * 4;
  constexpr uint8_t one = 0x38;
  data.a.assign(m * k, one);
  data.b.assign(n * k, one);
  data.aScale.assign(data.kBlocks() * data.aScaleStride,
                     std::numeric_limits<float>::quiet_NaN());
  data.bScale.assign(data.nBlocks() * data.kBlocks(), 1.0f);
  for (int64_t block = 0; block < data.kBlocks(); ++block)
    std::fill_n(data.aScale.data() + block * data.aScaleStride, m, 1.0f);
  if (kind == DataKind::Ones)
    return data;
  makeA(data, seed);
  makeB(data, seed);
  if (kind == DataKind::Specials)
    plantSpecials(data, seed);
  return data;
}

float nearNormalAt(uint64_t seed, uint64_t stream, uint64_t index) {
  return nearNormal(streamOf(seed, stream), index);
}

} // namespace fp8::reference
