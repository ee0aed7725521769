// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a GEMM kernel takes on a GPU.

#include "fp8/Tuning/CostModel.h"
#include "Blocks.h"
#include "RowsBeyond.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace fp8::tuning;

namespace {

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

template <typename It>
double combine(It begin, It end) {
  double sum = 0;
  for (; begin != end; ++begin)
    sum += sixthPower(*begin);
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
  Block(const Machine &machine, const KernelShape &kernel)
      : machine(machine), kernel(kernel) {}

  double getTensor() const {
    bool isScaled = !kernel.promotes && machine.scaledShare > 0;
    return getPacedMma() /
               (isScaled ? machine.scaledShare : machine.sustainedShare) +
           bytesFromL2() * machine.l2PowerCycles;
  }
  /// What the power limit allows, if all SMs are at work: products draw power,
  /// bytes copied to shared memory, and bytes read from L2. Fitted to rows of
  /// 150 us and more on an H100 (benchmark/notes/order.md).
  double getPower() const {
    constexpr double kProduct = 0.86, kByteCopied = 0.0109, kByteFromL2 = 0.001;
    return kProduct *
               getMma(std::max(getProductRows(kernel), machine.mmaRows)) +
           kByteCopied * (bytesOfA() + bytesOfB()) +
           kByteFromL2 * bytesFromL2();
  }
  /// The time of one warpgroup, or of the warps that promote beside the MMA.
  double getPromotion() const {
    if (!kernel.promotes)
      return 0;
    if (!kernel.warpgroups)
      return getTransfer() + promote(getProductRows(kernel));
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
  /// Copies, beside which products read shared memory: B once for each
  /// warpgroup. The rate is that beside two.
  double getL1() const {
    constexpr double kOfThree = 1.1;
    double cycles = (bytesOfA() + bytesOfB()) / machine.l1BytesPerCycle;
    return kernel.warpgroups > 2 ? kOfThree * cycles : cycles;
  }
  /// For each CTA at work, for all share L2.
  double getL2() const { return bytesFromL2() / machine.l2BytesPerCycle; }
  /// Reads a product, or a sum, from tensor memory.
  double getTransfer() const {
    constexpr double kSumBytes = 4;
    if (machine.transferBytesPerCycle == 0)
      return 0;
    return kSumBytes * kernel.config.getCtaRows() * kernel.config.tileN /
           machine.transferBytesPerCycle;
  }
  /// A slot is full again a latency after it was handed back; the others have
  /// to last that long.
  double getDepth() const {
    double latency = machine.loadLatencyNs;
    if (kernel.sharesA || kernel.sharesB)
      latency += machine.sharedLatencyNs;
    latency *= machine.gigahertz;
    return latency / (std::max<int64_t>(kernel.config.stages - 1, 1) *
                      kernel.blocksPerStage);
  }

private:
  /// An MMA from tensor memory reads its operands from shared memory as it
  /// multiplies (docs/Timing.md).
  double getPacedMma() const {
    constexpr double kSharedBytes = 128;
    int64_t rows = std::max(getProductRows(kernel), machine.mmaRows);
    double mma = getMma(rows);
    if (kernel.warpgroups)
      return mma;
    int64_t columns = kernel.swapped ? kernel.config.getCtaRows()
                                     : kernel.config.getCtaColumns();
    return std::max(mma, double((rows + columns) * kBlock) / kSharedBytes);
  }
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

/// Every operand is moved once; with few tiles in the last wave, by few SMs,
/// which take no less than `leastUs` for a tile, or than a whole wave takes
/// where that is less. What memory takes and what these take add up.
static double getDramUs(const Machine &machine, const Problem &problem,
                        int64_t tiles, int64_t resident, double leastUs) {
  double k = problem.k;
  double bytes =
      problem.batch * (problem.m * k + problem.n * k +
                       double(problem.m) * problem.n *
                           (problem.outputBytes + problem.residualBytes));
  auto move = [&](int64_t some) {
    if (!some)
      return 0.0;
    double drawing = std::min(some, resident);
    return bytes * some / tiles *
           (1 / machine.dramBytesPerNs +
            1 / (machine.dramBytesPerNsOfOne * drawing)) /
           1e3;
  };
  int64_t last = tiles % resident;
  double others = move(tiles - last), rest = move(last);
  // Where memory does not bound a whole wave, it does not bound the last.
  if (others > 0 && last)
    rest = std::max(rest, std::min(leastUs, others / (tiles / resident)));
  return others + rest;
}

/// TMA stores the rows of boxes one by one, however short they are.
static double getStoreUs(const Machine &machine, const Problem &problem,
                         const KernelShape &kernel) {
  if (!kernel.storeColumns)
    return 0;
  return double(problem.batch) * problem.m * problem.n / kernel.storeColumns *
         machine.storePs / 1e6;
}

KernelModel::KernelModel(const Machine &machine, const KernelShape &kernel)
    : machine(&machine), kernel(kernel) {
  int64_t cluster = kernel.config.cluster.getSize();
  resident = std::max(
      machine.clusters.countCtas(cluster, machine.multiprocessors), cluster);

  auto us = [&](double cycles) { return cycles / machine.gigahertz / 1e3; };
  Block block(machine, kernel);
  powerUs = us(block.getPower());
  blockUs = {us(block.getTensor()), us(block.getPromotion()), us(block.getL1()),
             us(block.getL2()), us(block.getDepth())};

  // The epilogue of the last tile has nothing beside it. A warpgroup's second
  // product is rounded while the first is stored.
  constexpr double kSecondProduct = 0.5;
  double products =
      ceilDiv(getProductRows(kernel),
              kProductRows * std::max<int64_t>(kernel.warpgroups, 1));
  if (kernel.warpgroups && !kernel.swapped)
    products = 1 + kSecondProduct * (products - 1);
  epilogueUs = us(machine.epilogueCycles +
                  machine.epilogueColumnCycles * getProductColumns(kernel) /
                      kernel.config.cluster.k * products);
  // A CTA gets its share of the sums from each of the others.
  if (int64_t k = kernel.config.cluster.k; k > 1)
    epilogueUs +=
        machine.exchangeUs + machine.exchangePs * kernel.config.getCtaRows() *
                                 kernel.config.tileN * (k - 1) / k / 1e6;
  // The MMAs of the next tile run beside the epilogue of one in tensor memory.
  // The warps that promote them are busy with its columns.
  laterEpilogueUs = epilogueUs;
  if (!kernel.promotes) {
    // Each sum is read once. The next tile waits for that where it has no
    // accumulator of its own.
    double read = us(block.getTransfer());
    epilogueUs += read;
    laterEpilogueUs = us(machine.betweenTilesCycles) +
                      (kernel.config.accumulators > 1 ? 0 : read);
  } else if (!kernel.warpgroups) {
    constexpr double kBeside = 0.5, kStraddlingCycles = 1800;
    laterEpilogueUs -= us(kBeside * machine.epilogueCycles);
    if (kernel.scaleParts > 1)
      laterEpilogueUs += us(kStraddlingCycles);
  }
  launchUs = machine.launchUs + (cluster > 1 ? machine.clusterUs : 0);
}

/// Tiles, one after another, until the last CTA has ended. A launch has as many
/// CTAs as there are SMs. Where clusters cannot use all, those that are left
/// over begin when others have done all their tiles.
int64_t KernelModel::getWaves(int64_t tiles) const {
  int64_t cluster = kernel.config.cluster.getSize(),
          most = std::max<int64_t>(machine->multiprocessors / cluster, 1) *
                 cluster,
          launched = std::max<int64_t>(std::min(tiles, most), 1);
  return ceilDiv(launched, resident) * ceilDiv(tiles, launched);
}

Prediction KernelModel::getBounds(const Problem &problem) const {
  Prediction result;
  const config::ClusterShape &cluster = kernel.config.cluster;
  double clusters =
      double(problem.batch) *
      ceilDiv(ceilDiv(problem.m, kernel.config.getCtaRows()), cluster.m) *
      ceilDiv(ceilDiv(problem.n, kernel.config.tileN), cluster.n);
  // Extents and batches below 2^31 can have more tiles than can be counted.
  result.tiles = std::min(clusters * cluster.getSize(), 0x1p62);
  result.resident = resident;
  result.waves = getWaves(result.tiles);

  int64_t blocksOfOne =
      ceilDiv(ceilDiv(problem.k, kBlock), cluster.k * kernel.blockMultiple) *
      kernel.blockMultiple;
  double blocks = double(result.waves) * blocksOfOne;
  for (size_t bound = 0; bound < blockUs.size(); ++bound)
    result.bounds[bound] = blocks * blockUs[bound];
  // What the warps beside the MMA do with each tile but the last.
  if (!kernel.promotes)
    result.bounds[static_cast<int>(Bound::Promotion)] =
        double(result.waves - 1) * epilogueUs;
  // The power limit holds where products last, which was measured on Hopper.
  if (kernel.warpgroups) {
    constexpr double kCoolUs = 40, kHotUs = 120;
    double &tensor = result.bounds[static_cast<int>(Bound::Tensor)];
    double heat = std::clamp((tensor - kCoolUs) / (kHotUs - kCoolUs), 0.0, 1.0);
    // SMs that idle in the last wave leave some of their power to the others.
    constexpr double kIdle = 0.65, kWarm = 0.5, kZeroShare = 0.12;
    if (heat > 0) {
      double waves = double(result.tiles) / machine->multiprocessors;
      waves += kIdle * (double(result.waves) - waves);
      std::array<double, 2> limits = {tensor, waves * blocksOfOne * powerUs};
      tensor += heat * (combine(limits.begin(), limits.end()) - tensor);
      tensor *= 1 - getZeros(problem, kernel) * kZeroShare *
                        std::min(heat / kWarm, 1.0);
    }
  }
  result.bounds[static_cast<int>(Bound::L2)] *=
      std::min(result.tiles, resident);
  // What an SM alone takes for a tile at least.
  double leastUs = std::max({blockUs[static_cast<int>(Bound::Tensor)],
                             blockUs[static_cast<int>(Bound::Promotion)],
                             blockUs[static_cast<int>(Bound::L1)]}) *
                   blocksOfOne;
  result.bounds[static_cast<int>(Bound::Dram)] =
      getDramUs(*machine, problem, result.tiles, resident, leastUs);
  result.epilogue = epilogueUs + (result.waves - 1) * laterEpilogueUs +
                    getStoreUs(*machine, problem, kernel);
  result.fill = getFillUs(*machine, problem, kernel);
  result.fillWait = getFillWaitUs(*machine, problem, kernel, resident,
                                  blocksOfOne, result.waves);
  return result;
}

/// The fraction by which the loop takes longer where two CTAs that divide K
/// also share columns of tiles: the two fill a TPC, so those that share columns
/// are on different ones.
/// Two rows of tiles notice little of it unless they have rows in common, and
/// so do several warpgroups. Larger clusters notice nothing.
double KernelModel::getDividedShare(const Problem &problem) const {
  constexpr double kLittle = 0.25;
  int64_t rows = ceilDiv(problem.m, kernel.config.tileM);
  if (rows == 1 || kernel.config.cluster.k != 2)
    return 0;
  bool sharesRows = kernel.config.edge == config::Edge::First &&
                    problem.m % kernel.config.tileM != 0;
  constexpr double kSwapped = 1.25;
  if (kernel.warpgroups != 1 || (rows == 2 && !sharesRows))
    return kLittle * machine->dividedTogetherShare;
  return (kernel.swapped ? kSwapped : 1) * machine->dividedTogetherShare;
}

/// What the loop takes longer if lanes load the B scales. Where a ring could
/// bring them: longer in each tile, less long in each block. In narrow tiles:
/// longer in each but the first.
static double getLanesUs(const Machine &machine, const Problem &problem,
                         const KernelShape &kernel,
                         const Prediction &prediction) {
  constexpr double kBlockCycles = 33;
  if (kernel.asksForBScales)
    return (prediction.waves - 1) * machine.firstScalesCycles /
           machine.gigahertz / 1e3;
  if (!kernel.config.lanesLoadBScales)
    return 0;
  return prediction.waves *
         (machine.firstScalesCycles -
          kBlockCycles * ceilDiv(problem.k, kBlock)) /
         machine.gigahertz / 1e3;
}

/// What the last tile waits for its B scales when all else has come. The first
/// tile's come with its first copy.
static double getLastScalesUs(const Machine &machine, const KernelShape &kernel,
                              const Prediction &prediction) {
  if (kernel.warpgroups || !kernel.asksForBScales || prediction.waves == 1)
    return 0;
  return machine.firstScalesCycles / machine.gigahertz / 1e3;
}

std::optional<Predictions> KernelModel::predict(const Problem &problem,
                                                double mostUs) const {
  Prediction bounds = getBounds(problem);
  auto loopEnd = bounds.bounds.begin() + static_cast<int>(Bound::Dram);
  double dram = *loopEnd, later = double(bounds.waves - 1) * laterEpilogueUs,
         last = bounds.epilogue - later +
                getLastScalesUs(*machine, kernel, bounds),
         early = machine->earlyUs, signal = getSignalUs(problem, bounds),
         share = getSpreadShare(problem, bounds),
         lanes = getLanesUs(*machine, problem, kernel, bounds);
  // A norm is no less than the largest of its values.
  double most = *std::max_element(bounds.bounds.begin(), loopEnd),
         least = std::max(
             {most + lanes + bounds.fillWait + later, dram, bounds.fill}),
         saved = std::max({early, early + signal - share * most, 0.0}),
         soonest = launchUs - saved + least + last;
  if (soonest - getAheadUs(problem, bounds, soonest) > mostUs)
    return std::nullopt;

  double blocks = combine(bounds.bounds.begin(), loopEnd) *
                  (1 + getDividedShare(problem)),
         others = lanes + bounds.fillWait + later;
  std::array<double, 3> together = {blocks + others, dram, bounds.fill};
  double body = combine(together.begin(), together.end());
  auto launched = [&](double launch, double spread) {
    Prediction one = bounds;
    one.launch = launch;
    one.total = launch + body + last + spread;
    return one;
  };
  Prediction behindWait = launched(launchUs - early - signal, share * blocks);
  behindWait.ahead = getAheadUs(problem, bounds, behindWait.total);
  behindWait.total -= behindWait.ahead;
  return Predictions{launched(launchUs, 0), launched(launchUs - early, 0),
                     behindWait};
}

Prediction fp8::tuning::predict(const Machine &machine, const Problem &problem,
                                const KernelShape &kernel) {
  Predictions all = *KernelModel(machine, kernel).predict(problem);
  const config::GemmConfig &config = kernel.config;
  return config.signalsAtWait  ? all.early
         : config.programmatic ? all.programmatic
                               : all.serial;
}
