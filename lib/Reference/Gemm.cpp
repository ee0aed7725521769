// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The float64 reference, blocked for cache and registers.
//
// Products of two e4m3 values are multiples of 2^-18 below 2^18, so a sum of
// 128 of them needs 43 bits: exact in double in any order, and the same whether
// or not the machine has fused multiply-add. Those of wider types are exact,
// too, and their sums off by a few units of 2^-53.
#include "fp8/Reference/Gemm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

// One machine-code version per instruction set, chosen when the program loads:
// before ThreadSanitizer has begun, which instruments what chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_THREAD__)
#define FP8_VECTOR_CLONES                                                      \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FP8_VECTOR_CLONES
#endif
#define FP8_ALWAYS_INLINE inline __attribute__((always_inline))

namespace fp8::reference {
namespace {
constexpr int64_t panelRows = 4;      // of A, kept in registers
constexpr int64_t panelColumns = 128; // of B
constexpr unsigned vectorBytes = 32;

/// The operands of one K block: A transposed to [k][row], B to [k][column],
/// zero where the matrices end.
template <typename T>
struct Panels {
  alignas(64) T a[scaleBlock][panelRows];
  alignas(64) T b[scaleBlock][panelColumns];
  alignas(64) T result[panelRows][panelColumns];
};

/// result = a^T . b, `vectors` vectors of columns at a time.
template <typename T, int vectors>
FP8_ALWAYS_INLINE void multiply(Panels<T> &panels, int64_t depth) {
  typedef T Vector __attribute__((vector_size(vectorBytes)));
  constexpr int lanes = vectorBytes / sizeof(T);
  for (int64_t column = 0; column < panelColumns; column += vectors * lanes) {
    Vector sums[panelRows][vectors] = {};
    for (int64_t k = 0; k < depth; ++k) {
      Vector b[vectors];
      for (int v = 0; v < vectors; ++v)
        b[v] =
            *reinterpret_cast<const Vector *>(&panels.b[k][column + v * lanes]);
      for (int row = 0; row < panelRows; ++row)
        for (int v = 0; v < vectors; ++v)
          sums[row][v] += panels.a[k][row] * b[v];
    }
    for (int row = 0; row < panelRows; ++row)
      for (int v = 0; v < vectors; ++v)
        *reinterpret_cast<Vector *>(&panels.result[row][column + v * lanes]) =
            sums[row][v];
  }
}

FP8_VECTOR_CLONES void multiplyValues(Panels<double> &panels, int64_t depth) {
  multiply<double, 2>(panels, depth);
}
FP8_VECTOR_CLONES void multiplyMagnitudes(Panels<float> &panels,
                                          int64_t depth) {
  multiply<float, 2>(panels, depth);
}

class Multiplier {
public:
  Multiplier(const BlockwiseData &data, GemmReference &reference)
      : data(data), reference(reference),
        values(std::make_unique<Panels<double>>()),
        magnitudes(std::make_unique<Panels<float>>()) {}

  void run() {
    for (int64_t column = 0; column < data.n; column += panelColumns)
      for (int64_t kBlock = 0; kBlock < data.kBlocks(); ++kBlock) {
        packB(column, kBlock);
        for (int64_t row = reference.rowBegin; row < reference.rowEnd;
             row += panelRows)
          addBlock(row, column, kBlock);
      }
  }

private:
  int64_t depth(int64_t kBlock) const {
    return std::min(data.kBlock, data.k - kBlock * data.kBlock);
  }

  /// A K block of one row to `line`; zeros if there is no such row.
  void decodeRow(ElementType type, const std::vector<uint8_t> &operand,
                 bool exists, int64_t row, int64_t kBlock) {
    if (exists)
      decode(type, operand.data(), row * data.k + kBlock * data.kBlock,
             depth(kBlock), line);
    else
      std::fill_n(line, scaleBlock, 0.0);
  }

  void packB(int64_t firstColumn, int64_t kBlock) {
    int64_t count = depth(kBlock);
    for (int64_t column = 0; column < panelColumns; ++column) {
      int64_t n = firstColumn + column;
      scales[column] = n < data.n ? data.bScaleAt(n, kBlock) : 0;
      decodeRow(data.types.b, data.b, n < data.n, n, kBlock);
      for (int64_t k = 0; k < count; ++k) {
        values->b[k][column] = line[k];
        magnitudes->b[k][column] = static_cast<float>(std::fabs(line[k]));
      }
    }
  }

