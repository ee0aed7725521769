// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's floors against sums as tensor memory holds them: right at every
// K, and not so wide that a wrong result passes.

#include "Numerics/Accumulation.h"

#include "Numerics/Formats.h"
#include "fp8/Reference/Checker.h"
#include "fp8/Reference/Float8.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace fp8::reference;
using fp8::chip::MmaEngine;
using fp8::chip::SumRule;

namespace {

constexpr int64_t kM = 32, kN = 128;
constexpr OperandTypes kE4M3 = {ElementType::F8E4M3FN, ElementType::F8E4M3FN},
                       kBF16 = {ElementType::BF16, ElementType::BF16};

struct Kernel {
  OperandTypes types;
  bool promoted;

  KernelSums sums() const { return {MmaEngine::TensorMemory, promoted}; }
};

/// A product whose sums are formed step by step.
struct Product {
  Product(const Kernel &kernel, int64_t k)
      : kernel(kernel),
        data(makeBlockwiseData(kM, kN, k, 5, DataKind::Normal, kernel.types)) {
    if (!kernel.promoted) {
      std::fill(data.aScale.begin(), data.aScale.end(), 1.f);
      std::fill(data.bScale.begin(), data.bScale.end(), 1.f);
    }
    reference = computeReference(data);
    bool narrow = isFloat8(kernel.types.a);
    least = narrow ? -6 : -126;
    auto decode = [&](const std::vector<uint8_t> &from, size_t at) {
      return float(load(kernel.types.a, from.data(), at));
    };
    for (int64_t i = 0; i < kM * k; ++i)
      a.push_back(decode(data.a, i));
    b.resize(k * kN);
    for (int64_t n = 0; n < kN; ++n)
      for (int64_t i = 0; i < k; ++i)
        b[i * kN + n] = decode(data.b, n * k + i);
    aExponents.resize(a.size());
    bExponents.resize(b.size());
    fp8::sim::findExponents(aExponents.data(), a.data(), a.size(), least);
    fp8::sim::findExponents(bExponents.data(), b.data(), b.size(), least);
  }

  /// D as the kernel makes it by the rule; block `wrongBlock` of row 3 takes
  /// its scale times `wrongScale`.
  std::vector<uint8_t> run(ElementType type, const SumRule &rule,
                           int64_t wrongBlock = -1,
                           float wrongScale = 1) const {
    std::vector<uint8_t> d(kM * kN * byteSize(type));
    std::vector<double> sum(kN);
    for (int64_t m = 0; m < kM; ++m) {
      std::vector<float> total(kN, 0.f), part(kN, 0.f);
      for (int64_t k = 0; k < data.k; k += rule.products) {
        int64_t block = k / scaleBlock;
        step(rule, m, k, part, sum);
        if (!kernel.promoted || (k + rule.products) % scaleBlock)
          continue;
        for (int64_t n = 0; n < kN; ++n) {
          float scale = data.aScale[block * data.aScaleStride + m] *
                        data.bScaleAt(n, block);
          if (m == 3 && block == wrongBlock)
            scale *= wrongScale;
          total[n] = std::fma(scale, part[n], total[n]);
        }
        std::fill(part.begin(), part.end(), 0.f);
      }
      for (int64_t n = 0; n < kN; ++n)
        store(type, d.data(), m * kN + n, kernel.promoted ? total[n] : part[n]);
    }
    return d;
  }

  CheckResult judge(ElementType type, const std::vector<uint8_t> &d) const {
    return check(data, reference, type, d.data(), kN, kernel.sums());
  }
  const SumRule &rule() const { return *kernel.sums().rule(kernel.types); }

  Kernel kernel;
  BlockwiseData data;
  GemmReference reference;

private:
  void step(const SumRule &rule, int64_t m, int64_t k, std::vector<float> &part,
            std::vector<double> &sum) const {
    size_t at = m * data.k + k;
    fp8::sim::accumulateRow(rule, sum.data(), part.data(),
                            {&a[at], &aExponents[at]},
                            {&b[k * kN], &bExponents[k * kN]},
                            {kN, uint32_t(rule.products), kN, -126});
    std::vector<uint32_t> bits(kN);
    fp8::sim::roundRow(rule, bits.data(), sum.data(), kN);
    for (int64_t n = 0; n < kN; ++n)
      part[n] = fp8::sim::bitCast<float>(bits[n]);
  }

