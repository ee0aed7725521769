// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of accesses to arrays.

#include "PlainMemory.h"

#include "Expressions.h"
#include "Forwarding.h"
#include "ThreadIndices.h"
#include "fp8/IR/ComputedGemm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::fp8;
using ::fp8::proof::ExprId;
using ::fp8::proof::ExprKind;
using ::fp8::proof::ExprTable;

using Roles = llvm::SetVector<Operation *>;

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

SmallVector<Operation *> ArrayUse::getAll() const {
  SmallVector<Operation *> all(reads);
  llvm::append_range(all, writes);
  llvm::append_range(all, stores);
  return all;
}

/// The number of the argument of the kernel; none if the value is no argument.
static std::optional<unsigned> getArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return argument.getArgNumber();
}

/// True if the op says that it reads memory and does nothing else.
static bool onlyReads(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || op->getNumRegions())
    return false;
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  // What has no effect hands the array on.
  return !all.empty() &&
         llvm::all_of(all, [](const MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Read>(effect.getEffect());
         });
}

void PlainMemory::collect() {
  kernel->walk([&](Operation *op) {
    decideCall(op);
    for (Value operand : op->getOperands()) {
      // The user of what a select chooses uses either.
      if (isa<MemRefType, TensorMapType>(operand.getType()) &&
          !isa<memref::DimOp, arith::SelectOp>(op))
        collect(op, operand);
    }
  });
}

void PlainMemory::collect(Operation *op, Value operand) {
  if (auto select = operand.getDefiningOp<arith::SelectOp>()) {
    collect(op, select.getTrueValue());
    return collect(op, select.getFalseValue());
  }
  std::optional<unsigned> argument = getArgument(operand);
  if (!argument) {
    undecided.push_back(
        {op, "it works on an array that is no argument of the kernel; index "
             "the argument itself"});
    return;
  }
  ArrayUse &its = uses[*argument];
  if (isa<memref::StoreOp>(op))
    its.writes.push_back(op);
  else if (isa<StoreOp>(op))
    its.stores.push_back(op);
  else if (isa<memref::LoadOp, LoadElementOp, TmaLoadOp, TmaCopyOp,
               TmaPrefetchOp>(op) ||
           onlyReads(op))
    its.reads.push_back(op);
  else
    undecided.push_back({op, "it may change argument " +
                                 std::to_string(*argument) +
                                 " in a way that is not followed"});
}

/// The roles of the ops; null stands for what is outside of roles.
static Roles getRoles(ArrayRef<Operation *> ops) {
  Roles roles;
  for (Operation *op : ops)
    roles.insert(op->getParentOfType<RoleOp>());
  return roles;
}

static std::string getNames(const Roles &roles) {
  std::string text;
  for (Operation *role : roles) {
    text += text.empty() ? "" : " and ";
    text += role ? "role \"" + cast<RoleOp>(role).getName().str() + "\""
                 : "all threads";
  }
  return text;
}

int64_t PlainMemory::getNumWarps(Operation *role) const {
  return role ? plan.getWarps(cast<RoleOp>(role)).count : plan.getNumWarps();
}

static ValueRange getIndices(Operation *access) {
  if (auto load = dyn_cast<memref::LoadOp>(access))
    return load.getIndices();
  return cast<memref::StoreOp>(access).getIndices();
}

static MemRefType getArrayType(Operation *access) {
  auto load = dyn_cast<memref::LoadOp>(access);
  return load ? load.getMemRefType()
              : cast<memref::StoreOp>(access).getMemRefType();
}

static bool hasUniformIndices(Operation *access, Among among) {
  return llvm::all_of(getIndices(access),
                      [among](Value index) { return isUniform(index, among); });
}

/// True if threads that write one element at once write the same value.
static bool writesOneValue(Operation *write, Among among) {
  return isUniform(cast<memref::StoreOp>(write).getValue(), among);
}

