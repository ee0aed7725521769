// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The skeleton of a kernel: of each role what waits, what signals, and what
// decides whether and how often it does.

#ifndef FP8_PROOF_SKELETON_H
#define FP8_PROOF_SKELETON_H

#include "fp8/Proof/Expression.h"

namespace fp8::proof {

/// One side of a channel, in the CTAs of one class. Ends count the slots that
/// they have waited for and those that they have signalled.
struct End {
  std::string name; ///< for messages
  unsigned channel;
  bool isProducer;
};

/// A ring, or a hand-over that takes place once. Its n-th slot is free for a
/// producer when all consumers have signalled slot n - slots, and there for a
/// consumer when all producers have signalled slot n. A slot may have fields,
/// which a producer sets when it signals, and a consumer gets when it has
/// waited.
struct Channel {
  std::string name;
  int64_t slots;
  /// An end of the process waits, when it drains the channel, until all of its
  /// slots have come back.
  bool holdsData = false;
  /// What fills a slot asks for work: it may if the answer in the slot before
  /// says that there is more.
  bool isOfQuestions = false;
  std::vector<unsigned> producers, consumers; ///< numbers of ends
  unsigned site = 0;                          ///< the op that makes it
  /// What is handed over of which ring; rings count in the kernel's order.
  enum class Part : uint8_t { Slots, Allocation, Deallocation };
  Part part = Part::Slots;
  unsigned ring = 0;

  /// The hand-over takes place once: it is no ring.
  bool isOnce() const { return part != Part::Slots; }
};

/// Of Wait: the field that is the number of the slot, which nobody sets.
inline constexpr unsigned kSlotNumber = ~0u;

/// A part of memory that a role reads or writes.
struct Access {
  enum class Agent : uint8_t {
    Warps,  ///< each lane of each warp
    Copies, ///< the engine that copies for the role
    Mma,    ///< that which multiplies, one product after the other
  };
  Agent agent = Agent::Warps;
  bool writes = false;
  /// All that the role's engines were given has been done: no access.
  bool settles = false;
  /// It is in the slots of the channel of the statement's end, and the first
  /// index is the number of the slot. What a slot holds at first is no value.
  bool isInSlot = false;
  /// Tells apart what is not in slots, and what is in one slot.
  unsigned place = 0;
  /// For messages: "tile 'a'", "element {} of argument 2".
  std::string name;
  /// Of a box: its extents. What has none is one element.
  std::vector<int64_t> extents;
  /// What is written, where that is known: a write of what is there already
  /// changes nothing.
  std::optional<ExprId> value = std::nullopt;
};

struct Statement;
using Block = std::vector<Statement>;

/// A step of a process. Sites are numbers of ops, for messages.
struct Statement {
  enum class Kind : uint8_t {
    Wait,    ///< until the next slot of `end` is there
    Signal,  ///< hands the slot over
    Drain,   ///< waits until all slots of `end` have come back
    Answer,  ///< variable `assigned[0]` is whether there is more work, and
             ///< `assigned[1]`, if there is one, which, as all ends of the
             ///< channel read it in this slot
    Assign,  ///< variables get values, all at once
    Branch,  ///< `condition`: first block, else second
    For,     ///< variable runs from `lower` by `step` below `upper`
    While,   ///< first block, then, if `condition`, second block and again
    Require, ///< `condition` must hold, by `rule`
    Access,  ///< reads or writes what `rule` says, at the indices `assigned`
  };
  Kind kind;
  unsigned site = 0;
  ExprId end = 0;
  ExprId condition = 0, lower = 0, upper = 0, step = 0;
  /// Variables, and what they get. Of Wait: variables, and the fields of the
  /// slot that they get. Of Signal: fields of the slot, and what they get. Of
  /// Access: numbers of indices, and the indices.
  std::vector<std::pair<unsigned, ExprId>> assigned;
  /// Of Require: the number of a rule of the skeleton. Of Access: that of an
  /// access.
  unsigned rule = 0;
  /// Of Signal: whether fields get the sum of what all producers give them.
  bool addsUp = false;
  /// Of Signal: copies hand the slot over, and the role has arrived when it
  /// took the slot.
  bool isByCopies = false;
  /// Of For: the variable that runs, and those that keep bound and step.
  unsigned variable = 0, bound = 0, stride = 0;
  /// Whether CTAs of a cluster meet in it, beside channels.
  bool meets = false;
  /// Of a branch or a loop in which they meet: the text does not show that all
  /// decide it alike.
  bool mayPart = false;
  Block first, second;
};

/// What a role does in the CTAs of one class.
struct Process {
  std::string name;
  unsigned site;
  Block body;
  unsigned numVariables = 0;
  unsigned role = 0; ///< its number in the kernel
  /// The ranks of the class's CTAs in their cluster.
  std::vector<int64_t> ranks;
  int64_t firstWarp = 0, numWarps = 1;
};

struct Skeleton {
  std::string kernel;
  ExprTable expressions;
  std::vector<Channel> channels;
  std::vector<End> ends;
  std::vector<Process> processes;
  /// What requirements ask for, as "blocks of A and B must cover the same K".
  std::vector<std::string> rules;
  std::vector<Access> accesses;
  /// True if CTAs of a cluster wait for one another in channels.
  bool coupled = false;
  /// Some role may do its steps in several orders, of which this is one. If it
  /// ends, all do; if not, nothing is known.
  bool isOneOrder = false;
};

} // namespace fp8::proof

#endif // FP8_PROOF_SKELETON_H
