// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fp8-reduce makes kernels smaller.

#ifndef FP8_REDUCER_PATTERNS_H
#define FP8_REDUCER_PATTERNS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::fp8 {

/// Lets the passes of mlir-reduce remove parts of GEMM ops and of kernels in
/// phases 1 and 2: ops that take ends and give them back, the work of a role,
/// unused rings and roles. If the remaining handles are not linear, the result
/// does not verify, and the reducer drops it.
void registerReductionPatterns(DialectRegistry &registry);

} // namespace mlir::fp8

#endif // FP8_REDUCER_PATTERNS_H
