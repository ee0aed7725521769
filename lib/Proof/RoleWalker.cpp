// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statements of a role.

#include "RoleWalker.h"

#include "Accesses.h"
#include "ArrayOrder.h"
#include "Fills.h"
#include "Marks.h"
#include "Polls.h"
#include "Provenance.h"
#include "fp8/IR/LinearUse.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using KBlock = ::fp8::proof::Block;
using Kind = Statement::Kind;

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

void RoleWalker::makeVariables(Value value) {
  if (needed.contains(value))
    expressions.makeVariable(value);
  if (labels)
    labels->makeVariables(value);
}

void RoleWalker::makeVariables(ValueRange values) {
  for (Value value : values)
    makeVariables(value);
}

unsigned RoleWalker::getVariable(Value value) {
  return table[expressions.get(value)].value;
}

void RoleWalker::assign(Operation *op, ValueRange variables, ValueRange values,
                        KBlock &out) {
  Statement statement{Kind::Assign};
  for (auto [variable, value] : llvm::zip(variables, values)) {
    if (needed.contains(variable))
      statement.assigned.push_back(
          {getVariable(variable), expressions.get(value)});
    if (labels)
      labels->assign(variable, value, statement.assigned);
  }
  if (statement.assigned.empty())
    return;
  statement.site = getSite(op);
  out.push_back(std::move(statement));
}

void RoleWalker::alias(Value value, Value other) {
  if (needed.contains(value))
    expressions.set(value, expressions.get(other));
  if (labels && labels->getSize(value.getType()))
    labels->set(value, Labels::Label(labels->get(other)));
}

void RoleWalker::alias(ValueRange values, ValueRange others) {
  for (auto [value, other] : llvm::zip(values, others))
    alias(value, other);
}

