// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow and instructions without effect on a functional simulation (PTX
// ISA 9.7.12, 9.7.19).

#include "ISA/Families.h"

#include "ISA/Alu/Alu.h"
#include "ISA/Control/Control.h"
#include "Machine/Machine.h"

using namespace fp8::sim;
using ast::Operand;

namespace {

Flow bra(Warp &w, const Inst &i, uint32_t mask) {
  w.branch(mask, *w.machine.program.begin(i.targets));
  return Flow::Jump;
}

Flow brx(Warp &w, const Inst &i, uint32_t mask) {
  const uint32_t *table = w.machine.program.begin(i.targets);
  const uint32_t count = i.targets.count;
  const uint64_t *index = w.row(i.s[0]);
  std::array<uint32_t, 32> targets;
  forLanes(mask, [&](int l) {
    uint32_t value = uint32_t(index[l]);
    if (value < count) {
      targets[size_t(l)] = table[value];
      return;
    }
    targets[size_t(l)] = 0;
    w.machine.error(ErrorKind::InvalidOperation,
                    "'brx.idx' uses index " + std::to_string(value) +
                        ", but its table has " + std::to_string(count) +
                        " labels",
                    &w, &i, l, true);
  });
  return jump(w, mask, targets);
}

} // namespace

Flow fp8::sim::jump(Warp &w, uint32_t mask,
                    const std::array<uint32_t, 32> &targets) {
  uint32_t left = mask, firstLanes = 0, firstTarget = 0;
  w.split(mask);
  while (left) {
    uint32_t target = targets[size_t(__builtin_ctz(left))], same = 0;
    forLanes(left, [&](int l) {
      same |= uint32_t(targets[size_t(l)] == target) << l;
    });
    if (firstLanes) {
      w.fork(same, target);
    } else {
      firstLanes = same;
      firstTarget = target;
    }
    left &= ~same;
  }
  w.branch(firstLanes, firstTarget);
  return Flow::Jump;
}

Flow fp8::sim::exitThread(Warp &w, const Inst &, uint32_t mask) {
  uint32_t rest = w.group().mask & ~mask;
  w.exitLanes(mask);
  w.machine.progress();
  if (rest)
    ++w.group().pc;
  if (w.finished())
    w.cta.threadsExited();
  return Flow::Jump;
}

namespace {

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

/// Lanes go on at one of these labels.
bool takeTargets(Decoder &d, Inst &i, const std::vector<std::string> &labels) {
  i.leaves = true;
  i.targets.first = uint32_t(d.program.lists.size());
  for (const std::string &name : labels) {
    uint32_t target;
    if (!d.label(name, target))
      return false;
    d.program.lists.push_back(target);
    ++i.targets.count;
  }
  return true;
}

bool decodeBra(Decoder &d, Inst &i) {
  d.take("uni");
  const Operand *target = d.takeOperand();
  if (!target || target->kind != Operand::Kind::Symbol)
    return d.fail("needs a label");
  i.fn = bra;
  return takeTargets(d, i, {target->name});
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
  i.fn = brx;
  return takeTargets(d, i, *targets);
}

} // namespace

void fp8::sim::addBranchesOpcodes(OpcodeTable &t) {
  t.add("bra", decodeBra);
  t.add("brx", decodeBrx);
  t.add("exit", [](Decoder &, Inst &i) {
    i.fn = exitThread;
    i.leaves = true;
    return true;
  });
  t.add("trap", [](Decoder &, Inst &i) {
    i.fn = trap;
    return true;
  });
  // A breakpoint of a debugger that is not there.
  t.add("brkpt", [](Decoder &, Inst &i) {
    i.fn = nothing;
    return true;
  });
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
