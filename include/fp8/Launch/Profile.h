// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stamps that a profiled kernel writes (fp8-profile), and what is made of
// them: a timeline, a trace for Perfetto, and a summary in words.
// lib/Conversion/Fp8ToNVVM/Stamps.cpp writes the stamps.
//
// A variable of the kernel's module holds them. A unit is a role of a sampled
// CTA, number cta * roles + role. The variable has, of each unit, a head of 48
// bytes. Then it has `stamps` times all units a stamp of 16 bytes.
#ifndef FP8_LAUNCH_PROFILE_H
#define FP8_LAUNCH_PROFILE_H

#include "fp8/Launch/Expected.h"
#include "fp8/Launch/WaitRecords.h"

namespace fp8::launch {

/// Where the stamps of a kernel lie and what they mean: `profile` of its
/// manifest.
struct ProfileTable {
  std::string variable;
  uint32_t ctas = 0;   ///< that write stamps, the first of the grid
  uint32_t stamps = 0; ///< that there is room for, of each role
  std::vector<WaitTable::Role> roles;
  std::vector<WaitTable::Barrier> barriers;

  uint64_t units() const { return uint64_t(ctas) * roles.size(); }
  /// The role whose heads have what is of the CTA: the first of those with most
  /// warps.
  uint32_t teller() const;
  uint64_t headsBytes() const;
  /// The size of the variable.
  uint64_t bytes() const;
  /// What one sampled CTA costs.
  uint64_t bytesPerCta() const { return ctas ? bytes() / ctas : 0; }
};

/// A stamp, as kernels write it: a wait, and the hand-over behind it; or one of
/// them alone.
struct Stamp {
  uint32_t since; ///< the clock where the wait began; 0 if it took no time
  uint32_t until; ///< the clock behind the wait
  uint32_t when;  ///< the clock of the hand-over
  /// The barriers, each an eighth of its address + kIsThere, or 0: that of the
  /// wait in the upper half, that of the hand-over in the lower.
  uint32_t word;
  static constexpr uint32_t kIsThere = 1 << 15;
};
static_assert(sizeof(Stamp) == 16, "as kernels write it");

/// The head of a unit, as kernels write it.
struct StampHead {
  uint64_t kernelTime;  ///< %globaltimer where the kernel began, ns; teller's
  uint32_t kernelClock; ///< %clock there; teller's
  uint32_t multiprocessor; ///< %smid; teller's
  uint32_t sharedMemory;   ///< the address of what is dynamic; teller's
  uint32_t beginClock;     ///< %clock where the role began
  uint64_t unused;
  uint64_t endTime; ///< 0 as long as the role has not ended
  uint32_t endClock;
  uint32_t count; ///< of stamps, those among them that found no room
};
static_assert(sizeof(StampHead) == 48, "as kernels write it");

/// What roles did, in ns since the first CTA began.
struct Timeline {
  static constexpr uint32_t kNone = ~uint32_t(0);
  struct Slice {
    /// Start: before the role began. Work: between waits. Wait: for a barrier.
    /// Unrecorded: there was no room for stamps. Ended: other roles still work.
    enum Kind { Start, Work, Wait, Unrecorded, Ended };
    Kind kind;
    double begin, end;
    uint32_t barrier = kNone; ///< in the table; of work, what it waited for
    uint32_t stage = 0;
  };
  struct HandOver {
    double time;
    uint32_t barrier, stage;
  };
  /// One role of one CTA. Its slices follow one another without gaps, from the
  /// begin of the CTA to its end.
  struct Track {
    uint32_t cta, multiprocessor, role;
    std::vector<Slice> slices;
    std::vector<HandOver> handOvers;
    uint64_t lost = 0; ///< stamps that there was no room for
    /// ns from the CTA's begin to the role's end by the timer; slices are of
    /// clocks.
    double timed = 0;

    /// What the slices until the role's end add up to, ns.
    double sum() const;
    /// That sum as a share of `timed`; 1 if the timer has not moved.
    double accuracy() const;
  };

  ProfileTable table;
  std::vector<Track> tracks; ///< by CTA, then by role
  double duration = 0;       ///< of the sampled CTAs together, ns
  double gigahertz = 0;      ///< of the clock, measured by the timer

  uint64_t lost() const; ///< stamps of all tracks that there was no room for
};

/// Reads the variable after the kernel has ended. CTAs that the grid does not
/// have are left out. Error: it has the wrong size, or no role has ended.
Expected<Timeline> readTimeline(const ProfileTable &table,
                                const std::vector<uint8_t> &variable);

/// How many slots of a ring are in use, when that changes.
struct Occupancy {
  uint32_t cta;
  std::string ring;
  uint32_t slots;
  std::vector<std::pair<double, uint32_t>> changes; ///< ns, slots from then on
};

/// The rings' occupancy: a slot is in use from the time its producer may fill
/// it until the last role of its consumers has handed it back.
std::vector<Occupancy> findOccupancy(const Timeline &timeline);

/// Writes the timeline as a trace that Perfetto opens (Chrome's JSON trace
/// format): a process for each CTA, a track for each role, a counter for each
/// ring.
std::string writeTrace(const Timeline &timeline, const std::string &kernel);

/// Says what each role waited for, and what to do about it; lines without line
/// breaks.
std::vector<std::string> summarise(const Timeline &timeline);

} // namespace fp8::launch

#endif // FP8_LAUNCH_PROFILE_H
