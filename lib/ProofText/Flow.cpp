// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows from the instructions of a text: which bits may be known, which
// matter, and where control flow joins.

#include "CodeReader.h"
#include "Evaluate.h"

#include <algorithm>
#include <map>

using namespace fp8::prooftext;
using Op = CodeStep::Op;

//===----------------------------------------------------------------------===//
// What may be known, and what is asked for
//===----------------------------------------------------------------------===//

uint64_t CodeReader::getMayBeKnownOf(const Source &source) const {
  switch (source.kind) {
  case Source::Kind::Unknown:
  case Source::Kind::Parameter:
    return 0;
  case Source::Kind::Register:
    return source.value ? getLowRun(code.mayBeKnown[source.number])
                        : code.mayBeKnown[source.number];
  case Source::Kind::Cta:
    // As many CTAs as a power of two: the number ends with the rank.
    return ctas & (ctas - 1) ? 0 : ctas - 1;
  default:
    return ~uint64_t(0);
  }
}

void CodeReader::findMayBeKnown(bool withEqualities) {
  code.mayBeKnown.assign(function.registers.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const CodeStep &step : code.steps) {
      if (step.equals[0] >= 0 && withEqualities) {
        uint64_t &a = code.mayBeKnown[step.equals[0]],
                 &b = code.mayBeKnown[step.equals[1]];
        changed |= a != b;
        a = b = a | b;
      }
      if (step.isNumber >= 0 && withEqualities &&
          (!step.isFar || code.mayBeKnown[step.isNumber])) {
        uint64_t &bits = code.mayBeKnown[step.isNumber],
                 all = getMask(function.registers[step.isNumber].bits);
        changed |= bits != all;
        bits = all;
      }
      if (step.destination < 0 || !step.decides)
        continue;
      std::vector<uint64_t> sources;
      for (const Source &source : step.sources)
        sources.push_back(getMayBeKnownOf(source));
      uint64_t &bits = code.mayBeKnown[step.destination],
               more = (getMayBeKnown(step, sources) | step.isRepeated) &
                      getMask(step.width) & ~bits;
      bits |= more;
      changed |= more != 0;
    }
  }
}

bool CodeReader::demand(const Source &source, uint64_t bits) {
  if (source.kind != Source::Kind::Register)
    return false;
  // What is added to an address carries upwards alone.
  if (source.value && bits)
    bits = getMask(64 - __builtin_clzll(bits));
  uint64_t &demanded = code.demanded[source.number],
           more = bits & code.mayBeKnown[source.number] & ~demanded;
  demanded |= more;
  return more != 0;
}

uint64_t CodeReader::getDemandOfEvent(const FormOperand &operand) const {
  switch (operand.kind) {
  case FormOperand::Kind::Ignored:
  case FormOperand::Kind::Outcome:
    return 0;
  case FormOperand::Kind::Shared:
    return 0xffffffff;
  case FormOperand::Kind::Descriptor:
    return ~uint64_t(0);
  default:
    return operand.mask;
  }
}

bool CodeReader::needsSources(const CodeStep &step) const {
  if ((step.op != Op::Equal && step.op != Op::NotEqual) || step.isOfWholes)
    return true;
  // Low bits that count laps do not leave a ring without the bound.
  for (const Source &source : step.sources)
    if (source.kind == Source::Kind::Register && isCompared[source.number] &&
        code.demanded[source.number] < kFewNumbers)
      return false;
  return true;
}

void CodeReader::findDemanded() {
  code.demanded.assign(function.registers.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t at = code.steps.size(); at-- > 0;) {
      const CodeStep &step = code.steps[at];
      if (step.guard >= 0 && code.mayBeKnown[step.guard])
        changed |= demand({Source::Kind::Register, uint32_t(step.guard)}, 1);
      if (step.equals[0] >= 0) {
        uint64_t &a = code.demanded[step.equals[0]],
                 &b = code.demanded[step.equals[1]];
        changed |= a != b;
        a = b = a | b;
      }
      if (step.op == Op::Event && step.form)
        for (size_t i = 0; i < step.sources.size(); ++i)
          changed |=
              demand(step.sources[i], getDemandOfEvent(step.form->operands[i]));
      else if (step.op == Op::Branch)
        for (const Source &index : step.sources)
          changed |= demand(index, 0xffffffff);
      else if (step.destination >= 0 && step.decides && needsSources(step) &&
               code.mayBeKnown[step.destination])
        for (size_t i = 0; i < step.sources.size(); ++i)
          changed |=
              demand(step.sources[i],
                     getDemanded(step, i, code.demanded[step.destination]));
    }
  }
}

