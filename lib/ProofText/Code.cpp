// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a kernel's text: what instructions mean to the walk, and which
// registers it must know.

#include "CodeReader.h"

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
    {"eq", Op::Equal},       {"ne", Op::NotEqual},  {"lt", Op::Less},
    {"le", Op::LessEqual},   {"gt", Op::Greater},   {"ge", Op::GreaterEqual},
    {"lo", Op::Less},        {"ls", Op::LessEqual}, {"hi", Op::Greater},
    {"hs", Op::GreaterEqual}};

/// Bits of a type such as "u32"; 0 of others.
unsigned getIntegerWidth(std::string_view type) {
  if (type == "pred")
    return 1;
  if (type.size() < 2 ||
      std::string_view("usb").find(type[0]) == std::string_view::npos)
    return 0;
  unsigned width = 0;
  for (char c : type.substr(1)) {
    if (c < '0' || c > '9')
      return 0;
    width = 10 * width + (c - '0');
  }
  return width <= 64 ? width : 0;
}

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
  bool isUpper = has("hi");
  if (found == kArithmetic.end() || has("wide") || has("sat") ||
      (isUpper && found->second != Op::Multiply) ||
      instruction.operands.size() < 2)
    return;
  if (instruction.opcode == "cvta")
    return;
  // `selp.f32` and `mov.f32` move bits as other types do.
  if (!width && found->second != Op::Move && found->second != Op::Select)
    return;
  step.op = isUpper ? Op::MultiplyHigh : found->second;
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
    step.sources = {getSource(instruction.operands.at(0))};
  }
  for (const std::string &name : names)
    if (auto *target =
            findInScopes(function.labels, function, instruction.scope, name))
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
    // What stands in front is taken to be written, but for operands of events.
    bool reads = step.op == Op::Event &&
                 (!step.form ||
                  (!step.form->operands.empty() &&
                   step.form->operands[0].kind != FormOperand::Kind::Ignored));
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

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

Code CodeReader::read(const std::vector<bool> &reached) {
  for (uint32_t i = 0; i < function.instructions.size(); ++i) {
    readInstruction(i);
    if (reached.empty() || reached[i])
      continue;
    // Nobody comes there, so that nothing there matters.
    CodeStep never;
    never.op = Op::Trap;
    never.instruction = i;
    code.steps.back() = never;
    alsoWritten.back().clear();
  }
  if (!code.obstacle.empty())
    return std::move(code);
  findBlocks();
  findPredecessors();
  findRemainders();
  for (uint32_t at = 0; at < code.steps.size(); ++at)
    if (code.steps[at].op == Op::Branch)
      findEquality(at);
  findRepeated();
  findMayBeKnown(/*withEqualities=*/false);
  findDeciding();
  findMayBeKnown(/*withEqualities=*/true);
  isCompared.assign(function.registers.size(), false);
  for (const CodeStep &step : code.steps)
    for (int32_t equal : step.equals)
      if (equal >= 0)
        isCompared[equal] = true;
  findDemanded();
  for (CodeStep &step : code.steps)
    step.isSymbol = step.destination >= 0 &&
                    (isCompared[step.destination] || step.isRepeated);
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
                              unsigned ctas, const std::vector<bool> &reached) {
  return CodeReader(module, function, ctas).read(reached);
}
