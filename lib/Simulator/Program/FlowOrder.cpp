// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A depth-first search of the control flow.

#include "Program/FlowOrder.h"
#include "Program/Program.h"

#include <utility>

using namespace fp8::sim;

/// Targets come first: a loop's exit is then behind its body.
static uint32_t countSuccessors(const Program &program, uint32_t index) {
  const Inst &inst = program.code[index];
  const bool fallsThrough = !inst.leaves || inst.guard >= 0;
  return inst.targets.count +
         (fallsThrough && index + 1 < program.code.size() ? 1 : 0);
}

static uint32_t successor(const Program &program, uint32_t index, uint32_t n) {
  const RowRange targets = program.code[index].targets;
  return n < targets.count ? program.begin(targets)[n] : index + 1;
}

std::vector<uint32_t> fp8::sim::flowOrder(const Program &program) {
  const auto size = uint32_t(program.code.size());
  std::vector<uint32_t> order(size, size); // what is not reached comes last
  std::vector<bool> seen(size);
  std::vector<std::pair<uint32_t, uint32_t>> path; // and successors visited
  uint32_t place = size;
  auto enter = [&](uint32_t index) {
    if (index >= size || seen[index])
      return;
    seen[index] = true;
    path.push_back({index, 0});
  };
  enter(0);
  while (!path.empty()) {
    auto &[index, visited] = path.back();
    if (visited < countSuccessors(program, index)) {
      enter(successor(program, index, visited++));
      continue;
    }
    order[index] = --place;
    path.pop_back();
  }
  return order;
}
