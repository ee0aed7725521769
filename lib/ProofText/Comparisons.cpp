// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What comparisons tell: those of branches, those that a text makes twice, and
// masks within masks.

#include "CodeReader.h"

#include <algorithm>

using namespace fp8::prooftext;
using Op = CodeStep::Op;

static bool isComparison(const CodeStep &step) {
  return step.compares() && step.guard < 0 && step.destination >= 0;
}

/// The comparison that holds where this one does not.
static Op getOpposite(Op op) {
  switch (op) {
  case Op::Equal:
    return Op::NotEqual;
  case Op::NotEqual:
    return Op::Equal;
  case Op::Less:
    return Op::GreaterEqual;
  case Op::LessEqual:
    return Op::Greater;
  case Op::Greater:
    return Op::LessEqual;
  default:
    return Op::Less;
  }
}

static bool areSame(const Source &first, const Source &second) {
  return first.kind == second.kind && first.number == second.number &&
         first.value == second.value && first.negated == second.negated &&
         first.kind != Source::Kind::Unknown;
}

/// Both compute with the same register and the same, or another, number.
static bool areOfOneRegister(const CodeStep &first, const CodeStep &second) {
  return areSame(first.sources[0], second.sources[0]) &&
         first.sources[0].kind == Source::Kind::Register;
}

static bool isMask(const CodeStep &step) {
  return step.op == Op::And && step.guard < 0 && step.destination >= 0 &&
         step.sources[1].kind == Source::Kind::Constant;
}

bool CodeReader::isAvailable(uint32_t first, uint32_t second) const {
  const CodeStep &one = code.steps[first];
  auto spoils = [&](uint32_t at) {
    if (isWritten(at, one.destination))
      return true;
    return std::any_of(one.sources.begin(), one.sources.end(),
                       [&](const Source &source) {
                         return source.kind == Source::Kind::Register &&
                                isWritten(at, source.number);
                       });
  };
  for (const Source &source : one.sources)
    if (source.kind == Source::Kind::Register &&
        int32_t(source.number) == one.destination)
      return false;
  std::vector<bool> visited(code.steps.size());
  std::vector<uint32_t> left = predecessors[second];
  bool startsHere = second == 0;
  while (!left.empty()) {
    uint32_t at = left.back();
    left.pop_back();
    if (at == first || visited[at])
      continue;
    visited[at] = true;
    if (at == 0 || spoils(at))
      return false;
    left.insert(left.end(), predecessors[at].begin(), predecessors[at].end());
  }
  return !startsHere;
}

void CodeReader::findRepeated(uint32_t second,
                              const std::vector<uint32_t> &earlier) {
  CodeStep &other = code.steps[second];
  for (uint32_t first : earlier) {
    CodeStep &one = code.steps[first];
    if (first == second || one.destination == other.destination ||
        !areOfOneRegister(one, other))
      continue;
    if (isMask(one) && isMask(other)) {
      uint64_t mask = one.sources[1].value;
      if ((other.sources[1].value & ~mask) || !isAvailable(first, second))
        continue;
      other.sources[0] = {Source::Kind::Register, uint32_t(one.destination)};
      return;
    }
    bool isSame = one.op == other.op;
    if (!isComparison(one) || !isComparison(other) ||
        one.operandWidth != other.operandWidth ||
        one.isSigned != other.isSigned ||
        (!isSame && one.op != getOpposite(other.op)) ||
        !areSame(one.sources[1], other.sources[1]) ||
        !isAvailable(first, second))
      continue;
    one.isRepeated = true;
    other.op = isSame ? Op::Move : Op::Not;
    other.sources = {{Source::Kind::Register, uint32_t(one.destination)}};
    return;
  }
}

void CodeReader::findRepeated() {
  predecessors.assign(code.steps.size(), {});
  std::vector<uint32_t> found;
  for (uint32_t at = 0; at < code.steps.size(); ++at) {
    for (uint32_t next : code.getSuccessors(at))
      predecessors[next].push_back(at);
    if (isComparison(code.steps[at]) || isMask(code.steps[at]))
      found.push_back(at);
  }
  for (uint32_t second : found)
    findRepeated(second, found);
}

void CodeReader::findEquality(uint32_t branch) {
  CodeStep &step = code.steps[branch];
  int32_t predicate = step.guard;
  bool ifTaken = !step.guardNegated;
  for (uint32_t at = branch; predicate >= 0 && at-- > 0;) {
    const CodeStep &before = code.steps[at];
    if (before.op == Op::Branch || before.op == Op::Return)
      return;
    if (!isWritten(at, predicate))
      continue;
    if (before.guard >= 0)
      return;
    if (before.op == Op::Not &&
        before.sources[0].kind == Source::Kind::Register) {
      predicate = before.sources[0].number;
      ifTaken = !ifTaken;
      continue;
    }
    if (before.op != Op::Equal && before.op != Op::NotEqual)
      return;
    const Source &first = before.sources[0], &second = before.sources[1];
    bool isNumber = second.kind == Source::Kind::Constant;
    if (first.kind != Source::Kind::Register || first.value ||
        (!isNumber && (second.kind != Source::Kind::Register || second.value)))
      return;
    for (uint32_t between = at + 1; between < branch; ++between)
      if (isWritten(between, first.number) ||
          (!isNumber && isWritten(between, second.number)))
        return;
    if (isNumber) {
      step.isNumber = first.number;
      step.number = second.value & getMask(before.operandWidth);
    } else {
      step.equals[0] = first.number;
      step.equals[1] = second.number;
    }
    step.equalIfTaken = ifTaken == (before.op == Op::Equal);
    return;
  }
}
