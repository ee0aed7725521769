// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a kernel's text: what instructions mean to the walk, and which
// registers it must know.

#include "Code.h"

#include "Evaluate.h"

#include <algorithm>
#include <map>
#include <string_view>

using namespace fp8::prooftext;
using fp8::sim::ast::Function;
using fp8::sim::ast::Instruction;
using fp8::sim::ast::Module;
using fp8::sim::ast::Operand;
using Op = CodeStep::Op;

namespace {

const std::map<std::string_view, Op> kArithmetic = {
    {"mov", Op::Move},       {"cvta", Op::Move},     {"add", Op::Add},
    {"sub", Op::Subtract},   {"mul", Op::Multiply},  {"mad", Op::MultiplyAdd},
    {"div", Op::Divide},     {"rem", Op::Remainder}, {"shl", Op::ShiftLeft},
    {"shr", Op::ShiftRight}, {"and", Op::And},       {"or", Op::Or},
    {"xor", Op::Xor},        {"not", Op::Not},       {"bfe", Op::Extract},
    {"min", Op::Minimum},    {"max", Op::Maximum},   {"selp", Op::Select}};

const std::map<std::string_view, Op> kComparisons = {
    {"eq", Op::Equal},        {"ne", Op::NotEqual}, {"lt", Op::Less},
    {"le", Op::LessEqual},    {"gt", Op::Greater},  {"ge", Op::GreaterEqual},
    {"lo", Op::Less},         {"ls", Op::LessEqual}, {"hi", Op::Greater},
    {"hs", Op::GreaterEqual}};

/// Bits of a type such as "u32"; 0 of others.
unsigned getIntegerWidth(std::string_view type) {
  if (type == "pred")
    return 1;
  if (type.size() < 2 || std::string_view("usb").find(type[0]) ==
                             std::string_view::npos)
    return 0;
  unsigned width = 0;
  for (char c : type.substr(1)) {
    if (c < '0' || c > '9')
      return 0;
    width = 10 * width + (c - '0');
  }
  return width <= 64 ? width : 0;
}

class CodeReader {
public:
  CodeReader(const Module &module, const Function &function, unsigned ctas)
      : module(module), function(function), ctas(ctas) {
    code.function = &function;
  }

  Code read();

private:
  Source getSource(const Operand &operand) const;
  Source getSpecial(const std::string &name) const;
  void readInstruction(uint32_t number);
  void readArithmetic(const Instruction &instruction, CodeStep &step);
  bool readOther(const Instruction &instruction, CodeStep &step);
  void readEvent(const Instruction &instruction, const Form &form,
                 CodeStep &step);
  void readBranch(const Instruction &instruction, CodeStep &step);
  /// Finds what a branch says about registers that are compared in front of it.
  void findEquality(uint32_t branch);
  void setDestination(const Operand &operand, CodeStep &step);
  /// The value is that of the warp: its number.
  bool isOfWarp(const Operand &operand) const;
  /// The register is only ever set to constants.
  bool isConstant(const Operand &operand) const;

