// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The protocol of a role: the one that a skeleton has, and the one that the
// expected events keep.

#ifndef FP8_LIB_PROOFTEXT_PROTOCOL_H
#define FP8_LIB_PROOFTEXT_PROTOCOL_H

#include "Script.h"

#include <optional>

namespace fp8::prooftext {

/// A wait or a signal of a role: for a slot of a ring, or for tensor memory.
struct RingStep {
  enum class Part : uint8_t { Slots, Allocation, Deallocation };
  bool waits = true;
  Part part = Part::Slots;
  unsigned ring = 0;
  bool fills = false; ///< of a producer

  bool operator==(const RingStep &other) const {
    return waits == other.waits && part == other.part && ring == other.ring &&
           fills == other.fills;
  }
  std::string str() const;
};

struct ProtocolNode;
using ProtocolBlock = std::vector<ProtocolNode>;

/// Waits and signals, and the loops and branches around them. Loops with a
/// known, small number of turns are not among them: their turns are.
struct ProtocolNode {
  enum class Kind : uint8_t { Step, Loop, Choice } kind = Kind::Step;
  RingStep step;
  int64_t trips = -1; ///< of a loop; -1: not known
  std::vector<ProtocolBlock> arms = {};
  std::string where = {}; ///< for messages: the expected event

  bool operator==(const ProtocolNode &other) const {
    return kind == other.kind && arms == other.arms && trips == other.trips &&
           (kind != Kind::Step || step == other.step);
  }
  /// As a message says it: "a wait for a full slot of ring 0".
  std::string str() const;
};

/// Adds a node, unless nobody waits or signals in it. A choice between equal
/// arms is none.
void addNode(ProtocolNode node, ProtocolBlock &block);

/// What a role does in the CTAs of some ranks.
struct Protocol {
  unsigned role = 0;
  std::vector<unsigned> ranks;
  ProtocolBlock body;
};

/// Reads the protocols of all roles from a skeleton, as `--fp8-prove=json=`
/// writes it. Throws std::runtime_error with what is wrong.
std::vector<Protocol> readProtocols(const nlohmann::json &skeleton);

/// Where the barriers of rings are; include/fp8/Proof/Events.h says which.
struct RingBarriers {
  unsigned slots = 1;
  int64_t full = 0, empty = 0;
  std::optional<int64_t> deallocation, allocation;
};

/// Shows that the waits and signals among the expected events are those of the
/// protocol, with the same loops and branches, and that the n-th one of an end
/// is of its n-th slot. Throws std::runtime_error with what is not.
void showThatFollows(const Script &script, const Thread &thread,
                     const std::vector<RingBarriers> &rings,
                     const Protocol &protocol);

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_PROTOCOL_H
