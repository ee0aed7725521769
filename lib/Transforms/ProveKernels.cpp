// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proofs of a module's kernels, and what is said about them.

#include "fp8/Transforms/ProveKernels.h"

#include "LinearCopy.h"
#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Proof/Certificate.h"
#include "fp8/Proof/Counts.h"
#include "fp8/Proof/Extract.h"
#include "fp8/Proof/Ownership.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fp8;
using ::fp8::proof::Outcome;
using ::fp8::proof::Verdict;

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

namespace {
/// A property, how it is proved, and how messages call it.
struct Property {
  StringLiteral name;
  Outcome (*prove)(const ::fp8::proof::Skeleton &, int64_t clusterSize,
                   bool wantsCertificate);
  StringLiteral holds; ///< "kernel 'k' ..."
  StringLiteral fails; ///< "kernel 'k' ..."
  StringLiteral proof; ///< "the ... of kernel 'k' is not complete"
};
} // namespace

static constexpr Property kProgress{"progress", ::fp8::proof::prove,
                                    "ends for all launches", "does not end",
                                    "proof"};
static constexpr Property kNumbers{
    "numbers",
    [](const ::fp8::proof::Skeleton &skeleton, int64_t clusterSize, bool) {
      return ::fp8::proof::proveProvenance(skeleton, clusterSize);
    },
    "computes what it says", "does not compute what it says",
    "proof of the numbers"};

/// These are proved by themselves: more than one skeleton tells.
static constexpr Property kCounts{"counts", nullptr,
                                  "completes a phase in each lap", "miscounts",
                                  "proof of the counts"};
static constexpr Property kOwnership{
    "ownership", nullptr, "keeps ownership for all launches",
    "breaks ownership", "proof of the ownership"};

static const Property &getProperty(StringRef name) {
  for (const Property *property : {&kProgress, &kCounts, &kOwnership})
    if (property->name == name)
      return *property;
  return kNumbers;
}

static PropertyProof prove(const Property &property, KernelSkeleton its,
                           bool wantsCertificate) {
  PropertyProof proof{property.name, {}, {}, {}, {}, false};
  if (its.obstacle) {
    proof.outcome.verdict = Verdict::Unknown;
    proof.outcome.reason = its.reason;
    proof.obstacle = its.obstacle->getLoc();
  } else {
    proof.outcome =
        property.prove(its.skeleton, its.clusterSize, wantsCertificate);
  }
  for (Operation *site : its.sites)
    proof.sites.push_back(site->getLoc());
  proof.skeleton = std::move(its.skeleton);
  return proof;
}

/// What was proved by itself, as `its` says.
template <typename Proof>
static PropertyProof getProof(const Property &property, Proof its) {
  PropertyProof proof{property.name,
                      std::move(its.outcome),
                      std::move(its.kernel.skeleton),
                      {},
                      std::nullopt,
                      false};
  if (its.op)
    proof.obstacle = its.op->getLoc();
  for (Operation *site : its.kernel.sites)
    proof.sites.push_back(site->getLoc());
  return proof;
}

FailureOr<KernelProof> mlir::fp8::proveKernel(gpu::GPUFuncOp kernel,
                                              bool withCertificate) {
  FailureOr<KernelSkeleton> its = extractSkeleton(kernel);
  if (failed(its))
    return failure();
  KernelProof proof{
      kernel.getName().str(),
      kernel.getLoc(),
      {},
      ::fp8::proof::getAssumptions(its->skeleton, its->clusterSize)};
  proof.properties.push_back(
      prove(kProgress, std::move(*its), withCertificate));
  if (proof.properties.front().outcome.verdict != Verdict::Proved)
    return proof;
  FailureOr<CountsProof> counts = proveCounts(kernel);
  if (failed(counts))
    return failure();
  proof.properties.push_back(getProof(kCounts, std::move(*counts)));
  if (proof.properties.back().outcome.verdict == Verdict::Refuted)
    return proof;
  FailureOr<OwnershipProof> ownership = proveOwnership(kernel);
  if (failed(ownership))
    return failure();
  llvm::append_range(proof.assumptions, ownership->assumptions);
  bool isOfArrays = ownership->isOfArrays;
  proof.properties.push_back(getProof(kOwnership, std::move(*ownership)));
  proof.properties.back().isOfArrays = isOfArrays;
  its = extractSkeleton(kernel, Aspect::Numbers);
  if (failed(its))
    return failure();
  if (!its->skeleton.rules.empty())
    proof.properties.push_back(prove(kNumbers, std::move(*its), false));
  return proof;
}

