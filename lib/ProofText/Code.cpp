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
    {"mov", Op::Move},      {"add", Op::Add},         {"sub", Op::Subtract},
    {"mul", Op::Multiply},  {"mad", Op::MultiplyAdd}, {"div", Op::Divide},
    {"rem", Op::Remainder}, {"shl", Op::ShiftLeft},   {"shr", Op::ShiftRight},
    {"and", Op::And},       {"or", Op::Or},           {"xor", Op::Xor},
    {"not", Op::Not},       {"bfe", Op::Extract},     {"min", Op::Minimum},
    {"max", Op::Maximum},   {"selp", Op::Select}};

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

/// The qualifiers are those of which the walk knows the meaning: a type, and
/// which half a product gives. Others, such as `.sat` and `.relu`, change it.
static bool isKnownForm(const Instruction &instruction) {
  const auto &qualifiers = instruction.qualifiers;
  if (qualifiers.size() < 2)
    return true;
  bool isHalf = (qualifiers[0] == "lo" && (instruction.opcode == "mul" ||
                                           instruction.opcode == "mad")) ||
                (qualifiers[0] == "hi" && instruction.opcode == "mul");
  return qualifiers.size() == 2 && isHalf;
}

void CodeReader::readCast(const Instruction &instruction, CodeStep &step) {
  // Between integers without a sign: zeros in front, or cut off. A result that
  // has a sign is extended with it, if its register is wider.
  if (instruction.qualifiers.size() != 2)
    return;
  std::string_view to = instruction.qualifiers[0],
                   from = instruction.qualifiers[1];
  unsigned width = getIntegerWidth(to), fromWidth = getIntegerWidth(from);
  if (!width || !fromWidth || from[0] == 's' ||
      (to[0] == 's' && width <= fromWidth))
    return;
  step.op = Op::And;
  step.sources = {
      getSource(instruction.operands.at(1)),
      {Source::Kind::Constant, 0, getMask(std::min(width, fromWidth))}};
}

/// The field that `bfe` takes is known: PTX reads 8 bits of its position, and
/// of its length (PTX ISA, bfe).
static bool readField(CodeStep &step) {
  if (step.sources.size() != 3)
    return false;
  for (size_t i : {1, 2}) {
    if (step.sources[i].kind != Source::Kind::Constant)
      return false;
    step.sources[i].value &= 0xff;
  }
  return step.sources[1].value + step.sources[2].value <= step.width;
}

