// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of one tcgen05.mma of any kind, whose operands and scales lie in
// shared memory, and what it should compute.

#ifndef FP8_TEST_SIMULATOR_ISA_TENSORCORE_MMAKERNEL_H
#define FP8_TEST_SIMULATOR_ISA_TENSORCORE_MMAKERNEL_H

#include "ISA/TensorCore/IssueKernel.h"

#include <random>

namespace fp8::sim::test {

/// A format by the PTX ISA: its code in the instruction descriptor, and its
/// bits. Without exponent bits: an integer, signed if `mantissaBits` is 7.
struct Element {
  const char *name;
  uint32_t code;
  int exponentBits, mantissaBits;

  int bits() const {
    return exponentBits ? 1 + exponentBits + mantissaBits : 8;
  }
  double value(uint32_t code) const;
  /// A random code of a number.
  uint32_t draw(std::mt19937 &random) const;
};
extern const Element kE4m3, kE5m2, kE2m3, kE3m2, kE2m1, kPackedE2m1, kU8, kS8;

/// One MMA. Each CTA of a pair loads its half of A and of B, and all scales of
/// B.
struct MmaCase {
  std::string kind = "mxf8f6f4";
  Element a = kE4m3, b = kE4m3;
  uint32_t m = 128, n = 32;
  bool pair = false;
  /// Scales of a row, 0: none; their format (1: UE8M0); which byte they begin
  /// at.
  uint32_t scales = 1, scaleType = 1, aId = 0, bId = 0;
  std::string qualifiers = ".block_scale"; ///< of the MMA
  bool mnMajor = false;
  bool negateA = false;
  bool stationary = false; ///< .ws
  bool tensorA = false;    ///< A is copied to tensor memory first
  uint32_t firstLane = 0;  ///< of the accumulator, and of A there
  bool accumulate = false; ///< twice the product
  uint32_t extraBits = 0;  ///< of the instruction descriptor

  bool packed() const { return scales && kind != "mxf8f6f4"; }
  uint32_t k() const { return packed() ? 64 : 32; }
  uint32_t ctas() const { return pair ? 2 : 1; }
  /// Parts of N that lie below each other in the lanes.
  uint32_t parts() const {
    return pair && m == 128 ? 2 : stationary ? 128 / m : 1;
  }
  uint32_t dColumns() const { return n / parts(); }
  /// Whether each quarter of the lanes has 16 rows.
  bool halfLanes() const { return m == 64 && !stationary; }
  /// Where row `r` of a CTA is.
  uint32_t lane(uint32_t r) const {
    return halfLanes() ? firstLane + r / 16 * 32 + r % 16 : r;
  }
  /// The instruction descriptor.
  uint32_t descriptor() const;
  std::string name() const;
};

/// Data, the kernel and its result.
class MmaRun {
public:
  explicit MmaRun(const MmaCase &form, uint32_t seed = 1);

  /// Codes, as [row][k], and of scales as [row][block].
  std::vector<uint32_t> a, b, aScales, bScales;

  /// To be changed for faults.
  std::string text;
  Options options;

  /// Runs `text` with the data as they are.
  Report run();
  /// Element (row, column) of D.
  uint32_t bits(uint32_t row, uint32_t column) const;
  float result(uint32_t row, uint32_t column) const;
  /// In double, and the sum of the magnitudes of what it adds up.
  double expected(uint32_t row, uint32_t column, double *magnitude) const;
  /// Compares every element: with rounding of `relative` of the magnitude.
  void check(double relative) const;
  /// How many elements are further off than that.
  uint32_t countWrong(double relative) const;

private:
  MmaCase form;
  IssueKernel frame;
  std::vector<uint32_t> out; ///< [cta][lane][column]

  void put(std::vector<uint8_t> &bytes, uint32_t base,
           const std::vector<uint32_t> &codes, const Element &element,
           uint32_t first, uint32_t rows) const;
  void putScales(std::vector<uint8_t> &bytes, uint32_t base,
                 const std::vector<uint32_t> &codes, uint32_t id,
                 uint32_t first, uint32_t rows) const;
  std::vector<uint8_t> images() const;
  std::string issue() const;
};

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_ISA_TENSORCORE_MMAKERNEL_H
