// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model: predicts the time of a GEMM kernel on a GPU from a few
// constants of the machine, term by term (docs/Chooser.md).
#ifndef FP8_TUNING_COSTMODEL_H
#define FP8_TUNING_COSTMODEL_H

#include "fp8/Chip/Machine.h"
#include "fp8/Config/GemmConfig.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace fp8::tuning {

using chip::Machine;

struct Problem {
  int64_t m, n, k;
  int64_t batch = 1;
  int64_t outputBytes = 2;   ///< of an element of D
  int64_t residualBytes = 0; ///< of C, if there is one
};

/// The properties of a kernel that determine its time.
struct KernelShape {
  config::GemmConfig config;             ///< leaves nothing open
  bool sharesA = false, sharesB = false; ///< each is copied once for a cluster
  int64_t blocksPerStage = 1;
  /// The K blocks that a CTA computes are a multiple of these.
  int64_t blockMultiple = 1;
  /// Warpgroups that multiply into registers and promote. 0: the MMA writes
  /// tensor memory, and other warps promote at the same time.
  int64_t warpgroups = 0;
  bool promotes = true;  ///< false: tensor cores apply the scales
  bool swapped = false;  ///< columns of D are the rows of products
  bool overlaps = false; ///< the next product is started before one's promotion
  int64_t scaleParts = 1; ///< equal parts of the columns, by their B scales
  /// Columns of the boxes by which TMA stores D. 0: their number is not
  /// counted.
  int64_t storeColumns = 0;
  /// Each tile waits for a load of its B scales before its first product, or
  /// before its first promotion.
  bool asksForBScales = false;
  /// Its first products need not wait for the kernels in front if it signals
  /// behind its wait.
  bool mayMultiplyEarly = false;
};

/// The resources that may bound the loops over K and the tiles.
enum class Bound { Tensor, Promotion, L1, L2, Depth, Dram };
inline constexpr int kNumBounds = 6;

/// The name in explanations.
const char *getName(Bound bound);

/// In microseconds.
struct Prediction {
  double total;
  double launch;
  double epilogue; ///< of all of a CTA's tiles
  double fill;     ///< the time of rows beyond M alone
  double fillWait; ///< what a CTA waits in its loops for them, and beyond N
  /// What `total` lacks because the kernel multiplies before the kernel in
  /// front has ended.
  double ahead = 0;
  /// What `total` has by measurements beside the model (Corrections).
  double correction = 0;
  /// The time of the loops for each bound alone.
  std::array<double, kNumBounds> bounds;
  int64_t tiles;    ///< of CTAs
  int64_t resident; ///< CTAs at a time, at most
  int64_t waves;

  double get(Bound bound) const { return bounds[static_cast<int>(bound)]; }
  Bound getLargest() const;
};

/// The times of one kernel by how it is launched, and where a programmatic one
/// lets the next start: in front of its last store, or behind its wait.
struct Predictions {
  Prediction serial, programmatic, early;
};

/// The times of one kernel on a machine: what no problem changes of them is
/// worked out once. The machine outlives it.
class KernelModel {
public:
  KernelModel(const Machine &machine, const KernelShape &kernel);

  const KernelShape &getKernel() const { return kernel; }
  /// True if rows of zeros beyond M save power in the problem, where the last
  /// tile is at the edge of M and products last.
  bool gainsByZeros(const Problem &problem) const;
  /// True if boxes of A that fit M save time in the problem: many rows of the
  /// only row of tiles are beyond M.
  bool gainsByFit(const Problem &problem) const;

  /// The times of all launches; the kernel's configuration names none. None if
  /// it is clear at once that all take longer than `mostUs`.
  std::optional<Predictions>
  predict(const Problem &problem,
          double mostUs = std::numeric_limits<double>::infinity()) const;

private:
  /// All but the launch and the total.
  Prediction getBounds(const Problem &problem) const;
  int64_t getWaves(int64_t tiles) const;
  double getDividedShare(const Problem &problem) const;
  double getSignalUs(const Problem &problem,
                     const Prediction &prediction) const;
  double getSpreadShare(const Problem &problem,
                        const Prediction &prediction) const;
  double getAheadUs(const Problem &problem, const Prediction &prediction,
                    double totalUs) const;

  const Machine *machine;
  KernelShape kernel;
  int64_t resident; ///< CTAs at a time, at most
  /// Of a K block, by the bounds of the loop; that of L2 is for each CTA at
  /// work.
  std::array<double, kNumBounds - 1> blockUs;
  double powerUs;         ///< of a K block, where the power limit holds
  double epilogueUs;      ///< of the last tile
  double laterEpilogueUs; ///< of each other one
  double launchUs;        ///< of a serial launch
};

/// The time of the launch that the kernel's configuration names.
Prediction predict(const Machine &machine, const Problem &problem,
                   const KernelShape &kernel);

} // namespace fp8::tuning

#endif // FP8_TUNING_COSTMODEL_H
