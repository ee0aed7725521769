// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks kernels that are launched programmatically. Such a kernel may overlap
// the preceding kernel and the dependent kernel (PTX ISA, griddepcontrol).

#include "Machine/Machine.h"

using namespace fp8::sim;

void Machine::waitForGrid(Warp &warp, const Inst &inst, uint32_t mask) {
  if (mask & ~warp.waitedForGrid)
    gridWaits.push_back({warp.waitAgent(), warp.countWait(), &inst});
  warp.waitedForGrid |= mask;
}

bool Machine::isBehindGridWait(const Warp &warp, int lane) const {
  if (!config.programmatic || warp.waitedForGrid >> lane & 1)
    return true;
  // Another thread's wait counts where it is over by now: what the preceding
  // grid has written is visible to the whole grid then.
  for (const PhaseWait &wait : gridWaits)
    if (warp.isBehindWait(wait.agent, wait.time))
      return true;
  return false;
}

bool Machine::checkBehindGridWait(Warp &warp, const Inst &inst, int lane) {
  if (config.readsConstants || isBehindGridWait(warp, lane))
    return true;
  error(ErrorKind::EarlyAccess,
        "'" + mnemonic(&inst) +
            "' accesses global memory, which the preceding kernel may still "
            "read or write, since the launch is programmatic; execute "
            "griddepcontrol.wait first",
        &warp, &inst, lane);
  warp.waitedForGrid = ~0u; // one message for each warp that has not waited
  return false;
}

bool Machine::checkProgrammaticAllocation(Warp &warp, const Inst &inst,
                                          int lane) {
  if (!config.programmatic)
    return true;
  if (!isBehindGridWait(warp, lane)) {
    error(Rule::EarlyAllocation,
          "'" + mnemonic(&inst) +
              "' may take columns that the preceding kernel still waits for, "
              "while this kernel waits for that one to end; allocate after "
              "griddepcontrol.wait",
          &warp, &inst, lane);
    return false;
  }
  if (!warp.cta.startedNext)
    return true;
  error(ErrorKind::TensorMemoryAllocation,
        "'" + mnemonic(&inst) +
            "' may wait for columns that the dependent kernel holds, while "
            "that kernel waits for this one to end; allocate before "
            "griddepcontrol.launch_dependents",
        &warp, &inst, lane)
      .notes.push_back(note(warp.cta.startedNext,
                            "the dependent kernel may start from here on"));
  return false;
}
