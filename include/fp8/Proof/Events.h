// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the threads of a kernel are expected to do, instruction by instruction,
// to barriers, to tensor memory and through copies.

#ifndef FP8_PROOF_EVENTS_H
#define FP8_PROOF_EVENTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fp8::proof {

/// A number of an event: the sum of a constant and of what follows the cursor,
/// the CTA, the lane and the warp.
struct Quantity {
  int64_t constant = 0;
  /// The cursor whose slot counts `stride`, or whose lap gives the parity.
  std::optional<unsigned> cursor = std::nullopt;
  int64_t stride = 0;
  /// The number is `constant` xor the parity of the cursor's lap.
  bool isParity = false;
  /// By the CTA's rank in its cluster; empty if all ranks have 0.
  std::vector<int64_t> byRank = {};
  /// By rank, then by lane.
  std::vector<std::vector<int64_t>> byLane = {};
  /// `warpStride` times the warp's number in the role, modulo `warpValues`, and
  /// `groupStride` times the number of its warpgroup.
  int64_t warpStride = 0, warpValues = 1, groupStride = 0;
  /// Where ends change places: the variable whose end says the ring. The
  /// constant is that of one such ring.
  std::optional<unsigned> variable = std::nullopt;
  /// The number is the value of that parameter of the kernel's PTX, and
  /// `constant` is the most that it can be.
  std::optional<unsigned> parameter = std::nullopt;
};

/// Which threads of a role do something.
struct Doers {
  enum class Lanes : uint8_t { All, Elected, Below } lanes = Lanes::All;
  int64_t below = 0;
  /// The warps whose number in the role is a multiple of this; 0: the first
  /// warp of the CTA.
  int64_t everyWarp = 1;
};

/// One instruction. Kinds and the names of fields are those of the table in
/// lib/ProofText/Forms.cpp. Addresses are offsets in the CTA's dynamic shared
/// memory, or in tensor memory from the columns that are allocated first.
struct Event {
  std::string kind;
  Doers doers = {};
  std::vector<std::pair<std::string, Quantity>> fields = {};
  /// What stands for `*` in the instruction's name, such as its shape and its
  /// types; empty: that is left open.
  std::string variant = {};
  /// The bytes that it brings to each barrier at which it completes. No operand
  /// says them, but the tensor map or the kind.
  int64_t brings = 0;
  /// The parameter of the kernel that says how many bytes these are. `brings`
  /// is then the most.
  std::optional<unsigned> bringsParameter = std::nullopt;
  /// A wait for a slot that is not signalled again: its end is closed.
  bool drains = false;
};

/// An end of a ring, an exchange or a store queue, as its role counts slots.
struct Cursor {
  int64_t slots = 1;
  /// Of a store queue: the slots that are filled at a time; else 0.
  int64_t batch = 0;
};

/// A variable that holds one of several ends, which all count in one cursor.
/// Control flow moves ends from variable to variable.
struct EndVariable {
  unsigned cursor = 0;
  /// The number of the ring whose end the role takes in it, if it takes one.
  std::optional<unsigned> ring = std::nullopt;
};

struct EventNode;
using EventBlock = std::vector<EventNode>;

struct EventNode {
  enum class Kind : uint8_t {
    Event,
    Advance, ///< `cursor` goes on to its next slot
    Move,    ///< ends go from variables to others, all at a time
    Skip,    ///< a wait that is left out, since its slot is known to be there
    Repeat,  ///< the arm, any number of times, or `trips` times
    Choice,  ///< one of the arms
    Ranks,   ///< the arm, in CTAs of these ranks
  };
  Kind kind;
  unsigned site = 0; ///< the op
  Event event = {};  ///< of Skip: what is left out
  unsigned cursor = 0;
  std::optional<unsigned> variable =
      std::nullopt; ///< of Advance: as in Quantity
  std::vector<std::pair<unsigned, unsigned>> moves = {};
  std::optional<int64_t> trips = std::nullopt;
  std::vector<int64_t> ranks = {};
  std::vector<EventBlock> arms = {};
};

/// Where the barriers of a ring are, in the CTA's dynamic shared memory: those
/// of full slots, those of empty ones. Of accumulators, also the barrier by
/// which tensor memory is given back, and the named one by which it is handed
/// out.
struct RingBarriers {
  int64_t slots = 1, full = 0, empty = 0;
  std::optional<int64_t> deallocation = std::nullopt, allocation = std::nullopt;
  std::string name = {}; ///< for messages: "the ring of 'a'"
};

struct RoleEvents {
  std::string name;
  int64_t firstWarp = 0, warps = 0;
  std::vector<Cursor> cursors;
  std::vector<EndVariable> variables;
  EventBlock body;
};

/// All that the threads of a CTA do: `start`, the body of their role if they
/// have one (others do what `idle` says), and `end`.
struct KernelEvents {
  int64_t clusterSize = 1;
  int64_t warps = 0;
  EventBlock start, idle, end;
  std::vector<RoleEvents> roles;
  std::vector<RingBarriers> rings;
  /// Words of shared memory that hold addresses of tensor memory: offset, and
  /// the address that stands for the one that the kernel gets.
  std::vector<std::pair<int64_t, int64_t>> tensorMemory;
  std::vector<std::string> sites; ///< "file:line:column: op"
};

} // namespace fp8::proof

#endif // FP8_PROOF_EVENTS_H