  int least;
  std::vector<float> a, b;
  std::vector<int16_t> aExponents, bExponents;
};

} // namespace

TEST(Floor, HoldsAtEveryKAndNotByMuch) {
  struct Case {
    const char *name;
    Kernel kernel;
    ElementType type;
    int64_t k;
    double least, most; ///< the error
    double floor;       ///< at most
  };
  for (const Case &c :
       {Case{"blockwise",
             {kE4M3, true},
             ElementType::F32,
             7168,
             0.8e-7,
             1.6e-7,
             8e-7},
        Case{"blockwise",
             {kE4M3, true},
             ElementType::F32,
             16384,
             1e-7,
             2.5e-7,
             1e-6},
        Case{"tensor", {kE4M3, false}, ElementType::F32, 2048, 0, 3e-7, 3e-6},
        Case{"tensor",
             {kE4M3, false},
             ElementType::F32,
             16384,
             0.8e-6,
             2e-6,
             1.6e-5},
        Case{"wide", {kBF16, false}, ElementType::F32, 256, 2e-7, 3e-7, 1.2e-6},
        Case{"wide",
             {kBF16, false},
             ElementType::F32,
             2048,
             1.9e-6,
             2.4e-6,
             4.5e-6},
        Case{"wide",
             {kBF16, false},
             ElementType::F32,
             16384,
             1.5e-5,
             2e-5,
             3.2e-5},
        Case{"wide", {kBF16, false}, ElementType::BF16, 2048, 0, 1.3e-4, 7e-4},
        Case{
            "wide", {kBF16, false}, ElementType::BF16, 16384, 2e-4, 3e-4, 8e-4},
        Case{"wide",
             {kBF16, false},
             ElementType::F16,
             16384,
             6e-5,
             1.5e-4,
             2e-4}}) {
    SCOPED_TRACE(std::string(c.name) + " " + std::string(spelling(c.type)) +
                 " " + std::to_string(c.k));
    Product product(c.kernel, c.k);
    CheckResult result =
        product.judge(c.type, product.run(c.type, product.rule()));
    EXPECT_TRUE(result.ok()) << result.str();
    EXPECT_GT(result.frobenius, c.least);
    EXPECT_LT(result.frobenius, c.most);
    EXPECT_LT(result.frobeniusFloor, c.floor) << "too wide to find a fault";
  }
}

TEST(Floor, FindsOneScaleThatIsOff) {
  Product product({kE4M3, true}, 16384);
  for (ElementType type : {ElementType::F32, ElementType::BF16}) {
    auto ok = [&](float wrongScale) {
      return product
          .judge(type, product.run(type, product.rule(), 100, wrongScale))
          .ok();
    };
    EXPECT_TRUE(ok(1));
    EXPECT_FALSE(ok(2)) << spelling(type);
  }
  // Where the result keeps every bit, one part in a thousand is enough.
  EXPECT_FALSE(
      product
          .judge(ElementType::F32,
                 product.run(ElementType::F32, product.rule(), 100, 1.001f))
          .ok());
}

TEST(Floor, FindsSumsOfFewerBits) {
  using fp8::chip::ProductKind;
  for (const Kernel &kernel : {Kernel{kE4M3, true}, Kernel{kE4M3, false}}) {
    Product product(kernel, 4096);
    const SumRule &hopper =
        fp8::chip::getSumRule(MmaEngine::Warpgroup, ProductKind::Float8);
    CheckResult result =
        product.judge(ElementType::F32, product.run(ElementType::F32, hopper));
    EXPECT_GT(result.frobenius, result.frobeniusFloor);
  }
  // 21 bits of 16-bit products: four times what 23 lose.
  Product product({kBF16, false}, 4096);
  SumRule coarse = product.rule();
  coarse.termBits = 23, coarse.resultBits = 21;
  CheckResult result =
      product.judge(ElementType::F32, product.run(ElementType::F32, coarse));
  EXPECT_GT(result.frobenius, result.frobeniusFloor);
}

TEST(Floor, FindsADThatIsCutOff) {
  Product product({kBF16, false}, 16384);
  std::vector<uint8_t> wide = product.run(ElementType::F32, product.rule()),
                       d(kM * kN * 2);
  for (int64_t i = 0; i < kM * kN; ++i)
    std::copy_n(&wide[i * 4 + 2], 2, &d[i * 2]);
  EXPECT_FALSE(product.judge(ElementType::BF16, d).ok());
}
