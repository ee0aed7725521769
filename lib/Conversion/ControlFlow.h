// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow around ops of kernels whose types are converted.

#ifndef FP8_LIB_CONVERSION_CONTROLFLOW_H
#define FP8_LIB_CONVERSION_CONTROLFLOW_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::fp8 {

/// Adds patterns that convert the types that branches, loops and selects carry.
/// Every op that has none but converted types is legal, if nothing else is said
/// of it.
void populateControlFlowConversions(const TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    ConversionTarget &target);

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_CONTROLFLOW_H
