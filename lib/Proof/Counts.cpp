// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verdict on counts of arrivals and bytes.

#include "fp8/Proof/Counts.h"

#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Proof/ExtractEvents.h"
#include "fp8/Proof/Miscounts.h"

using namespace mlir;
using namespace mlir::fp8;
using ::fp8::proof::Miscount;
using ::fp8::proof::Miscounts;
using ::fp8::proof::Outcome;
using ::fp8::proof::Verdict;
using Holds = Miscount::Holds;

namespace {

/// Lends the ops of a kernel a plan. What they carry already stays as it is.
class LentPlan {
public:
  LentPlan(FunctionOpInterface kernel, const KernelPlan &plan)
      : kernel(kernel), wasPlanned(isPlanned(kernel)) {
    kernel->walk([&](Operation *op) {
      if (Attribute its = op->getAttr(Fp8Dialect::kPlanAttrName))
        carried.push_back({op, its});
    });
    plan.write(kernel);
    if (!wasPlanned)
      return;
    for (auto [op, its] : carried)
      if (Attribute derived = op->getAttr(Fp8Dialect::kPlanAttrName);
          derived && derived.getTypeID() == its.getTypeID())
        op->setAttr(Fp8Dialect::kPlanAttrName, its);
  }
  ~LentPlan() {
    kernel->walk(
        [](Operation *op) { op->removeAttr(Fp8Dialect::kPlanAttrName); });
    for (auto [op, its] : carried)
      op->setAttr(Fp8Dialect::kPlanAttrName, its);
  }

private:
  FunctionOpInterface kernel;
  bool wasPlanned;
  SmallVector<std::pair<Operation *, Attribute>> carried;
};

} // namespace

static void setUnknown(CountsProof &proof, Operation *op, StringRef reason) {
  proof.outcome.verdict = Verdict::Unknown;
  proof.outcome.reason = reason.str();
  proof.op = op;
}

namespace {

/// Decides whether roles come to where an end does something else than the
/// barriers count.
class Judgement {
public:
  Judgement(FunctionOpInterface kernel, const ExtractedEvents &events,
            ArrayRef<Miscount> faults, CountsProof &proof)
      : kernel(kernel), events(events), faults(faults), proof(proof) {}

  LogicalResult decide();

private:
  using Decide = void (*)(const KernelSkeleton &, Outcome &);

  /// Takes the skeleton in which the faults must not be reached. Its verdict is
  /// taken if it is `wanted`.
  LogicalResult ask(function_ref<bool(Holds)> isAsked, bool fromSecondLap,
                    Decide decide, ArrayRef<Verdict> wanted);
  Mark getMark(const Miscount &fault, bool fromSecondLap) const {
    return {events.ops[fault.site], fault.rule, fromSecondLap};
  }

  FunctionOpInterface kernel;
  const ExtractedEvents &events;
  ArrayRef<Miscount> faults;
  CountsProof &proof;
  bool isDecided = false;
};

} // namespace

LogicalResult Judgement::ask(function_ref<bool(Holds)> isAsked,
                             bool fromSecondLap, Decide decide,
                             ArrayRef<Verdict> wanted) {
  SmallVector<Mark> marks;
  for (const Miscount &fault : faults)
    if (isAsked(fault.holds))
      marks.push_back(getMark(fault, fromSecondLap));
  if (isDecided || marks.empty())
    return success();
  FailureOr<KernelSkeleton> its = extractSkeleton(kernel, Aspect::Marks, marks);
  if (failed(its))
    return failure();
  // An op that the skeleton leaves out is not asked about.
  for (const Mark &mark : marks)
    if (its->obstacle || !llvm::is_contained(its->skeleton.rules, mark.rule))
      return success();
  Outcome outcome;
  outcome.verdict = Verdict::Unknown;
  decide(*its, outcome);
  outcome.steps += proof.outcome.steps;
  isDecided = llvm::is_contained(wanted, outcome.verdict);
  if (!isDecided)
    return success();
  proof.outcome = std::move(outcome);
  proof.kernel = std::move(*its);
  return success();
}

LogicalResult Judgement::decide() {
  Decide prove = [](const KernelSkeleton &its, Outcome &outcome) {
    outcome = ::fp8::proof::proveProvenance(its.skeleton, its.clusterSize);
  };
  // A run tells numbers of slots. The proof does not follow them.
  Decide run = [](const KernelSkeleton &its, Outcome &outcome) {
    ::fp8::proof::findFailure(its.skeleton, its.clusterSize, outcome);
  };
  auto isAny = [](Holds) { return true; };
  if (failed(ask([](Holds holds) { return holds == Holds::Always; },
                 /*fromSecondLap=*/false, prove, Verdict::Refuted)) ||
      failed(ask(isAny, /*fromSecondLap=*/false, prove, Verdict::Proved)) ||
      failed(ask([](Holds holds) { return holds == Holds::FromSecondLap; },
                 /*fromSecondLap=*/true, run, Verdict::Refuted)))
    return failure();
  if (!isDecided)
    setUnknown(proof, getMark(faults.front(), false).op, faults.front().rule);
  return success();
}

FailureOr<CountsProof> mlir::fp8::proveCounts(FunctionOpInterface kernel) {
  FailureOr<KernelPlan> plan = KernelPlan::analyze(kernel);
  if (failed(plan))
    return failure();
  CountsProof proof;
  ExtractedEvents its;
  {
    LentPlan lent(kernel, *plan);
    its = extractEvents(kernel);
  }
  if (its.obstacle && !its.isExchange) {
    setUnknown(proof, its.obstacle, its.reason);
    return proof;
  }
  Miscounts found = ::fp8::proof::findMiscounts(its.events);
  proof.outcome.steps = found.steps;
  if (found.obstacle) {
    setUnknown(proof, its.ops[found.obstacle->site], found.obstacle->rule);
    return proof;
  }
  if (!found.faults.empty() &&
      failed(Judgement(kernel, its, found.faults, proof).decide()))
    return failure();
  return proof;
}
