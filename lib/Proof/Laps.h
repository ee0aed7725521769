// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the ends of rings do to barriers in each lap of a slot.

#ifndef FP8_LIB_PROOF_LAPS_H
#define FP8_LIB_PROOF_LAPS_H

#include "fp8/Proof/Events.h"
#include "fp8/Proof/Miscounts.h"

#include <map>
#include <tuple>

namespace fp8::proof {

/// Barriers that count alike: of one side of a ring's slots, or a single one.
struct BarrierSet {
  /// What its phases say: that slots are full or empty, that tensor memory is
  /// handed out or given back. An exchange's barriers are of no ring.
  enum class Use : uint8_t { Full, Empty, Allocation, Deallocation, Exchange };

  Use use = Use::Exchange;
  unsigned ring = 0; ///< its number
  std::string name;  ///< for messages: "the full barrier of the ring of 'a'"
  int64_t offset = 0, slots = 1;
  int64_t count = 0;     ///< the arrivals that complete a phase
  bool isUneven = false; ///< its barriers, or its users, count differently

  bool followsCursor() const { return use == Use::Full || use == Use::Empty; }
  /// A named barrier: `offset` is its number, and it counts threads.
  bool isNamed() const { return use == Use::Allocation; }
};

/// The barriers by which roles hand over.
class BarrierSets {
public:
  explicit BarrierSets(const KernelEvents &events);

  /// The set on which an event of the role works. Where ends change places, it
  /// is that of one of their rings.
  std::optional<unsigned> find(const Event &event,
                               const RoleEvents &role) const;
  /// The set of that ring that is used as this one is of its own.
  unsigned getAlike(unsigned set, unsigned ring) const;
  const BarrierSet &operator[](unsigned number) const { return sets[number]; }
  unsigned size() const { return sets.size(); }

private:
  void addMemory(const KernelEvents &events);
  void addNamed(const KernelEvents &events);
  void countThreads(const EventBlock &block, const RoleEvents &role);

  std::vector<BarrierSet> sets;
};

/// A barrier of a set, and who signals it: ranks of CTAs.
struct Signal {
  unsigned set;
  int64_t from, to;
  bool ofBytes; ///< copies bring bytes; else threads or engines arrive

  bool operator<(const Signal &other) const {
    return std::tie(set, from, to, ofBytes) <
           std::tie(other.set, other.from, other.to, other.ofBytes);
  }
  bool operator==(const Signal &other) const {
    return !(*this < other) && !(other < *this);
  }
};

/// What an end adds to a phase.
struct Share {
  int64_t arrivals = 0;
  /// The sets for whose barriers the thread has waited before, in this lap, as
  /// bits; and those for which all threads of its warp have.
  uint64_t behind = ~uint64_t(0), behindAll = 0;
  bool byAllWarps = false;

  bool operator<(const Share &other) const {
    return std::tie(arrivals, behind, behindAll, byAllWarps) <
           std::tie(other.arrivals, other.behind, other.behindAll,
                    other.byAllWarps);
  }
  bool operator==(const Share &other) const {
    return !(*this < other) && !(other < *this);
  }
};

/// Bytes of a phase.
struct Bytes {
  int64_t missing = 0; ///< announced, and not brought
  bool isOpen = false; ///< no arrival has followed the announcement

  bool operator<(const Bytes &other) const {
    return std::tie(missing, isOpen) < std::tie(other.missing, other.isOpen);
  }
  bool operator==(const Bytes &other) const {
    return missing == other.missing && isOpen == other.isOpen;
  }
};

/// The sets for whose barriers threads have waited, as bits.
struct Waits {
  uint64_t begun = 0, met = 0; ///< met: the lanes have met behind them

  bool operator<(const Waits &other) const {
    return std::tie(begun, met) < std::tie(other.begun, other.met);
  }
  bool operator==(const Waits &other) const {
    return begun == other.begun && met == other.met;
  }
};

/// What an end does from one advance of its cursor to the next, in the CTAs
/// that take this one.
struct Lap {
  std::map<Signal, Share> shares;
  /// Those that a parameter of the kernel counts are told apart by its number;
  /// others have -1.
  std::map<std::tuple<unsigned, int64_t, int64_t, int64_t>, Bytes> bytes;
  std::map<int64_t, Waits> waits; ///< by rank
  bool drains = false;            ///< the end is being closed
  /// Where ends change places: the variable that holds the end now.
  std::optional<unsigned> variable = std::nullopt;
  unsigned site = 0; ///< no part of what laps have in common

  bool operator<(const Lap &other) const {
    return std::tie(shares, bytes, waits, drains, variable) <
           std::tie(other.shares, other.bytes, other.waits, other.drains,
                    other.variable);
  }
  bool operator==(const Lap &other) const {
    return !(*this < other) && !(other < *this);
  }
};

/// True if the end signals in this lap, behind a wait for a barrier of
/// `behind`.
bool signals(const Lap &lap, unsigned set, int64_t from, int64_t to,
             unsigned behind);

/// An end of a role, as its cursor; without one, what the role does once.
struct EndLaps {
  const RoleEvents *role;
  std::optional<unsigned> cursor;
  /// All laps that differ and in which the end signals.
  std::vector<Lap> laps;
  /// By set: of how many laps ago the phase is that the end waits for.
  std::map<unsigned, int64_t> lags;

  /// True if it waits for the barrier in each lap in which this CTA takes part.
  bool alwaysWaits(unsigned set, int64_t rank) const;
  bool everWaits(unsigned set, int64_t rank) const;
  /// True if it signals in each of its laps.
  bool alwaysSignals(unsigned set, int64_t from, int64_t to,
                     unsigned behind) const;
};

/// The laps of all ends, or where they cannot be told.
struct KernelLaps {
  std::vector<EndLaps> ends;
  std::vector<Miscount> faults;
  std::optional<Miscount> obstacle;
  uint64_t steps = 0;
};

KernelLaps findLaps(const KernelEvents &events, const BarrierSets &sets);

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_LAPS_H
