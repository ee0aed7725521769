// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks for the smallest launch in which two accesses have no order.

#ifndef FP8_LIB_PROOF_RACEFINDER_H
#define FP8_LIB_PROOF_RACEFINDER_H

#include "Refuter.h"

namespace fp8::proof {

/// Runs a skeleton with accesses. Of two CTAs, which nothing orders, it
/// compares what they do to one array.
class RaceFinder : public Refuter {
public:
  RaceFinder(const Skeleton &skeleton, int64_t clusterSize);

protected:
  void prepare(Machine &machine) const override { machine.watches = true; }
  bool describeFailure(const Machine &machine, Outcome &outcome) const override;
  bool judge(Machine &machine, const State &state, bool isDecided,
             Outcome &outcome) override;
  bool runLaunch(const Arguments &arguments, Outcome &outcome) override;

private:
  /// What the earlier access does, as ", which role "P" writes".
  std::string getOther(const Race &race, llvm::StringRef where) const;
  /// `where`: behind what the earlier access does, such as " in CTA 0".
  void describe(const Race &race, llvm::StringRef where,
                Outcome &outcome) const;

  using Prints = std::vector<AccessLog::Print>;
  /// What the first CTA of the launch does, while another one runs.
  std::optional<Prints> ofFirst;
  bool runsFirst = false;
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_RACEFINDER_H
