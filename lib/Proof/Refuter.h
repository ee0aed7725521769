// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks for the smallest launch that goes wrong.

#ifndef FP8_LIB_PROOF_REFUTER_H
#define FP8_LIB_PROOF_REFUTER_H

#include "Cures.h"
#include "fp8/Proof/Prover.h"

namespace fp8::proof {

/// Runs a skeleton with given arguments, which decides what the proof could
/// not.
class Refuter {
public:
  Refuter(const Skeleton &skeleton, int64_t clusterSize)
      : skeleton(skeleton), clusterSize(clusterSize) {}
  virtual ~Refuter() = default;

  /// Makes the outcome a refutation if it finds a launch that goes wrong.
  void refute(Outcome &outcome);
  /// Says where the processes stand that have not ended.
  void describe(Machine &machine, const State &state, Outcome &outcome);

protected:
  using Arguments = std::map<int64_t, int64_t>; ///< by parameter

  /// Sets up a machine, which has the arguments.
  virtual void prepare(Machine &machine) const {}
  /// Says why a run has failed; false if that is no refutation.
  virtual bool describeFailure(const Machine &machine, Outcome &outcome) const;
  /// True if a run goes wrong that nothing can continue, with what goes wrong.
  /// `isDecided`: no data were chosen for it.
  virtual bool judge(Machine &machine, const State &state, bool isDecided,
                     Outcome &outcome);
  /// Runs a launch, for all data. True if it goes wrong, with the stops.
  virtual bool runLaunch(const Arguments &arguments, Outcome &outcome);

  /// Whether numbers of threads are arguments to try.
  bool triesThreads = true;
  uint64_t mostRuns = 5'000, mostSteps = 3'000'000;
  const Skeleton &skeleton;
  int64_t clusterSize;

private:
  /// Says how to change the kernel that waits in this state.
  void cure(Machine &machine, const State &state, Outcome &outcome);
  /// Runs a launch, if the arguments fit one another.
  bool run(const Arguments &arguments, Outcome &outcome);
  bool explore(Machine &machine, AtomTable &atoms, State state,
               std::vector<std::string> &data, Outcome &outcome);
  /// How the process waits; none if it stands at no wait.
  std::optional<Waiting> getWaiting(Machine &machine, const State &state,
                                    unsigned process);
  std::string describe(const Waiting &waiting);
  /// Says which slots are left behind.
  void describe(const State &state, const Leftover &left, Outcome &outcome);
  /// The parameters that decide something, and the values to try for each.
  std::vector<std::pair<int64_t, std::vector<int64_t>>> getCandidates() const;
  using Candidates = std::vector<std::pair<int64_t, std::vector<int64_t>>>;
  /// Tries launches the sum of whose places in the lists of values is from
  /// `least` to `most`, small ones first. True if one goes wrong.
  bool tryBySum(const Candidates &candidates, size_t least, size_t most,
                Outcome &outcome);
  /// Tries those of which one argument is large, while the others are 1, or one
  /// of them 2.
  bool tryOneLarge(const Candidates &candidates, Outcome &outcome);
  bool isTired() const { return runs > mostRuns || steps > mostSteps; }

  uint64_t runs = 0, steps = 0, longestRun = 20'000;
  /// What data were said to decide in the run that is explored.
  std::vector<Linear> decided;
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_REFUTER_H
