// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a GEMM kernel takes on a GPU.

#include "fp8/Tuning/CostModel.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace fp8::tuning;

namespace {

/// The depth of a K block.
constexpr int64_t kBlock = 128;
/// Rows, swapped columns, that a warpgroup multiplies at a time.
constexpr int64_t kProductRows = 64;
/// Sums that the four partitions of an SM add to in a cycle, a lane each.
constexpr int64_t kLanes = 128;
/// The norm by which bounds add up, that of sixth powers. None hides behind
/// another wholly: two that are equal take 12 % longer than one, and one of
/// half as much 0.3 %.
double sixthPower(double value) {
  double cube = value * value * value;
  return cube * cube;
}
double sixthRoot(double value) { return std::sqrt(std::cbrt(value)); }

int64_t ceilDiv(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

template <typename Values>
double combine(const Values &values) {
  double sum = 0;
  for (double value : values)
    sum += sixthPower(value);
  return sixthRoot(sum);
}

/// The rows of the products of a tile, and their columns.
int64_t getProductRows(const KernelShape &kernel) {
  return kernel.swapped ? kernel.config.tileN : kernel.config.getCtaRows();
}
int64_t getProductColumns(const KernelShape &kernel) {
  return kernel.swapped ? kernel.config.getCtaRows() : kernel.config.tileN;
}

/// The cycles of one K block of one tile, by bound; none of memory.
class Block {
public:
  Block(const Machine &machine, const KernelShape &kernel, int64_t resident)
      : machine(machine), kernel(kernel), resident(resident) {}

  double getTensor() const {
    return getMma(std::max(getProductRows(kernel), machine.mmaRows)) /
               machine.sustainedShare +
           bytesFromL2() * machine.l2PowerCycles;
  }
  /// The time of one warpgroup, or of the warps that promote beside the MMA.
  double getPromotion() const {
    if (!kernel.warpgroups)
      return promote(kernel.config.getCtaRows());
    double mma = getMma(kProductRows), promotion = promote(kProductRows);
    double product = kernel.overlaps ? machine.overlappedProductCycles +
                                           std::max(mma, promotion)
                                     : machine.productCycles + mma + promotion;
    if (kernel.swapped)
      product += getProductColumns(kernel) *
                 (kernel.overlaps ? machine.overlappedSwappedRowCycles
                                  : machine.swappedRowCycles);
    return getProductRows(kernel) / (kProductRows * kernel.warpgroups) *
           product;
  }
  double getL1() const {
    return (bytesOfA() + bytesOfB()) / machine.l1BytesPerCycle;
  }
  double getL2() const {
    return resident * bytesFromL2() / machine.l2BytesPerCycle;
  }
  /// A slot is full again a latency after it was handed back; the others have
  /// to last that long.
  double getDepth() const {
    double latency = machine.loadLatencyNs * machine.gigahertz;
    return latency / (std::max<int64_t>(kernel.config.stages - 1, 1) *
                      kernel.blocksPerStage);
  }

private:
  double getMma(int64_t rows) const {
    return rows * getProductColumns(kernel) * kBlock /
           machine.multiplyAddsPerCycle;
  }
  double promote(int64_t rows) const {
    return double(rows * getProductColumns(kernel)) / kLanes +
           machine.promotionCycles +
           (kernel.scaleParts - 1) * machine.scalePartCycles;
  }
  /// One CTA's part of what is copied once for a cluster.
  double bytesFromL2() const {
    return bytesOfA() / (kernel.sharesA ? kernel.config.cluster.n : 1) +
           bytesOfB() / (kernel.sharesB
                             ? kernel.config.cluster.m / kernel.config.ctaGroup
                             : 1);
  }
  double bytesOfA() const { return kernel.config.getCtaRows() * kBlock; }
  double bytesOfB() const { return kernel.config.getCtaColumns() * kBlock; }

  const Machine &machine;
  const KernelShape &kernel;
  int64_t resident;
};

} // namespace

const char *fp8::tuning::getName(Bound bound) {
  switch (bound) {
  case Bound::Tensor:
    return "tensor";
  case Bound::Promotion:
    return "promotion";
  case Bound::L1:
    return "l1";
  case Bound::L2:
    return "l2";
  case Bound::Depth:
    return "depth";
  case Bound::Dram:
    return "dram";
  }
  assert(false && "no other bound");
  return "";
}

Bound Prediction::getLargest() const {
  return static_cast<Bound>(std::max_element(bounds.begin(), bounds.end()) -
                            bounds.begin());
}

/// Every operand is moved once; with few tiles in the last wave, by few SMs.
static double getDramUs(const Machine &machine, const Problem &problem,
                        int64_t tiles, int64_t resident) {
  double k = problem.k;
  double bytes =
      problem.batch * (problem.m * k + problem.n * k +
                       double(problem.m) * problem.n *
                           (problem.outputBytes + problem.residualBytes));
  auto move = [&](int64_t some) {
    if (!some)
      return 0.0;
    int64_t drawing = std::min(some, resident);
    return bytes * some / tiles /
           std::min(machine.dramBytesPerNs,
                    machine.dramBytesPerNsOfOne * drawing);
  };
  int64_t last = tiles % resident;
  return (move(tiles - last) + move(last)) / 1e3;
}

/// What the rows of boxes that lie beyond M take: TMA asks L2 for them like for
/// others, and all ask one place. Of few in a box none was measured to wait.
static double getFillUs(const Machine &machine, const Problem &problem,
                        const KernelShape &kernel) {
  constexpr int64_t kFew = 16;
  int64_t rows = kernel.config.tileM,
          beyond = ceilDiv(problem.m, rows) * rows - problem.m;
  if (beyond < kFew || (kernel.config.edgeFirst && problem.m >= rows))
    return 0;
  // All CTAs of a launch that divides K run at once.
  constexpr double kTogether = 3;
  double share = kernel.config.cluster.k > 1 ? kTogether : 1;
  double boxes = double(ceilDiv(problem.n, kernel.config.tileN)) *
                 ceilDiv(problem.k, kBlock) /
                 (kernel.sharesA ? kernel.config.cluster.n : 1);
  return share * problem.batch * beyond * boxes * machine.fillPs / 1e6;
}

/// By how much longer than `body` the loop of a programmatic launch takes, if
/// that is more than the launch gains; less is within what the model knows of
/// tiles, and would choose between them.
static double getEarlyLossUs(const Machine &machine, const Problem &problem,
                             const KernelShape &kernel,
                             const Prediction &prediction, double body) {
  // A launch leaves few SMs idle if it leaves one in sixteen.
  constexpr int64_t kFew = 16;
  int64_t idle =
      machine.multiprocessors - std::min(prediction.tiles, prediction.resident);
  bool leavesSome = idle > machine.multiprocessors / kFew &&
                    idle < machine.multiprocessors / 2;
  bool isCluster = kernel.config.cluster.getSize() > 1;
  bool sharesColumns = problem.m > kernel.config.tileM;
  double share = 0;
  if (sharesColumns || (leavesSome && isCluster))
    share += machine.earlyTogetherShare;
  if (leavesSome && !isCluster)
    share += machine.earlyIdleShare;
  double loss = share * body;
  return loss > machine.earlyUs ? loss : 0;
}

Predictions fp8::tuning::predictLaunches(const Machine &machine,
                                         const Problem &problem,
                                         const KernelShape &kernel) {
  Prediction result;
  int64_t cluster = kernel.config.cluster.getSize();
  double clusters =
      double(problem.batch) *
      ceilDiv(ceilDiv(problem.m, kernel.config.getCtaRows()),
              kernel.config.cluster.m) *
      ceilDiv(ceilDiv(problem.n, kernel.config.tileN), kernel.config.cluster.n);
  // Extents and batches below 2^31 can have more tiles than can be counted.
  result.tiles = std::min(clusters * cluster, 0x1p62);
  int64_t multiprocessors =
      cluster > 2 ? machine.clusterMultiprocessors : machine.multiprocessors;
  result.resident = std::max<int64_t>(multiprocessors / cluster, 1) * cluster;
  result.waves = ceilDiv(result.tiles, result.resident);

  auto us = [&](double cycles) { return cycles / machine.gigahertz / 1e3; };
  // CTAs divide whole slots.
  int64_t blocksOfOne = ceilDiv(problem.k, kBlock);
  if (kernel.config.cluster.k > 1)
    blocksOfOne =
        ceilDiv(blocksOfOne, kernel.config.cluster.k * kernel.blocksPerStage) *
        kernel.blocksPerStage;
  double blocks = double(result.waves) * blocksOfOne;
  Block block(machine, kernel, std::min(result.tiles, result.resident));
  std::array<double, 5> loop = {
      us(blocks * block.getTensor()), us(blocks * block.getPromotion()),
      us(blocks * block.getL1()), us(blocks * block.getL2()),
      us(blocks * block.getDepth())};
  std::copy(loop.begin(), loop.end(), result.bounds.begin());
  double dram = getDramUs(machine, problem, result.tiles, result.resident);
  result.bounds[static_cast<int>(Bound::Dram)] = dram;

  // The epilogue of the last tile has nothing beside it.
  int64_t products =
      ceilDiv(getProductRows(kernel),
              kProductRows * std::max<int64_t>(kernel.warpgroups, 1));
  double epilogue =
      us(machine.epilogueCycles + machine.epilogueColumnCycles *
                                      getProductColumns(kernel) /
                                      kernel.config.cluster.k * products);
  if (kernel.config.cluster.k > 1)
    epilogue +=
        (machine.exchangeUs + machine.exchangePs * kernel.config.getCtaRows() *
                                  kernel.config.tileN / 1e6) *
        std::log2(double(kernel.config.cluster.k));
  result.epilogue = result.waves * epilogue;
  double tiles = combine(loop) + (result.waves - 1) * epilogue;
  double body = combine(std::array<double, 2>{tiles, dram});
  result.fill = getFillUs(machine, problem, kernel);

  auto launched = [&](double launchUs, double bodyUs) {
    Prediction one = result;
    one.launch = launchUs + (cluster > 1 ? machine.clusterUs : 0);
    one.total = one.launch + bodyUs + epilogue + one.fill;
    return one;
  };
  double loss = getEarlyLossUs(machine, problem, kernel, result, body);
  return {launched(machine.launchUs, body),
          launched(machine.launchUs - machine.earlyUs, body + loss)};
}

Prediction fp8::tuning::predict(const Machine &machine, const Problem &problem,
                                const KernelShape &kernel) {
  Predictions both = predictLaunches(machine, problem, kernel);
  return kernel.config.programmatic ? both.programmatic : both.serial;
}
