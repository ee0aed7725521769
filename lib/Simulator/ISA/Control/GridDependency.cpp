// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// griddepcontrol (PTX ISA, griddepcontrol).

#include "ISA/Families.h"

#include "Machine/Machine.h"
#include "Program/Decoder.h"

using namespace fp8::sim;

static Flow waitForGrid(Warp &w, const Inst &i, uint32_t mask) {
  w.machine.waitForGrid(w, i, mask);
  return Flow::Next;
}

static Flow launchDependents(Warp &w, const Inst &i, uint32_t) {
  if (!w.cta.startedNext)
    w.cta.startedNext = &i;
  return Flow::Next;
}

void fp8::sim::addGridDependencyOpcodes(OpcodeTable &t) {
  t.add("griddepcontrol", [](Decoder &d, Inst &i) {
    int action = d.takeOneOf({"launch_dependents", "wait"});
    i.fn = action == 0 ? launchDependents : waitForGrid;
    return action >= 0;
  });
}
