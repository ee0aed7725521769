// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What rows of tiles beyond M cost, and what they gain
// (benchmark/notes/every-m.md).

#include "RowsBeyond.h"
#include "Blocks.h"

#include <algorithm>

using namespace fp8;
using namespace fp8::tuning;

/// Rows beyond M of the boxes of A in the last row of tiles.
static int64_t getRowsBeyond(const Problem &problem,
                             const KernelShape &kernel) {
  int64_t rows = kernel.config.tileM;
  if (kernel.config.edge == config::Edge::First && problem.m >= rows)
    return 0;
  // What is left of eight rows is too little to count.
  if (kernel.config.edge == config::Edge::Fit && problem.m <= rows)
    return 0;
  return ceilDiv(problem.m, rows) * rows - problem.m;
}

/// True if one row of tiles of several has all rows beyond M. Measured with two
/// warpgroups, and taken to hold for three.
static bool isOneOfSeveral(const Problem &problem, const KernelShape &kernel) {
  return kernel.warpgroups > 1 && problem.m > kernel.config.tileM;
}

/// True if each of two warpgroups has one product of a wide tile. Others were
/// measured to gain nothing by zeros: narrow tiles wait for rows beyond M, and
/// the times of tiles of 256 rows then spread.
static bool mayGainByZeros(const KernelShape &kernel) {
  constexpr int64_t kWide = 144;
  return kernel.warpgroups == 2 && kernel.config.tileM == 2 * kProductRows &&
         kernel.config.tileN >= kWide;
}

bool KernelModel::gainsByZeros(const Problem &problem) const {
  KernelShape last = kernel;
  last.config.edge = config::Edge::Last;
  if (getZeros(problem, last) <= 0)
    return false;
  // Behind the last whole band the rows beyond M are all in the last wave,
  // which then waits for them.
  constexpr int64_t kBand = 8;
  constexpr double kMostOfWave = 0.5;
  int64_t rows = ceilDiv(problem.m, kernel.config.tileM),
          columns = ceilDiv(problem.n, kernel.config.tileN);
  if (rows <= kBand || getWaves(problem.batch * rows * columns) == 1)
    return true;
  double waveUs = blockUs[static_cast<int>(Bound::Tensor)] *
                  double(ceilDiv(problem.k, kBlock));
  return getFillUs(*machine, problem, last) <= kMostOfWave * waveUs;
}

bool KernelModel::gainsByFit(const Problem &problem) const {
  constexpr int64_t kFewRows = 16;
  return kernel.config.edge == config::Edge::Last &&
         kernel.config.cluster.getSize() == 1 && kernel.warpgroups > 0 &&
         problem.m <= kernel.config.tileM &&
         getRowsBeyond(problem, kernel) > kFewRows;
}

double tuning::getZeros(const Problem &problem, const KernelShape &kernel) {
  constexpr double kFew = 0.03;
  if (!isOneOfSeveral(problem, kernel) || !mayGainByZeros(kernel))
    return 0;
  double beyond = getRowsBeyond(problem, kernel),
         zeros = beyond / (double(problem.m) + beyond);
  return zeros < kFew ? 0 : zeros;
}

double tuning::getFillUs(const Machine &machine, const Problem &problem,
                         const KernelShape &kernel) {
  constexpr int64_t kFew = 16;
  constexpr double kOneOfTwo = 1.7, kOneOfMore = 2.2;
  int64_t beyond = getRowsBeyond(problem, kernel);
  if (beyond <= kFew)
    return 0;
  double boxes = double(ceilDiv(problem.n, kernel.config.tileN)) *
                 ceilDiv(problem.k, kBlock) /
                 (kernel.sharesA ? kernel.config.cluster.n : 1);
  if (isOneOfSeveral(problem, kernel))
    boxes *= problem.m <= 2 * kernel.config.tileM ? kOneOfTwo : kOneOfMore;
  return double(problem.batch) * beyond * boxes * machine.fillPs / 1e6;
}

double tuning::getFillWaitUs(const Machine &machine, const Problem &problem,
                             const KernelShape &kernel, int64_t resident,
                             int64_t blocksOfOne, int64_t waves) {
  int64_t rows = ceilDiv(problem.m, kernel.config.tileM),
          columns = ceilDiv(problem.n, kernel.config.tileN);
  double asked = 0;
  if (!isOneOfSeveral(problem, kernel))
    asked += double(getRowsBeyond(problem, kernel)) *
             std::min(columns, resident) * ceilDiv(columns, resident);
  if (waves == 1)
    asked += double(columns * kernel.config.tileN - problem.n) * rows;
  return machine.fillWaitPs * asked * blocksOfOne / 1e6;
}
