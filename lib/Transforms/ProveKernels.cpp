// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proves the protocols of a module's kernels, and says what goes wrong.

#include "OutputFile.h"
#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Planning/Planning.h"
#include "fp8/Proof/Certificate.h"
#include "fp8/Proof/EventJSON.h"
#include "fp8/Proof/Extract.h"
#include "fp8/Proof/ExtractEvents.h"
#include "fp8/Proof/Prover.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8PROVE
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;
using ::fp8::proof::Outcome;
using ::fp8::proof::Verdict;

/// Says what goes wrong, for which launch, and where each role stands then.
static void reportRefuted(gpu::GPUFuncOp kernel, const KernelSkeleton &its,
                          const Outcome &outcome) {
  InFlightDiagnostic diagnostic = kernel.emitError()
                                  << "kernel '" << kernel.getName()
                                  << "' does not end: " << outcome.reason;
  if (!outcome.arguments.empty()) {
    diagnostic << ", with ";
    llvm::interleaveComma(outcome.arguments, diagnostic, [&](auto &argument) {
      diagnostic << argument.first << " = " << argument.second;
    });
  }
  if (!outcome.data.empty()) {
    diagnostic << ", where ";
    llvm::interleaveComma(outcome.data, diagnostic);
  }
  if (outcome.stops.empty())
    diagnostic.attachNote(its.sites[outcome.site]->getLoc()) << "here";
  for (const ::fp8::proof::Stop &stop : outcome.stops)
    diagnostic.attachNote(its.sites[stop.site]->getLoc())
        << its.skeleton.processes[stop.process].name << ' ' << stop.text;
}

static void reportUnknown(gpu::GPUFuncOp kernel, const KernelSkeleton &its,
                          const Outcome &outcome, bool required) {
  InFlightDiagnostic diagnostic =
      required ? kernel.emitError() : kernel.emitRemark();
  diagnostic << "the proof of kernel '" << kernel.getName()
             << "' is not complete: " << outcome.reason;
  if (its.obstacle)
    diagnostic.attachNote(its.obstacle->getLoc()) << "here";
  else if (outcome.site < its.sites.size())
    diagnostic.attachNote(its.sites[outcome.site]->getLoc()) << "here";
}

static void report(gpu::GPUFuncOp kernel, const KernelSkeleton &its,
                   const Outcome &outcome, bool required) {
  switch (outcome.verdict) {
  case Verdict::Proved:
    kernel.emitRemark() << "kernel '" << kernel.getName()
                        << "' ends for all launches (proved in "
                        << outcome.steps << " steps)";
    return;
  case Verdict::Refuted:
    return reportRefuted(kernel, its, outcome);
  case Verdict::Unknown:
    return reportUnknown(kernel, its, outcome, required);
  }
}

static llvm::json::Object toJSON(gpu::GPUFuncOp kernel,
                                 const KernelSkeleton &its,
                                 const Outcome &outcome) {
  static constexpr StringLiteral kVerdicts[] = {"proved", "refuted", "unknown"};
  llvm::json::Object progress{
      {"verdict", kVerdicts[static_cast<int>(outcome.verdict)]},
      {"steps", static_cast<int64_t>(outcome.steps)}};
  if (!outcome.reason.empty())
    progress["reason"] = outcome.reason;
  if (outcome.verdict == Verdict::Refuted) {
    llvm::json::Object arguments;
    for (auto &[name, value] : outcome.arguments)
      arguments[name] = value;
    progress["arguments"] = std::move(arguments);
  }
  return llvm::json::Object{
      {"kernel", kernel.getName()},
      {"properties", llvm::json::Object{{"progress", std::move(progress)}}},
      {"skeleton", ::fp8::proof::toJSON(its.skeleton)}};
}

/// Writes what PTX of the kernels is expected to do, next to the skeletons.
/// Takes the kernels to the end of phase 2.
static LogicalResult addEvents(ModuleOp module, llvm::json::Array &kernels) {
  PassManager passes(module.getContext());
  passes.addPass(createFp8UnrollLaps());
  if (failed(passes.run(module)))
    return failure();
  llvm::StringMap<gpu::GPUFuncOp> byName;
  module.walk([&](gpu::GPUFuncOp kernel) { byName[kernel.getName()] = kernel; });
  for (llvm::json::Value &value : kernels) {
    llvm::json::Object &written = *value.getAsObject();
    gpu::GPUFuncOp kernel = byName[*written.getString("kernel")];
    if (failed(planKernel(kernel)))
      return failure();
    placeFences(kernel);
    reuseRegisters(kernel);
    ExtractedEvents its = extractEvents(kernel);
    if (its.obstacle)
      written["events_obstacle"] = its.reason;
    else
      written["events"] = ::fp8::proof::toJSON(its.events);
  }
  return success();
}

static Outcome prove(const KernelSkeleton &its) {
  if (!its.obstacle)
    return ::fp8::proof::prove(its.skeleton, its.clusterSize);
  Outcome outcome;
  outcome.verdict = Verdict::Unknown;
  outcome.reason = its.reason;
  return outcome;
}

namespace {

struct ProvePass : public mlir::fp8::impl::Fp8ProveBase<ProvePass> {
  using Fp8ProveBase::Fp8ProveBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    // The module goes on as it came; a copy is taken to where it can be read.
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    PassManager passes(&getContext());
    passes.addPass(createFp8ChooseConfig({chip, "", ""}));
    passes.addPass(createFp8StructureGemm({chip}));
    passes.nest<gpu::GPUModuleOp>().addPass(createInlinerPass());
    passes.addPass(createFp8FlattenScopes());
    passes.addPass(createFp8LowerTileLoops());
    if (failed(passes.run(*copy)))
      return signalPassFailure();
    llvm::json::Array kernels;
    bool holds = true;
    copy->walk([&](gpu::GPUFuncOp kernel) {
      if (!kernel.isKernel() || !hasRings(kernel))
        return;
      FailureOr<KernelSkeleton> its = extractSkeleton(kernel);
      if (failed(its)) {
        holds = false;
        return;
      }
      Outcome outcome = prove(*its);
      report(kernel, *its, outcome, required);
      holds &= outcome.verdict == Verdict::Proved ||
               (outcome.verdict == Verdict::Unknown && !required);
      kernels.push_back(toJSON(kernel, *its, outcome));
    });
    if (!json.empty() && failed(addEvents(*copy, kernels)))
      holds = false;
    llvm::json::Value written =
        llvm::json::Object{{"kernels", std::move(kernels)}};
    if (!json.empty() &&
        failed(writeOutput(getOperation(), getArgument(), json,
                           [&](raw_ostream &os) {
                             os << llvm::formatv("{0:2}", written) << "\n";
                           })))
      holds = false;
    if (!holds)
      signalPassFailure();
  }
};

} // namespace
