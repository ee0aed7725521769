// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ptxas (13.0) can keep in registers, found by surveys of kernels
// (docs/Chooser.md). No other file states such a number.

#ifndef FP8_LIB_TRANSFORMS_GEMM_PTXASLIMITS_H
#define FP8_LIB_TRANSFORMS_GEMM_PTXASLIMITS_H

#include "GemmProblem.h"

namespace mlir::fp8::ptxas {

/// The registers that a thread can have.
inline constexpr int64_t kRegisters = 255;

//===----------------------------------------------------------------------===//
// Sums of products in tensor memory: columns of a row
//===----------------------------------------------------------------------===//

/// The columns that a thread can sum beside what it loads: 192 take 248
/// registers, 256 spill.
inline constexpr int64_t kRow = 192;
/// The same where the epilogue takes more registers: 128 spill in one kernel of
/// ten.
inline constexpr int64_t kRowBesideAddends = 112;

/// True if the epilogue takes many registers: ptxas keeps loads of several
/// addends, or of f32 ones, in flight.
inline bool hasLargeEpilogue(const GemmProblem &problem) {
  Type c = problem.getElementType(gemm::Operand::C);
  return (c && c.isF32()) || (problem.hasAddends() && problem.function);
}

/// The columns of a row that a thread can sum.
inline int64_t getMostColumns(const GemmProblem &problem) {
  return hasLargeEpilogue(problem) ? kRowBesideAddends : kRow;
}

/// Whether ptxas may spill where a thread sums so many columns. It spills
/// earlier where a thread holds more than two B scales or computes a function,
/// and where two threads share a row, since each has fewer registers.
inline bool spillsRow(int64_t columns, bool sharesRow, int64_t bScales,
                      const GemmProblem &problem) {
  constexpr int64_t kMost = 160, kMostBesideMore = 128, kMostShared = 80;
  return columns > (sharesRow                         ? kMostShared
                    : bScales > 2 || problem.function ? kMostBesideMore
                                                      : kMost);
}

/// Whether ptxas may spill sums of a tile with operands swapped. A thread has A
/// scales of a quarter of the rows, and in tiles of 128 columns twice as many
/// addresses. Found in kernels of all tiles with eight epilogues, and some with
/// K divided or in clusters.
inline bool spillsSwapped(int64_t rows, int64_t columns,
                          const GemmProblem &problem) {
  if (columns == 64)
    return rows > 96 && hasLargeEpilogue(problem);
  Type d = problem.getElementType(gemm::Operand::D);
  return rows > (hasLargeEpilogue(problem)         ? 16
                 : !problem.storesSums()           ? 32
                 : d.getIntOrFloatBitWidth() == 16 ? 80
                                                   : 64);
}

/// Whether sums stay in place where two loops add to them. One loop keeps more
/// than 128 a thread. Two keep 128 unless an epilogue follows or a tile has two
/// B scales: 7 of 60 such kernels spilled.
inline bool keepsSumsInTwoLoops(int64_t columns, int64_t bScales,
                                const GemmProblem &problem) {
  return columns < 128 ||
         (columns == 128 && problem.storesSums() && bScales == 1);
}

/// With so few columns a thread, ptxas starts so many loads of two unrolled
/// laps at once that it spills.
inline constexpr int64_t kFewColumns = 32;

//===----------------------------------------------------------------------===//
// Sums and products of warpgroups: registers of a thread
//===----------------------------------------------------------------------===//

/// Whether a thread has registers for its sums, two products and what it needs
/// beside: addresses, scales, loop counters.
inline bool holdsTwoProducts(int64_t sums, int64_t product) {
  constexpr int64_t kOthers = 40;
  return sums + 2 * product + kOthers <= kRegisters;
}

/// Whether ptxas may spill with such sums and products. `straddles` says that
/// the columns of a product have several B scales.
inline bool spillsProducts(int64_t sums, int64_t product, int64_t products,
                           int64_t tileN, bool straddles) {
  // 192 were the most that all tiles had room for.
  constexpr int64_t kMost = 192, kMostStraddling = 72;
  if (sums > product && straddles && tileN > kMostStraddling)
    return true;
  return sums + products * product > kMost;
}

/// The same for three warpgroups, whose threads have 160 registers. Beside a
/// residual 3 of 11 kernels with 128, drawn at random, spill.
inline bool spillsProductsOfThree(int64_t sums, int64_t product,
                                  const GemmProblem &problem) {
  constexpr int64_t kMost = 128, kMostBesideResidual = 112;
  return sums + product >
         (problem.has(gemm::Operand::C) ? kMostBesideResidual : kMost);
}

/// The columns of an MMA of three warpgroups, whose threads start with 128
/// registers: ptxas does not assemble more of them (C7602).
inline constexpr int64_t kMostColumnsOfThree = 200;

/// Whether a loop that promotes such products gains by copies of its body.
/// Measured: 0.3 to 1.1 % where two warpgroups have products of 128 columns and
/// one B scale, and losses with others (benchmark/notes/large-m.md).
inline bool gainsByUnrolling(Type product, int64_t bScales) {
  constexpr int64_t kColumns = 128, kWarps = 8;
  auto fragment = dyn_cast<FragmentType>(product);
  return fragment && fragment.getLayout() == FragmentLayout::Warpgroups &&
         fragment.getShape()[1] == kColumns && fragment.getWarps() == kWarps &&
         bScales == 1;
}

/// The copies of a loop, one for each place where a block of B scales ends
/// within a tile, that ptxas compiles in a second or two. Sixteen take 3 to 5
/// s.
inline constexpr int64_t kMostLoopCopies = 8;

/// Whether a loop that promotes such products gains by those copies. Measured:
/// up to 6 % of the time of two warpgroups, but for tiles of 80 columns, and up
/// to 2 % of one (benchmark/notes/large-m.md).
inline bool gainsByUnswitching(Type product) {
  auto fragment = dyn_cast<FragmentType>(product);
  return fragment && fragment.getLayout() == FragmentLayout::Warpgroups;
}

} // namespace mlir::fp8::ptxas

#endif // FP8_LIB_TRANSFORMS_GEMM_PTXASLIMITS_H
