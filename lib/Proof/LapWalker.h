// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows a role for one of its ends.

#ifndef FP8_LIB_PROOF_LAPWALKER_H
#define FP8_LIB_PROOF_LAPWALKER_H

#include "Laps.h"

namespace fp8::proof {

using Laps = std::vector<Lap>;

/// Follows a role for one of its ends. The laps that are under way at a place
/// are those of all paths that lead there.
class LapWalker {
public:
  /// `variable`: in which the role takes the end, if it may change places.
  LapWalker(const KernelEvents &events, const BarrierSets &sets,
            const RoleEvents &role, std::optional<unsigned> cursor,
            std::optional<unsigned> variable);

  EndLaps walk();

  std::vector<Miscount> faults;
  std::optional<Miscount> obstacle;
  uint64_t steps = 0;

private:
  // Laps.cpp: control flow, and where laps end.
  Laps walk(const EventBlock &block, Laps laps);
  Laps repeat(const EventNode &node, Laps laps);
  /// Ends the lap of the CTAs that are followed.
  void finish(unsigned site, Lap &lap);
  void record(Lap lap);
  void obstruct(unsigned site, const std::string &reason);

  // LapEvents.cpp
  /// Says to which cursor barriers belong whose addresses follow none.
  void findOwners(const EventBlock &block);
  std::optional<unsigned> getCursor(const Event &event, unsigned set) const;
  /// The barriers on which the event works, if it may be the end's.
  std::optional<unsigned> findSet(const EventNode &node);
  /// The CTAs at whose barriers an event in this one takes effect.
  std::vector<int64_t> getTargets(const Event &event, int64_t rank) const;
  void apply(const EventNode &node, Laps &laps);
  /// What one CTA does to barriers of a set.
  void apply(const EventNode &node, unsigned set, int64_t rank, Lap &lap);
  void wait(const EventNode &node, unsigned set);
  void move(const EventNode &node, Laps &laps);

  const KernelEvents &events;
  const BarrierSets &sets;
  const RoleEvents &role;
  std::optional<unsigned> variable;
  EndLaps result;
  std::map<unsigned, unsigned> owners;
  std::vector<int64_t> ranks; ///< that take the block at hand
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_LAPWALKER_H
