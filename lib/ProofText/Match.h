// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a thread may be in the expected events, and whether an event of the
// text is one of those that are next.

#ifndef FP8_LIB_PROOFTEXT_MATCH_H
#define FP8_LIB_PROOFTEXT_MATCH_H

#include "Execution.h"

#include <map>
#include <memory>
#include <set>
#include <unordered_map>

namespace fp8::prooftext {

/// By step of the text: the steps of the script that the event may be.
using Readings = std::map<uint32_t, std::set<uint32_t>>;

/// What a walk follows: all cursors of a role, or one and the registers that it
/// is compared with.
struct Focus {
  static constexpr int kAll = -1, kNone = -2;
  int cursor = kAll;
  /// By step of the text: its result is taken to be unknown. Empty: none is.
  std::vector<bool> open = {};
  /// What else tells the events of other cursors apart; null: nothing does.
  std::shared_ptr<const Readings> readings = nullptr;

  bool follows(int its) const { return cursor == kAll || cursor == its; }
};

/// Which expected events can follow which, for one thread.
class Successors {
public:
  Successors(const Script &script, const Thread &thread, int cursor)
      : script(script), thread(thread), focus{cursor} {}

  /// The events that may be next at a step of the script, or its end.
  const Positions &get(const Position &position);

private:
  void close(Position position, Positions &out);

  struct Hash {
    size_t operator()(const Position &position) const;
  };

  const Script &script;
  const Thread &thread;
  Focus focus;
  std::unordered_map<Position, Positions, Hash> next;
};

/// What an event of the text is to an expected one.
enum class Agreement : uint8_t {
  No,
  Open, ///< an operand is not known, and the others are the same
  Yes,
};

/// Compares events of a text with those of a script.
class Matcher {
public:
  explicit Matcher(const Script &script)
      : script(script), found(script.events.size()) {}

  /// Compares the fields that are the same for all slots, and those that the
  /// focus follows. Readings are not asked.
  Agreement compare(const Execution &execution, const State &state,
                    const CodeStep &step, const Position &position,
                    const Focus &focus);

  struct Field {
    size_t operand;
    const Quantity *quantity;
    /// Of a descriptor's layout: the cursor that its address follows.
    int layoutOf = kNoLayout;
  };
  static constexpr int kNoLayout = -2;
  struct Fields {
    bool canMatch = false;
    std::vector<Field> fields;
    const Quantity *cta = nullptr; ///< where `at` lies; null: here
  };
  /// Which operands of the form the event has something to say about.
  const Fields &get(uint32_t event, const Form &form);
  /// The value that the field must have, as the text has it.
  uint64_t getExpected(const Execution &execution, const FormOperand &operand,
                       const Fields &fields, const Quantity &quantity,
                       const Position &position) const;

private:
  const Script &script;
  std::vector<std::unordered_map<const Form *, Fields>> found;
};

/// What the event at which the state stands is, and what is expected at a
/// position, for messages.
std::string describe(const Execution &execution, const State &state,
                     const CodeStep &step, const sim::ast::Function &function);
std::string describe(const Script &script, const Thread &thread,
                     const Position &position);

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_MATCH_H
