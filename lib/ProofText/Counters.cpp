// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the values that count.

#include "Counters.h"

#include <algorithm>

using namespace fp8::prooftext;
using Op = CodeStep::Op;

Counters::Counters(const Code &code)
    : code(code), uses(code.steps.size()), equals(code.steps.size()),
      ofSources(code.steps.size()), counterOf(code.steps.size(), -1) {
  findUses();
  findCycles();
}

//===----------------------------------------------------------------------===//
// Who uses what
//===----------------------------------------------------------------------===//

static void add(std::vector<uint32_t> &to, const std::vector<uint32_t> &from) {
  for (uint32_t step : from)
    if (std::find(to.begin(), to.end(), step) == to.end())
      to.push_back(step);
}

void Counters::write(uint32_t at, Writers &writers) const {
  const CodeStep &step = code.steps[at];
  int32_t place = getPlace(step.destination);
  if (place < 0)
    return;
  if (step.guard < 0)
    writers[place].clear();
  add(writers[place], {at});
}

std::vector<Counters::Writers> Counters::findWriters() const {
  std::vector<Writers> atStart(code.leaders.size(),
                               Writers(code.tracked.size()));
  std::vector<uint32_t> left{0};
  std::vector<bool> isReached(code.leaders.size());
  isReached[0] = true;
  while (!left.empty()) {
    uint32_t block = left.back();
    left.pop_back();
    Writers writers = atStart[block];
    uint32_t end = code.getEnd(block);
    for (uint32_t at = code.leaders[block]; at < end; ++at)
      write(at, writers);
    for (uint32_t next : code.getSuccessors(end - 1)) {
      uint32_t to = code.blockOf[next];
      bool changed = !isReached[to];
      isReached[to] = true;
      for (size_t place = 0; place < writers.size(); ++place) {
        if (!code.live[to][place])
          continue;
        size_t before = atStart[to][place].size();
        add(atStart[to][place], writers[place]);
        changed |= atStart[to][place].size() > before;
      }
      if (changed)
        left.push_back(to);
    }
  }
  return atStart;
}

void Counters::addUses(uint32_t at, const Writers &writers) {
  const CodeStep &step = code.steps[at];
  // Whether a phase is over does not follow from where its barrier is.
  bool usesSources = step.op != Op::Event && step.destination >= 0;
  ofSources[at].resize(step.sources.size());
  for (size_t i = 0; i < step.sources.size(); ++i) {
    const Source &source = step.sources[i];
    if (source.kind != Source::Kind::Register || getPlace(source.number) < 0)
      continue;
    ofSources[at][i] = writers[getPlace(source.number)];
    if (usesSources)
      add(uses[at], ofSources[at][i]);
  }
  if (int32_t guard = getPlace(step.guard); guard >= 0)
    add(uses[at], writers[guard]);
  int32_t first = getPlace(step.equals[0]), second = getPlace(step.equals[1]);
  if (first < 0 || second < 0)
    return;
  for (uint32_t writer : writers[first])
    add(equals[writer], writers[second]);
  for (uint32_t writer : writers[second])
    add(equals[writer], writers[first]);
}

void Counters::findUses() {
  std::vector<Writers> atStart = findWriters();
  for (uint32_t block = 0; block < code.leaders.size(); ++block) {
    Writers writers = std::move(atStart[block]);
    for (uint32_t at = code.leaders[block]; at < code.getEnd(block); ++at) {
      addUses(at, writers);
      write(at, writers);
    }
  }
}

//===----------------------------------------------------------------------===//
// Cycles
//===----------------------------------------------------------------------===//

void Counters::findCycles() {
  // Tarjan's algorithm, with a stack of its own.
  constexpr uint32_t kNone = ~uint32_t(0);
  size_t count = uses.size();
  std::vector<uint32_t> number(count, kNone), lowest(count, kNone), open;
  std::vector<bool> isOpen(count);
  struct Frame {
    uint32_t step;
    size_t next;
  };
  std::vector<Frame> path;
  uint32_t numbers = 0;
  auto enter = [&](uint32_t step) {
    number[step] = lowest[step] = numbers++;
    isOpen[step] = true;
    open.push_back(step);
    path.push_back({step, 0});
  };
  auto leave = [&](uint32_t step) {
    auto first = std::find(open.begin(), open.end(), step);
    bool isCycle = open.end() - first > 1 ||
                   std::find(uses[step].begin(), uses[step].end(), step) !=
                       uses[step].end();
    for (auto its = first; its != open.end(); ++its) {
      isOpen[*its] = false;
      if (isCycle)
        counterOf[*its] = step;
    }
    open.erase(first, open.end());
  };
  for (uint32_t start = 0; start < count; ++start) {
    if (number[start] == kNone)
      enter(start);
    while (!path.empty()) {
      auto [step, next] = path.back();
      if (next < uses[step].size()) {
        ++path.back().next;
        uint32_t used = uses[step][next];
        if (number[used] == kNone)
          enter(used);
        else if (isOpen[used])
          lowest[step] = std::min(lowest[step], number[used]);
        continue;
      }
      path.pop_back();
      if (lowest[step] == number[step])
        leave(step);
      if (!path.empty())
        lowest[path.back().step] =
            std::min(lowest[path.back().step], lowest[step]);
    }
  }
}

void Counters::addOf(uint32_t step, size_t source, Numbers &numbers) const {
  std::set<uint32_t> visited;
  std::vector<uint32_t> left = ofSources[step][source];
  while (!left.empty()) {
    uint32_t at = left.back();
    left.pop_back();
    if (!visited.insert(at).second)
      continue;
    if (counterOf[at] >= 0)
      numbers.insert(counterOf[at]);
    left.insert(left.end(), uses[at].begin(), uses[at].end());
    left.insert(left.end(), equals[at].begin(), equals[at].end());
  }
}

std::vector<bool> Counters::getSteps(const Numbers &numbers) const {
  std::vector<bool> steps(counterOf.size());
  for (size_t at = 0; at < steps.size(); ++at)
    steps[at] = counterOf[at] >= 0 && numbers.count(counterOf[at]);
  return steps;
}

std::vector<bool> Counters::getSteps() const {
  std::vector<bool> steps(counterOf.size());
  for (size_t at = 0; at < steps.size(); ++at)
    steps[at] = counterOf[at] >= 0;
  return steps;
}
