// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a programmatic launch asks of a kernel: it may run while the kernel in
// front of it does, and while it runs the kernel behind it may (PTX ISA,
// griddepcontrol).

#include "Machine/Machine.h"

using namespace fp8::sim;

void Machine::waitForGrid(Warp &warp, const Inst &inst, uint32_t mask) {
  if (mask & ~warp.waitedForGrid)
    gridWaits.push_back(warp.tag(inst));
  warp.waitedForGrid |= mask;
}

bool Machine::isBehindGridWait(const Warp &warp, int lane) const {
  if (!config.programmatic || warp.waitedForGrid >> lane & 1)
    return true;
  // Another thread's wait counts where it is ordered before.
  for (AccessTag tag : gridWaits)
    if (warp.isOwnAccess(tag.agent()) ? warp.metSince(tag) : warp.knows(tag))
      return true;
  return false;
}

bool Machine::checkBehindGridWait(Warp &warp, const Inst &inst, int lane) {
  if (isBehindGridWait(warp, lane))
    return true;
  error(ErrorKind::EarlyAccess,
        "'" + mnemonic(&inst) +
            "' accesses global memory, which the kernel in front may still "
            "write or read, for the launch is programmatic; execute "
            "griddepcontrol.wait first",
        &warp, &inst, lane);
  return false;
}

bool Machine::checkProgrammaticAllocation(Warp &warp, const Inst &inst,
                                          int lane) {
  if (!config.programmatic)
    return true;
  if (!isBehindGridWait(warp, lane)) {
    error(ErrorKind::TensorMemoryAllocation,
          "'" + mnemonic(&inst) +
              "' may take columns that the kernel in front still waits for, "
              "while this one waits for its end; allocate behind "
              "griddepcontrol.wait",
          &warp, &inst, lane);
    return false;
  }
  if (!warp.cta.startedNext)
    return true;
  error(ErrorKind::TensorMemoryAllocation,
        "'" + mnemonic(&inst) +
            "' may wait for columns that the kernel behind holds, while that "
            "one waits for this kernel's end; allocate before "
            "griddepcontrol.launch_dependents",
        &warp, &inst, lane)
      .notes.push_back(note(warp.cta.startedNext,
                            "the kernel behind may start from here on"));
  return false;
}
