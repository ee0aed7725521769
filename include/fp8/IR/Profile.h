// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops and attributes of profiled kernels. Few files need them: a header of
// their own.

#ifndef FP8_IR_PROFILE_H
#define FP8_IR_PROFILE_H

#include "fp8/IR/Fp8.h"

namespace mlir::fp8::OpTrait {
/// The op must know where the kernel's stamps lie (kProfileTableAttrName).
template <typename ConcreteType>
class NeedsProfileTable
    : public mlir::OpTrait::TraitBase<ConcreteType, NeedsProfileTable> {};
} // namespace mlir::fp8::OpTrait

#define GET_OP_CLASSES
#include "fp8/IR/Profile.h.inc"

namespace mlir::fp8 {

/// On a module: that kernels which are lowered in it write stamps, {ctas,
/// stamps}: so many CTAs, and stamps a role; see `--fp8-profile`.
inline constexpr llvm::StringLiteral kProfileAttrName = "fp8.profile";
/// On a kernel with stamps: where they lie and what they mean. It travels to
/// the launch manifest.
inline constexpr llvm::StringLiteral kProfileTableAttrName =
    "fp8.profile_table";
/// The most bytes of the stamps of a kernel: positions in them are sums of 32
/// bits, which must not wrap.
inline constexpr int64_t kMaxStampBytes = 1 << 28;

} // namespace mlir::fp8

#endif // FP8_IR_PROFILE_H
