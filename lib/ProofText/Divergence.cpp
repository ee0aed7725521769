// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where lanes of a warp may be apart: between a branch on a value that differs
// among them and the block where all ways from there meet again. Instructions
// in which all lanes have a part must not stand there.

#include "CodeReader.h"
#include "Evaluate.h"

#include <algorithm>
#include <set>
#include <string_view>

using namespace fp8::prooftext;
using fp8::sim::ast::Instruction;
using fp8::sim::ast::Operand;
using Op = CodeStep::Op;

namespace {

class Divergence {
public:
  Divergence(const Code &code,
             const std::vector<std::vector<uint32_t>> &alsoWritten)
      : code(code), alsoWritten(alsoWritten),
        varies(code.function->registers.size()), isApart(code.leaders.size()),
        repeats(code.leaders.size()) {
    findMeetings();
    while (findVarying() || findApart())
      ;
  }

  /// Some lanes may come there without the others.
  bool isReachedBySome(uint32_t at) const {
    uint32_t block = code.blockOf[at];
    return isApart[block] || repeats[block] || guardVaries(at);
  }

private:
  using Blocks = std::vector<bool>;

  bool guardVaries(uint32_t at) const {
    return code.steps[at].guard >= 0 && varies[code.steps[at].guard];
  }
  bool operandVaries(const Operand &operand) const;
  bool resultVaries(uint32_t at) const;
  bool dependsOnTurn(uint32_t at) const;
  bool findVarying();
  bool findApart();
  bool spread(size_t block, const Blocks &until);
  std::vector<size_t> getNext(size_t block) const;
  bool mayReturn(size_t block) const;
  void findMeetings();

  const Code &code;
  const std::vector<std::vector<uint32_t>> &alsoWritten;
  std::vector<bool> varies; ///< by register: it may differ among lanes
  Blocks isApart;           ///< by block
  /// By block: each lane takes it at least once, and some may do so more often,
  /// such as a wait that tries again.
  Blocks repeats;
  /// By block: those through which all ways from there to an end lead.
  std::vector<Blocks> meetings;
};

} // namespace

/// Instructions whose results are the same if all operands are. Others may give
/// each lane its own.
static bool followsOperands(const Instruction &instruction) {
  static const std::set<std::string_view> kOpcodes = {
      "mov",  "cvt",  "cvta", "add",
      "sub",  "mul",  "mad",  "div",
      "rem",  "shl",  "shr",  "and",
      "or",   "xor",  "not",  "bfe",
      "bfi",  "min",  "max",  "selp",
      "setp", "set",  "neg",  "abs",
      "prmt", "shf",  "lop3", "popc",
      "clz",  "mapa", "ld",   "clusterlaunchcontrol"};
  // Local memory is of a thread.
  return kOpcodes.count(instruction.opcode) &&
         std::find(instruction.qualifiers.begin(), instruction.qualifiers.end(),
                   "local") == instruction.qualifiers.end();
}

/// Special registers that all lanes of a warp read alike.
static bool isOfCta(std::string_view name) {
  for (std::string_view start : {"%ctaid", "%nctaid", "%ntid", "%cluster",
                                 "%nclusterid", "%is_explicit_cluster"})
    if (name.substr(0, start.size()) == start)
      return true;
  return false;
}

bool Divergence::operandVaries(const Operand &operand) const {
  switch (operand.kind) {
  case Operand::Kind::Register:
    return varies[operand.index];
  case Operand::Kind::Special:
    return !isOfCta(operand.name);
  default:
    return std::any_of(
        operand.elements.begin(), operand.elements.end(),
        [&](const Operand &element) { return operandVaries(element); });
  }
}

/// An operand is what an earlier turn of the block has left.
bool Divergence::dependsOnTurn(uint32_t at) const {
  const auto &operands =
      code.function->instructions[code.steps[at].instruction].operands;
  auto isLeft = [&](const Operand &operand) {
    if (operand.kind != Operand::Kind::Register)
      return !operand.elements.empty();
    for (uint32_t later = at; later < code.getEnd(code.blockOf[at]); ++later) {
      const std::vector<uint32_t> &also = alsoWritten[later];
      if (code.steps[later].destination == int32_t(operand.index) ||
          std::find(also.begin(), also.end(), operand.index) != also.end())
        return true;
    }
    return false;
  };
  return std::any_of(operands.begin() + 1, operands.end(), isLeft);
}

bool Divergence::resultVaries(uint32_t at) const {
  const CodeStep &step = code.steps[at];
  const Instruction &instruction =
      code.function->instructions[step.instruction];
  uint32_t block = code.blockOf[at];
  if (isApart[block] || guardVaries(at) ||
      (repeats[block] && dependsOnTurn(at)))
    return true;
  // What a vote or a broadcast gives is the warp's.
  if (step.op == Op::Vote || step.op == Op::Broadcast)
    return false;
  return step.op == Op::Event || !followsOperands(instruction) ||
         std::any_of(
             instruction.operands.begin() + 1, instruction.operands.end(),
             [&](const Operand &operand) { return operandVaries(operand); });
}

