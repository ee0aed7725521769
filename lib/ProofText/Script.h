// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expected events of a role, as a nondeterministic automaton.

#ifndef FP8_LIB_PROOFTEXT_SCRIPT_H
#define FP8_LIB_PROOFTEXT_SCRIPT_H

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace fp8::prooftext {

/// A thread that may act on its own.
struct Thread {
  unsigned rank = 0;     ///< of its CTA in the cluster
  unsigned warp = 0;     ///< of the CTA
  unsigned roleWarp = 0; ///< of the role
  unsigned lane = 0;
  bool elected = false;
  /// Any thread of the warp, in any CTA: rank, lane and election are not known.
  bool isAny = false;
  /// It is any one of so many lanes, from `lane` on.
  unsigned lanes = 1;

  std::string str() const;
};

/// Where the script's cursors are: how often each has advanced, modulo its
/// period.
constexpr unsigned kMaxCursors = 12;
using Cursors = std::array<uint8_t, kMaxCursors>;

/// Where the expected events may be: one of several, since conditions are open.
struct Position {
  uint32_t step = 0;
  Cursors cursors{};

  bool operator<(const Position &other) const {
    return std::tie(step, cursors) < std::tie(other.step, other.cursors);
  }
  bool operator==(const Position &other) const {
    return step == other.step && cursors == other.cursors;
  }
};
using Positions = std::vector<Position>;

/// What a field of an event must be; include/fp8/Proof/Events.h says how it is
/// computed.
struct Quantity {
  int64_t constant = 0;
  int cursor = -1;
  int64_t stride = 0;
  bool isParity = false;
  std::vector<int64_t> byRank;
  std::vector<std::vector<int64_t>> byLane;
  int64_t warpStride = 0, warpValues = 1, groupStride = 0;
  int parameter = -1; ///< of the kernel, whose value it is
};

struct ScriptEvent {
  std::string kind;
  std::string variant; ///< what the form's `*` stands for; empty: anything
  std::string site;
  bool byElected = false;
  unsigned below = 32;    ///< lanes with smaller numbers do it
  unsigned everyWarp = 1; ///< 0: the first warp of the CTA
  std::map<std::string, Quantity> fields;
  /// The same number for events with the same kind and fields.
  uint32_t content = 0;

  bool isDoneBy(const Thread &thread) const;
};

struct ScriptNode;
using ScriptBlock = std::vector<ScriptNode>;

/// The steps of a script as a tree. Loops with a known, small number of turns
/// are not among them: their turns are.
struct ScriptNode {
  enum class Kind : uint8_t { Step, Loop, Choice, Ranks } kind = Kind::Step;
  uint32_t step = 0;  ///< of Step: an event, one that is left out, an advance
  int64_t trips = -1; ///< of Loop; -1: not known
  uint64_t ranks = 0; ///< of Ranks: a bit for each
  std::vector<ScriptBlock> arms = {};
};

/// Trip counts up to this are followed exactly.
constexpr int64_t kMostTrips = 64;

/// One role's threads from the start of the kernel to its end.
class Script {
public:
  struct Step {
    enum class Kind : uint8_t {
      Event,   ///< `index`
      Advance, ///< cursor `index`
      Skip,    ///< event `index`, a wait that is left out
      Split,   ///< goes on here or at `target`
      Jump,    ///< goes on at `target`
      Ranks,   ///< goes on here in CTAs of `ranks`, else at `target`
      End,
    };
    Kind kind;
    uint32_t index = 0, target = 0;
    uint64_t ranks = 0; ///< a bit for each
  };
  struct Cursor {
    unsigned slots = 1, batch = 0;
  };

  std::string name;
  unsigned firstWarp = 0, warps = 0;
  std::vector<Cursor> cursors;
  std::vector<ScriptEvent> events;
  std::vector<Step> steps;
  ScriptBlock body; ///< the steps as a tree

  void advance(unsigned cursor, Cursors &at) const;
  /// The value of a field for that thread there.
  int64_t evaluate(const Quantity &quantity, const Thread &thread,
                   const Cursors &at) const;
  /// One more than the largest number of a lane that acts by its number.
  unsigned getNumLanes() const;
  /// Some lanes act by their number, besides the first thread.
  bool hasLaneEvents() const;
};

/// All roles of a kernel; the last is that of the warps without one.
struct KernelScript {
  unsigned clusterSize = 1, warps = 0;
  std::vector<Script> roles;
  /// What the proof of the roles' protocol says: "proved", "refuted" or
  /// "unknown".
  std::string verdict;
  /// Words of shared memory that hold addresses of tensor memory, and the
  /// addresses.
  std::map<uint64_t, uint64_t> tensorMemory;
};

/// Reads the events of a kernel from what `--fp8-prove=json=` writes, and shows
/// that they follow its skeleton. Throws std::runtime_error with what is wrong.
KernelScript readScript(const nlohmann::json &file, const std::string &kernel);

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_SCRIPT_H
