// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verdict on what roles share.

#include "fp8/Proof/Ownership.h"

#include "fp8/IR/ArgumentAccess.h"
#include "fp8/IR/ComputedGemm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::fp8;
using ::fp8::proof::Outcome;
using ::fp8::proof::Verdict;

template <typename Op>
static bool contains(FunctionOpInterface kernel) {
  return kernel->walk([](Op) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// What is taken for granted of arrays in global memory.
static std::vector<std::string> getAssumptions(FunctionOpInterface kernel) {
  bool writes = contains<memref::StoreOp>(kernel),
       stores = contains<StoreOp>(kernel);
  std::vector<std::string> assumptions;
  if (writes || stores)
    assumptions.push_back("different arguments do not overlap, and each CTA "
                          "writes to places of its own");
  if (writes)
    assumptions.push_back("the lanes of a warp access arrays together");
  if (stores)
    assumptions.push_back("boxes to which one role stores do not overlap");
  auto hasBytes = [&](unsigned argument) {
    return bool(kernel.getArgAttr(argument, kBoxBytesAttrName));
  };
  if (llvm::any_of(llvm::seq(kernel.getNumArguments()), hasBytes)) {
    assumptions.push_back("each launch passes the bytes of boxes that fit");
    if (!ComputedGemm::get(kernel))
      assumptions.push_back("rows that such boxes leave out decide nothing");
  }
  return assumptions;
}

/// True if the kernel stores to boxes, and does not say what it computes: the
/// proof of the numbers asks that each sum is stored where it belongs.
static bool storesAnywhere(FunctionOpInterface kernel) {
  return !ComputedGemm::get(kernel) && contains<StoreOp>(kernel);
}

/// Takes the skeleton, and proves its requirements.
static void proveAspect(KernelSkeleton kernel, OwnershipProof &proof) {
  proof.kernel = std::move(kernel);
  Outcome &outcome = proof.outcome;
  uint64_t steps = outcome.steps;
  if (proof.kernel.obstacle) {
    outcome.verdict = Verdict::Unknown;
    outcome.reason = proof.kernel.reason;
    proof.op = proof.kernel.obstacle;
  } else if (!proof.kernel.undecided.empty()) {
    outcome.verdict = Verdict::Unknown;
    outcome.reason = proof.kernel.undecided.front().reason;
    proof.op = proof.kernel.undecided.front().op;
  } else {
    outcome = ::fp8::proof::proveRequirements(proof.kernel.skeleton,
                                              proof.kernel.clusterSize);
    if (outcome.verdict == Verdict::Unknown &&
        outcome.site < proof.kernel.sites.size())
      proof.op = proof.kernel.sites[outcome.site];
  }
  outcome.steps += steps;
}

FailureOr<OwnershipProof>
mlir::fp8::proveOwnership(FunctionOpInterface kernel) {
  OwnershipProof proof;
  proof.assumptions = getAssumptions(kernel);
  for (Aspect aspect : {Aspect::Ownership, Aspect::Arrays}) {
    FailureOr<KernelSkeleton> its = extractSkeleton(kernel, aspect);
    if (failed(its))
      return failure();
    proof.isOfArrays = aspect == Aspect::Arrays;
    proveAspect(std::move(*its), proof);
    if (proof.outcome.verdict == Verdict::Unknown)
      break;
  }
  if (proof.outcome.verdict == Verdict::Proved && !storesAnywhere(kernel))
    return proof;
  FailureOr<KernelSkeleton> its = extractSkeleton(kernel, Aspect::Accesses);
  if (failed(its))
    return failure();
  if (its->obstacle)
    return proof;
  Outcome found = proof.outcome;
  ::fp8::proof::findRace(its->skeleton, its->clusterSize, found);
  if (found.verdict != Verdict::Refuted)
    return proof;
  proof.outcome = std::move(found);
  proof.kernel = std::move(*its);
  proof.op = nullptr;
  return proof;
}
