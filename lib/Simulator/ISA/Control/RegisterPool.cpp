// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setmaxnreg (PTX ISA 9.7.19.5): what a CTA's warps give up goes to a pool,
// from which others take.

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "Machine/Machine.h"
#include "Program/RegisterPressure.h"

using namespace fp8::sim;

namespace {
/// Payload of setmaxnreg.
struct RegisterRequest {
  bool grows;      ///< .inc
  uint64_t wanted; ///< registers a thread
};
} // namespace

/// Reports a warp that asks for what the others of its warpgroup, or its own
/// registers, do not allow. Registers that nothing tells are taken for as many
/// as there can be, so that what is waited for in vain is so for every choice.
static void checkRequest(Warp &w, const Inst &i, const Warpgroup::Step &step) {
  Machine &m = w.machine;
  const auto [grows, wanted] = i.get<RegisterRequest>();
  if (step.operands[1] != wanted)
    m.error(Rule::RegisterCounts,
            "'" + Machine::mnemonic(&i) + "' asks for " +
                std::to_string(wanted) + " registers per thread, but warp " +
                std::to_string(step.first) + " of its warpgroup for " +
                std::to_string(step.operands[1]) +
                "; the warps of a warpgroup must ask for the same",
            &w, &i)
        .notes.push_back(m.note(step.inst, "the other warp was here"));
  if (grows ? w.registersKnown && wanted < w.registers : wanted > w.registers)
    m.error(w.registersKnown ? Rule::InvalidOperation : Rule::RegisterCounts,
            "'" + Machine::mnemonic(&i) + "' asks for " +
                std::to_string(wanted) + " registers per thread, " +
                (grows ? "fewer" : "more") + " than the " +
                std::to_string(w.registers) +
                (w.registersKnown ? " that it has" : " that it can have") +
                "; use setmaxnreg." + (grows ? "dec" : "inc"),
            &w, &i, -1, true);
}

static Flow setMaxRegisters(Warp &w, const Inst &i, uint32_t) {
  Machine &m = w.machine;
  const bool grows = i.get<RegisterRequest>().grows;
  const uint32_t wanted = uint32_t(i.get<RegisterRequest>().wanted);
  if (!w.group().arrived) {
    const Warpgroup::Step *step =
        joinWarpgroup(w, i, {grows, wanted}, Common::Action);
    if (!step)
      return Flow::Next;
    const Entry &entry = m.program.function->signature;
    if (!w.registers) {
      w.registers = mostRegistersAtLaunch(entry);
      w.registersKnown = entry.maxRegisters != 0;
    }
    if (w.registers)
      checkRequest(w, i, *step);
    leaveWarpgroup(w);
    if (!w.registers || m.stopped || (!grows && wanted > w.registers))
      return Flow::Next;
  }
  if (grows && wanted > w.registers &&
      w.cta.freeRegisters < wanted - w.registers) {
    w.group().arrived = true;
    w.group().ticket = wanted;
    return w.waitFor(WaitKind::Registers);
  }
  w.cta.freeRegisters += w.registers - wanted; // may be negative, and wrap
  w.registers = wanted;
  w.registersKnown = true;
  m.progress();
  for (auto &warp : w.cta.warps)
    if (warp.get() != &w)
      warp->wake(WaitKind::Registers);
  return Flow::Next;
}

static bool decodeSetMaxRegisters(Decoder &d, Inst &i) {
  int action = d.takeOneOf({"inc", "dec"});
  if (action < 0 || !d.take("sync") || !d.take("aligned") || !d.take("u32"))
    return d.fail("needs .inc or .dec and .sync.aligned.u32");
  RegisterRequest &request = i.make<RegisterRequest>();
  request.grows = action == 0;
  i.fn = setMaxRegisters;
  i.convergence = Convergence::Aligned;
  if (!d.immediate(request.wanted))
    return false;
  return (request.wanted >= 24 && request.wanted <= kMostRegisters &&
          request.wanted % 8 == 0) ||
         d.fail("needs a multiple of 8 from 24 to 256");
}

void fp8::sim::addRegisterPoolOpcodes(OpcodeTable &t) {
  t.add("setmaxnreg", decodeSetMaxRegisters);
}
