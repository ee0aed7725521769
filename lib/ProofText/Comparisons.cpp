// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What comparisons tell: those of branches, those that a text makes twice, and
// masks within masks.

#include "CodeReader.h"
#include "Evaluate.h"

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

/// The step looks at no other bits of its source than the mask has.
static bool looksWithin(const CodeStep &step, uint64_t mask) {
  bool takesBits = isMask(step) || step.op == Op::Extract;
  return takesBits && !(getDemanded(step, 0, getMask(step.width)) & ~mask);
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

int32_t CodeReader::findAvailable(uint32_t reg, uint32_t at) const {
  for (uint32_t before = at; before-- > 0;)
    if (isWritten(before, reg))
      return code.steps[before].guard < 0 && isAvailable(before, at)
                 ? int32_t(before)
                 : -1;
  return -1;
}

void CodeReader::findRepeated(uint32_t second,
                              const std::vector<uint32_t> &earlier) {
  CodeStep &other = code.steps[second];
  for (uint32_t first : earlier) {
    CodeStep &one = code.steps[first];
    if (first == second || one.destination == other.destination ||
        !areOfOneRegister(one, other))
      continue;
    if (isMask(one) && looksWithin(other, one.sources[1].value)) {
      if (!isAvailable(first, second))
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
  std::vector<uint32_t> found;
  for (uint32_t at = 0; at < code.steps.size(); ++at) {
    if (isComparison(code.steps[at]) ||
        looksWithin(code.steps[at], ~uint64_t(0)))
      found.push_back(at);
  }
  for (uint32_t second : found)
    findRepeated(second, found);
}

void CodeReader::findEquality(uint32_t branch) {
  CodeStep &step = code.steps[branch];
  bool ifTaken = !step.guardNegated;
  int32_t at = step.guard < 0 ? -1 : findAvailable(step.guard, branch);
  while (at >= 0 && code.steps[at].op == Op::Not &&
         code.steps[at].sources[0].kind == Source::Kind::Register) {
    at = findAvailable(code.steps[at].sources[0].number, at);
    ifTaken = !ifTaken;
  }
  if (at < 0 || !isComparison(code.steps[at]) || !isAvailable(at, branch))
    return;
  const CodeStep &comparison = code.steps[at];
  if (comparison.op != Op::Equal && comparison.op != Op::NotEqual)
    return;
  const Source &first = comparison.sources[0], &second = comparison.sources[1];
  bool isNumber = second.kind == Source::Kind::Constant;
  if (first.kind != Source::Kind::Register || first.value ||
      (!isNumber && (second.kind != Source::Kind::Register || second.value)))
    return;
  // Registers that are compared elsewhere are not followed for that.
  for (uint32_t between = at; between < branch; ++between)
    step.isFar |= code.steps[between].op == Op::Branch;
  if (step.isFar && !isNumber)
    return;
  if (isNumber) {
    step.isNumber = first.number;
    step.number = second.value & getMask(comparison.operandWidth);
  } else {
    step.equals[0] = first.number;
    step.equals[1] = second.number;
  }
  step.equalIfTaken = ifTaken == (comparison.op == Op::Equal);
}
