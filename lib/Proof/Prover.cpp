// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proof, or the search for a launch that goes wrong.

#include "fp8/Proof/Prover.h"

#include "RaceFinder.h"
#include "SymbolicRun.h"
#include "fp8/Proof/Certificate.h"

using namespace fp8::proof;

/// Progress that fails at a branch fails because the branch parts those who
/// take the op together.
static Outcome withCure(Outcome outcome) {
  if (outcome.verdict == Verdict::Refuted && outcome.stops.empty() &&
      !outcome.cure)
    outcome.cure = Cure{outcome.site, "decide this by a value that is the same "
                                      "for all who take the op together"};
  return outcome;
}

/// Makes the run, and records it if that is wanted.
static Outcome prove(SymbolicRun &run, const Skeleton &skeleton,
                     int64_t clusterSize, bool stopsAtLoops,
                     bool wantsCertificate) {
  Outcome outcome = run.prove();
  if (!wantsCertificate || outcome.verdict != Verdict::Proved)
    return outcome;
  std::optional<llvm::json::Object> witness = run.getWitness();
  SymbolicRun longer(skeleton, clusterSize, stopsAtLoops, Recording::Tree);
  if (!witness && longer.prove().verdict == Verdict::Proved)
    witness = longer.getWitness();
  if (witness)
    outcome.certificate =
        makeCertificate(skeleton, clusterSize, std::move(*witness));
  return outcome;
}

Outcome fp8::proof::prove(const Skeleton &skeleton, int64_t clusterSize,
                          bool wantsCertificate) {
  Recording recording = wantsCertificate ? Recording::Plain : Recording::Off;
  SymbolicRun run(skeleton, clusterSize, /*stopsAtLoops=*/true, recording);
  Outcome outcome = ::prove(run, skeleton, clusterSize, true, wantsCertificate);
  if (outcome.verdict != Verdict::Unknown)
    return withCure(std::move(outcome));
  SymbolicRun another(skeleton, clusterSize, /*stopsAtLoops=*/false, recording);
  Outcome other =
      ::prove(another, skeleton, clusterSize, false, wantsCertificate);
  if (other.verdict != Verdict::Unknown)
    return withCure(std::move(other));
  Refuter refuter(skeleton, clusterSize);
  refuter.refute(outcome);
  if (outcome.verdict == Verdict::Unknown && run.getStuck())
    refuter.describe(run.getMachine(), *run.getStuck(), outcome);
  return withCure(std::move(outcome));
}

/// Runs the skeleton with symbolic arguments. Refuted only where roles part ways
/// for all launches. `followsEachCta`: the CTAs of a cluster are followed one by
/// one, rather than as one that stands for all.
static Outcome runAll(const Skeleton &skeleton, int64_t clusterSize,
                      bool followsEachCta) {
  Outcome outcome;
  for (bool stopsAtLoops : {true, false}) {
    SymbolicRun run(skeleton, clusterSize, stopsAtLoops);
    run.getMachine().keepsMinima = followsEachCta;
    run.getMachine().assumesProgress = followsEachCta;
    Outcome its = run.prove();
    if (its.verdict != Verdict::Unknown)
      return its;
    if (stopsAtLoops)
      outcome = std::move(its);
  }
  return outcome;
}

Outcome fp8::proof::proveProvenance(const Skeleton &skeleton,
                                    int64_t clusterSize) {
  Outcome outcome = runAll(skeleton, clusterSize, /*followsEachCta=*/true);
  if (outcome.verdict == Verdict::Unknown)
    Refuter(skeleton, clusterSize).refute(outcome);
  return outcome;
}

Outcome fp8::proof::proveRequirements(const Skeleton &skeleton,
                                      int64_t clusterSize) {
  Outcome outcome;
  if (skeleton.rules.empty())
    return outcome;
  outcome = runAll(skeleton, clusterSize, /*followsEachCta=*/false);
  if (outcome.verdict == Verdict::Refuted)
    outcome.verdict = Verdict::Unknown;
  return outcome;
}

void fp8::proof::findRace(const Skeleton &skeleton, int64_t clusterSize,
                          Outcome &outcome) {
  RaceFinder(skeleton, clusterSize).refute(outcome);
}
