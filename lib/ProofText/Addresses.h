// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which addresses the events of a text may be of, whatever is expected.

#ifndef FP8_LIB_PROOFTEXT_ADDRESSES_H
#define FP8_LIB_PROOFTEXT_ADDRESSES_H

#include "Counters.h"
#include "Match.h"

#include <map>

namespace fp8::prooftext {

/// The operands of one thread's events that may follow a cursor: their
/// counters, and the addresses that they may be. Barriers of different rings
/// have different ones.
class Addresses {
public:
  Addresses(const Code &code, const Counters &counters,
            const KernelScript &kernel, const Script &script, Matcher &matcher,
            const Thread &thread);

  /// The counters of all these operands.
  const Counters::Numbers &getCounters() const { return all; }
  /// True if the event may be the expected one in some slots.
  bool mayBe(const Execution &execution, const CodeStep &step,
             uint32_t expected);

private:
  struct Operand {
    const CodeStep *step;
    size_t number;
    bool operator<(const Operand &other) const {
      return std::tie(step, number) < std::tie(other.step, other.number);
    }
  };
  using Values = std::set<uint64_t>;

  void findOperands();
  /// Walks the text, following some counters, and collects the values of
  /// operands. False if there are too many states.
  bool collect(const Counters::Numbers &numbers,
               const std::vector<Operand> &operands);
  /// True if the operand may have the value that the field has in some slot.
  bool mayHave(const Execution &execution, const Operand &operand,
               const Matcher::Fields &fields, const Quantity &quantity,
               uint32_t expected) const;

  const Code &code;
  const Counters &counters;
  const KernelScript &kernel;
  const Script &script;
  Matcher &matcher;
  const Thread &thread;
  Counters::Numbers all;
  std::map<Counters::Numbers, std::vector<Operand>> byCounters;
  /// Of operands of which it is not here, nothing is known.
  std::map<Operand, Values> values;
  std::map<std::pair<const CodeStep *, uint32_t>, bool> known;
};

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_ADDRESSES_H
