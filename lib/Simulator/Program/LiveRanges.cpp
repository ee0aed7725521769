// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From each use of a register back to what overwrites it, on all paths; from
// each tcgen05.ld on to the waits that end it.

#include "Program/LiveRanges.h"

#include <utility>

using namespace fp8::sim;

namespace {

class Finder {
public:
  explicit Finder(const Program &program)
      : program(program), end(uint32_t(program.code.size() - 1)),
        ranges(program.function->registers.size()), uses(ranges.size()),
        overwrites(ranges.size()), seen(program.code.size()),
        stops(program.code.size()) {}

  std::vector<LiveRange> run() {
    findPredecessors();
    for (uint32_t i = 0; i < end; ++i)
      collect(program.code[i]);
    for (uint32_t reg = 0; reg < ranges.size(); ++reg)
      followBack(reg);
    for (uint32_t i = 0; i < end; ++i)
      if (program.code[i].writesLate)
        followOn(i);
    for (uint32_t reg : kept)
      ranges[reg] = {0, end};
    return std::move(ranges);
  }

private:
  const Program &program;
  const uint32_t end; ///< the instruction behind the last one
  std::vector<LiveRange> ranges;
  /// By register: the instructions that read it, and those that overwrite it in
  /// all lanes that come there.
  std::vector<std::vector<uint32_t>> uses, overwrites;
  std::vector<uint32_t> kept; ///< registers whose range is the whole code
  /// By instruction: the others that lanes may come from by a branch.
  std::vector<std::vector<uint32_t>> branches;
  /// By instruction: the last search that came there, and that ends there.
  std::vector<uint32_t> seen, stops;
  uint32_t search = 0;
  std::vector<uint32_t> open; ///< instructions to go on from

  bool fallsThrough(const Inst &inst) const {
    return !inst.leaves || inst.guard >= 0;
  }

  void findPredecessors() {
    branches.resize(program.code.size());
    for (uint32_t i = 0; i < end; ++i)
      for (const uint32_t *target = program.begin(program.code[i].targets);
           target != program.end(program.code[i].targets); ++target)
        branches[*target].push_back(i);
  }

  template <typename F>
  void eachRegister(RowRange rows, F f) {
    std::for_each(program.begin(rows), program.end(rows), [&](uint32_t row) {
      if (row < program.registers)
        f(row / 2);
    });
  }

  void collect(const Inst &inst) {
    const uint32_t i = inst.index;
    const bool together = inst.convergence != Convergence::None;
    eachRegister(inst.reads, [&](uint32_t reg) {
      uses[reg].push_back(i);
      if (together)
        kept.push_back(reg);
    });
    eachRegister(inst.writes, [&](uint32_t reg) {
      ranges[reg].add(i);
      if (together && !inst.writesLate)
        kept.push_back(reg);
      if (inst.guard < 0 && (inst.computes || inst.writesLate))
        overwrites[reg].push_back(i);
    });
    for (const ast::Operand &operand : inst.text->operands)
      keepUnlisted(inst, operand);
  }

  void keepUnlisted(const Inst &inst, const ast::Operand &operand) {
    auto lists = [&](RowRange rows) {
      return std::find(program.begin(rows), program.end(rows),
                       2 * operand.index) != program.end(rows);
    };
    if (operand.kind == ast::Operand::Kind::Register && !lists(inst.reads) &&
        !lists(inst.writes))
      kept.push_back(operand.index);
    for (const ast::Operand &element : operand.elements)
      keepUnlisted(inst, element);
  }

  /// Whether the search has not been there.
  bool enters(uint32_t instruction) {
    return std::exchange(seen[instruction], search) != search;
  }

  /// Live in front of its uses, and of all that leads there.
  void followBack(uint32_t reg) {
    ++search;
    for (uint32_t i : overwrites[reg])
      stops[i] = search;
    auto visit = [&](uint32_t i) {
      ranges[reg].add(i);
      if (enters(i))
        open.push_back(i);
    };
    auto leave = [&](uint32_t i) {
      ranges[reg].add(i);
      if (stops[i] != search)
        visit(i);
    };
    std::for_each(uses[reg].begin(), uses[reg].end(), visit);
    while (!open.empty()) {
      const uint32_t i = open.back();
      open.pop_back();
      if (i && fallsThrough(program.code[i - 1]))
        leave(i - 1);
      std::for_each(branches[i].begin(), branches[i].end(), leave);
    }
  }

  void followOn(uint32_t load) {
    ++search;
    LiveRange range;
    auto visit = [&](uint32_t i) {
      range.add(i);
      if (enters(i))
        open.push_back(i);
    };
    visit(load);
    while (!open.empty()) {
      const Inst &inst = program.code[open.back()];
      const bool isOver = inst.endsLateWrites && inst.guard < 0;
      const uint32_t next = open.back() + 1;
      open.pop_back();
      if (isOver || next > end)
        continue;
      if (fallsThrough(inst))
        visit(next);
      std::for_each(program.begin(inst.targets), program.end(inst.targets),
                    visit);
    }
    eachRegister(program.code[load].writes, [&](uint32_t reg) {
      ranges[reg].add(range.first);
      ranges[reg].add(range.last);
    });
  }
};

} // namespace

std::vector<LiveRange> fp8::sim::findLiveRanges(const Program &program) {
  if (program.functions.size() > 1 || !program.calls.empty())
    return std::vector<LiveRange>(program.function->registers.size(),
                                  {0, uint32_t(program.code.size() - 1)});
  return Finder(program).run();
}
