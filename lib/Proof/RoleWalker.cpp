// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statements of a role.

#include "RoleWalker.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using KBlock = ::fp8::proof::Block;
using Kind = Statement::Kind;

//===----------------------------------------------------------------------===//
// What matters
//===----------------------------------------------------------------------===//

bool RoleWalker::isHandedOverByCopies(Value stage) const {
  return plan.getStage(stage).bytesAtAcquire > 0;
}

Value RoleWalker::getHandedOver(Operation *op) const {
  if (auto copy = dyn_cast<TileCopyOpInterface>(op)) {
    Value stage = copy.getFilledStage();
    const StageUse &use =
        flow.getStageUses().find(flow.getStage(stage))->second;
    return isHandedOverByCopies(stage) && use.copies.back() == copy ? stage
                                                                    : Value();
  }
  Value stage = mlir::fp8::getHandedOver(op);
  return stage && !isHandedOverByCopies(stage) ? stage : Value();
}

/// True if the op may wait or signal: it works on a handle, or its copies hand
/// a slot over.
bool RoleWalker::isStep(Operation *op) const {
  return llvm::any_of(op->getOperandTypes(), isLinear) || getHandedOver(op);
}

static bool handlesLinear(Operation *op) {
  return llvm::any_of(op->getResultTypes(), isLinear);
}

void RoleWalker::findActive(RoleOp role) {
  role.walk([&](Operation *op) {
    if (!isStep(op) && !(op->getNumRegions() && handlesLinear(op)))
      return;
    for (; op != role && active.insert(op).second; op = op->getParentOp()) {
    }
  });
}

/// The values that one of a structured op becomes.
static SmallVector<Value> getForwarded(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op =
      argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  auto at = [](ValueRange values, unsigned number) {
    return number < values.size() ? values[number] : Value();
  };
  unsigned number = argument ? argument.getArgNumber()
                             : cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (argument && number == 0)
      return {};
    number -= argument ? 1 : 0;
    return {at(loop.getInitArgs(), number), at(loop.getYieldedValues(), number),
            at(loop.getRegionIterArgs(), number)};
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    if (argument && argument.getOwner() == loop.getBeforeBody())
      return {at(loop.getInits(), number),
              at(loop.getYieldOp().getResults(), number)};
    return {at(loop.getConditionOp().getArgs(), number)};
  }
  SmallVector<Value> values;
  if (isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp, LeadingCtaOp>(
          op)) {
    if (argument)
      return {at(op->getOperands(), number)};
    for (Region &region : op->getRegions())
      if (!region.empty())
        values.push_back(
            at(region.back().getTerminator()->getOperands(), number));
    if (isa<LeadingCtaOp>(op))
      values.push_back(at(op->getOperands(), number));
  }
  return values;
}

Value RoleWalker::getRoot(Value handle) {
  auto [it, isNew] = roots.try_emplace(handle);
  if (!isNew)
    return it->second;
  llvm::SetVector<Value> reached;
  reached.insert(handle);
  Value root;
  for (unsigned next = 0; next < reached.size(); ++next) {
    Value value = reached[next];
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && isa<RoleOp>(argument.getOwner()->getParentOp())) {
      if (root && root != value)
        return {};
      root = value;
      continue;
    }
    SmallVector<Value> from = getSources(value);
    if (from.empty())
      from = getForwarded(value);
    for (Value source : from)
      if (source && isLinear(source.getType()))
        reached.insert(source);
  }
  return roots[handle] = root;
}

void RoleWalker::need(Value value, SmallVectorImpl<Value> &worklist) {
  if (!value)
    return;
  // Most handles are those of one end throughout.
  if (isLinear(value.getType()))
    if (Value root = getRoot(value)) {
      expressions.set(value, expressions.get(root));
      return;
    }
  if (needed.insert(value).second)
    worklist.push_back(value);
}

/// What decides whether and how often the op's steps take place.
void RoleWalker::needOf(Operation *op, SmallVectorImpl<Value> &worklist) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value value :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      need(value, worklist);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    need(branch.getCondition(), worklist);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    need(loop.getConditionOp().getCondition(), worklist);
  } else if (auto branch = dyn_cast<scf::IndexSwitchOp>(op)) {
    need(branch.getArg(), worklist);
  } else if (isStep(op)) {
    for (Value operand : op->getOperands())
      if (isLinear(operand.getType()))
        need(operand, worklist);
  }
}

