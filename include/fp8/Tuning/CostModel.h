// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long a GEMM kernel takes on a GPU, predicted from a few constants of the
// machine, term by term (docs/Chooser.md).
#ifndef FP8_TUNING_COSTMODEL_H
#define FP8_TUNING_COSTMODEL_H

#include <array>
#include <cstdint>

namespace fp8::tuning {

/// What the model knows of a GPU. Cycles are of an SM.
struct Machine {
  const char *name;
  int64_t multiprocessors;
  double gigahertz;
  /// Multiply-adds of e4m3 that the tensor cores of an SM do in a cycle.
  double multiplyAddsPerCycle;
  /// The rows that an MMA takes as long for as for fewer.
  int64_t mmaRows;
  /// The part of that rate that lasts; and the cycles that a byte from L2 costs
  /// beside, for both take power.
  double sustainedShare, l2PowerCycles;
  /// From a warpgroup's wait for operands to its product, beside the MMA; what
  /// is left of it where the next product is started early.
  double productCycles, overlappedProductCycles;
  /// To promote a product beside one multiply-add a sum; for each further part
  /// of the columns that has B scales of its own.
  double promotionCycles, scalePartCycles;
  /// Bytes that an SM takes in, and that L2 gives to all, in a cycle.
  double l1BytesPerCycle, l2BytesPerCycle;
  /// Bytes that memory moves in a nanosecond, and that one SM draws of them.
  double dramBytesPerNs, dramBytesPerNsOfOne;
  /// From a copy's start to its bytes, under load.
  double loadLatencyNs;
  /// What a row of a box costs that lies beyond the operand, all SMs together.
  double fillPs;
  /// To begin and end a kernel; what a cluster takes longer; to exchange sums
  /// among two CTAs, and for each doubling of their number.
  double launchUs, clusterUs, exchangeUs;
  /// Of a launch, what a programmatic one does while the kernel in front ends.
  double earlyUs;
  /// By which part the loop of such a kernel takes longer where it leaves SMs
  /// idle but not half of them, for its CTAs stand where SMs were free; and
  /// where those are CTAs of clusters, or several rows of tiles read the same B.
  double earlyIdleShare, earlyTogetherShare;
  /// SMs that clusters of more than two CTAs find: they do not cross GPCs.
  int64_t clusterMultiprocessors;
  /// To store a tile: once, and for each column of a warpgroup's 64 rows.
  double epilogueCycles, epilogueColumnCycles;
};

/// Measured, for the most part.
extern const Machine h200;
/// From data sheets and the H200: nothing was measured.
extern const Machine b200;

struct Problem {
  int64_t m, n, k;
  int64_t batch = 1;
  int64_t outputBytes = 2;   ///< of an element of D
  int64_t residualBytes = 0; ///< of C, if there is one
};

/// What matters of a kernel.
struct KernelShape {
  int64_t ctaRows; ///< of the output tile that one CTA computes
  int64_t tileN;
  int64_t ctaGroup = 1; ///< the CTAs that share one MMA, and its B
  int64_t clusterM = 1, clusterN = 1;
  int64_t splitK = 1; ///< the CTAs, a cluster, that divide the K blocks
  bool sharesA = false, sharesB = false; ///< each is copied once for a cluster
  int64_t stages = 4;
  int64_t blocksPerStage = 1;
  /// Warpgroups that multiply into registers and promote. 0: the MMA writes
  /// tensor memory, and other warps promote meanwhile.
  int64_t warpgroups = 0;
  bool swapped = false; ///< columns are the rows of warpgroups' products
  bool overlaps = false; ///< the next product is started before one's promotion
  int64_t scaleParts = 1; ///< equal parts of the columns, by their B scales
  /// Launched programmatically: begins while the kernel in front ends.
  bool programmatic = false;
};

/// What the loops over K and the tiles may be bound by.
enum class Bound { Tensor, Promotion, L1, L2, Depth, Dram };
inline constexpr int kNumBounds = 6;

/// As explanations call it.
const char *getName(Bound bound);

/// In microseconds.
struct Prediction {
  double total;
  double launch;
  double epilogue; ///< of all of a CTA's tiles
  double fill;     ///< of rows beyond M
  /// What the loops would take if nothing else bound them.
  std::array<double, kNumBounds> bounds;
  int64_t tiles;    ///< of CTAs
  int64_t resident; ///< CTAs at a time, at most
  int64_t waves;

  double get(Bound bound) const { return bounds[static_cast<int>(bound)]; }
  Bound getLargest() const;
};

Prediction predict(const Machine &machine, const Problem &problem,
                   const KernelShape &kernel);

} // namespace fp8::tuning

#endif // FP8_TUNING_COSTMODEL_H
