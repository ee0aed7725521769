// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types, attributes and interfaces of the fp8 dialect.

#ifndef FP8_IR_FP8TYPES_H
#define FP8_IR_FP8TYPES_H

#include "fp8/Chip/Chip.h"
#include "fp8/Config/GemmConfig.h"
#include "fp8/IR/Plan.h"
#include "fp8/Tensor/TensorMap.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::fp8 {

/// What an op does with a linear operand (L6, L7).
enum class LinearUse { Consume, Borrow };

/// The warps that a role must have for some work: any number, one (R3), or
/// whole warpgroups, groups of four (R2).
enum class RoleWarps { Any, One, Warpgroups };

/// True if values of the type are consumed exactly once on every path (L1).
bool isLinear(Type type);

/// True if a value of the type contains handles and can be copied (L6): a
/// tensor, a tuple or an asynchronous value of linear values.
bool holdsHandles(Type type);

/// The operands that are tiles or accumulators.
SmallVector<Value> getViewOperands(Operation *op);

/// True if the op declares an effect on barriers, or declares no effects.
bool mayAccessBarriers(Operation *op);

/// The compiler uses the facts of chips under this name.
namespace chip = ::fp8::chip;

/// The compiler uses the configuration of a GEMM under this name.
namespace config = ::fp8::config;
using config::ClusterShape;
using config::Edge;
using config::GemmConfig;
using config::kMaxClusterSize;
using config::SchedulerKind;

/// Tiles have the swizzles of tensor maps.
using ::fp8::tensor::Swizzle;

/// The lanes of tensor memory (PTX ISA, tcgen05 tensor memory).
inline constexpr int64_t kTmemLanes = 128;

/// The warps of the largest CTA (CUDA programming guide, technical
/// specifications).
inline constexpr int64_t kMaxWarps = 32;

/// The cluster of the kernel that is the op, or that contains it.
ClusterShape getClusterShape(Operation *op);

/// Parses the name of a scheduler.
FailureOr<SchedulerKind> parseScheduler(AsmParser &parser);

/// Where the elements of a fragment are ("fp8/IR/RegisterLayout.h").
class RegisterLayout;

} // namespace mlir::fp8

namespace fp8::config {

/// The hash of a configuration as a key of attributes.
llvm::hash_code hash_value(const GemmConfig &config);

} // namespace fp8::config

#include "fp8/IR/Fp8Enums.h.inc"

#include "fp8/IR/Fp8TypeInterfaces.h.inc"

#include "fp8/IR/Fp8OpInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fp8/IR/Fp8Attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fp8/IR/Fp8Types.h.inc"

namespace mlir::fp8 {

/// The type of the end: the type itself, or the end of a ready type; null for
/// other types.
EndTypeInterface getEndOf(Type type);

} // namespace mlir::fp8

#endif // FP8_IR_FP8TYPES_H