void RoleWalker::findNeeded(RoleOp role) {
  SmallVector<Value> worklist;
  for (Operation *op : active)
    needOf(op, worklist);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Value source : getSources(value))
      need(source, worklist);
    Operation *op = value.getDefiningOp();
    if (!op)
      op = cast<BlockArgument>(value).getOwner()->getParentOp();
    if (op == role || !op->getNumRegions() || isa<FunctionOpInterface>(op))
      continue;
    // A value of an op without steps is not followed.
    if (isActive(op))
      for (Value source : getForwarded(value))
        need(source, worklist);
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// True if CTAs exchange sums in the op: all do, or none.
static bool meets(Operation *op) {
  return op->walk([](ReduceScatterOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

unsigned RoleWalker::getSite(Operation *op) {
  kernel.sites.push_back(op);
  return kernel.sites.size() - 1;
}

void RoleWalker::obstruct(Operation *op, const Twine &reason) {
  if (kernel.obstacle)
    return;
  kernel.obstacle = op;
  kernel.reason = reason.str();
}

void RoleWalker::addStep(Kind kind, Operation *op, Value handle, KBlock &out,
                         unsigned offset) {
  Statement step{kind};
  step.site = getSite(op);
  Value root = getRoot(handle);
  step.end = expressions.get(root ? root : handle);
  if (offset)
    step.end = table.get(ExprKind::Add, {step.end, table.getConstant(offset)});
  out.push_back(std::move(step));
}

void RoleWalker::makeVariables(ValueRange values) {
  for (Value value : values)
    if (needed.contains(value))
      expressions.makeVariable(value);
}

unsigned RoleWalker::getVariable(Value value) {
  return table[expressions.get(value)].value;
}

void RoleWalker::assign(Operation *op, ValueRange variables, ValueRange values,
                        KBlock &out) {
  Statement statement{Kind::Assign};
  for (auto [variable, value] : llvm::zip(variables, values))
    if (needed.contains(variable))
      statement.assigned.push_back(
          {getVariable(variable), expressions.get(value)});
  if (statement.assigned.empty())
    return;
  statement.site = getSite(op);
  out.push_back(std::move(statement));
}

void RoleWalker::alias(ValueRange values, ValueRange others) {
  for (auto [value, other] : llvm::zip(values, others))
    if (needed.contains(value))
      expressions.set(value, expressions.get(other));
}

void RoleWalker::walkFor(Operation *op, KBlock &out) {
  auto loop = cast<scf::ForOp>(op);
  // The carried values and the results are the same variables.
  for (auto [argument, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getResults())) {
    if (needed.contains(result))
      needed.insert(argument);
    if (needed.contains(argument)) {
      needed.insert(result);
      expressions.makeVariable(argument);
      expressions.set(result, expressions.get(argument));
    }
  }
  assign(op, loop.getRegionIterArgs(), loop.getInitArgs(), out);
  Statement statement{Kind::For};
  statement.site = getSite(op);
  statement.lower = expressions.get(loop.getLowerBound());
  statement.upper = expressions.get(loop.getUpperBound());
  statement.step = expressions.get(loop.getStep());
  statement.variable = expressions.makeVariable(loop.getInductionVar());
  statement.bound = expressions.makeVariable();
  statement.stride = expressions.makeVariable();
  walk(*loop.getBody(), statement.first);
  assign(loop.getBody()->getTerminator(), loop.getRegionIterArgs(),
         loop.getYieldedValues(), statement.first);
  out.push_back(std::move(statement));
}

void RoleWalker::walkIf(Operation *op, KBlock &out) {
  auto branch = cast<scf::IfOp>(op);
  makeVariables(op->getResults());
  Statement statement{Kind::Branch};
  statement.site = getSite(op);
  statement.condition = expressions.get(branch.getCondition());
  auto walkArm = [&](mlir::Block *block, KBlock &arm) {
    if (!block)
      return;
    walk(*block, arm);
    assign(block->getTerminator(), op->getResults(),
           block->getTerminator()->getOperands(), arm);
  };
  walkArm(branch.thenBlock(), statement.first);
  walkArm(branch.elseBlock(), statement.second);
  out.push_back(std::move(statement));
}

void RoleWalker::walkWhile(Operation *op, KBlock &out) {
  auto loop = cast<scf::WhileOp>(op);
  makeVariables(loop.getBeforeArguments());
  assign(op, loop.getBeforeArguments(), loop.getInits(), out);
  // What the condition passes on is the loop's result, too. It has a value in
  // front of the loop, so that it is alive behind.
  Statement start{Kind::Assign};
  start.site = getSite(op);
  for (auto [argument, result] :
       llvm::zip(loop.getAfterArguments(), loop.getResults())) {
    if (!needed.contains(argument) && !needed.contains(result))
      continue;
    needed.insert(argument);
    unsigned variable = expressions.makeVariable(argument);
    expressions.set(result, expressions.get(argument));
    start.assigned.push_back({variable, table.getConstant(0)});
  }
  if (!start.assigned.empty())
    out.push_back(std::move(start));
  Statement statement{Kind::While};
  statement.site = getSite(op);
  walk(*loop.getBeforeBody(), statement.first);
  scf::ConditionOp condition = loop.getConditionOp();
  statement.condition = expressions.get(condition.getCondition());
  assign(condition, loop.getAfterArguments(), condition.getArgs(),
         statement.first);
  walk(*loop.getAfterBody(), statement.second);
  assign(loop.getYieldOp(), loop.getBeforeArguments(),
         loop.getYieldOp().getResults(), statement.second);
  out.push_back(std::move(statement));
}

void RoleWalker::walkSwitch(Operation *op, KBlock &out) {
  auto branch = cast<scf::IndexSwitchOp>(op);
  makeVariables(op->getResults());
  ExprId argument = expressions.get(branch.getArg());
  KBlock *next = &out;
  auto walkArm = [&](mlir::Block &block, KBlock &arm) {
    walk(block, arm);
    assign(block.getTerminator(), op->getResults(),
           block.getTerminator()->getOperands(), arm);
  };
  for (auto [index, value] : llvm::enumerate(branch.getCases())) {
    Statement statement{Kind::Branch};
    statement.site = getSite(op);
    statement.condition =
        table.get(ExprKind::Equal, {argument, table.getConstant(value)});
    walkArm(branch.getCaseBlock(index), statement.first);
    next->push_back(std::move(statement));
    next = &next->back().second;
  }
  walkArm(branch.getDefaultBlock(), *next);
}

void RoleWalker::walkOnce(Operation *op, Region &body, ValueRange operands,
                          KBlock &out) {
  if (!body.hasOneBlock())
    return obstruct(op, "its control flow is not structured");
  alias(body.getArguments(), operands);
  walk(body.front(), out);
  alias(op->getResults(), body.front().getTerminator()->getOperands());
}

/// Tensor memory is handed over twice: when it is allocated, and when it is no
/// longer read.
bool RoleWalker::walkTensorMemoryStep(Operation *op, KBlock &out) {
  auto add = [&](Kind kind, unsigned offset) {
    addStep(kind, op, op->getOperand(0), out, offset);
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<CreateMmaWarpOp>(
          [&](auto) { return add(Kind::Signal, kAllocation); })
      .Case<WaitTmemOp>([&](auto) { return add(Kind::Wait, kAllocation); })
      .Case<ReleaseEpilogueWarpOp>(
          [&](auto) { return add(Kind::Signal, kDeallocation); })
      .Case<ReleaseMmaWarpOp>(
          [&](auto) { return add(Kind::Wait, kDeallocation); })
      .Default(false);
}

void RoleWalker::walkStep(Operation *op, KBlock &out) {
  if (walkTensorMemoryStep(op, out))
    return;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AcquireOp acquire) {
        if (!isa<ReadyType>(acquire.getEnd().getType()))
          addStep(Kind::Wait, op, acquire.getEnd(), out);
      })
      .Case([&](WaitOp wait) { addStep(Kind::Wait, op, wait.getEnd(), out); })
      .Case([&](CloseOp close) {
        auto end = dyn_cast<EndTypeInterface>(close.getEnd().getType());
        if (end && end.isProducer())
          addStep(Kind::Drain, op, close.getEnd(), out);
      })
      .Case([&](NextWorkOp next) {
        if (!needed.contains(next.getMore()))
          return;
        Statement step{Kind::Answer};
        step.site = getSite(op);
        Value root = getRoot(next.getStage());
        step.end = expressions.get(root ? root : next.getStage());
        step.assigned.push_back({expressions.makeVariable(next.getMore()), 0});
        out.push_back(std::move(step));
      })
      .Default([&](Operation *) {
        if (Value stage = getHandedOver(op))
          addStep(Kind::Signal, op, stage, out);
        else if (op->getNumRegions())
          obstruct(op, "the proof does not follow handles through '" +
                           op->getName().getStringRef() + "'");
      });
}

void RoleWalker::walk(Operation *op, KBlock &out) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>([&](auto) { walkFor(op, out); })
      .Case<scf::IfOp>([&](auto) { walkIf(op, out); })
      .Case<scf::WhileOp>([&](auto) { walkWhile(op, out); })
      .Case<scf::IndexSwitchOp>([&](auto) { walkSwitch(op, out); })
      .Case([&](scf::ExecuteRegionOp region) {
        walkOnce(op, region.getRegion(), {}, out);
      })
      .Case([&](LeadingCtaOp leading) {
        if (cta.runs(leading))
          walkOnce(op, leading.getBody(), leading.getInits(), out);
        else
          alias(op->getResults(), leading.getInits());
      })
      .Default([&](Operation *) { walkStep(op, out); });
}

void RoleWalker::walk(mlir::Block &block, KBlock &out) {
  for (Operation &op : block) {
    if (!isActive(&op))
      continue;
    size_t before = out.size();
    walk(&op, out);
    if (op.getNumRegions() && meets(&op))
      for (Statement &statement : llvm::drop_begin(out, before))
        statement.meets = true;
  }
}

Process RoleWalker::walk(RoleOp role, ArrayRef<ExprId> ends) {
  Process process;
  process.site = getSite(role);
  Region &body = role.getBody();
  if (!body.hasOneBlock()) {
    obstruct(role, "its control flow is not structured");
    return process;
  }
  for (auto [argument, end] : llvm::zip(body.getArguments(), ends))
    expressions.set(argument, end);
  findActive(role);
  findNeeded(role);
  walk(body.front(), process.body);
  process.numVariables = expressions.getNumVariables();
  return process;
}
