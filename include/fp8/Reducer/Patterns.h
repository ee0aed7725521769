// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fp8-reduce makes kernels smaller.

#ifndef FP8_REDUCER_PATTERNS_H
#define FP8_REDUCER_PATTERNS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::fp8 {

/// Lets the passes of mlir-reduce take parts out of GEMM ops and of kernels in
/// phases 1 and 2: what takes ends and gives them back, the work of a role,
/// rings and roles that nobody needs. The handles of what stays stay linear,
/// or the result does not verify and the reducer drops it.
void registerReductionPatterns(DialectRegistry &registry);

} // namespace mlir::fp8

#endif // FP8_REDUCER_PATTERNS_H