void RoleWalker::walkFor(Operation *op, KBlock &out) {
  auto loop = cast<scf::ForOp>(op);
  // The carried values and the results are the same variables.
  for (auto [argument, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getResults())) {
    if (needed.contains(result))
      needed.insert(argument);
    if (needed.contains(argument))
      needed.insert(result);
    makeVariables(argument);
    alias(result, argument);
  }
  assign(op, loop.getRegionIterArgs(), loop.getInitArgs(), out);
  checkCount(loop);
  Statement statement{Kind::For};
  statement.site = getSite(op);
  statement.lower = expressions.getBound(loop, loop.getLowerBound());
  statement.upper = expressions.getBound(loop, loop.getUpperBound());
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

void RoleWalker::leadToGuard(Statement &loop) {
  if (!loop.first.empty())
    return;
  loop.first.push_back({Kind::Assign});
  loop.first.back().site = loop.site;
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
    if (needed.contains(argument) || needed.contains(result)) {
      needed.insert(argument);
      needed.insert(result);
      start.assigned.push_back(
          {expressions.makeVariable(argument), table.getConstant(0)});
    }
    if (labels) {
      labels->makeVariables(argument);
      labels->clear(argument, start.assigned);
    }
    alias(result, argument);
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
  leadToGuard(statement);
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
  alias(body.getArguments(), operands);
  if (!body.hasOneBlock())
    return walkBlocks(op, body, out);
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

/// True if the stage, or the one of a ready end, is one that its role fills.
static bool isFilled(Value stage) {
  if (auto ready = dyn_cast<ReadyType>(stage.getType()))
    return cast<EndTypeInterface>(ready.getEnd()).isProducer();
  auto type = cast<StageTypeInterface>(stage.getType());
  return cast<EndTypeInterface>(type.getEndType()).isProducer();
}

void RoleWalker::walkLabels(Operation *op, KBlock &out) {
  if (labels && labels->follows(op))
    labels->walk(op, getSite(op), out);
}

/// A consumer gets the labels of the slot that it has waited for, and what a
/// producer has waited for is empty. Both hand on what they have made of it.
void RoleWalker::walkWait(Operation *op, Value taken, KBlock &out) {
  addStep(Kind::Wait, op, op->getOperand(0), out);
  if (!labels)
    return;
  labels->makeVariables(taken);
  if (!isFilled(taken) || !labels->handsOver()) {
    if (labels->getSize(taken.getType())) {
      unsigned first = labels->getFirstField(taken.getType());
      for (auto [field, id] : llvm::enumerate(labels->get(taken)))
        out.back().assigned.push_back({table[id].value, first + field});
    }
  } else {
    Statement statement{Kind::Assign};
    statement.site = getSite(op);
    labels->clear(taken, statement.assigned);
    if (!statement.assigned.empty())
      out.push_back(std::move(statement));
  }
  labels->begin(taken, getSite(op), out);
}

void RoleWalker::walkInside(Operation *op, KBlock &out) {
  op->walk([&](Operation *inner) {
    if (isa<MmaOp, TileCopyOpInterface>(inner))
      obstruct(inner, "threads of its role may differ in whether they do it");
    else if (inner != op && labels->asksOfAll())
      walkLabels(inner, out);
  });
}

void RoleWalker::walkStep(Operation *op, KBlock &out) {
  walkLabels(op, out);
  if (walkTensorMemoryStep(op, out))
    return;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AcquireOp acquire) {
        if (!isa<ReadyType>(acquire.getEnd().getType()))
          return walkWait(op, acquire.getStage(), out);
        if (labels && labels->getSize(acquire.getStage().getType()))
          labels->set(acquire.getStage(),
                      Labels::Label(labels->get(acquire.getEnd())));
      })
      .Case([&](WaitOp wait) { walkWait(op, wait.getReady(), out); })
      .Case([&](CloseOp close) {
        auto end = dyn_cast<EndTypeInterface>(close.getEnd().getType());
        if (end && end.isProducer())
          addStep(Kind::Drain, op, close.getEnd(), out);
      })
      .Case([&](NextWorkOp next) {
        bool needsCluster = needed.contains(next.getCluster());
        if (!needed.contains(next.getMore()) && !needsCluster)
          return;
        Statement step{Kind::Answer};
        step.site = getSite(op);
        Value root = getRoot(next.getStage());
        step.end = expressions.get(root ? root : next.getStage());
        step.assigned.push_back({expressions.makeVariable(next.getMore()), 0});
        if (needsCluster)
          step.assigned.push_back(
              {expressions.makeVariable(next.getCluster()), 0});
        out.push_back(std::move(step));
      })
      .Default([&](Operation *) {
        if (mayWaitForSlot(op))
          obstruct(op,
                   "the proof does not know for what '" +
                       op->getName().getStringRef() +
                       "' waits; convert it to ops of fp8 before the proof");
        if (Value stage = getHandedOver(op)) {
          addStep(Kind::Signal, op, stage, out);
          out.back().isByCopies = isHandedOverByCopies(stage);
          if (!labels || !isFilled(stage) || !labels->handsOver() ||
              !labels->getSize(stage.getType()))
            return;
          out.back().addsUp = labels->addsUp();
          for (auto [entry, id] : llvm::enumerate(labels->get(stage)))
            if (labels->sets(stage.getType(), entry))
              out.back().assigned.push_back(
                  {labels->getFirstField(stage.getType()) + entry, id});
        } else if (op->getNumRegions() && !(labels && labels->follows(op)))
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
    if (flat.contains(&op))
      walkInside(&op, out);
    else
      walk(&op, out);
    if (op.getNumRegions() && meets(&op))
      for (Statement &statement : llvm::drop_begin(out, before))
        statement.meets = true;
  }
}

void RoleWalker::followNumbers(RoleOp role, const ComputedGemm &gemm,
                               IntegerRanges &ranges) {
  std::optional<int64_t> inPair;
  if (cta.isOfPair)
    inPair = !cta.leadsPair;
  expressions.followRank(inPair);
  ClusterShape cluster = getClusterShape(role->getParentOp());
  expressions.setMultiple(gemm.batchTiles, cluster.m);
  auto provenance =
      std::make_unique<Provenance>(kernel, gemm, expressions, cluster, ranges);
  provenance->tieExtents(cast<FunctionOpInterface>(role->getParentOp()));
  if (std::optional<StringRef> tile = provenance->findProducers(role))
    obstruct(role, "another role fills tile '" + *tile + "' of one ring, too");
  labels = std::move(provenance);
}

void RoleWalker::followFills(RoleOp role, const SlotContents &contents,
                             unsigned cta, IntegerRanges &ranges) {
  labels =
      std::make_unique<Fills>(kernel, expressions, contents, cta,
                              "role \"" + role.getName().str() + "\"", ranges);
}

ExprId RoleWalker::getEnd(Value handle) {
  Value root = getRoot(handle);
  return expressions.get(root ? root : handle);
}

void RoleWalker::followArrays(const PlainMemory &memory) {
  labels = std::make_unique<ArrayOrder>(
      kernel, expressions, memory,
      [this](Value stage) { return getEnd(stage); });
}

void RoleWalker::followAccesses(RoleOp role, const SlotContents &contents,
                                unsigned cta) {
  labels = std::make_unique<Accesses>(
      kernel, expressions, contents, cta,
      ringsOrderArrays(cast<FunctionOpInterface>(role->getParentOp())),
      [this](Value stage) { return getEnd(stage); });
}

void RoleWalker::followMarks(ArrayRef<Mark> marks) {
  labels = std::make_unique<Marks>(kernel, expressions, marks);
}

Process RoleWalker::walk(RoleOp role, ArrayRef<ExprId> ends) {
  Process process;
  process.site = getSite(role);
  process.firstWarp = plan.getWarps(role).first;
  process.numWarps = plan.getWarps(role).count;
  Region &body = role.getBody();
  for (auto [argument, end, init] :
       llvm::zip(body.getArguments(), ends, role.getInits()))
    // A handle has the number of its end. All else is what it is in front.
    expressions.set(argument, isa<Fp8Dialect>(init.getType().getDialect())
                                  ? end
                                  : expressions.get(init));
  // Warps of a role may get different answers.
  if (process.numWarps == 1)
    for (Value answer : findIndependentPolls(role)) {
      expressions.set(answer, table.getConstant(1));
      kernel.skeleton.isOneOrder = true;
    }
  findActive(role);
  requireWholeWarps(role);
  findLabelled(role);
  findNeeded(role);
  walkOnce(role, body, {}, process.body);
  if (labels)
    labels->finish(process.site, process.body);
  process.numVariables = expressions.getNumVariables();
  return process;
}
