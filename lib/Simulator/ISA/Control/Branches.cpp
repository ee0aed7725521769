// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow and instructions without effect on a functional simulation (PTX
// ISA 9.7.12, 9.7.19).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "Machine/Machine.h"

using namespace fp8::sim;
using ast::Operand;

namespace {

/// Payload of bra: an index into the program.
struct Target {
  uint32_t pc;
};

/// Payload of brx: an index into Program::branchTables.
struct TargetTable {
  uint32_t index;
};

Flow bra(Warp &w, const Inst &i, uint32_t mask) {
  w.branch(mask, i.get<Target>().pc);
  return Flow::Jump;
}

Flow brx(Warp &w, const Inst &i, uint32_t mask) {
  const std::vector<uint32_t> &table =
      w.machine.program.branchTables[i.get<TargetTable>().index];
  const uint64_t *index = w.row(i.s[0]);
  uint32_t left = mask, firstLanes = 0, firstTarget = 0;
  w.split(mask);
  while (left) {
    uint32_t value = uint32_t(index[__builtin_ctz(left)]);
    uint32_t same = 0;
    forLanes(left, [&](int l) {
      same |= uint32_t(uint32_t(index[l]) == value) << l;
    });
    if (value >= table.size()) {
      w.machine.error(ErrorKind::InvalidOperation,
                      "'brx.idx' uses index " + std::to_string(value) +
                          ", but its table has " +
                          std::to_string(table.size()) + " labels",
                      &w, &i, __builtin_ctz(left), true);
      return Flow::Next;
    }
    if (firstLanes) {
      w.fork(same, table[value]);
    } else {
      firstLanes = same;
      firstTarget = table[value];
    }
    left &= ~same;
  }
  w.branch(firstLanes, firstTarget);
  return Flow::Jump;
}

Flow exitThread(Warp &w, const Inst &, uint32_t mask) {
  uint32_t rest = w.group().mask & ~mask;
  w.exitLanes(mask);
  w.machine.progress();
  if (rest)
    ++w.group().pc;
  if (w.finished())
    w.cta.threadsExited();
  return Flow::Jump;
}

Flow trap(Warp &w, const Inst &i, uint32_t mask) {
  w.machine.error(ErrorKind::Trap,
                  "the kernel executed '" + Machine::mnemonic(&i) + "'", &w, &i,
                  __builtin_ctz(mask), true);
  return Flow::Next;
}

Flow nothing(Warp &, const Inst &, uint32_t) { return Flow::Next; }

/// A hint that others should go first: they have a turn.
Flow nanosleep(Warp &w, const Inst &, uint32_t) {
  if (w.group().arrived)
    return Flow::Next;
  w.machine.pass(16);
  w.group().arrived = true;
  return w.waitFor(WaitKind::None);
}

bool decodeBra(Decoder &d, Inst &i) {
  d.take("uni");
  const Operand *target = d.takeOperand();
  if (!target || target->kind != Operand::Kind::Symbol)
    return d.fail("needs a label");
  i.fn = bra;
  return d.label(target->name, i.make<Target>().pc);
}

bool decodeBrx(Decoder &d, Inst &i) {
  if (!d.take("idx"))
    return d.fail("is not supported in this form");
  d.take("uni");
  if (!d.source(i, Type::U32))
    return false;
  const Operand *list = d.takeOperand();
  const std::vector<std::string> *targets =
      list ? d.branchTargets(list->name) : nullptr;
  if (!targets)
    return d.fail("needs the label of a .branchtargets list");
  std::vector<uint32_t> table;
  for (const std::string &name : *targets) {
    uint32_t target;
    if (!d.label(name, target))
      return false;
    table.push_back(target);
  }
  i.make<TargetTable>().index = uint32_t(d.program.branchTables.size());
  d.program.branchTables.push_back(std::move(table));
  i.fn = brx;
  return true;
}

/// What programs call that CUDA's driver defines, and what to do without (CUDA
/// C++ Programming Guide, formatted output, assertion).
constexpr struct {
  std::string_view name, cure;
} kSystemCalls[] = {
    {"vprintf",
     "remove gpu.printf or printf, and store the values to global memory"},
    {"__assertfail", "remove the assertion, or execute trap instead"},
};

bool decodeCall(Decoder &d, Inst &) {
  std::string callee;
  while (callee.empty())
    if (const ast::Operand *operand =
            d.operandsLeft() ? d.takeOperand() : nullptr;
        !operand)
      break;
    else if (operand->kind == ast::Operand::Kind::Symbol)
      callee = operand->name;
  for (auto [name, cure] : kSystemCalls)
    if (callee == name)
      return d.fail("the simulator has no function '" + callee + "'; " +
                    std::string(cure));
  return d.fail((callee.empty()
                     ? "calls are not supported"
                     : "calls '" + callee + "', but calls are not supported") +
                "; compile with all functions inlined");
}

} // namespace

void fp8::sim::addBranchesOpcodes(OpcodeTable &t) {
  t.add("bra", decodeBra);
  t.add("brx", decodeBrx);
  t.add("ret", [](Decoder &d, Inst &i) {
    d.take("uni");
    i.fn = exitThread;
    return true;
  });
  t.add("exit", [](Decoder &, Inst &i) {
    i.fn = exitThread;
    return true;
  });
  t.add("trap", [](Decoder &, Inst &i) {
    i.fn = trap;
    return true;
  });
  t.add("call", decodeCall);
  t.add("nanosleep", [](Decoder &d, Inst &i) {
    i.fn = nanosleep;
    return d.take("u32") && d.source(i, Type::U32);
  });
  t.add("pmevent", [](Decoder &d, Inst &i) {
    d.take("mask");
    i.fn = nothing;
    uint64_t events;
    return d.immediate(events);
  });
}
