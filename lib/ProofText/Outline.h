// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which expected event each event of the text is, whatever slots they are of.

#ifndef FP8_LIB_PROOFTEXT_OUTLINE_H
#define FP8_LIB_PROOFTEXT_OUTLINE_H

#include "Addresses.h"

namespace fp8::prooftext {

/// The events of one thread, without the slots of rings. A walk that follows
/// one cursor tells events of other cursors apart by their kinds and by their
/// rings alone, so that each such walk may read the text as other events. If
/// all readings of a path have the same fields, and cursors are at the same
/// slots, any one of them agrees with all that the walks have compared: they
/// show together what a walk that follows all cursors at once does.
class Outline {
public:
  Outline(const Code &code, const Counters &counters,
          const KernelScript &kernel, const Script &script, Matcher &matcher,
          const Thread &thread);

  /// The walks that are needed, one for each cursor; none if a path has
  /// different readings, or none at all.
  std::vector<Focus> getFoci();

private:
  /// A place in the text. Where control flow joins, and events.
  struct Node {
    bool returns = false;
    /// The expected events that this one may be, as steps of the script.
    std::vector<uint32_t> candidates;
    const CodeStep *event = nullptr;
    /// What may follow, and what may follow once the event has taken place.
    std::vector<uint32_t> next, behind;
  };
  /// A place in the text, and the step of the script behind the last event.
  struct Pair {
    uint32_t node, step;
    bool operator<(const Pair &other) const {
      return std::tie(node, step) < std::tie(other.node, other.step);
    }
  };
  /// A pair, those that follow, and by which event.
  struct PairNode {
    Pair pair;
    std::vector<std::pair<uint32_t, int32_t>> next;
    bool leadsToEnd = false;
  };
  /// Two pairs at the same place of the text.
  using Twin = std::tuple<uint32_t, uint32_t, uint32_t>;

  static constexpr uint32_t kMostNodes = 100'000;

  bool readText();
  void follow(State state);
  uint32_t addNode();
  std::vector<uint32_t> getCandidates(const State &state, const CodeStep &step);
  bool pairUp();
  uint32_t getPair(Pair pair);
  void findEnds();
  /// True if all readings of a path have the same fields and slots.
  bool haveReadingsOneMeaning();
  bool goOn(const Twin &twin, std::vector<Twin> &next);
  bool leadsToEnd(uint32_t node, uint32_t step) const;
  Readings getReadings() const;
  std::vector<Counters::Numbers>
  getCountersOfCursors(const Readings &readings) const;

  const Code &code;
  const Counters &counters;
  const Script &script;
  Matcher &matcher;
  const Thread &thread;
  Addresses addresses;
  Focus focus;
  Execution execution;
  Successors successors;
  std::vector<State> left;
  /// By kind of event: the steps of the script.
  std::map<std::string, std::vector<uint32_t>> stepsOfKind;
  std::map<StateKey, uint32_t> joins;
  std::vector<Node> nodes;
  std::map<Pair, uint32_t> numbers;
  std::vector<PairNode> pairs;
};

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_OUTLINE_H
