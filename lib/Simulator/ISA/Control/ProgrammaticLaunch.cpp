// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// griddepcontrol, and what a programmatic launch asks of a kernel: it may run
// while the kernel in front of it does, and while it runs the kernel behind it
// may (PTX ISA, griddepcontrol).

#include "Machine/Machine.h"
#include "Program/Decoder.h"

using namespace fp8::sim;

/// There is one kernel here, so the wait is over at once.
static Flow waitForGrid(Warp &w, const Inst &i, uint32_t mask) {
  if (mask & ~w.waitedForGrid)
    w.machine.gridWaits.push_back(w.tag(i));
  w.waitedForGrid |= mask;
  return Flow::Next;
}

static Flow launchDependents(Warp &w, const Inst &i, uint32_t) {
  if (!w.cta.startedNext)
    w.cta.startedNext = &i;
  return Flow::Next;
}

void fp8::sim::addProgrammaticDecoders(DecodeTable &table) {
  table["griddepcontrol"] = [](Decoder &d, Inst &i) {
    int action = d.takeOneOf({"launch_dependents", "wait"});
    i.fn = action == 0 ? launchDependents : waitForGrid;
    return action >= 0;
  };
}

bool Machine::isBehindGridWait(const Warp &warp, int lane) const {
  if (!config.programmatic || warp.waitedForGrid >> lane & 1)
    return true;
  // Another thread's wait counts where it is ordered before.
  for (AccessTag tag : gridWaits)
    if (warp.isOwnAccess(tag.agent())
            ? warp.met.get(warp.agent(Role::Generic)) >= tag.time()
            : warp.clocks.all.get(tag.agent()) >= tag.time())
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
