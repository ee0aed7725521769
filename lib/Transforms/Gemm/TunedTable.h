// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configurations that were the fastest where they were measured.

#ifndef FP8_LIB_TRANSFORMS_GEMM_TUNEDTABLE_H
#define FP8_LIB_TRANSFORMS_GEMM_TUNEDTABLE_H

#include "GemmProblem.h"

namespace mlir::fp8 {

/// A table that `./dev bench --tune` wrote.
class TunedTable {
public:
  struct Entry {
    int64_t m, n, k;
    GemmConfig config;
    double us;
  };

  /// Reads a file; reports what is wrong with it.
  static FailureOr<TunedTable>
  read(StringRef path, const chip::Chip &chip, MLIRContext *context,
       function_ref<InFlightDiagnostic()> emitError);

  /// The entry with the same N and K, and an M of as many times 64 rows, for
  /// then every tile has as many rows of tiles; the nearest M of several. None
  /// of a batch was measured.
  const Entry *lookup(const GemmExtents &extents) const;

  ArrayRef<Entry> getEntries() const { return entries; }
  /// The constants of a machine that are fitted to the entries; all if none.
  const std::vector<std::string> &getFittedConstants() const {
    return constants;
  }

private:
  SmallVector<Entry, 0> entries;
  std::vector<std::string> constants;
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_TUNEDTABLE_H
