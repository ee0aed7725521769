// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps of profiled kernels, where ops become instructions.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_STAMPS_H
#define FP8_LIB_CONVERSION_FP8TONVVM_STAMPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

#include <optional>

namespace mlir::fp8 {

/// Where a kernel's stamps lie: the heads of the units, which are the roles of
/// the sampled CTAs; then the units' stamps, one of each unit after the other.
struct StampLayout {
  static constexpr int64_t kStampBytes = 16, kHeadBytes = 48;

  int64_t ctas, roles, stamps;
  int64_t teller = 0; ///< the role that writes what is of the CTA
  /// Whether the kernel may start while one in front still writes them.
  bool startsEarly = false;

  int64_t getUnits() const { return ctas * roles; }
  /// Of the first stamps of all units.
  int64_t getRowBytes() const { return getUnits() * kStampBytes; }
  int64_t getHeadsBytes() const { return getUnits() * kHeadBytes; }
  int64_t getBytes() const { return getHeadsBytes() + getRowBytes() * stamps; }
};

/// By the profile table of the kernel; nothing if it has none.
std::optional<StampLayout> getStampLayout(FunctionOpInterface kernel);

/// Adds the variable of a kernel's stamps to its module. Errors: it would be
/// too large, or another kernel has one.
LogicalResult declareStamps(FunctionOpInterface kernel);

void populateStampPatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns);

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_STAMPS_H
