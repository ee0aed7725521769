// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a value that a borrow lent (L9), by the effects and the
// interfaces of the op that uses it.

#include "LentUse.h"

#include "fp8/IR/Assembly.h"
#include "fp8/IR/Fp8.h"
#include "fp8/IR/LinearUse.h"

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

/// True if assembly text may take a value of this type for an address. All but
/// floats and integers of fewer than 32 bits may be one: addresses in shared
/// memory have 32 bits. A vector or a structure is what its elements are.
static bool mayHoldAddress(Type type) {
  bool isAddress = isa<PtrLikeTypeInterface>(type), hasParts = false;
  type.walkImmediateSubElements([](Attribute) {},
                                [&](Type part) {
                                  hasParts = true;
                                  isAddress |= mayHoldAddress(part);
                                });
  if (hasParts)
    return isAddress;
  return !isa<FloatType>(type) &&
         !(isa<IntegerType>(type) && type.getIntOrFloatBitWidth() < 32);
}

/// True if assembly text that is given the operand may write it to memory: a
/// number at any address, an address at another one.
static bool mayStoreInAssembly(OpOperand &use) {
  bool isAddress = !isNumber(use.get().getType());
  return llvm::count_if(use.getOwner()->getOperandTypes(), mayHoldAddress) >
         (isAddress ? 1 : 0);
}

/// True if the op reads what lies behind the operand.
static bool readsThrough(OpOperand &use,
                         ArrayRef<MemoryEffects::EffectInstance> effects) {
  return llvm::any_of(effects, [&](const auto &effect) {
    return isa<MemoryEffects::Read>(effect.getEffect()) &&
           effect.template getEffectValue<OpOperand *>() == &use;
  });
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
  if (getAssembly(op))
    return !isMemoryEffectFree(op) && mayStoreInAssembly(use);
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  if (effects && readsThrough(use, *effects))
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
  return llvm::any_of(
      targets, [&](Value target) { return mayWriteTo(op, target, use.get()); });
}

bool mlir::fp8::letsEscape(OpOperand &use) {
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

/// True if an op with effects may hand on the operand in the result: the value
/// itself, an address in it, or what is computed from it. What the op gets
/// through an address is data; without one it can only hand on what it was
/// given, as a shuffle between lanes does.
static bool mayCarry(OpResult result, OpOperand &use) {
  Operation *op = use.getOwner();
  Type type = result.getType(), given = use.get().getType();
  // A reader of views gets data through them, at the place that an index says.
  if (auto reader = dyn_cast<ViewReaderOpInterface>(op))
    return !given.isIndex() &&
           !llvm::is_contained(reader.getViewsRead(), use.get());
  if (getAssembly(op))
    return isNumber(given) || mayHoldAddress(type);
  if (isNumber(type))
    return llvm::all_of(op->getOperandTypes(), isNumber);
  auto effects = getEffectsRecursively(op);
  return (isa<PtrLikeTypeInterface>(type) || type == given) &&
         !(effects && readsThrough(use, *effects));
}

/// True if the operand only decides between other values.
static bool isCondition(OpOperand &use) {
  auto select = dyn_cast<SelectLikeOpInterface>(use.getOwner());
  Value value = use.get();
  return select && value == select.getCondition() &&
         value != select.getTrueValue() && value != select.getFalseValue();
}

SmallVector<Value> mlir::fp8::getDerivedValues(OpOperand &use) {
  Operation *op = use.getOwner();
  SmallVector<Value> derived = getLoopVariables(use);
  auto linear = dyn_cast<LinearOpInterface>(op);
  if (isa<RegionBranchOpInterface, CallOpInterface>(op) && !linear)
    return derived; // what it forwards escapes; a condition is not followed
  if (isCondition(use))
    return derived; // control that depends on it is not followed
  bool isPure = isMemoryEffectFree(op);
  for (OpResult result : op->getResults())
    if ((linear && linear.lendsResult(result)) ||
        (!isLinear(result.getType()) &&
         (isPure || (!linear && mayCarry(result, use)))))
      derived.push_back(result);
  return derived;
}