void CodeReader::findTracked() {
  code.places.assign(function.registers.size(), -1);
  for (uint32_t i = 0; i < function.registers.size(); ++i)
    if (code.demanded[i]) {
      code.places[i] = code.tracked.size();
      code.tracked.push_back(i);
    }
  for (size_t at = 0; at < code.steps.size(); ++at) {
    CodeStep &step = code.steps[at];
    if (step.destination >= 0 && code.places[step.destination] < 0)
      step.destination = step.op == Op::Event ? step.destination : -1;
    for (uint32_t other : alsoWritten[at])
      if (code.places[other] >= 0 && int32_t(other) != step.destination)
        step.unknowns.push_back(other);
    step.matters = step.destination >= 0 || !step.unknowns.empty() ||
                   step.op == Op::Event || step.op == Op::Branch ||
                   step.op == Op::Return || step.op == Op::Trap;
  }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

std::vector<uint32_t> Code::getSuccessors(uint32_t at) const {
  const CodeStep &step = steps[at];
  std::vector<uint32_t> next;
  bool ends = step.op == Op::Return || step.op == Op::Trap;
  if (step.op == Op::Branch) {
    next = step.others;
    next.push_back(step.target);
  }
  if ((step.op != Op::Branch && !ends) || step.guard >= 0)
    next.push_back(at + 1);
  next.erase(std::remove_if(next.begin(), next.end(),
                            [&](uint32_t to) { return to >= steps.size(); }),
             next.end());
  return next;
}

std::vector<uint64_t> CodeReader::getDemandedBehind(uint32_t at) const {
  const CodeStep &step = code.steps[at];
  std::vector<uint64_t> bits(code.tracked.size());
  auto add = [&](uint32_t next, bool areEqual) {
    if (next >= code.steps.size())
      return;
    const std::vector<uint64_t> &more = code.live[code.blockOf[next]];
    for (size_t i = 0; i < bits.size(); ++i)
      bits[i] |= more[i];
    // Either of two equal ones tells what the other is.
    int32_t a = areEqual ? code.places[step.equals[0]] : -1,
            b = areEqual ? code.places[step.equals[1]] : -1;
    if (a < 0 || b < 0)
      return;
    uint64_t asked = bits[a] | bits[b];
    for (int32_t reg : step.equals)
      for (uint32_t other : derived[reg])
        asked |= bits[code.places[other]];
    bits[a] |= asked & code.demanded[step.equals[0]];
    bits[b] |= asked & code.demanded[step.equals[1]];
  };
  bool ends = step.op == Op::Return || step.op == Op::Trap,
       compares = step.equals[0] >= 0;
  for (uint32_t other : step.others)
    add(other, false);
  if (step.op == Op::Branch)
    add(step.target, compares && step.equalIfTaken);
  if ((step.op != Op::Branch && !ends) || step.guard >= 0)
    add(at + 1, compares && !step.equalIfTaken);
  return bits;
}

void CodeReader::addDemanded(uint32_t at, std::vector<uint64_t> &bits) const {
  const CodeStep &step = code.steps[at];
  uint64_t demanded = 0;
  if (step.destination >= 0)
    if (int32_t place = code.places[step.destination]; place >= 0) {
      demanded = bits[place];
      if (step.guard < 0)
        bits[place] = 0;
    }
  auto add = [&](const Source &source, uint64_t more) {
    if (source.kind != Source::Kind::Register || !more)
      return;
    if (source.value)
      more = getMask(64 - __builtin_clzll(more));
    if (int32_t place = code.places[source.number]; place >= 0)
      bits[place] |= more & code.demanded[source.number];
  };
  bool isEvent = step.op == Op::Event && step.form;
  for (size_t i = 0; i < step.sources.size(); ++i)
    add(step.sources[i], isEvent ? getDemandOfEvent(step.form->operands[i])
                         : step.op == Op::Branch ? 0xffffffff
                         : step.decides ? getDemanded(step, i, demanded)
                                        : 0);
  if (step.guard >= 0)
    add({Source::Kind::Register, uint32_t(step.guard)}, 1);
}

void CodeReader::findBlocks() {
  size_t count = code.steps.size();
  code.isJoin.assign(count, false);
  std::vector<unsigned> predecessors(count);
  std::vector<bool> isLeader(count);
  isLeader[0] = true;
  predecessors[0] = 1; // the start
  for (uint32_t at = 0; at < count; ++at)
    for (uint32_t next : code.getSuccessors(at)) {
      if (++predecessors[next] > 1)
        code.isJoin[next] = isLeader[next] = true;
      if (code.steps[at].op == Op::Branch)
        isLeader[next] = true;
    }
  code.blockOf.assign(count, 0);
  for (uint32_t at = 0; at < count; ++at) {
    if (isLeader[at])
      code.leaders.push_back(at);
    code.blockOf[at] = code.leaders.size() - 1;
  }
}

void CodeReader::findPredecessors() {
  predecessors.assign(code.steps.size(), {});
  for (uint32_t at = 0; at < code.steps.size(); ++at)
    for (uint32_t next : code.getSuccessors(at))
      predecessors[next].push_back(at);
}

void CodeReader::findDeciding() {
  // Flow by flow: an initial value says nothing about later turns of a loop.
  std::vector<uint32_t> candidates;
  std::vector<int32_t> places(function.registers.size(), -1);
  for (uint32_t i = 0; i < function.registers.size(); ++i)
    if (code.mayBeKnown[i]) {
      places[i] = candidates.size();
      candidates.push_back(i);
    }
  std::vector<std::vector<uint64_t>> atStart(
      code.leaders.size(), std::vector<uint64_t>(candidates.size()));
  for (CodeStep &step : code.steps)
    step.decides = !step.compares();
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t block = 0; block < code.leaders.size(); ++block) {
      uint32_t end = code.getEnd(block);
      std::vector<uint64_t> known = atStart[block];
      for (uint32_t at = code.leaders[block]; at < end; ++at) {
        CodeStep &step = code.steps[at];
        if (step.destination < 0 || places[step.destination] < 0)
          continue;
        std::vector<uint64_t> sources;
        for (const Source &source : step.sources)
          sources.push_back(
              source.kind != Source::Kind::Register ? getMayBeKnownOf(source)
              : places[source.number] < 0           ? 0
              : source.value ? getLowRun(known[places[source.number]])
                             : known[places[source.number]]);
        uint64_t bits = (getMayBeKnown(step, sources) | step.isRepeated) &
                        getMask(step.width);
        if (bits && !step.decides)
          step.decides = changed = true;
        uint64_t mask = getMask(step.operandWidth);
        step.isOfWholes |=
            step.compares() && !(~(sources[0] & sources[1]) & mask);
        uint64_t &result = known[places[step.destination]];
        result = step.guard < 0 ? bits : result | bits;
      }
      for (uint32_t next : code.getSuccessors(end - 1))
        for (size_t i = 0; i < known.size(); ++i) {
          uint64_t &into = atStart[code.blockOf[next]][i];
          changed |= (known[i] & ~into) != 0;
          into |= known[i];
        }
    }
  }
}

