// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeded operands. Only exact or correctly rounded operations are used, and no
// library function that may differ between machines.
#include "fp8/Reference/BlockwiseData.h"

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

/// To elements of `out` from `first` on.
void quantise(const float *values, int64_t count, float scale, ElementType type,
              std::vector<uint8_t> &out, int64_t first) {
  for (int64_t i = 0; i < count; ++i)
    store(type, out.data(), first + i, values[i] / scale);
}

/// 16 bits have exponents enough to do without.
float scaleFor(ElementType type, float amax) {
  return isFloat8(type) && amax > 0
             ? amax / static_cast<float>(floatFormat(type)->largest())
             : 1;
}

void makeA(BlockwiseData &data, uint64_t seed) {
  uint64_t stream = streamOf(seed, 1), offset = streamOf(seed, 2);
  float values[scaleBlock];
  for (int64_t row = 0; row < data.m; ++row)
    for (int64_t block = 0; block < data.kBlocks(); ++block) {
      int64_t start = row * data.k + block * data.kBlock;
      int64_t count = std::min(data.kBlock, data.k - block * data.kBlock);
      for (int64_t i = 0; i < count; ++i)
        values[i] = nearNormal(stream, start + i);
      float scale = scaleFor(data.types.a, maximumMagnitude(values, count));
      quantise(values, count, scale, data.types.a, data.a, start);
      data.aScale[block * data.aScaleStride + row] =
          scaleAt(offset, row, block);
    }
}

void makeB(BlockwiseData &data, uint64_t seed) {
  uint64_t stream = streamOf(seed, 3), offset = streamOf(seed, 4);
  std::vector<float> values(scaleBlock * scaleBlock);
  for (int64_t nBlock = 0; nBlock < data.nBlocks(); ++nBlock)
    for (int64_t kBlock = 0; kBlock < data.kBlocks(); ++kBlock) {
      int64_t rows = std::min(data.bBlock, data.n - nBlock * data.bBlock);
      int64_t columns = std::min(data.kBlock, data.k - kBlock * data.kBlock);
      auto start = [&](int64_t row) {
        return (nBlock * data.bBlock + row) * data.k + kBlock * data.kBlock;
      };
      float amax = 0;
      for (int64_t row = 0; row < rows; ++row) {
        float *line = values.data() + row * scaleBlock;
        for (int64_t i = 0; i < columns; ++i)
          line[i] = nearNormal(stream, start(row) + i);
        amax = std::max(amax, maximumMagnitude(line, columns));
      }
      float scale = scaleFor(data.types.b, amax);
      for (int64_t row = 0; row < rows; ++row)
        quantise(values.data() + row * scaleBlock, columns, scale, data.types.b,
                 data.b, start(row));
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
  auto element = [&](uint64_t which, int64_t rows) {
    return pick(which, rows) * data.k + pick(which + 1, data.k);
  };
  ElementType aType = data.types.a;
  storeNaN(aType, data.a.data(), element(0, data.m), false);
  storeNaN(aType, data.a.data(), element(2, data.m), true);
  storeNaN(data.types.b, data.b.data(), element(4, data.n), false);
  int64_t zeroRow = pick(6, data.m);
  for (int64_t i = 0; i < data.k; ++i)
    store(aType, data.a.data(), zeroRow * data.k + i, -0.0f);
  if (floatFormat(aType)->hasInfinity)
    storeInfinity(aType, data.a.data(), element(7, data.m));
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
                                DataKind kind, OperandTypes types,
                                int64_t bBlock, int64_t kBlock) {
  BlockwiseData data;
  data.types = types;
  data.m = m;
  data.n = n;
  data.k = k;
  data.bBlock = bBlock;
  data.kBlock = kBlock;
  data.aScaleStride = (m + 3) / 4 * 4;
  data.a.assign(m * k * byteSize(types.a), 0);
  data.b.assign(n * k * byteSize(types.b), 0);
  data.aScale.assign(data.kBlocks() * data.aScaleStride,
                     std::numeric_limits<float>::quiet_NaN());
  data.bScale.assign(data.nBlocks() * data.kBlocks(), 1.0f);
  for (int64_t block = 0; block < data.kBlocks(); ++block)
    std::fill_n(data.aScale.data() + block * data.aScaleStride, m, 1.0f);
  if (kind == DataKind::Ones) {
    for (int64_t i = 0; i < m * k; ++i)
      store(types.a, data.a.data(), i, 1);
    for (int64_t i = 0; i < n * k; ++i)
      store(types.b, data.b.data(), i, 1);
    return data;
  }
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
