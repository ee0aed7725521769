// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configurations that were the best where they were measured.

#ifndef FP8_LIB_TRANSFORMS_GEMM_TUNEDTABLE_H
#define FP8_LIB_TRANSFORMS_GEMM_TUNEDTABLE_H

#include "GemmProblem.h"
#include "fp8/Tuning/Corrections.h"

namespace mlir::fp8 {

namespace tuning = ::fp8::tuning;

/// A table that `./dev bench --tune` wrote.
class TunedTable {
public:
  struct Entry {
    int64_t m, n, k;
    GemmConfig config;
    double us;
    /// Alone, and the mean (LaunchRanking.h), if that was measured; else 0.
    double aloneUs = 0, meanUs = 0;
    /// What was the fastest with serial launches, if that was measured, and
    /// its time.
    std::optional<GemmConfig> serialConfig = {};
    double serialUs = 0;
  };

  /// Reads a file; reports what is wrong with it.
  static FailureOr<TunedTable>
  read(StringRef path, const chip::Chip &chip, MLIRContext *context,
       function_ref<InFlightDiagnostic()> emitError);

  /// The entries with the same N and K, and an M of as many times 64 rows, for
  /// tiles of whole 64 rows then have as many rows of tiles. The nearest M
  /// comes first, of two that are as near the larger; below M = 64 those with
  /// as many times 8 rows. None of a batch was measured.
  SmallVector<const Entry *, 0> lookup(const GemmExtents &extents) const;
  /// The entries with the same N and K, and a larger M, up to twice as large,
  /// the one with the least time first: with fewer rows a kernel takes no
  /// longer. `getTime` says what an entry takes, 0 if that is not known;
  /// entries that take `us` or more are left out.
  SmallVector<const Entry *, 0>
  lookupFaster(const GemmExtents &extents, double us,
               function_ref<double(const Entry &)> getTime) const;

  ArrayRef<Entry> getEntries() const { return entries; }
  /// Of the cost model with the built-in constants of the table's GPU; null if
  /// the table has none, or if the machine is another.
  const tuning::Corrections *getCorrections() const {
    return corrections.empty() ? nullptr : &corrections;
  }
  /// The constants of a machine that are fitted to the entries; all if none.
  const std::vector<std::string> &getFittedConstants() const {
    return constants;
  }

private:
  explicit TunedTable(const chip::Machine &machine)
      : corrections(machine.multiprocessors) {}

  SmallVector<Entry, 0> entries;
  tuning::Corrections corrections;
  std::vector<std::string> constants;
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_TUNEDTABLE_H
