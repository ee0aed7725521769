// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses of one run happen before which.

#ifndef FP8_LIB_PROOF_ACCESSLOG_H
#define FP8_LIB_PROOF_ACCESSLOG_H

#include "Linear.h"
#include "fp8/Proof/Skeleton.h"

namespace fp8::proof {

/// What goes wrong: an access, and an earlier one that nothing orders. There is
/// no earlier one if the access reads what nobody has written.
struct Race {
  struct Party {
    unsigned process = 0, site = 0, access = 0;
    /// Of an access in a slot, the slot of the ring, and its lap.
    std::optional<std::pair<int64_t, int64_t>> slot = std::nullopt;
    unsigned warp = 0; ///< of the process, if threads make the access
  };
  Party later;
  std::optional<Party> earlier;
  std::string place; ///< "element 3 of argument 0"
};

/// The accesses of a run with given arguments, by vector clocks. The agents are
/// the warps of each role, and its engines. What a role hands over carries all
/// that it and its engines were told to do before, so that accesses are
/// reported only where the hardware does not order them.
class AccessLog {
public:
  AccessLog() = default;
  explicit AccessLog(const Skeleton &skeleton);

  /// The end has taken the slot.
  void take(unsigned process, unsigned end, int64_t slot) {
    taken[{end, slot}] = getDone(process);
  }
  /// The end hands the slot over, after all that the process has done; if
  /// copies do, after all that it had done when it took the slot.
  void signal(unsigned process, unsigned end, int64_t slot, bool isByCopies);
  /// The process learns what the end had done when it handed the slot over.
  void wait(unsigned process, unsigned end, int64_t slot);
  /// The engines of the process have done their work.
  void settle(unsigned process);

  /// An access by one agent.
  struct Request {
    Race::Party party;
    const Access &access;
    std::vector<int64_t> indices; ///< constants
    unsigned channel = 0;         ///< if it is in a slot
    std::optional<Linear> value;
  };
  /// Records an access; the race, if there is one. `isOfSame`: the warp
  /// executes the instruction for another lane.
  std::optional<Race> record(const Request &request, bool isOfSame);

  /// A box or an element that was written or read, of memory that all CTAs see.
  struct Print {
    Race::Party party;
    unsigned place;
    std::vector<int64_t> indices;
    std::vector<int64_t> extents;
    bool writes;
    std::optional<Linear> value;
  };
  /// What the run has touched of such memory.
  const std::vector<Print> &getPrints() const { return prints; }
  /// Whether two writes leave different values.
  static bool isKnownToDiffer(const Access &access,
                              const std::optional<Linear> &a,
                              const std::optional<Linear> &b);
  /// True if two of them have something in common.
  static bool overlap(const Print &a, const Print &b);
  static std::string getPlaceName(const Access &access,
                                  llvm::ArrayRef<int64_t> indices);

private:
  using Clock = std::vector<uint32_t>;
  struct Event {
    unsigned agent;
    uint32_t time;
    Race::Party party;
    std::vector<int64_t> indices, extents;
    std::optional<Linear> value;
    bool writes;
  };
  unsigned getAgent(unsigned process, Access::Agent agent, unsigned warp) const;
  bool knows(const Clock &clock, const Event &event) const {
    return clock[event.agent] >= event.time;
  }
  /// All that the process knows, and what it and its engines have done.
  Clock getDone(unsigned process) const;
  /// What the agent knows of the others.
  Clock getKnown(unsigned process, Access::Agent agent, unsigned warp) const;
  static void join(Clock &into, const Clock &from);

  const Skeleton *skeleton = nullptr;
  /// The agents of a process: its copies, its products, its warps.
  std::vector<unsigned> firstAgent;
  std::vector<Clock> known;    ///< by agent
  std::vector<uint32_t> times; ///< by agent
  std::map<std::pair<unsigned, int64_t>, Clock> taken, handedOver;
  /// By what they have in common: whether they are in a slot, the channel, the
  /// place, and the slot.
  std::map<std::tuple<bool, unsigned, unsigned, int64_t>, std::vector<Event>>
      events;
  std::vector<Print> prints;
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_ACCESSLOG_H