bool Divergence::findVarying() {
  bool changed = false;
  auto set = [&](uint32_t reg) {
    changed |= !varies[reg];
    varies[reg] = true;
  };
  for (uint32_t at = 0; at < code.steps.size(); ++at) {
    int32_t destination = code.steps[at].destination;
    if ((destination < 0 && alsoWritten[at].empty()) || !resultVaries(at))
      continue;
    if (destination >= 0)
      set(destination);
    for (uint32_t reg : alsoWritten[at])
      set(reg);
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

std::vector<size_t> Divergence::getNext(size_t block) const {
  std::vector<size_t> next;
  for (uint32_t to : code.getSuccessors(code.getEnd(block) - 1))
    next.push_back(code.blockOf[to]);
  return next;
}

bool Divergence::mayReturn(size_t block) const {
  for (uint32_t at = code.leaders[block]; at < code.getEnd(block); ++at)
    if (code.steps[at].op == Op::Return)
      return true;
  return false;
}

void Divergence::findMeetings() {
  // Of a block that leads to no end, all blocks: that is an error of its own.
  size_t count = code.leaders.size();
  meetings.assign(count, Blocks(count, true));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t block = count; block-- > 0;) {
      Blocks common(count, !mayReturn(block));
      for (size_t next : getNext(block))
        for (size_t i = 0; i < count; ++i)
          if (!meetings[next][i])
            common[i] = false;
      common[block] = true;
      changed |= common != meetings[block];
      meetings[block] = std::move(common);
    }
  }
}

bool Divergence::spread(size_t block, const Blocks &until) {
  Blocks visited(code.leaders.size());
  std::vector<size_t> left = getNext(block);
  while (!left.empty()) {
    size_t its = left.back();
    left.pop_back();
    if (visited[its] || (until[its] && its != block))
      continue;
    visited[its] = true;
    for (size_t next : getNext(its))
      left.push_back(next);
  }
  bool isAlone =
      visited[block] && std::count(visited.begin(), visited.end(), true) == 1;
  Blocks &marks = isAlone ? repeats : isApart;
  bool changed = false;
  for (size_t i = 0; i < visited.size(); ++i)
    if (visited[i] && !marks[i])
      changed = marks[i] = true;
  return changed;
}

bool Divergence::findApart() {
  bool changed = false;
  for (uint32_t at = 0; at < code.steps.size(); ++at) {
    const CodeStep &step = code.steps[at];
    size_t block = code.blockOf[at];
    bool isTable = !step.others.empty() && !step.sources.empty(),
         differs =
             guardVaries(at) ||
             (isTable &&
              operandVaries(
                  code.function->instructions[step.instruction].operands[0]));
    if (!differs)
      continue;
    if (step.op == Op::Branch)
      changed |= spread(block, meetings[block]);
    // Those that have ended come to no meeting.
    if (step.op == Op::Return) {
      changed |= !isApart[block];
      isApart[block] = true;
      changed |= spread(block, Blocks(code.leaders.size()));
    }
  }
  return changed;
}

void CodeReader::findDivergence() {
  bool isNeeded =
      std::any_of(code.steps.begin(), code.steps.end(),
                  [](const CodeStep &its) { return its.isOfLanes; });
  if (!isNeeded)
    return;
  Divergence divergence(code, alsoWritten);
  for (uint32_t at = 0; at < code.steps.size(); ++at)
    if (code.steps[at].isOfLanes && divergence.isReachedBySome(at))
      refuse(code.steps[at], "is executed by some lanes of a warp without the "
                             "others, and all must");
}

//===----------------------------------------------------------------------===//
// Numbers of lanes
//===----------------------------------------------------------------------===//

const CodeStep *CodeReader::getDefinition(const Source &source) const {
  const CodeStep *found = nullptr;
  for (uint32_t at = 0; at < code.steps.size(); ++at) {
    if (source.kind != Source::Kind::Register || !isWritten(at, source.number))
      continue;
    if (found || code.steps[at].guard >= 0)
      return nullptr;
    found = &code.steps[at];
  }
  return found;
}

Source CodeReader::getOrigin(Source source) const {
  constexpr unsigned kMostMoves = 8;
  for (unsigned i = 0; i < kMostMoves; ++i) {
    const CodeStep *its = getDefinition(source);
    if (!its || its->op != Op::Move)
      break;
    source = its->sources[0];
  }
  return source;
}

bool CodeReader::isOfWarp(const Source &source) const {
  const CodeStep *its = getDefinition(getOrigin(source));
  return its && its->op == Op::ShiftRight &&
         its->sources[1].kind == Source::Kind::Constant &&
         its->sources[1].value == 5 &&
         getOrigin(its->sources[0]).kind == Source::Kind::Tid;
}

void CodeReader::checkBroadcasts() {
  for (CodeStep &step : code.steps)
    if (step.op == Op::Broadcast && !isOfWarp(step.sources[0])) {
      step.op = Op::Other;
      step.sources.clear();
    }
}

bool CodeReader::readsLane(uint32_t at) const {
  const CodeStep &step = code.steps[at];
  // The bits of %tid.x above these are the warp's.
  constexpr uint64_t kBitsOfLane = 31;
  for (size_t i = 0; step.matters && i < step.sources.size(); ++i) {
    Source::Kind kind = step.sources[i].kind;
    if (kind != Source::Kind::Tid && kind != Source::Kind::Lane)
      continue;
    if (step.destination < 0 || step.op == Op::Event ||
        getDemanded(step, i, code.demanded[step.destination]) & kBitsOfLane)
      return true;
  }
  return false;
}
