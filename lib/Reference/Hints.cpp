// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guesses at what made an element wrong.
#include "Hints.h"

#include <algorithm>
#include <cmath>

namespace fp8::reference {
namespace {
std::string guessBlock(const BlockwiseData &data, const BadElement &bad,
                       double tolerance) {
  std::vector<double> parts = blockContributions(data, bad.row, bad.column);
  for (size_t block = 0; block < parts.size(); ++block) {
    if (std::fabs(parts[block]) <= 2 * tolerance)
      continue; // too small to tell
    double left = bad.expected - parts[block];
    double twice = bad.expected + parts[block];
    std::string name = "K block " + std::to_string(block);
    if (std::fabs(bad.got - left) <= tolerance)
      return name + " seems to be missing";
    if (std::fabs(bad.got - twice) <= tolerance)
      return name + " seems to be counted twice";
  }
  return {};
}

/// Elements of the same tile whose reference is what came: one is a hint, more
/// are chance.
std::string guessElsewhere(const GemmReference &reference,
                           const BadElement &bad, double tolerance) {
  constexpr int64_t tile = 128;
  auto begin = [&](int64_t at) { return at / tile * tile; };
  int64_t foundRow = -1, foundColumn = -1, matches = 0;
  for (int64_t row = std::max(begin(bad.row), reference.rowBegin);
       row < std::min(begin(bad.row) + tile, reference.rowEnd); ++row)
    for (int64_t column = begin(bad.column);
         column < std::min(begin(bad.column) + tile, reference.n); ++column)
      if (std::fabs(reference.value[reference.index(row, column)] - bad.got) <=
          tolerance) {
        ++matches;
        foundRow = row;
        foundColumn = column;
      }
  if (matches != 1)
    return {};
  return "this value is expected at (" + std::to_string(foundRow) + ", " +
         std::to_string(foundColumn) + ")";
}
} // namespace

std::string guessCause(const BlockwiseData &data,
                       const GemmReference &reference, const BadElement &bad,
                       double tolerance) {
  if (bad.got == 0)
    return "zero";
  std::string hint = guessBlock(data, bad, tolerance);
  return hint.empty() ? guessElsewhere(reference, bad, tolerance) : hint;
}

} // namespace fp8::reference
