// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparison of a buffer with what was expected of it.
#include "Comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fp8::simulated {
namespace {
/// Equal numbers, and two NaNs, do not differ.
double difference(Number got, Number expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected)))
    return 0;
  auto apart = static_cast<double>(std::abs(got - expected));
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}
} // namespace

Comparison compare(const Expectation &expectation,
                   const std::vector<Number> &expected, bool isUnsigned,
                   const std::vector<bool> &counts, const sim::Buffer &buffer) {
  Comparison result;
  result.buffer = expectation.buffer;
  const unsigned size = byteSize(expectation.dtype);
  double differences = 0, norm = 0;
  for (uint64_t i = 0; i < expected.size(); ++i) {
    if (!counts.empty() && !counts[i])
      continue;
    ++result.elements;
    const auto from = buffer.initialised.begin() + long(i * size);
    bool unwritten = !buffer.initialised.empty() &&
                     std::find(from, from + size, uint8_t(0)) != from + size;
    double apart = difference(
        numberAt(expectation.dtype, buffer.bytes.data(), i, isUnsigned),
        expected[i]);
    differences += apart * apart;
    if (std::isfinite(expected[i]))
      norm += static_cast<double>(expected[i] * expected[i]);
    result.most = std::max(result.most, apart);
    result.unwritten += unwritten;
    result.wrong += unwritten || !std::isfinite(apart) ||
                    (expectation.max && apart > *expectation.max);
  }
  result.frobenius = differences == 0 ? 0 : std::sqrt(differences / norm);
  result.ok = !result.wrong && result.frobenius <= expectation.frobenius;
  return result;
}

std::string Comparison::str() const {
  return "buffer '" + buffer + "': frobenius " + shortNumber(frobenius) +
         ", largest difference " + shortNumber(most) + ", " +
         std::to_string(wrong) + " of " + std::to_string(elements) +
         " elements wrong, " + std::to_string(unwritten) + " unwritten";
}

} // namespace fp8::simulated
