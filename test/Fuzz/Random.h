// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers that are the same on every machine: the standard library's
// distributions are not.

#ifndef FP8_TEST_FUZZ_RANDOM_H
#define FP8_TEST_FUZZ_RANDOM_H

#include <cstdint>
#include <vector>

namespace fp8::fuzz {

/// SplitMix64, begun from a seed and the number of an input.
class Random {
public:
  Random(uint64_t seed, uint64_t index) : state(seed) {
    state = next() ^ index;
    next();
  }

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// In [0, bound); the bound is not 0.
  uint64_t below(uint64_t bound) { return next() % bound; }
  /// True in `percent` of 100 calls.
  bool chance(unsigned percent) { return below(100) < percent; }

  template <typename T>
  const T &of(const std::vector<T> &choices) {
    return choices[below(choices.size())];
  }

private:
  uint64_t state;
};

} // namespace fp8::fuzz

#endif // FP8_TEST_FUZZ_RANDOM_H