  uint64_t getMayBeKnownOf(const Source &source) const;
  void findMayBeKnown(bool withEqualities);
  void findDemanded();
  bool demand(const Source &source, uint64_t bits);
  uint64_t getDemandOfEvent(const FormOperand &operand) const;
  void findTracked();
  void findBlocks();
  /// Finds the registers that are a constant more than a compared one.
  void findDerived();
  /// Finds the comparisons that may be decided.
  void findDeciding();
  void findLive();
  void listLive();
  uint32_t getEnd(size_t block) const {
    return block + 1 < leaders.size() ? leaders[block + 1]
                                      : uint32_t(code.steps.size());
  }
  /// The bits of each tracked register that matter behind the last step of a
  /// block.
  std::vector<uint64_t> getDemandedBehind(uint32_t at) const;
  /// Takes the bits that matter behind a step to those in front of it.
  void addDemanded(uint32_t at, std::vector<uint64_t> &bits) const;
  /// Writes the register, as far as its value is followed.
  bool isWritten(uint32_t at, int32_t reg) const;
  /// The steps that may follow.
  std::vector<uint32_t> getSuccessors(uint32_t at) const;
  const Module &module;
  const Function &function;
  unsigned ctas;
  Code code;
  /// Steps that write a register besides their destination.
  std::vector<std::vector<uint32_t>> alsoWritten;
  std::vector<std::vector<uint32_t>> derived; ///< by register
  std::vector<uint32_t> leaders; ///< the first step of each block
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Source CodeReader::getSpecial(const std::string &name) const {
  if (name == "%tid.x")
    return {Source::Kind::Tid};
  if (name == "%laneid")
    return {Source::Kind::Lane};
  if (name == "%ctaid.x")
    return {Source::Kind::Cta};
  if (name == "%cluster_ctarank" || name == "%cluster_ctaid.x")
    return {Source::Kind::Rank};
  return {};
}

Source CodeReader::getSource(const Operand &operand) const {
  switch (operand.kind) {
  case Operand::Kind::Register: {
    Source source{Source::Kind::Register, operand.index};
    source.negated = operand.negated;
    return source;
  }
  case Operand::Kind::Integer:
    return {Source::Kind::Constant, 0, operand.value};
  case Operand::Kind::Special:
    return getSpecial(operand.name);
  case Operand::Kind::Symbol:
    for (const fp8::sim::ast::Variable &variable : module.variables)
      if (variable.name == operand.name && variable.isExtern &&
          variable.space == fp8::sim::ast::Space::Shared)
        return {Source::Kind::Shared, 0, uint64_t(operand.offset)};
    return {};
  case Operand::Kind::Address: {
    if (operand.elements.size() != 1)
      return {};
    Source source = getSource(operand.elements[0]);
    source.value += operand.offset;
    return source;
  }
  default:
    return {};
  }
}

void CodeReader::setDestination(const Operand &operand, CodeStep &step) {
  if (operand.kind == Operand::Kind::Register) {
    step.destination = operand.index;
    step.width = function.registers[operand.index].bits;
  } else if (operand.kind == Operand::Kind::Pair) {
    // The predicate is the second one.
    if (operand.elements.size() == 2)
      setDestination(operand.elements[1], step);
  }
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void CodeReader::readArithmetic(const Instruction &instruction,
                                CodeStep &step) {
  const auto &qualifiers = instruction.qualifiers;
  std::string_view type = qualifiers.empty() ? "" : qualifiers.back();
  unsigned width = getIntegerWidth(type);
  auto has = [&](std::string_view word) {
    return std::find(qualifiers.begin(), qualifiers.end(), word) !=
           qualifiers.end();
  };
  if (instruction.opcode == "cvt") {
    // Between integers without a sign: zeros in front, or cut off.
    std::string_view to =
        qualifiers.size() == 2 ? std::string_view(qualifiers[0]) : "";
    if (!getIntegerWidth(to) || !width || type[0] == 's')
      return;
    step.op = Op::And;
    step.sources = {getSource(instruction.operands.at(1)),
                    {Source::Kind::Constant, 0, getMask(width)}};
    return;
  }
  auto found = kArithmetic.find(instruction.opcode);
  if (found == kArithmetic.end() || has("wide") || has("hi") || has("sat") ||
      instruction.operands.size() < 2)
    return;
  if (instruction.opcode == "cvta")
    return;
  // `selp.f32` and `mov.f32` move bits as other types do.
  if (!width && found->second != Op::Move && found->second != Op::Select)
    return;
  step.op = found->second;
  step.isSigned = !type.empty() && type[0] == 's';
  // Only right shifts, minimum, maximum and quotients have signs to heed.
  if (step.isSigned && (step.op == Op::Divide || step.op == Op::Remainder ||
                        step.op == Op::Extract)) {
    step.op = Op::Other;
    return;
  }
  for (size_t i = 1; i < instruction.operands.size(); ++i)
    step.sources.push_back(getSource(instruction.operands[i]));
}

bool CodeReader::isConstant(const Operand &operand) const {
  if (operand.kind != Operand::Kind::Register)
    return true;
  for (const Instruction &other : function.instructions)
    if (!other.operands.empty() &&
        other.operands[0].kind == Operand::Kind::Register &&
        other.operands[0].index == operand.index &&
        (other.opcode != "mov" ||
         other.operands.back().kind != Operand::Kind::Integer))
      return false;
  return true;
}

bool CodeReader::isOfWarp(const Operand &operand) const {
  if (operand.kind != Operand::Kind::Register)
    return false;
  // The one definition is the thread's number divided by 32.
  const CodeStep *found = nullptr;
  for (const CodeStep &step : code.steps)
    if (step.destination == int32_t(operand.index)) {
      if (found)
        return false;
      found = &step;
    }
  return found && found->op == Op::ShiftRight &&
         found->sources[1].kind == Source::Kind::Constant &&
         found->sources[1].value == 5;
}

bool CodeReader::readOther(const Instruction &instruction, CodeStep &step) {
  const auto &operands = instruction.operands;
  const std::string &opcode = instruction.opcode;
  auto is = [&](std::string_view name, size_t count) {
    return opcode == name && operands.size() >= count;
  };
  if (is("setp", 3) && instruction.qualifiers.size() == 2 &&
      operands[0].kind == Operand::Kind::Register) {
    auto found = kComparisons.find(instruction.qualifiers[0]);
    step.operandWidth = getIntegerWidth(instruction.qualifiers[1]);
    if (found == kComparisons.end() || !step.operandWidth)
      return true;
    step.op = found->second;
    step.isSigned = instruction.qualifiers[1][0] == 's';
    step.sources = {getSource(operands[1]), getSource(operands[2])};
  } else if (is("elect", 1)) {
    step.op = Op::Elect;
  } else if (is("vote", 2) && instruction.mnemonic() == "vote.sync.all.pred") {
    step.op = Op::Vote;
    step.sources = {getSource(operands[1])};
  } else if (is("shfl", 2) && isOfWarp(operands[1])) {
    step.op = Op::Broadcast;
    step.sources = {getSource(operands[1])};
  } else if (is("mapa", 3)) {
    step.op = Op::MapToCta;
    step.sources = {getSource(operands[1]), getSource(operands[2])};
  } else if (is("ld", 2) && instruction.mnemonic() == "ld.shared.b32") {
    step.op = Op::LoadShared;
    step.sources = {getSource(operands[1])};
  } else {
    return false;
  }
  return true;
}

void CodeReader::readEvent(const Instruction &instruction, const Form &form,
                           CodeStep &step) {
  step.op = Op::Event;
  step.form = &form;
  step.destination = -1;
  for (size_t i = 0; i < form.operands.size(); ++i) {
    const Operand &operand = instruction.operands[i];
    if (form.operands[i].kind == FormOperand::Kind::Outcome)
      setDestination(operand, step);
    step.sources.push_back(getSource(operand));
    // A predicate that is computed depends on turns: it stays open.
    if (form.operands[i].mask == 1 && !isConstant(operand))
      step.sources.back() = {};
  }
}

template <typename Map>
static const typename Map::mapped_type *
findInScopes(const Map &map, const Function &function, int32_t scope,
             const std::string &name) {
  for (; scope >= 0; scope = function.scopeParents[scope])
    if (auto found = map.find({uint32_t(scope), name}); found != map.end())
      return &found->second;
  return nullptr;
}

void CodeReader::readBranch(const Instruction &instruction, CodeStep &step) {
  step.op = Op::Branch;
  std::vector<std::string> names;
  if (!instruction.operands.empty())
    names = {instruction.operands.back().name};
  // `brx.idx` names a list of labels, of which a register chooses one.
  if (instruction.opcode == "brx") {
    auto *list = findInScopes(function.branchTargets, function,
                              instruction.scope, names.at(0));
    names = list ? *list : std::vector<std::string>();
  }
  for (const std::string &name : names)
    if (auto *target = findInScopes(function.labels, function,
                                    instruction.scope, name))
      step.others.push_back(*target);
  if (step.others.empty() || step.others.size() != names.size()) {
    code.obstacle = "line " + std::to_string(instruction.line) +
                    " branches to a label that there is not";
    return;
  }
  step.target = step.others.back();
  step.others.pop_back();
}

/// Collects the registers that an operand names.
static void collectRegisters(const Operand &operand,
                             std::vector<uint32_t> &registers) {
  if (operand.kind == Operand::Kind::Register)
    registers.push_back(operand.index);
  for (const Operand &element : operand.elements)
    collectRegisters(element, registers);
}

void CodeReader::readInstruction(uint32_t number) {
  const Instruction &instruction = function.instructions[number];
  CodeStep step;
  step.instruction = number;
  step.guard = instruction.guard;
  step.guardNegated = instruction.guardNegated;
  const std::string &opcode = instruction.opcode;
  alsoWritten.emplace_back();
  if (opcode == "bra" || opcode == "brx") {
    readBranch(instruction, step);
  } else if (opcode == "ret" || opcode == "exit") {
    step.op = Op::Return;
  } else if (opcode == "trap") {
    step.op = Op::Trap;
  } else if (opcode == "call") {
    code.obstacle = "line " + std::to_string(instruction.line) + " has '" +
                    opcode + "', which the comparison does not follow";
  } else {
    if (!instruction.operands.empty())
      setDestination(instruction.operands[0], step);
    if (!readOther(instruction, step)) {
      const Form *form = findForm(instruction);
      if (form && !form->kind.empty())
        readEvent(instruction, *form, step);
      else if (!form && isOfProtocol(instruction))
        step.op = Op::Event; // one that nobody expects
      else
        readArithmetic(instruction, step);
    }
    // Whatever else stands in front is taken to be written.
    bool reads = step.form && !step.form->operands.empty() &&
                 step.form->operands[0].kind != FormOperand::Kind::Ignored;
    if (!instruction.operands.empty() && !reads)
      collectRegisters(instruction.operands[0], alsoWritten.back());
  }
  code.steps.push_back(std::move(step));
}

bool CodeReader::isWritten(uint32_t at, int32_t reg) const {
  const std::vector<uint32_t> &also = alsoWritten[at];
  return code.steps[at].destination == reg ||
         std::find(also.begin(), also.end(), uint32_t(reg)) != also.end();
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
    for (const Source &source : before.sources)
      if (source.kind != Source::Kind::Register || source.value)
        return;
    for (uint32_t between = at + 1; between < branch; ++between)
      for (const Source &source : before.sources)
        if (isWritten(between, source.number))
          return;
    step.equals[0] = before.sources[0].number;
    step.equals[1] = before.sources[1].number;
    step.equalIfTaken = ifTaken == (before.op == Op::Equal);
    return;
  }
}

//===----------------------------------------------------------------------===//
// What may be known, and what is asked for
//===----------------------------------------------------------------------===//

uint64_t CodeReader::getMayBeKnownOf(const Source &source) const {
  switch (source.kind) {
  case Source::Kind::Unknown:
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
      if (step.destination < 0 || !step.decides)
        continue;
      std::vector<uint64_t> sources;
      for (const Source &source : step.sources)
        sources.push_back(getMayBeKnownOf(source));
      uint64_t &bits = code.mayBeKnown[step.destination],
               more = getMayBeKnown(step, sources) & getMask(step.width) &
                      ~bits;
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
  default:
    return operand.mask;
  }
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
          changed |= demand(step.sources[i],
                            getDemandOfEvent(step.form->operands[i]));
      else if (step.destination >= 0 && step.decides &&
               code.mayBeKnown[step.destination])
        for (size_t i = 0; i < step.sources.size(); ++i)
          changed |= demand(
              step.sources[i],
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
    bool writes = step.destination >= 0;
    for (uint32_t other : alsoWritten[at])
      writes |= code.places[other] >= 0;
    step.matters = writes || step.op == Op::Event || step.op == Op::Branch ||
                   step.op == Op::Return || step.op == Op::Trap;
    // A tracked register that is written as part of a list.
    if (writes && step.destination < 0)
      for (uint32_t other : alsoWritten[at])
        if (code.places[other] >= 0)
          code.obstacle = "line " +
                          std::to_string(
                              function.instructions[at].line) +
                          " writes several registers, one of which decides "
                          "about events";
  }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

std::vector<uint32_t> CodeReader::getSuccessors(uint32_t at) const {
  const CodeStep &step = code.steps[at];
  std::vector<uint32_t> next;
  bool ends = step.op == Op::Return || step.op == Op::Trap;
  if (step.op == Op::Branch) {
    next = step.others;
    next.push_back(step.target);
  }
  if ((step.op != Op::Branch && !ends) || step.guard >= 0)
    next.push_back(at + 1);
  next.erase(std::remove_if(
                 next.begin(), next.end(),
                 [&](uint32_t to) { return to >= code.steps.size(); }),
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
  for (uint32_t at = 0; at < count; ++at)
    for (uint32_t next : getSuccessors(at)) {
      if (++predecessors[next] > 1)
        code.isJoin[next] = isLeader[next] = true;
      if (code.steps[at].op == Op::Branch)
        isLeader[next] = true;
    }
  code.blockOf.assign(count, 0);
  for (uint32_t at = 0; at < count; ++at) {
    if (isLeader[at])
      leaders.push_back(at);
    code.blockOf[at] = leaders.size() - 1;
  }
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
      leaders.size(), std::vector<uint64_t>(candidates.size()));
  for (CodeStep &step : code.steps)
    step.decides = step.op < Op::Equal || step.op > Op::GreaterEqual;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t block = 0; block < leaders.size(); ++block) {
      uint32_t end = getEnd(block);
      std::vector<uint64_t> known = atStart[block];
      for (uint32_t at = leaders[block]; at < end; ++at) {
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
        uint64_t bits =
            getMayBeKnown(step, sources) & getMask(step.width);
        if (bits && !step.decides)
          step.decides = changed = true;
        uint64_t &result = known[places[step.destination]];
        result = step.guard < 0 ? bits : result | bits;
      }
      for (uint32_t next : getSuccessors(end - 1))
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
  code.live.assign(leaders.size(), std::vector<uint64_t>(code.tracked.size()));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t block = leaders.size(); block-- > 0;) {
      uint32_t end = getEnd(block);
      std::vector<uint64_t> bits = getDemandedBehind(end - 1);
      for (uint32_t at = end; at-- > leaders[block];)
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

Code CodeReader::read() {
  for (uint32_t i = 0; i < function.instructions.size(); ++i)
    readInstruction(i);
  if (!code.obstacle.empty())
    return std::move(code);
  for (uint32_t at = 0; at < code.steps.size(); ++at)
    if (code.steps[at].op == Op::Branch)
      findEquality(at);
  findBlocks();
  findMayBeKnown(/*withEqualities=*/false);
  findDeciding();
  findMayBeKnown(/*withEqualities=*/true);
  findDemanded();
  std::vector<bool> isCompared(function.registers.size());
  for (const CodeStep &step : code.steps)
    for (int32_t equal : step.equals)
      if (equal >= 0)
        isCompared[equal] = true;
  for (CodeStep &step : code.steps)
    step.isSymbol = step.destination >= 0 && isCompared[step.destination];
  findTracked();
  findDerived();
  findLive();
  listLive();
  for (uint32_t at = 0; at < code.steps.size(); ++at)
    for (const Source &source : code.steps[at].sources)
      code.readsLane |= code.steps[at].matters && code.blockOf[at] > 0 &&
                        (source.kind == Source::Kind::Tid ||
                         source.kind == Source::Kind::Lane);
  return std::move(code);
}

Code fp8::prooftext::readCode(const Module &module, const Function &function,
                              unsigned ctas) {
  return CodeReader(module, function, ctas).read();
}