/// True if elements of different indices lie in different places.
static bool hasDistinctElements(Operation *access) {
  MemRefType type = getArrayType(access);
  SmallVector<int64_t> strides;
  int64_t offset;
  return type.getLayout().isIdentity() ||
         (succeeded(type.getStridesAndOffset(strides, offset)) &&
          strides.size() == 1 && strides[0] &&
          !ShapedType::isDynamic(strides[0]));
}

/// True if each lane writes an element of its own: one index differs between
/// them, its elements do not lie in one place, and all have the others.
static bool writesOwnElement(Operation *write) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<memref::StoreOp>(write).getMemRefType();
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  ValueRange indices = getIndices(write);
  // Elements of other indices overlap nowhere.
  bool isDense = type.getLayout().isIdentity();
  for (auto [axis, index] : llvm::enumerate(indices)) {
    bool areOthersAlike = isDense;
    if (!isDense)
      areOthersAlike =
          llvm::all_of(llvm::enumerate(indices), [axis = axis](auto other) {
            return other.index() == axis ||
                   isUniform(other.value(), Among::Lanes);
          });
    bool isSpread =
        isDense || (strides[axis] && !ShapedType::isDynamic(strides[axis]));
    if (areOthersAlike && isSpread && isOfLane(index))
      return true;
  }
  return false;
}

/// True if no two lanes write different values to one element at once.
static bool areLanesApart(Operation *write) {
  return (writesOneValue(write, Among::Lanes) &&
          hasUniformIndices(write, Among::Lanes)) ||
         writesOwnElement(write);
}

