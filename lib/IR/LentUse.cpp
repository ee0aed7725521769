// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a value that a borrow lent (L9), by the effects and the
// interfaces of the op that uses it.

#include "LentUse.h"

#include "fp8/IR/Fp8.h"
#include "fp8/IR/Linearity.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/MemorySlotInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

/// True for numbers, and vectors and tensors of them: values that no memory
/// lies behind.
static bool isNumber(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    type = vector.getElementType();
  return type.isIntOrIndexOrFloat() || isa<TensorType, ComplexType>(type);
}

/// True if the op, which writes to the target, may write the value there.
static bool mayWriteTo(Operation *op, Value target, Value value) {
  auto memory = dyn_cast<BaseMemRefType>(target.getType());
  if (!memory)
    return true; // a pointer says nothing of what lies behind it
  // A region that is given the number may compute something else of it.
  Type element = getElementTypeOrSelf(value.getType());
  for (Region &region : op->getRegions())
    if (llvm::is_contained(region.getArgumentTypes(), element))
      return true;
  if (getElementTypeOrSelf(memory.getElementType()) != element)
    return false;
  // A number of the memory's type may still be an index into it.
  auto store = dyn_cast<PromotableMemOpInterface>(op);
  MemorySlot slot{target, memory.getElementType()};
  if (!store || !store.storesTo(slot))
    return true;
  OpBuilder builder(op);
  return store.getStored(slot, builder, Value(), DataLayout()) == value;
}

/// True if the op may write the operand's value to memory.
static bool mayStore(OpOperand &use) {
  Operation *op = use.getOwner();
  // Ops of fp8, and those that take part in its rules, keep nothing. What
  // control flow does not forward is a condition.
  if (isa<LinearOpInterface, RegionBranchOpInterface, BranchOpInterface>(op) ||
      isa_and_nonnull<Fp8Dialect>(op->getDialect()))
    return false;
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  // What is only read through is an address of data.
  auto isOf = [&](const MemoryEffects::EffectInstance &effect) {
    return effect.getValue() == use.get();
  };
  auto isRead = [&](const MemoryEffects::EffectInstance &effect) {
    return isOf(effect) && isa<MemoryEffects::Read>(effect.getEffect());
  };
  if (effects && llvm::any_of(*effects, isRead))
    return false;
  SmallVector<Value> targets;
  bool writes = !effects;
  bool isKnown = effects.has_value();
  for (const MemoryEffects::EffectInstance &effect :
       effects.value_or(SmallVector<MemoryEffects::EffectInstance>())) {
    if (!isa<MemoryEffects::Write>(effect.getEffect()))
      continue;
    writes = true;
    if (Value target = effect.getValue())
      targets.push_back(target);
    else
      isKnown = false;
  }
  if (!writes)
    return false;
  auto isAddress = [](Value operand) { return !isNumber(operand.getType()); };
  if (!isNumber(use.get().getType())) {
    if (llvm::is_contained(targets, use.get()))
      return false;
    // Of two addresses, an op of unknown effects may write one to the other.
    return isKnown || llvm::count_if(op->getOperands(), isAddress) > 1;
  }
  if (!isKnown && op->getNumRegions())
    return true; // its regions may write to memory around it
  if (!isKnown)
    llvm::copy_if(op->getOperands(), std::back_inserter(targets), isAddress);
  return llvm::any_of(targets, [&](Value target) {
    return mayWriteTo(op, target, use.get());
  });
}

bool fp8::letsEscape(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isForwarded(use) || isa<YieldOp>(op))
    return true;
  // A terminator that hands a value on in a way of its own (scf.reduce), or
  // that declares nothing.
  if (op->hasTrait<mlir::OpTrait::IsTerminator>() &&
      !isa<BranchOpInterface>(op) &&
      (op->getNumRegions() || !isa<RegionBranchTerminatorOpInterface>(op)))
    return true;
  // A tensor that becomes memory is stored there.
  if (isa<TensorType>(use.get().getType()) &&
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
    return true;
  return mayStore(use);
}

/// A loop's variables, if they are computed from the operand: a bound at which
/// the loop begins, or by which it advances. The bound at which it ends limits
/// them and gives them no value.
static SmallVector<Value> getLoopVariables(OpOperand &use) {
  auto loop = dyn_cast<LoopLikeOpInterface>(use.getOwner());
  std::optional<SmallVector<Value>> variables =
      loop ? loop.getLoopInductionVars() : std::nullopt;
  if (!variables)
    return {};
  OpFoldResult value = use.get();
  auto isElsewhere = [&](std::optional<SmallVector<OpFoldResult>> bounds) {
    return bounds && !llvm::is_contained(*bounds, value);
  };
  if (isElsewhere(loop.getLoopLowerBounds()) &&
      isElsewhere(loop.getLoopSteps()))
    return {};
  return *variables;
}

/// True if the result may be what the op was given, or an address in it. What
/// an op with effects gets through an address is data; without one it can only
/// hand on what it was given, as a shuffle between lanes does.
static bool mayCarry(OpResult result, OpOperand &use) {
  Type type = result.getType();
  if (isNumber(type))
    return llvm::all_of(result.getOwner()->getOperandTypes(), isNumber);
  return isa<PtrLikeTypeInterface>(type) || type == use.get().getType();
}

SmallVector<Value> fp8::getDerivedValues(OpOperand &use) {
  Operation *op = use.getOwner();
  SmallVector<Value> derived = getLoopVariables(use);
  auto linear = dyn_cast<LinearOpInterface>(op);
  if (isa<RegionBranchOpInterface, CallOpInterface>(op) && !linear)
    return derived; // what it forwards escapes; a condition is not followed
  bool isPure = isMemoryEffectFree(op);
  bool isDeclared = linear || isa_and_nonnull<Fp8Dialect>(op->getDialect());
  for (OpResult result : op->getResults())
    if ((linear && linear.lendsResult(result)) ||
        (!isLinear(result.getType()) &&
         (isPure || (!isDeclared && mayCarry(result, use)))))
      derived.push_back(result);
  return derived;
}
