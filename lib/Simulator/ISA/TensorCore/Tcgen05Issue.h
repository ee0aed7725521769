// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tcgen05.mma, .cp and .shift have in common: one thread issues them to
// the tensor core, where those of a thread run in order.

#ifndef FP8_LIB_SIMULATOR_ISA_TENSORCORE_TCGEN05ISSUE_H
#define FP8_LIB_SIMULATOR_ISA_TENSORCORE_TCGEN05ISSUE_H

#include "ISA/TensorCore/TensorCore.h"
#include "Machine/Machine.h"

#include <memory>
#include <vector>

namespace fp8::sim {

/// What runs in the order of issue: the operations of one lane.
inline int64_t tensorCorePipe(const Warp &warp, int lane) {
  return int64_t(2) << 48 | warp.globalIndex << 5 | lane;
}

/// One operation on its way from the operands of the instruction to the queue.
/// Functions that return a bool report what is wrong, and are then false.
class TensorCoreIssue {
public:
  TensorCoreIssue(Warp &warp, const Inst &inst, int lane, bool pair);

protected:
  Warp &w;
  const Inst &i;
  const int lane;
  Machine &m;
  const bool pair;         ///< .cta_group::2
  std::vector<Cta *> ctas; ///< the CTA; or of a pair the even, then the odd

  bool bad(ErrorKind kind, const std::string &message);

  /// To call before all that follows. `issue`: of an MMA; the lane is set here.
  bool begin(TensorIssue issue = {});
  /// Checks an access to tensor memory, in each of the CTAs. `region`: in any.
  bool checkTensor(TensorRegion region);
  /// And takes the region until the operation is complete.
  bool takeTensor(TensorRegion region);
  /// Takes `rows` rows of `count` elements by the descriptor in source
  /// `source`, in each of the CTAs: it holds offsets. `used`: as of layoutOf.
  bool takeShared(unsigned source, const std::string &name, bool mnMajor,
                  unsigned elementBytes, uint32_t rows, uint32_t count,
                  uint32_t used, std::shared_ptr<const OperandLayout> &layout);
  /// Checks the accesses to shared memory. `undefined`: gets of each operand in
  /// each of the CTAs whether it has undefined data; if null, that is an error.
  bool checkShared(std::vector<bool> *undefined = nullptr);
  /// When the operation is complete, what it writes counts as initialised, and
  /// then `complete` is called.
  void finish(std::function<void()> complete);

private:
  std::unique_ptr<AsyncOp> op;
  AccessTag tag;
};

/// Issues an `Issue` for the one lane of `mask`; `what`: for the message that
/// several lanes get.
template <typename Issue>
Flow issueByOneLane(Warp &w, const Inst &i, uint32_t mask, const char *what) {
  int lane = __builtin_ctz(mask);
  if (mask & (mask - 1))
    w.machine.error(ErrorKind::InvalidOperation,
                    "'" + Machine::mnemonic(&i) + "' is executed by " +
                        std::to_string(__builtin_popcount(mask)) +
                        " lanes, each of which would start " + what +
                        " of its own; let one elected lane execute it",
                    &w, &i, lane, true);
  else
    Issue(w, i, lane).run();
  return Flow::Next;
}

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_TENSORCORE_TCGEN05ISSUE_H