/// The register is a constant more than another, or the same; -1 if not.
static int32_t getBase(const CodeStep &step) {
  bool adds = step.op == Op::Add || step.op == Op::Subtract;
  if ((step.op != Op::Move && !adds) ||
      step.sources[0].kind != Source::Kind::Register ||
      (adds && step.sources[1].kind != Source::Kind::Constant))
    return -1;
  return step.sources[0].number;
}

void CodeReader::findDerived() {
  // What counts turns starts from a number; what bounds them is computed.
  std::vector<bool> isComputed(function.registers.size());
  for (const CodeStep &step : code.steps)
    if (step.destination >= 0 && step.op != Op::Move && getBase(step) < 0)
      isComputed[step.destination] = true;
  derived.assign(function.registers.size(), {});
  for (const CodeStep &step : code.steps)
    if (int32_t base = step.destination >= 0 ? getBase(step) : -1;
        base >= 0 && isComputed[base] && code.places[step.destination] >= 0)
      derived[base].push_back(step.destination);
}

void CodeReader::findLive() {
  code.live.assign(code.leaders.size(),
                   std::vector<uint64_t>(code.tracked.size()));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t block = code.leaders.size(); block-- > 0;) {
      uint32_t end = code.getEnd(block);
      std::vector<uint64_t> bits = getDemandedBehind(end - 1);
      for (uint32_t at = end; at-- > code.leaders[block];)
        if (code.steps[at].matters)
          addDemanded(at, bits);
      if (bits != code.live[block]) {
        code.live[block] = std::move(bits);
        changed = true;
      }
    }
  }
}

void CodeReader::listLive() {
  for (const std::vector<uint64_t> &bits : code.live) {
    code.livePlaces.emplace_back();
    for (uint32_t place = 0; place < bits.size(); ++place)
      if (bits[place])
        code.livePlaces.back().push_back(place);
  }
}
