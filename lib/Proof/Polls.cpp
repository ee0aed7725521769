// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops in which a role looks for slots, and takes those that are there.

#include "Polls.h"

#include "fp8/Analysis/HandleFlow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// What a turn does if a slot is there.
struct Group {
  scf::IfOp branch;
  TryWaitOp poll;
  Value more; ///< whether there is more to do
};

/// The loop, and its groups.
class PollingLoop {
public:
  explicit PollingLoop(scf::WhileOp loop) : loop(loop) {}

  /// False if the loop has another form.
  bool analyze();
  void collect(SmallVectorImpl<Value> &answers) {
    for (Group &group : groups)
      answers.push_back(group.poll.getDone());
  }

private:
  bool addGroup(scf::IfOp branch);
  /// The group whose results the loop carries, by the number of the value.
  bool findOwners();
  bool isOfGroup(Value value, unsigned group);
  bool waitsOnce(unsigned number);
  bool endsWithGroups();
  bool isSame(Value before, Value after);

  scf::WhileOp loop;
  SmallVector<Group> groups;
  SmallVector<unsigned> owners;
};

} // namespace

bool PollingLoop::addGroup(scf::IfOp branch) {
  auto both = branch.getCondition().getDefiningOp<arith::AndIOp>();
  if (!both || branch.getElseRegion().empty())
    return false;
  for (auto [answer, more] : {std::pair(both.getLhs(), both.getRhs()),
                              std::pair(both.getRhs(), both.getLhs())})
    if (auto poll = answer.getDefiningOp<TryWaitOp>()) {
      groups.push_back({branch, poll, more});
      return true;
    }
  return false;
}

/// Each value that the loop carries is of the group whose results it becomes;
/// where the group does nothing, it stays what it is.
bool PollingLoop::findOwners() {
  Block &body = *loop.getAfterBody();
  for (auto [number, value] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    auto result = dyn_cast<OpResult>(value);
    auto *group = llvm::find_if(groups, [&](Group &its) {
      return result && its.branch == result.getOwner();
    });
    if (group == groups.end() ||
        group->branch.elseBlock()->getTerminator()->getOperand(
            result.getResultNumber()) != body.getArgument(number))
      return false;
    owners.push_back(group - groups.begin());
  }
  return true;
}

/// True if the value is computed from what the group carries and from what is
/// known in front of the loop.
bool PollingLoop::isOfGroup(Value value, unsigned group) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (unsigned next = 0; next < reached.size(); ++next) {
    Value its = reached[next];
    if (!loop->isAncestor(its.getParentBlock()->getParentOp()))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(its)) {
      if (argument.getOwner() != loop.getAfterBody() ||
          owners[argument.getArgNumber()] != group)
        return false;
      continue;
    }
    Operation *op = its.getDefiningOp();
    bool isInside = groups[group].branch->isAncestor(op);
    if (op->getNumRegions() ||
        !(isInside || op == groups[group].poll || isMemoryEffectFree(op)))
      return false;
    for (Value operand : op->getOperands())
      reached.insert(operand);
  }
  return true;
}

/// True if the group waits for the slot that it has looked for, and for nothing
/// else, and does nothing if it is not there.
bool PollingLoop::waitsOnce(unsigned number) {
  Group &group = groups[number];
  unsigned waits = 0;
  bool isKnown = isOfGroup(group.more, number) &&
                 isOfGroup(group.poll.getEnd(), number) &&
                 llvm::hasSingleElement(*group.branch.elseBlock());
  group.branch.thenBlock()->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      isKnown &= isOfGroup(operand, number);
    if (auto wait = dyn_cast<WaitOp>(op)) {
      ++waits;
      isKnown &= wait.getEnd() == group.poll.getEnd() &&
                 op->getBlock() == group.branch.thenBlock();
    } else if (auto acquire = dyn_cast<AcquireOp>(op)) {
      isKnown &= isa<ReadyType>(acquire.getEnd().getType());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      isKnown &= op->getNumResults() == 0;
    } else {
      isKnown &= isMemoryEffectFree(op) || isa<ReleaseOp, ArriveOp>(op) ||
                 isa<StepOp, TileCopyOpInterface, scf::YieldOp>(op);
    }
  });
  return isKnown && waits == 1;
}

/// True if the two are computed alike from what the loop carries.
bool PollingLoop::isSame(Value before, Value after) {
  if (before == after)
    return true;
  auto left = dyn_cast<BlockArgument>(before),
       right = dyn_cast<BlockArgument>(after);
  if (left || right)
    return left && right && left.getOwner() == loop.getBeforeBody() &&
           right.getOwner() == loop.getAfterBody() &&
           left.getArgNumber() == right.getArgNumber();
  Operation *a = before.getDefiningOp(), *b = after.getDefiningOp();
  return a->getName() == b->getName() && isMemoryEffectFree(a) &&
         !a->getNumRegions() && a->getNumResults() == 1 &&
         a->getAttrs() == b->getAttrs() &&
         a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute() &&
         llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()),
                      [&](auto pair) {
                        return isSame(std::get<0>(pair), std::get<1>(pair));
                      });
}

/// True if the loop goes on as long as some group has more to do, and passes on
/// what it carries.
bool PollingLoop::endsWithGroups() {
  scf::ConditionOp condition = loop.getConditionOp();
  if (!llvm::equal(condition.getArgs(), loop.getBeforeArguments()) ||
      llvm::any_of(loop.getBeforeBody()->without_terminator(),
                   [](Operation &op) { return !isMemoryEffectFree(&op); }))
    return false;
  SmallVector<Value> terms = {condition.getCondition()};
  llvm::DenseSet<unsigned> found;
  for (unsigned next = 0; next < terms.size(); ++next) {
    if (auto either = terms[next].getDefiningOp<arith::OrIOp>()) {
      llvm::append_range(terms, either->getOperands());
      continue;
    }
    auto *group = llvm::find_if(
        groups, [&](Group &its) { return isSame(terms[next], its.more); });
    if (group == groups.end())
      return false;
    found.insert(group - groups.begin());
  }
  return found.size() == groups.size();
}

bool PollingLoop::analyze() {
  for (Operation &op : loop.getAfterBody()->without_terminator())
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (!addGroup(branch))
        return false;
    } else if (!isMemoryEffectFree(&op) && !isa<TryWaitOp>(op)) {
      return false;
    }
  // A loop that passes on what it carries has as many values behind its guard.
  return endsWithGroups() && findOwners() &&
         llvm::all_of(llvm::seq<unsigned>(0, groups.size()),
                      [&](unsigned number) { return waitsOnce(number); });
}

SmallVector<Value> mlir::fp8::findIndependentPolls(RoleOp role) {
  SmallVector<Value> answers;
  role.walk([&](scf::WhileOp loop) {
    PollingLoop polling(loop);
    if (polling.analyze())
      polling.collect(answers);
  });
  return answers;
}
