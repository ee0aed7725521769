// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values of a text count: they are computed from their own earlier ones.

#ifndef FP8_LIB_PROOFTEXT_COUNTERS_H
#define FP8_LIB_PROOFTEXT_COUNTERS_H

#include "Code.h"

#include <set>

namespace fp8::prooftext {

/// A counter is a largest set of steps each of which uses the results of all of
/// them, such as those that compute the slot of a ring, or its parity. Results
/// of other steps follow from counters and from what stays the same.
class Counters {
public:
  using Numbers = std::set<uint32_t>;

  explicit Counters(const Code &code);

  /// Adds the counters on which the step's source depends.
  void addOf(uint32_t step, size_t source, Numbers &numbers) const;
  /// By step: it is part of one of the counters, or of any.
  std::vector<bool> getSteps(const Numbers &numbers) const;
  std::vector<bool> getSteps() const;

private:
  using Steps = std::vector<uint32_t>;
  /// By tracked register: the steps that may have written it last.
  using Writers = std::vector<Steps>;

  void findUses();
  /// The writers at the start of each block.
  std::vector<Writers> findWriters() const;
  void addUses(uint32_t at, const Writers &writers);
  /// The step becomes a writer of its register; the only one, if it has no
  /// guard.
  void write(uint32_t at, Writers &writers) const;
  void findCycles();
  int32_t getPlace(int32_t reg) const {
    return reg < 0 ? -1 : code.places[reg];
  }

  const Code &code;
  /// By step: those whose results it uses, as sources, as a guard, or because a
  /// branch compares its result with theirs.
  std::vector<Steps> uses, equals;
  /// By step, then by source: the steps that may have computed it.
  std::vector<std::vector<Steps>> ofSources;
  /// By step: the number of its counter, or -1.
  std::vector<int32_t> counterOf;
};

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_COUNTERS_H
