// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The classes of instructions, by opcode, and their registers.

#include "Timing/Costs.h"

#include "Program/RegisterPressure.h"

#include <algorithm>
#include <string_view>

using namespace fp8::sim;
using fp8::chip::IssueClass;

namespace {
struct Row {
  std::string_view opcode;
  std::string_view qualifier; ///< that it must have; empty: any
  IssueClass kind;
};

/// The first row that fits holds; what fits none is arithmetic, of integers
/// where no type is one of floating point.
constexpr Row kRows[] = {
    {"mov", "", IssueClass::Free},
    {"cvta", "", IssueClass::Free},
    {"ld", "param", IssueClass::Free},
    {"cvt", "u64", IssueClass::Free},
    {"not", "pred", IssueClass::Free},
    {"cvt", "", IssueClass::Convert},
    {"div", "", IssueClass::Divide},
    {"rem", "", IssueClass::Divide},
    {"rcp", "", IssueClass::Divide},
    {"sqrt", "", IssueClass::Divide},
    {"ex2", "", IssueClass::Convert},
    {"lg2", "", IssueClass::Convert},
    {"shfl", "", IssueClass::Shuffle},
    {"vote", "", IssueClass::Shuffle},
    {"elect", "", IssueClass::Shuffle},
    {"ld", "shared", IssueClass::SharedLoad},
    {"ld", "shared::cta", IssueClass::SharedLoad},
    {"ldmatrix", "", IssueClass::SharedLoad},
    {"ld", "", IssueClass::GlobalLoad},
    {"st", "shared", IssueClass::SharedStore},
    {"st", "shared::cta", IssueClass::SharedStore},
    {"st", "shared::cluster", IssueClass::SharedStore},
    {"st", "async", IssueClass::SharedStore},
    {"stmatrix", "", IssueClass::SharedStore},
    {"st", "", IssueClass::GlobalStore},
    {"red", "", IssueClass::GlobalStore},
    {"atom", "", IssueClass::GlobalLoad},
    {"mbarrier", "", IssueClass::Synchronise},
    {"bar", "", IssueClass::Synchronise},
    {"barrier", "", IssueClass::Synchronise},
    {"fence", "", IssueClass::Synchronise},
    {"membar", "", IssueClass::Synchronise},
    {"griddepcontrol", "", IssueClass::Synchronise},
    {"setmaxnreg", "", IssueClass::Synchronise},
    {"wgmma", "", IssueClass::Tensor},
    {"tcgen05", "mma", IssueClass::Tensor},
    {"tcgen05", "cp", IssueClass::Tensor},
    {"tcgen05", "ld", IssueClass::Arithmetic},
    {"tcgen05", "st", IssueClass::Arithmetic},
    {"tcgen05", "", IssueClass::Synchronise},
    {"cp", "", IssueClass::Copy},
    {"prefetch", "", IssueClass::Copy},
};
} // namespace

IssueClass fp8::sim::classify(const ast::Instruction &text) {
  const std::vector<std::string> &q = text.qualifiers;
  for (const Row &row : kRows)
    if (text.opcode == row.opcode &&
        (row.qualifier.empty() ||
         std::find(q.begin(), q.end(), row.qualifier) != q.end()))
      return row.kind;
  if (std::find(q.begin(), q.end(), "f32x2") != q.end())
    return IssueClass::Packed;
  const bool isFloat = std::any_of(q.begin(), q.end(), [](const auto &word) {
    return word.find("f16") != word.npos || word.find("f32") != word.npos ||
           word == "f64";
  });
  return isFloat ? IssueClass::Arithmetic : IssueClass::Integer;
}

Costs::Costs(const Program &program, const chip::Timing &timing)
    : count(program.registers + program.predicates) {
  // Constant rows are always ready, and so are the sums of wgmma, for which
  // MmaWait waits.
  auto add = [&](uint32_t row) {
    if (row < program.registers)
      rows.push_back(row);
  };
  auto addList = [&](uint32_t first, uint32_t number) {
    for (uint32_t n = 0; n < number; ++n)
      add(program.lists[first + n]);
  };
  auto addPredicate = [&](int64_t index) {
    if (index >= 0)
      rows.push_back(program.registers + uint32_t(index));
  };
  for (const sim::Inst &inst : program.code) {
    Inst one{};
    if (inst.text) {
      IssueClass kind = classify(*inst.text);
      one.cost = timing.issue[size_t(kind)];
      one.loadsGlobal = kind == IssueClass::GlobalLoad;
      one.loadsShared = kind == IssueClass::SharedLoad;
      one.loadsTensor =
          inst.text->opcode == "tcgen05" && inst.listIsDestination;
    }
    one.reads = uint32_t(rows.size());
    addPredicate(inst.guard);
    for (unsigned n = 0; n < inst.sources; ++n)
      add(inst.s[n]);
    for (unsigned n = 0; n < inst.predicateSources; ++n)
      addPredicate(inst.p[n]);
    addList(inst.sourceList, inst.sourceListCount);
    if (!inst.wgmma && !inst.listIsDestination)
      addList(inst.list, inst.listCount);
    one.writes = uint32_t(rows.size());
    for (unsigned n = 0; n < inst.destinations; ++n)
      add(inst.d[n]);
    for (unsigned n = 0; n < inst.predicateDestinations; ++n)
      addPredicate(inst.pd[n]);
    if (!inst.wgmma && inst.listIsDestination)
      addList(inst.list, inst.listCount);
    one.end = uint32_t(rows.size());
    insts.push_back(one);
  }
  if (program.function)
    findSpills(program, timing);
}

/// Where more values are needed than registers are there, each value is taken
/// to be spilled with the same probability. What an MMA adds to stays in
/// registers.
void Costs::findSpills(const Program &program, const chip::Timing &timing) {
  const std::vector<uint32_t> pressure = findRegisterPressure(program);
  most.available = mostRegistersOf(program);
  for (size_t n = 0; n < insts.size(); ++n) {
    if (pressure[n] > most.needed)
      most = {pressure[n], most.available,
              program.code[n].text ? program.code[n].text->line : 0};
    const double excess =
        double(pressure[n]) - most.available - timing.spillFree;
    const ast::Instruction *text = program.code[n].text;
    if (excess <= 0 || !insts[n].cost.slots ||
        classify(*text) == IssueClass::Tensor)
      continue;
    const auto accesses = std::count_if(
        rows.begin() + insts[n].reads, rows.begin() + insts[n].end,
        [&](uint32_t row) { return row < program.registers; });
    insts[n].spills = excess / pressure[n] * double(accesses);
  }
}
