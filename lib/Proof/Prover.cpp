// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proof, or the search for a launch that goes wrong.

#include "fp8/Proof/Prover.h"

#include "RaceFinder.h"
#include "SymbolicRun.h"
#include "fp8/Proof/Certificate.h"

#include <set>

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

namespace {

/// How a run is made.
struct Manner {
  Pace pace;
  /// Whether turns of loops are forecast. This costs less, but a turn that was
  /// explored may show more of the state behind the loop.
  bool forecasts = true;
};

/// A property, and what goes with its proof.
struct Task {
  const Skeleton &skeleton;
  int64_t clusterSize;
  /// Whether it is about values, and progress was shown: then the smaller of
  /// two values may stay undecided.
  bool isOfValues = false;
  /// Whether it is about what a skeleton requires, of which there is no
  /// certificate.
  bool isOfRequirements = false;
  bool wantsCertificate = false;
  /// Whether to look for a launch that goes wrong if no run is a proof.
  bool seeksLaunch = true;

  Outcome decide() const;

private:
  void certify(const SymbolicRun &run, Manner manner, Outcome &outcome) const;
};

} // namespace

/// Adds the certificate of a run that is a proof.
void Task::certify(const SymbolicRun &run, Manner manner,
                   Outcome &outcome) const {
  std::optional<llvm::json::Object> witness = run.getWitness();
  SymbolicRun longer(skeleton, clusterSize, manner.pace, Recording::Tree);
  if (!manner.forecasts)
    longer.exploreAll();
  if (!witness && longer.prove().verdict == Verdict::Proved)
    witness = longer.getWitness();
  if (witness)
    outcome.certificate =
        makeCertificate(skeleton, clusterSize, std::move(*witness));
}

/// The limits of a run's effort. Where one pace needs long, another may not.
static constexpr uint64_t kEfforts[] = {50'000, 200'000, 800'000, 3'000'000};
/// The limit of the effort of all runs.
static constexpr uint64_t kMostEffort = 8'000'000;

/// Makes the run in each manner until one is a proof, and else looks for a
/// launch that goes wrong.
Outcome Task::decide() const {
  Refuter refuter(skeleton, clusterSize);
  std::optional<Outcome> first;
  std::vector<Stop> stops;
  bool wasTired = true;
  uint64_t spent = 0;
  llvm::SmallVector<Manner> left;
  std::set<Pace> explored;
  for (Pace pace : kPaces)
    left.push_back({pace});
  for (uint64_t effort : kEfforts)
    for (Manner manner : std::exchange(left, {})) {
      if (spent > kMostEffort)
        break;
      SymbolicRun run(skeleton, clusterSize, manner.pace,
                      wantsCertificate ? Recording::Plain : Recording::Off);
      if (!manner.forecasts)
        run.exploreAll();
      run.getAtoms().setMostEffort(effort);
      if (isOfRequirements)
        run.getAtoms().boundRemainders();
      run.getMachine().keepsMinima = run.getMachine().assumesProgress =
          isOfValues;
      Outcome outcome = run.prove();
      if (outcome.verdict == Verdict::Proved && wantsCertificate)
        certify(run, manner, outcome);
      if (outcome.verdict != Verdict::Unknown)
        return outcome;
      spent += run.getAtoms().getEffort();
      bool isTired = run.getAtoms().isTired();
      if (isTired)
        left.push_back(manner);
      if (run.hasForecasts() && explored.insert(manner.pace).second)
        left.push_back({manner.pace, /*forecasts=*/false});
      // What stops a run by itself says more than that it was stopped.
      if (first && (isTired || !wasTired))
        continue;
      wasTired = isTired;
      first = outcome;
      if (run.getStuck())
        refuter.describe(run.getMachine(), *run.getStuck(), outcome);
      stops = std::move(outcome.stops);
    }
  if (seeksLaunch && !skeleton.isOneOrder)
    refuter.refute(*first);
  if (first->verdict == Verdict::Unknown)
    first->stops = std::move(stops);
  return std::move(*first);
}

Outcome fp8::proof::prove(const Skeleton &skeleton, int64_t clusterSize,
                          bool wantsCertificate) {
  Task task{skeleton, clusterSize};
  // What ends in one order ends in all: this the checker does not know.
  task.wantsCertificate = wantsCertificate && !skeleton.isOneOrder;
  return withCure(task.decide());
}

Outcome fp8::proof::proveProvenance(const Skeleton &skeleton,
                                    int64_t clusterSize) {
  Task task{skeleton, clusterSize};
  task.isOfValues = true;
  return task.decide();
}

Outcome fp8::proof::proveRequirements(const Skeleton &skeleton,
                                      int64_t clusterSize) {
  Outcome outcome;
  if (skeleton.rules.empty())
    return outcome;
  Task task{skeleton, clusterSize};
  task.isOfRequirements = true;
  task.seeksLaunch = false;
  outcome = task.decide();
  if (outcome.verdict == Verdict::Refuted)
    outcome.verdict = Verdict::Unknown;
  return outcome;
}

void fp8::proof::findFailure(const Skeleton &skeleton, int64_t clusterSize,
                             Outcome &outcome) {
  Refuter(skeleton, clusterSize).refute(outcome);
}

void fp8::proof::findRace(const Skeleton &skeleton, int64_t clusterSize,
                          Outcome &outcome) {
  RaceFinder(skeleton, clusterSize).refute(outcome);
}