  void packA(int64_t firstRow, int64_t kBlock) {
    int64_t count = depth(kBlock);
    for (int64_t i = 0; i < panelRows; ++i) {
      int64_t row = firstRow + i;
      decodeRow(data.types.a, data.a, row < reference.rowEnd, row, kBlock);
      for (int64_t k = 0; k < count; ++k) {
        values->a[k][i] = line[k];
        magnitudes->a[k][i] = static_cast<float>(std::fabs(line[k]));
      }
    }
  }

  void addBlock(int64_t firstRow, int64_t firstColumn, int64_t kBlock) {
    packA(firstRow, kBlock);
    multiplyValues(*values, depth(kBlock));
    multiplyMagnitudes(*magnitudes, depth(kBlock));
    int64_t rows = std::min(panelRows, reference.rowEnd - firstRow);
    int64_t columns = std::min(panelColumns, data.n - firstColumn);
    for (int64_t i = 0; i < rows; ++i) {
      double aScale = data.aScale[kBlock * data.aScaleStride + firstRow + i];
      size_t start = reference.index(firstRow + i, firstColumn);
      for (int64_t j = 0; j < columns; ++j) {
        double scale = aScale * scales[j];
        reference.value[start + j] += scale * values->result[i][j];
        reference.magnitude[start + j] +=
            std::fabs(scale) * magnitudes->result[i][j];
      }
    }
  }

  const BlockwiseData &data;
  GemmReference &reference;
  double line[scaleBlock];
  std::unique_ptr<Panels<double>> values;
  std::unique_ptr<Panels<float>> magnitudes;
  std::array<double, panelColumns> scales; ///< of B's rows in the panel
};
} // namespace

GemmReference computeReference(const BlockwiseData &data, int64_t rowBegin,
                               int64_t rowEnd) {
  GemmReference reference;
  reference.rowBegin = rowBegin;
  reference.rowEnd = rowEnd;
  reference.n = data.n;
  size_t count = static_cast<size_t>((rowEnd - rowBegin) * data.n);
  reference.value.assign(count, 0);
  reference.magnitude.assign(count, 0);
  Multiplier(data, reference).run();
  return reference;
}

namespace {
/// One K block of one element.
struct BlockProduct {
  double scale = 0;
  double dot = 0, magnitude = 0; ///< before scaling
};

std::vector<BlockProduct> multiplyBlocks(const BlockwiseData &data, int64_t row,
                                         int64_t column) {
  std::vector<BlockProduct> products;
  double a[scaleBlock], b[scaleBlock];
  for (int64_t kBlock = 0; kBlock < data.kBlocks(); ++kBlock) {
    BlockProduct product;
    int64_t begin = kBlock * data.kBlock;
    int64_t count = std::min(data.k - begin, data.kBlock);
    decode(data.types.a, data.a.data(), row * data.k + begin, count, a);
    decode(data.types.b, data.b.data(), column * data.k + begin, count, b);
    for (int64_t k = 0; k < count; ++k) {
      product.dot += a[k] * b[k];
      product.magnitude += std::fabs(a[k] * b[k]);
    }
    product.scale =
        static_cast<double>(data.aScale[kBlock * data.aScaleStride + row]) *
        data.bScaleAt(column, kBlock);
    products.push_back(product);
  }
  return products;
}
} // namespace

std::vector<double> blockContributions(const BlockwiseData &data, int64_t row,
                                       int64_t column) {
  std::vector<double> contributions;
  for (const BlockProduct &product : multiplyBlocks(data, row, column))
    contributions.push_back(product.scale * product.dot);
  return contributions;
}

bool hasDoubtfulSign(const BlockwiseData &data, int64_t row, int64_t column,
                     double share) {
  bool isDoubtful = false;
  for (const BlockProduct &product : multiplyBlocks(data, row, column)) {
    // NaN by itself, whatever the others are.
    if (std::isnan(product.scale * product.dot))
      return false;
    isDoubtful |= std::isinf(product.scale) &&
                  std::fabs(product.dot) <= share * product.magnitude;
  }
  return isDoubtful;
}

} // namespace fp8::reference
