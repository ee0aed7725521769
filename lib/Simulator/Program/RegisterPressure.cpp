// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Live registers, from the end of the code to its beginning until nothing
// changes.

#include "Program/RegisterPressure.h"

#include <algorithm>

using namespace fp8::sim;

// Of a multiprocessor (CUDA C++ Programming Guide, technical specifications),
// and of a thread, whose 256th register is the one that is always zero.
static constexpr uint32_t kRegisters = 65536, kMostUsable = 255;

uint32_t fp8::sim::mostRegistersAtLaunch(const Entry &entry) {
  if (entry.maxRegisters)
    return (entry.maxRegisters + 7) / 8 * 8;
  const auto &bound =
      entry.requiredThreads[0] ? entry.requiredThreads : entry.maxThreads;
  uint32_t threads = 1;
  for (uint32_t extent : bound)
    threads *= std::max(extent, 1u);
  if (!bound[0])
    return 0;
  uint32_t warps =
      (threads + 31) / 32 * std::max(entry.minCtasPerMultiprocessor, 1u);
  return std::min(kMostRegisters, kRegisters / (warps * 32) / 8 * 8);
}

uint32_t fp8::sim::mostRegistersOf(const Program &program) {
  uint32_t most = mostRegistersAtLaunch(program.function->signature);
  for (const Inst &inst : program.code)
    if (most && inst.text && inst.text->opcode == "setmaxnreg" &&
        !inst.text->operands.empty())
      most = std::max(most, uint32_t(inst.text->operands.back().value));
  return most ? std::min(most, kMostUsable) : kMostUsable;
}

namespace {

/// Of registers, 64 a word.
using Set = std::vector<uint64_t>;

class Pressure {
public:
  explicit Pressure(const Program &program) : program(program) {
    for (const auto &one : program.function->registers)
      sizes.push_back(one.bits == 1 ? 0 : (one.bits + 31) / 32);
    std::vector<bool> isLoaded(sizes.size()); // from tensor memory
    for (const Inst &inst : program.code)
      if (inst.writesLate || moves(inst, isLoaded))
        eachRegister(inst.writes, [&](uint32_t reg) {
          isLoaded[reg] = true;
          sizes[reg] = 0;
        });
    live.assign(program.code.size(), Set((sizes.size() + 63) / 64));
  }

  std::vector<uint32_t> run() {
    bool changes = true;
    while (changes) {
      changes = false;
      for (uint32_t n = uint32_t(live.size()); n--;)
        changes |= update(n);
    }
    std::vector<uint32_t> most;
    for (uint32_t n = 0; n < live.size(); ++n)
      most.push_back(std::max(count(live[n]), count(liveBehind(n))));
    return most;
  }

private:
  const Program &program;
  std::vector<uint32_t> sizes; ///< by register, in registers of 32 bits
  std::vector<Set> live;       ///< by instruction: in front of it

  uint32_t count(const Set &set) const {
    uint32_t sum = 0;
    for (size_t word = 0; word < set.size(); ++word)
      for (uint64_t rest = set[word]; rest; rest &= rest - 1)
        sum += sizes[word * 64 + size_t(__builtin_ctzll(rest))];
    return sum;
  }

  template <typename F>
  void eachRegister(RowRange rows, F f) const {
    std::for_each(program.begin(rows), program.end(rows), [&](uint32_t row) {
      if (row < program.registers)
        f(row / 2);
    });
  }

  /// What a wgmma reads beside what the decoder lists, for which its operands
  /// are one list of results: A, and the sums that it adds to.
  template <typename F>
  void eachOperandOfProduct(uint32_t n, F f) const {
    const std::vector<ast::Operand> &operands = program.code[n].text->operands;
    for (size_t which : {0, 1})
      for (const ast::Operand &element : operands[which].elements)
        if (which || adds(n))
          f(element.index);
  }

  /// False if a wgmma's predicate is known to be false, so that it adds to
  /// nothing: the setp in front of it compares constants.
  bool adds(uint32_t n) const {
    const std::vector<ast::Operand> &operands = program.code[n].text->operands;
    const auto isPredicate = [&](const ast::Operand &operand) {
      return operand.kind == ast::Operand::Kind::Register &&
             program.function->registers[operand.index].bits == 1;
    };
    const auto of = std::find_if(operands.begin(), operands.end(), isPredicate);
    while (of != operands.end() && n--) {
      const ast::Instruction *text = program.code[n].text;
      if (text->opcode != "setp" || text->operands.size() != 3 ||
          text->operands[0].index != of->index)
        continue;
      const ast::Operand &a = text->operands[1], &b = text->operands[2];
      const bool same = a.kind == ast::Operand::Kind::Integer &&
                        b.kind == ast::Operand::Kind::Integer &&
                        a.value == b.value;
      return !same || text->qualifiers.front() != "ne";
    }
    return true;
  }

  /// True if it moves registers of the set, and nothing else.
  bool moves(const Inst &inst, const std::vector<bool> &set) const {
    bool all = inst.text && inst.text->opcode == "mov", any = false;
    eachRegister(inst.reads, [&](uint32_t reg) {
      any = true;
      all = all && set[reg];
    });
    return all && any;
  }

  Set liveBehind(uint32_t n) const {
    const Inst &inst = program.code[n];
    Set set(live[n].size());
    auto add = [&](uint32_t next) {
      for (size_t word = 0; next < live.size() && word < set.size(); ++word)
        set[word] |= live[next][word];
    };
    if (!inst.leaves || inst.guard >= 0)
      add(n + 1);
    std::for_each(program.begin(inst.targets), program.end(inst.targets), add);
    return set;
  }

  /// True if that changes what is live in front of it.
  bool update(uint32_t n) {
    const Inst &inst = program.code[n];
    Set set = liveBehind(n);
    auto read = [&](uint32_t reg) { set[reg / 64] |= uint64_t(1) << reg % 64; };
    if (inst.guard < 0)
      eachRegister(inst.writes, [&](uint32_t reg) {
        set[reg / 64] &= ~(uint64_t(1) << reg % 64);
      });
    eachRegister(inst.reads, read);
    if (inst.wgmma)
      eachOperandOfProduct(n, read);
    std::swap(set, live[n]);
    return set != live[n];
  }
};

} // namespace

std::vector<uint32_t> fp8::sim::findRegisterPressure(const Program &program) {
  if (program.functions.size() > 1 || !program.calls.empty())
    return std::vector<uint32_t>(program.code.size());
  return Pressure(program).run();
}