void CodeReader::readArithmetic(const Instruction &instruction,
                                CodeStep &step) {
  const auto &qualifiers = instruction.qualifiers;
  std::string_view type = qualifiers.empty() ? "" : qualifiers.back();
  unsigned width = getIntegerWidth(type);
  if (instruction.opcode == "cvt")
    return readCast(instruction, step);
  auto found = kArithmetic.find(instruction.opcode);
  if (found == kArithmetic.end() || !isKnownForm(instruction) ||
      instruction.operands.size() < 2 ||
      instruction.operands[0].kind != Operand::Kind::Register)
    return;
  // `selp.f32` and `mov.f32` move bits as other types do.
  if (!width && found->second != Op::Move && found->second != Op::Select)
    return;
  // A result of another width than its register's is followed in casts alone.
  if (width && width != step.width)
    return;
  bool isUpper = !qualifiers.empty() && qualifiers.front() == "hi";
  step.op = isUpper ? Op::MultiplyHigh : found->second;
  step.isSigned = !type.empty() && type[0] == 's';
  for (size_t i = 1; i < instruction.operands.size(); ++i)
    step.sources.push_back(getSource(instruction.operands[i]));
  // Only right shifts, minimum, maximum and quotients have signs to heed.
  bool heedsSign = step.op == Op::Divide || step.op == Op::Remainder ||
                   step.op == Op::Extract;
  if ((step.isSigned && heedsSign) ||
      (step.op == Op::Extract && !readField(step))) {
    step.op = Op::Other;
    step.sources.clear();
  }
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

bool CodeReader::readOther(const Instruction &instruction, CodeStep &step) {
  const auto &operands = instruction.operands;
  const std::string &opcode = instruction.opcode;
  auto is = [&](std::string_view name, size_t count) {
    return opcode == name && operands.size() >= count;
  };
  bool isRegister =
      !operands.empty() && operands[0].kind == Operand::Kind::Register;
  if (isRegister && is("setp", 3) && instruction.qualifiers.size() == 2) {
    auto found = kComparisons.find(instruction.qualifiers[0]);
    step.operandWidth = getIntegerWidth(instruction.qualifiers[1]);
    if (found == kComparisons.end() || !step.operandWidth)
      return true;
    step.op = found->second;
    step.isSigned = instruction.qualifiers[1][0] == 's';
    step.sources = {getSource(operands[1]), getSource(operands[2])};
  } else if (is("elect", 1)) {
    step.op = Op::Elect;
  } else if (isRegister && instruction.mnemonic() == "vote.sync.all.pred") {
    step.op = Op::Vote;
    step.sources = {getSource(operands.at(1))};
  } else if (isRegister && instruction.mnemonic() == "shfl.sync.idx.b32") {
    step.op = Op::Broadcast; // if the value is the warp's
    step.sources = {getSource(operands.at(1))};
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

Source CodeReader::findAddressed(const Operand &operand) const {
  if (operand.kind != Operand::Kind::Address || operand.offset ||
      operand.elements.empty() ||
      operand.elements[0].kind != Operand::Kind::Register)
    return {};
  auto parameter = findParameter(operand.elements[0].index, /*byAddress=*/true);
  return parameter ? Source{Source::Kind::Parameter, *parameter} : Source{};
}

void CodeReader::readEvent(const Instruction &instruction, const Form &form,
                           CodeStep &step) {
  step.op = Op::Event;
  step.form = &form;
  step.variant = getVariant(form, instruction);
  step.destination = -1;
  for (size_t i = 0; i < form.operands.size(); ++i) {
    const Operand &operand = instruction.operands[i];
    if (form.operands[i].kind == FormOperand::Kind::Outcome)
      setDestination(operand, step);
    step.sources.push_back(getSource(operand));
    Source &source = step.sources.back();
    // Nothing is computed of such a parameter: who looks at the operand
    // recognizes it.
    if (form.operands[i].field == "bytes" &&
        source.kind == Source::Kind::Register)
      if (auto parameter = findParameter(source.number, /*byAddress=*/false))
        source = {Source::Kind::Parameter, *parameter};
    if (form.operands[i].kind == FormOperand::Kind::Parameter)
      source = findAddressed(operand);
    // A predicate that is computed depends on turns: it stays open.
    if (form.operands[i].mask == 1 && !isConstant(operand))
      source = {};
  }
}

void CodeReader::refuse(CodeStep &step, const char *fault) {
  step.op = Op::Event;
  step.form = nullptr;
  step.fault = fault;
}

void CodeReader::readMask(const Instruction &instruction, const Form &form,
                          CodeStep &step) {
  for (size_t i = 0; i < form.operands.size(); ++i) {
    const FormOperand &operand = form.operands[i];
    if (operand.kind != FormOperand::Kind::Fixed)
      continue;
    Source mask = getSource(instruction.operands[i]);
    step.isOfLanes = true;
    if (mask.kind != Source::Kind::Constant ||
        (mask.value & operand.mask) != operand.value)
      refuse(step, "has another mask than 0xffffffff, and all lanes must "
                   "execute it");
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
    const Form *form = findForm(instruction);
    if (form && !form->kind.empty())
      readEvent(instruction, *form, step);
    else if (!form && isOfProtocol(instruction))
      refuse(step, "is no event of a kernel");
    else if (!readOther(instruction, step))
      readArithmetic(instruction, step);
    if (form && form->kind.empty())
      readMask(instruction, *form, step);
    // What stands in front is taken to be written, but for operands of events.
    bool reads = step.op == Op::Event &&
                 (!step.form ||
                  (!step.form->operands.empty() &&
                   step.form->operands[0].kind != FormOperand::Kind::Ignored));
    if (!instruction.operands.empty() && !reads &&
        instruction.operands[0].kind != Operand::Kind::Address)
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
  checkBroadcasts();
  findDivergence();
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
    code.readsLane |= (code.blockOf[at] > 0 || code.isJoin[0]) && readsLane(at);
  return std::move(code);
}

Code fp8::prooftext::readCode(const Module &module, const Function &function,
                              unsigned ctas, const std::vector<bool> &reached) {
  return CodeReader(module, function, ctas).read(reached);
}