FailureOr<SmallVector<KernelProof, 0>>
mlir::fp8::proveKernels(ModuleOp module, StringRef chip,
                        bool withCertificates) {
  OwningOpRef<ModuleOp> copy = makeLinearCopy(module, chip);
  if (!copy)
    return failure();
  SmallVector<KernelProof, 0> proofs;
  bool allPlanned = true;
  copy->walk([&](gpu::GPUFuncOp kernel) {
    if (kernel->hasAttr(Fp8Dialect::kBarriersAttrName))
      kernel.emitWarning() << "kernel '" << kernel.getName()
                           << "' is not proved: its rings are barriers "
                              "already; prove it in phase 0, 1 or 2";
    if (!kernel.isKernel() || !hasRings(kernel))
      return;
    FailureOr<KernelProof> proof = proveKernel(kernel, withCertificates);
    allPlanned &= succeeded(proof);
    if (succeeded(proof))
      proofs.push_back(std::move(*proof));
  });
  if (!allPlanned)
    return failure();
  return proofs;
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// Says what goes wrong, for which launch, and where each role stands then.
static InFlightDiagnostic reportRefuted(const KernelProof &proof,
                                        const PropertyProof &property) {
  const Outcome &outcome = property.outcome;
  InFlightDiagnostic diagnostic = emitError(proof.location)
                                  << "kernel '" << proof.kernel << "' "
                                  << getProperty(property.property).fails
                                  << ": " << outcome.reason;
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
  if (outcome.stops.empty() && !outcome.cure)
    diagnostic.attachNote(property.sites[outcome.site]) << "here";
  for (const ::fp8::proof::Stop &stop : outcome.stops)
    diagnostic.attachNote(property.sites[stop.site])
        << property.skeleton.processes[stop.process].name << ' ' << stop.text;
  if (outcome.cure)
    diagnostic.attachNote(property.sites[outcome.cure->site])
        << outcome.cure->text;
  return diagnostic;
}

static InFlightDiagnostic reportUnknown(const KernelProof &proof,
                                        const PropertyProof &property,
                                        bool required) {
  const Outcome &outcome = property.outcome;
  InFlightDiagnostic diagnostic =
      required ? emitError(proof.location) : emitRemark(proof.location);
  diagnostic << "the " << getProperty(property.property).proof << " of kernel '"
             << proof.kernel << "' is not complete: " << outcome.reason;
  if (property.obstacle)
    diagnostic.attachNote(*property.obstacle) << "here";
  else if (outcome.site < property.sites.size())
    diagnostic.attachNote(property.sites[outcome.site]) << "here";
  return diagnostic;
}

static InFlightDiagnostic reportProved(const KernelProof &proof,
                                       const PropertyProof &property) {
  InFlightDiagnostic diagnostic = emitRemark(proof.location)
                                  << "kernel '" << proof.kernel << "' "
                                  << getProperty(property.property).holds
                                  << " (proved in " << property.outcome.steps
                                  << " steps)";
  return diagnostic;
}

static InFlightDiagnostic report(const KernelProof &proof,
                                 const PropertyProof &property, bool required) {
  switch (property.outcome.verdict) {
  case Verdict::Proved:
    return reportProved(proof, property);
  case Verdict::Refuted:
    return reportRefuted(proof, property);
  case Verdict::Unknown:
    return reportUnknown(proof, property, required);
  }
  llvm_unreachable("all verdicts are handled");
}

LogicalResult mlir::fp8::report(const KernelProof &proof,
                                const ProofReporting &reporting) {
  bool holds = true, saysAssumptions = true;
  for (const PropertyProof &property : proof.properties) {
    Verdict verdict = property.outcome.verdict;
    bool isQuiet = verdict == Verdict::Proved ||
                   (verdict == Verdict::Unknown && property.isOfArrays &&
                    !reporting.required);
    if (isQuiet && !reporting.saysProved)
      continue;
    holds &= verdict == Verdict::Proved ||
             (verdict == Verdict::Unknown && !reporting.required);
    InFlightDiagnostic diagnostic =
        ::report(proof, property, reporting.required);
    // Once for all properties.
    if (std::exchange(saysAssumptions, false))
      diagnostic.attachNote(proof.location)
          << "taken for granted: " << llvm::join(proof.assumptions, "; ");
  }
  return success(holds);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// A stop, with its place where that is in a file.
static llvm::json::Value toJSON(StringRef role, StringRef text,
                                Location location) {
  llvm::json::Object json{{"role", role}, {"text", llvm::json::fixUTF8(text)}};
  if (auto place = location->findInstanceOf<FileLineColLoc>()) {
    json["file"] = llvm::json::fixUTF8(place.getFilename());
    json["line"] = place.getLine();
    json["column"] = place.getColumn();
  }
  return llvm::json::Value(std::move(json));
}

static llvm::json::Object toJSON(const PropertyProof &property) {
  const Outcome &outcome = property.outcome;
  static constexpr StringLiteral kVerdicts[] = {"proved", "refuted", "unknown"};
  llvm::json::Object json{
      {"verdict", kVerdicts[static_cast<int>(outcome.verdict)]},
      {"steps", static_cast<int64_t>(outcome.steps)}};
  if (!outcome.reason.empty())
    json["reason"] = llvm::json::fixUTF8(outcome.reason);
  if (outcome.verdict == Verdict::Refuted) {
    llvm::json::Object arguments;
    for (auto &[name, value] : outcome.arguments)
      arguments[name] = value;
    json["arguments"] = std::move(arguments);
    json["data"] = llvm::json::Array(outcome.data);
    json["stops"] = llvm::json::Array(
        llvm::map_range(outcome.stops, [&](const ::fp8::proof::Stop &stop) {
          return toJSON(property.skeleton.processes[stop.process].name,
                        stop.text, property.sites[stop.site]);
        }));
    if (outcome.cure)
      json["cure"] = outcome.cure->text;
  }
  return json;
}

llvm::json::Value mlir::fp8::toJSON(ArrayRef<KernelProof> proofs) {
  llvm::json::Array kernels;
  for (const KernelProof &proof : proofs) {
    llvm::json::Object properties;
    for (const PropertyProof &property : proof.properties)
      properties[property.property] = ::toJSON(property);
    kernels.push_back(llvm::json::Object{
        {"kernel", llvm::json::fixUTF8(proof.kernel)},
        {"properties", std::move(properties)},
        {"assumptions", llvm::json::Array(proof.assumptions)},
        {"protocol", ::fp8::proof::toJSON(proof.properties.front().skeleton)},
        {"skeleton",
         ::fp8::proof::toPrograms(proof.properties.front().skeleton)}});
  }
  return llvm::json::Object{{"kernels", std::move(kernels)}};
}
