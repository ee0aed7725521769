// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proof that a skeleton's roles all end, for every launch, and that its
// requirements hold.

#ifndef FP8_PROOF_PROVER_H
#define FP8_PROOF_PROVER_H

#include "fp8/Proof/Skeleton.h"

#include "llvm/Support/JSON.h"

namespace fp8::proof {

enum class Verdict : uint8_t { Proved, Refuted, Unknown };

/// What a process does where a run stops.
struct Stop {
  unsigned process;
  unsigned site; ///< the op that waits
  /// "waits for slot 1 of the ring of 'a', which role "load" has not filled in
  /// lap 2"
  std::string text;
};

/// How to change the kernel, as a clause for a note at the op.
struct Cure {
  unsigned site;
  std::string text;
};

struct Outcome {
  Verdict verdict = Verdict::Proved;
  /// Refuted: what goes wrong. Unknown: what could not be shown. Empty if
  /// proved.
  std::string reason;
  /// Refuted: the values of launch arguments for which it goes wrong.
  std::vector<std::pair<std::string, int64_t>> arguments;
  /// Refuted: data for which it does, as "condition is true".
  std::vector<std::string> data;
  /// Where each role that has not ended stands, if roles wait.
  std::vector<Stop> stops;
  /// Refuted: how to change the kernel, where that is known.
  std::optional<Cure> cure;
  /// Unknown: the op at which the proof ended.
  unsigned site = 0;
  /// By which another can check the proof: Proof.md, "The certificate". There
  /// is none if the proof cannot be written as a tree.
  std::optional<llvm::json::Object> certificate = std::nullopt;
  /// How many steps the proof took.
  uint64_t steps = 0;
};

/// Proves that every process ends and that every channel with data is drained,
/// or finds the smallest launch for which one does not.
///
/// Roles wait for counters of slots that only grow, and branch on launch
/// arguments and on what they have waited for. Therefore all runs of one launch
/// do the same steps, and one run decides. The prover makes that run with
/// symbolic arguments: it advances every process as far as the known facts
/// decide its branches, and then lets one process's branch be taken both ways.
/// A loop is left behind when the state at its head moves by the same amount in
/// each turn, which one turn from an arbitrary such state shows.
///
/// With `wantsCertificate` a complete proof has a certificate.
Outcome prove(const Skeleton &skeleton, int64_t clusterSize,
              bool wantsCertificate = false);

/// What a proof of the skeleton takes for granted, each as a clause.
std::vector<std::string> getAssumptions(const Skeleton &skeleton,
                                        int64_t clusterSize);

/// Proves that every requirement of a skeleton holds, or finds the smallest
/// launch for which one does not. The roles of the skeleton all end.
Outcome proveProvenance(const Skeleton &skeleton, int64_t clusterSize);

/// Proves that every requirement of a skeleton holds; the verdict is proved or
/// unknown. The roles of the skeleton all end.
Outcome proveRequirements(const Skeleton &skeleton, int64_t clusterSize);

/// Makes the outcome a refutation if a requirement fails in a small launch.
void findFailure(const Skeleton &skeleton, int64_t clusterSize,
                 Outcome &outcome);

/// Makes the outcome a refutation if the accesses of a skeleton have no order
/// in a small launch, or read what nobody has written.
void findRace(const Skeleton &skeleton, int64_t clusterSize, Outcome &outcome);

} // namespace fp8::proof

#endif // FP8_PROOF_PROVER_H
