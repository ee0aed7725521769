// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of the operands of mma.sync and wmma, whose types are named as PTX
// does.

#ifndef FP8_TEST_SIMULATOR_ISA_TENSORCORE_MMAELEMENTS_H
#define FP8_TEST_SIMULATOR_ISA_TENSORCORE_MMAELEMENTS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace fp8::sim::test {

/// The value of `bits`, of a type by name.
inline double decoded(const std::string &type, uint64_t bits) {
  auto small = [&](int exponentBits, int mantissaBits) {
    int bias = (1 << (exponentBits - 1)) - 1;
    int exponent = int(bits >> mantissaBits) & ((1 << exponentBits) - 1);
    int mantissa = int(bits) & ((1 << mantissaBits) - 1);
    double value = exponent ? std::ldexp((1 << mantissaBits) + mantissa,
                                         exponent - bias - mantissaBits)
                            : std::ldexp(mantissa, 1 - bias - mantissaBits);
    return bits >> (exponentBits + mantissaBits) & 1 ? -value : value;
  };
  if (type == "e4m3")
    return small(4, 3);
  if (type == "e5m2")
    return small(5, 2);
  if (type == "f16")
    return small(5, 10);
  if (type == "bf16")
    return small(8, 7);
  if (type == "tf32" || type == "f32")
    return small(8, 23);
  if (type == "f64") {
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
  }
  if (type[0] == 's') {
    int width = std::stoi(type.substr(1));
    return double(int64_t(bits << (64 - width)) >> (64 - width));
  }
  return double(bits);
}

inline uint32_t bitsOf(const std::string &type) {
  if (type == "e4m3" || type == "e5m2")
    return 8;
  if (type == "f16" || type == "bf16")
    return 16;
  return type == "tf32" ? 32 : uint32_t(std::stoi(type.substr(1)));
}

/// A number of moderate size.
inline uint64_t randomElement(const std::string &type,
                              std::mt19937_64 &random) {
  auto real = [&] {
    return std::uniform_real_distribution<double>(-2, 2)(random);
  };
  if (type == "f64") {
    double value = real();
    uint64_t bits;
    std::memcpy(&bits, &value, 8);
    return bits;
  }
  if (type == "f32" || type == "tf32" || type == "bf16") {
    float value = float(real());
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    if (type == "bf16")
      return bits >> 16;
    return type == "tf32" ? bits & 0xffffe000 : bits;
  }
  uint64_t bits = random() & ((uint64_t(1) << bitsOf(type)) - 1);
  // Exponents near 0, so that no sum is beyond f16.
  if (type == "f16")
    return (bits & 0x87ff) | 0x3800;
  if (type == "e4m3")
    return (bits & 0x8f) | 0x30;
  return type == "e5m2" ? (bits & 0x87) | 0x38 : bits;
}

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_ISA_TENSORCORE_MMAELEMENTS_H
