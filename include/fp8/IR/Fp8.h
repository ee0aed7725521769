// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fp8 dialect and its ops.

#ifndef FP8_IR_FP8_H
#define FP8_IR_FP8_H

#include "fp8/IR/Fp8Types.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::fp8 {

/// Represents the barriers, the shared memory and the tensor memory that waits,
/// signals and asynchronous copies access.
struct BarrierResource : public SideEffects::Resource::Base<BarrierResource> {
  StringRef getName() final { return "fp8.barrier"; }
};

/// Checks that the kernel has no handle of a ring any more.
LogicalResult verifyBarriers(Operation *kernel);

namespace OpTrait {
namespace impl {
LogicalResult verifyInBarrierPhase(Operation *op);
LogicalResult verifyInLinearFunction(Operation *op);
} // namespace impl

/// The op uses linear values, so an enclosing function must carry `fp8.linear`
/// (L6).
template <typename ConcreteType>
class InLinearFunction
    : public mlir::OpTrait::TraitBase<ConcreteType, InLinearFunction> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifyInLinearFunction(op);
  }
};

/// The op does a part of a hand-over by itself. A kernel whose hand-overs are
/// those of rings, `fp8.linear` without `fp8.barriers`, must not contain it
/// (B4).
template <typename ConcreteType>
class InBarrierPhase
    : public mlir::OpTrait::TraitBase<ConcreteType, InBarrierPhase> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifyInBarrierPhase(op);
  }
};

/// A role with such warps does the op's work (RoleWorkOpInterface).
template <RoleWarps warps>
struct NeedsRole {
  template <typename ConcreteType>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteType, Impl> {
  public:
    static RoleWarps getRoleWarps() { return warps; }
  };
};

/// The op belongs in the entry block of its kernel (P3, R1).
template <typename ConcreteType>
class InEntryBlock
    : public mlir::OpTrait::TraitBase<ConcreteType, InEntryBlock> {};

/// The op always requires the feature of its chip (FeatureOpInterface).
template <chip::Feature feature>
struct RequiresFeature {
  template <typename ConcreteType>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteType, Impl> {
  public:
    static chip::FeatureSet getRequiredFeatures() { return feature; }
  };
};
} // namespace OpTrait

} // namespace mlir::fp8

#include "fp8/IR/Fp8Dialect.h.inc"

#define GET_OP_CLASSES
#include "fp8/IR/Fp8Ops.h.inc"

namespace mlir::fp8 {

/// The record that `--fp8-plan-kernels` may have written on the op; an empty
/// one if it has not.
template <typename PlanAttr>
auto getPlanOrNone(Operation *op) {
  auto plan = op->getAttrOfType<PlanAttr>(Fp8Dialect::kPlanAttrName);
  return plan ? plan.getPlan() : decltype(plan.getPlan())();
}

/// The record that `--fp8-plan-kernels` has written on the op. The op must
/// carry a record of that kind: lib/Analysis checks plans before others read
/// them.
template <typename PlanAttr>
auto getPlan(Operation *op) {
  return op->getAttrOfType<PlanAttr>(Fp8Dialect::kPlanAttrName).getPlan();
}

} // namespace mlir::fp8

#endif // FP8_IR_FP8_H
