// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stamps of profiled kernels, where ops become instructions.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_STAMPS_H
#define FP8_LIB_CONVERSION_FP8TONVVM_STAMPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

#include <optional>

namespace mlir::fp8 {

/// Where a kernel's stamps lie: those of the units, which are the roles of the
/// sampled CTAs, one of each unit after the other; then the units' heads.
struct StampLayout {
  static constexpr int64_t kStampBytes = 8, kHeadBytes = 64;

  int64_t ctas, roles, stamps;

  int64_t getUnits() const { return ctas * roles; }
  int64_t getStampsBytes() const { return getUnits() * stamps * kStampBytes; }
  int64_t getBytes() const {
    return getStampsBytes() + getUnits() * kHeadBytes;
  }
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