/// True if no two threads access the same element: the index along one axis
/// tells which of them does it. Elements of other indices overlap nowhere.
static bool areOfOneThreadEach(ArrayRef<Operation *> accesses,
                               int64_t numThreads) {
  auto isOfArray = [](Operation *access) {
    return isa<memref::LoadOp, memref::StoreOp>(access);
  };
  if (!llvm::all_of(accesses, isOfArray))
    return false;
  return llvm::any_of(
      llvm::seq<int64_t>(0, getArrayType(accesses.front()).getRank()),
      [&](int64_t axis) {
        return llvm::all_of(accesses, [&](Operation *access) {
          return getArrayType(access).getLayout().isIdentity() &&
                 tellsThread(getIndices(access)[axis], numThreads);
        });
      });
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// True if the index is the variable of a loop around the op, which the role
/// runs once: no two turns have the same.
static bool isTurnOfOnlyLoop(Operation *access) {
  Operation *only = nullptr;
  // Branches between blocks may be a loop, too.
  for (Operation *op = access;; op = op->getParentOp()) {
    if (!op->getParentRegion()->hasOneBlock())
      return false;
    if (isa<RoleOp>(op->getParentOp()))
      break;
  }
  for (Operation *op = access->getParentOp(); !isa<RoleOp>(op);
       op = op->getParentOp()) {
    if (!isa<LoopLikeOpInterface>(op))
      continue;
    if (only)
      return false;
    only = op;
  }
  auto loop = dyn_cast_or_null<scf::ForOp>(only);
  return loop && llvm::is_contained(getIndices(access), loop.getInductionVar());
}

bool PlainMemory::addRisingRule(const ArrayUse &use) {
  Operation *write = use.writes.front();
  if (use.getAll().size() > 1 || getIndices(write).empty() ||
      !write->getParentOfType<RoleOp>() ||
      !hasUniformIndices(write, Among::Warps) || !hasDistinctElements(write) ||
      !writesOneValue(write, Among::Warps))
    return false;
  if (!isTurnOfOnlyLoop(write))
    rules[write] = {};
  return true;
}

/// True if threads hand the slot over, behind what they have done, and the
/// number of the slot can be counted.
bool PlainMemory::isGuard(AcquireOp acquire) const {
  Value stage = acquire.getStage();
  const StageUse &use = flow.getStageUses().find(flow.getStage(stage))->second;
  StagePlan its = plan.getStage(stage);
  return !isa<ReadyType>(acquire.getEnd().getType()) &&
         use.acquires.size() == 1 && use.handOvers.size() == 1 &&
         use.copies.empty() && use.elementLoads.empty() && !its.usedByMma &&
         flow.getRings(stage).size() == 1;
}

AcquireOp PlainMemory::getGuard(Operation *op, Operation *maker) const {
  for (auto &[number, use] : flow.getStageUses()) {
    if (use.acquires.empty() || !isGuard(use.acquires.front()))
      continue;
    AcquireOp acquire = use.acquires.front();
    Operation *around = acquire->getBlock()->findAncestorOpInBlock(*op);
    Operation *handOver =
        acquire->getBlock()->findAncestorOpInBlock(*use.handOvers.front());
    if (flow.getRings(acquire.getStage()).front() == maker && around &&
        handOver == use.handOvers.front() && acquire->isBeforeInBlock(around) &&
        around->isBeforeInBlock(handOver))
      return acquire;
  }
  return {};
}

/// True if the value is the number of the slot.
static bool isSlot(Value index, AcquireOp acquire) {
  auto its = index.getDefiningOp<IndexOp>();
  return its && its->getOperand(0) == acquire.getStage();
}

/// An index may be counted modulo more than there are slots.
static int64_t getModulus(ArrayRef<Operation *> accesses, int64_t slots) {
  std::optional<int64_t> modulus;
  for (Operation *access : accesses) {
    Operation *rest = getIndices(access).back().getDefiningOp();
    APInt its;
    if (slots == 1 || !isa_and_nonnull<arith::RemUIOp, arith::RemSIOp>(rest) ||
        !matchPattern(rest->getOperand(1), m_ConstantInt(&its)) ||
        its.getSExtValue() < modulus.value_or(slots) ||
        (modulus && *modulus != its.getSExtValue()))
      return slots;
    modulus = its.getSExtValue();
  }
  return modulus.value_or(slots);
}

bool PlainMemory::addGuardRules(const ArrayUse &use) {
  if (plan.getCluster().getSize() > 1)
    return false;
  SmallVector<Operation *> all = use.getAll();
  for (auto maker :
       kernel.getFunctionBody().front().getOps<RingOpInterface>()) {
    auto ring = dyn_cast<PipelineType>(maker.getRing());
    if (!ring)
      continue;
    Roles filling, emptying;
    bool fits = true, fills = false, empties = false;
    SmallVector<AcquireOp> guards;
    for (Operation *op : all) {
      AcquireOp guard = getGuard(op, maker);
      guards.push_back(guard);
      bool isElement = isa<memref::LoadOp, memref::StoreOp>(op);
      if (!guard || !isElement || getIndices(op).size() != 1 ||
          !hasDistinctElements(op)) {
        fits = false;
        break;
      }
      auto end = cast<EndTypeInterface>(guard.getEnd().getType());
      bool writes = isa<memref::StoreOp>(op);
      auto role = op->getParentOfType<RoleOp>();
      (end.isProducer() ? filling : emptying).insert(role);
      (end.isProducer() ? fills : empties) |= writes;
      // What one warp does is in order, and lanes write the same value.
      // Several warps do it at once: each element in one op.
      fits &= !writes || areLanesApart(op);
      if (writes && getNumWarps(role) > 1)
        fits &= op->getBlock() == guard->getBlock() &&
                writesOneValue(op, Among::Warps) &&
                llvm::count_if(all, [&](Operation *other) {
                  return other->getParentOfType<RoleOp>() == role;
                }) == 1;
    }
    // Those of one side hold a slot at the same time.
    if (!fits || (fills && filling.size() > 1) ||
        (empties && emptying.size() > 1))
      continue;
    int64_t modulus = getModulus(all, ring.getNumStages());
    for (auto [op, guard] : llvm::zip(all, guards))
      rules[op] = {guard, isSlot(getIndices(op).back(), guard) ? 1 : modulus};
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// True if launch arguments and the numbers of the CTA alone say what the
/// expression is.
static bool isOfLaunch(const ExprTable &table, ExprId id) {
  const ::fp8::proof::Expr &expr = table[id];
  return expr.kind != ExprKind::Opaque &&
         llvm::all_of(expr.operands, [&](ExprId operand) {
           return isOfLaunch(table, operand);
         });
}

/// The expression without a constant that is added to it, and the constant.
static std::pair<ExprId, int64_t> splitConstant(ExprTable &table, ExprId id) {
  const ::fp8::proof::Expr sum = table[id];
  if (sum.kind == ExprKind::Constant)
    return {table.getConstant(0), sum.value};
  if (sum.kind == ExprKind::Add)
    for (unsigned i : {0, 1})
      if (table[sum.operands[i]].kind == ExprKind::Constant)
        return {sum.operands[1 - i], table[sum.operands[i]].value};
  return {id, 0};
}

bool PlainMemory::lieApart(StoreOp a, StoreOp b) const {
  ExprTable table;
  ProcessExpressions expressions(table, {}, plan.getNumWarps(),
                                 plan.getCluster().getSize());
  ArrayRef<int64_t> extents[] = {a.getFragment().getType().getShape(),
                                 b.getFragment().getType().getShape()};
  // Of a batch, the first axis is that of the matrices.
  for (size_t axis = 0; axis < extents[0].size(); ++axis) {
    Value places[] = {a.getCoordinates().take_back(2)[axis],
                      b.getCoordinates().take_back(2)[axis]};
    if (!isUniform(places[0]) || !isUniform(places[1]))
      continue;
    auto [first, by] = splitConstant(table, expressions.get(places[0]));
    auto [second, other] = splitConstant(table, expressions.get(places[1]));
    if (first == second && isOfLaunch(table, first) &&
        (other - by >= extents[0][axis] || by - other >= extents[1][axis]))
      return true;
  }
  return false;
}

bool PlainMemory::areApart(ArrayRef<Operation *> stores) const {
  for (Operation *store : stores)
    for (Operation *other : stores)
      if (store->getParentOfType<RoleOp>() !=
              other->getParentOfType<RoleOp>() &&
          !lieApart(cast<StoreOp>(store), cast<StoreOp>(other)))
        return false;
  return true;
}

/// Boxes that one role stores to have nothing in common, as is taken for
/// granted. So have those of several roles, if each stores what it says, or if
/// their places lie apart in each CTA.
void PlainMemory::decideStores(unsigned argument, const ArrayUse &use) {
  std::string array = "argument " + std::to_string(argument);
  Roles roles = getRoles(use.stores);
  if (!use.writes.empty() || !use.reads.empty())
    undecided.push_back({use.stores.front(),
                         "it is not known whether the box has elements of " +
                             array + " that are accessed otherwise"});
  else if (roles.size() > 1 && !ComputedGemm::get(kernel) &&
           !areApart(use.stores))
    undecided.push_back(
        {use.stores.front(), "it is not known whether " + getNames(roles) +
                                 " store to boxes of " + array +
                                 " that have something in common"});
}

void PlainMemory::decide(unsigned argument, const ArrayUse &use) {
  if (!use.stores.empty())
    return decideStores(argument, use);
  if (use.writes.empty())
    return;
  Roles roles = getRoles(use.getAll());
  // What copies read is in no order with what threads write.
  bool isByOneRole = roles.size() == 1;
  bool isByOneWarp = isByOneRole && getNumWarps(roles.front()) == 1 &&
                     llvm::all_of(use.reads, [](Operation *read) {
                       return isa<memref::LoadOp>(read);
                     });
  if ((isByOneWarp && llvm::all_of(use.writes, areLanesApart)) ||
      (isByOneRole &&
       areOfOneThreadEach(use.getAll(), 32 * getNumWarps(roles.front()))) ||
      addRisingRule(use) || addGuardRules(use))
    return;
  undecided.push_back(
      {use.writes.front(), "it is not known whether accesses to argument " +
                               std::to_string(argument) + " by " +
                               getNames(roles) + " are ordered"});
}

PlainMemory::PlainMemory(FunctionOpInterface kernel, const KernelPlan &plan,
                         const HandleFlow &flow)
    : kernel(kernel), plan(plan), flow(flow) {
  collect();
  for (auto &[argument, use] : uses)
    decide(argument, use);
  decideLaunches();
}
