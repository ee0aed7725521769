// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The record of a run, from which another can make the run without a search.

#ifndef FP8_LIB_PROOF_WITNESS_H
#define FP8_LIB_PROOF_WITNESS_H

#include "Machine.h"

#include "llvm/Support/JSON.h"

namespace fp8::proof {

/// How a run is recorded.
enum class Recording : uint8_t {
  Off,
  /// The run is that of Off. It may use what it has shown of states elsewhere;
  /// there is no witness then.
  Plain,
  /// The run shows such states once more.
  Tree,
};

/// A tree of states, each with the steps that lead to it and what was decided
/// there. docs/Proof.md says what each decision means.
class Witness {
public:
  using NodeId = unsigned;

  explicit Witness(Recording recording) : recording(recording) {
    if (isOn())
      nodes.emplace_back();
  }
  bool isOn() const { return recording != Recording::Off; }

  /// The sum is at least 0 in `yes`, and less in `no`.
  void fork(const State &state, const Linear &sum, State &yes, State &no);
  /// A process reads both answers of a queue.
  void ask(const State &state, unsigned process, State &yes, State &no);
  void end(const State &state) { close(state, Kind::End); }
  /// That the state `by` was seen is used of this one. False if the run must
  /// show what follows it instead. Of `by` only the variables in `isAlive`
  /// matter.
  bool cover(const State &state, const State &by,
             llvm::function_ref<bool(unsigned, unsigned)> isAlive);

  /// What an induction says about the state at a guard.
  struct Loop {
    Linear count; ///< of turns
    /// Variables that matter, and by how much each moves in a turn.
    std::vector<std::tuple<unsigned, unsigned, Linear>> kept;
    // After `count` turns:
    std::vector<Linear> invariants; ///< are at least 0
    Linear rank;                    ///< is at least 0 if there is one more
    /// How many turns there are, if the guard tells.
    std::optional<Linear> last;
    NodeId turn = 0, after = 0;
  };
  /// Begins the record of a turn, or of what follows the last one, that starts
  /// from the state.
  NodeId begin(State &state);
  /// The state is that at the head, one turn later.
  void back(const State &state, const State &head);
  /// Decides the guard in the state by the induction. `mayExit`: whether it was
  /// recorded that the loop may not be entered.
  void leaveBehind(const State &head, bool mayExit, Loop loop);

  /// Says that the run used what another cannot replay.
  void lose() { isLost = true; }

  /// Trials that fail leave nothing.
  size_t mark() const { return nodes.size(); }
  void forgetFrom(size_t mark) {
    if (isOn())
      nodes.resize(mark);
  }
  /// The nodes of the tree, and the expressions of their sums. None if the run
  /// used what was shown elsewhere, or if it is lost.
  std::optional<llvm::json::Object> toJSON(const AtomTable &atoms) const;

private:
  friend class WitnessWriter;

  enum class Kind : uint8_t { Fork, Ask, Loop, Back, Cover, End };
  /// A state, and what was decided there. The first node has no parent, so that
  /// 0 stands for none.
  struct Node {
    NodeId parent = 0;
    Kind kind = Kind::End;
    Linear sum;           ///< of Fork
    unsigned process = 0; ///< of Ask
    Moves moves;
    /// What follows Fork and Ask. What was a Fork before it became a Loop has
    /// the state in which there is no turn in `no`.
    NodeId yes = 0, no = 0;
    NodeId target = 0; ///< of Back and Cover
    unsigned loop = 0; ///< the number of the induction
    std::vector<std::pair<unsigned, unsigned>> forgotten;
  };

  Node *close(const State &state, Kind kind);
  Node *part(const State &state, Kind kind, State &yes, State &no);
  NodeId add(NodeId parent);

  Recording recording;
  bool isLost = false;
  std::vector<Node> nodes;
  std::vector<Loop> loops;
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_WITNESS_H
