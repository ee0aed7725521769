// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Function bodies: scopes, labels, instructions and their operands.

#include "PTX/Parser.h"

#include <unordered_set>

using namespace fp8::sim;
using ast::Operand;

namespace {
constexpr size_t kMaxInstructions = 1 << 21;
} // namespace

bool Parser::parseBody() {
  scope = 0;
  location = 0;
  depth = 0;
  std::vector<uint32_t> open{0};
  while (true) {
    if (atEnd())
      return fail("the text ends within function '" + function->signature.name +
                  "'");
    if (accept('}')) {
      registerScopes.pop_back();
      open.pop_back();
      if (open.empty())
        return true;
      scope = open.back();
      continue;
    }
    if (accept('{')) {
      if (open.size() >= kMaxNesting)
        return fail("scopes are nested too deeply");
      function->scopeParents.push_back(int32_t(scope));
      scope = uint32_t(function->scopeParents.size() - 1);
      open.push_back(scope);
      registerScopes.emplace_back();
      continue;
    }
    if (!parseStatement())
      return false;
  }
}

bool Parser::parseStatement() {
  if (accept(';'))
    return true;
  if (peek().kind == Token::Kind::Directive)
    return parseBodyDirective();
  if (peek().kind == Token::Kind::Identifier && peek(1).is(':')) {
    std::string label(take().text);
    take();
    if (peek().isDirective("branchtargets"))
      return parseBranchTargets(label);
    if (peek().isDirective("callprototype") ||
        peek().isDirective("calltargets"))
      return parsePrototype(label);
    if (!function->labels
             .emplace(std::make_pair(scope, label),
                      uint32_t(function->instructions.size()))
             .second)
      return fail("label '" + label + "' is defined twice");
    return true;
  }
  return parseInstruction();
}

bool Parser::parseBranchTargets(const std::string &label) {
  take();
  std::vector<std::string> &targets = function->branchTargets[{scope, label}];
  do {
    std::string name;
    if (!expectIdentifier(name, "a label"))
      return false;
    targets.push_back(name);
  } while (accept(','));
  return expect(';', "at the end of '.branchtargets'");
}

bool Parser::parsePrototype(const std::string &label) {
  ast::Prototype &prototype = function->prototypes[{scope, label}];
  std::string name;
  if (take().text == "calltargets") {
    do {
      if (!expectIdentifier(name, "a function name"))
        return false;
      prototype.targets.push_back(name);
    } while (accept(','));
    return expect(';', "at the end of '.calltargets'");
  }
  if (accept('(') && !parseParameters(prototype.returns))
    return false;
  if (!expectIdentifier(name, "'_'"))
    return false;
  if (accept('(') && !parseParameters(prototype.parameters))
    return false;
  return skipStatement();
}

bool Parser::parseBodyDirective() {
  std::string_view name = peek().text;
  if (name == "reg")
    return parseRegisters();
  if (name == "loc")
    return parseLocation();
  if (name == "pragma")
    return skipStatement();
  if (name == "section")
    return skipSection();
  if (name == "file")
    return parseFile();
  if (name == "shared" || name == "local" || name == "param" ||
      name == "global" || name == "const")
    return parseFunctionVariables();
  return fail("unknown directive " + describe(peek()) + " in a function");
}

bool Parser::parseFunctionVariables() {
  std::vector<ast::Variable> &variables = function->variables;
  size_t first = variables.size();
  if (!parseVariable(variables, false))
    return false;
  for (size_t i = first; i < variables.size(); ++i)
    variables[i].scope = scope;
  return true;
}

bool Parser::parseLocation() {
  take();
  uint64_t file, line, column;
  if (!expectInteger(file, "a file number") ||
      !expectInteger(line, "a line number") ||
      !expectInteger(column, "a column number"))
    return false;
  uint64_t ignored;
  while (accept(',')) {
    std::string word;
    if (!expectIdentifier(word, "'function_name' or 'inlined_at'"))
      return false;
    if (word == "function_name") {
      if (!expectIdentifier(word, "a debug symbol"))
        return false;
      if (accept('+') && !expectInteger(ignored, "an offset"))
        return false;
    } else if (word == "inlined_at") {
      for (int i = 0; i < 3; ++i)
        if (!expectInteger(ignored, "a number"))
          return false;
    } else {
      return fail("unknown attribute '" + word + "' of '.loc'");
    }
  }
  accept(';');
  location = uint32_t(function->locations.size());
  function->locations.push_back({unsigned(file), unsigned(line)});
  return true;
}

bool Parser::parseInstruction() {
  if (function->instructions.size() >= kMaxInstructions)
    return fail("function has more than " + std::to_string(kMaxInstructions) +
                " instructions");
  ast::Instruction inst;
  inst.line = peek().line;
  inst.column = peek().column;
  inst.location = location;
  inst.scope = scope;
  if (accept('@')) {
    inst.guardNegated = accept('!');
    std::string name;
    if (!expectIdentifier(name, "a predicate"))
      return false;
    const RegisterName *reg = findRegister(name);
    if (!reg)
      return fail("predicate '" + name + "' is not declared");
    if (function->registers[reg->first].bits != 1)
      return fail("'" + name + "' is not a predicate");
    inst.guard = int32_t(reg->first);
  }
  if (peek().kind != Token::Kind::Identifier)
    return fail("expected an instruction, found " + describe(peek()));
  inst.opcode = std::string(take().text);
  while (peek().kind == Token::Kind::Directive)
    inst.qualifiers.emplace_back(take().text);
  inCall = inst.opcode == "call";
  if (!peek().is(';') && !parseOperandList(inst.operands, ';'))
    return false;
  inCall = false;
  if (!expect(';', "at the end of the instruction"))
    return false;
  function->instructions.push_back(std::move(inst));
  return true;
}

bool Parser::parseOperandList(std::vector<Operand> &into, char close) {
  if (peek().is(close))
    return true;
  do {
    into.emplace_back();
    if (!parseOperand(into.back()))
      return false;
  } while (accept(','));
  return true;
}

bool Parser::parseOperand(Operand &operand) {
  if (depth >= kMaxNesting)
    return fail("operands are nested too deeply");
  ++depth;
  bool ok = parseOperandAtom(operand) && parseRestOfPair(operand);
  --depth;
  return ok;
}

bool Parser::parseRestOfPair(Operand &operand) {
  if (!accept('|'))
    return true;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.column = operand.column;
  pair.elements.push_back(std::move(operand));
  pair.elements.emplace_back();
  operand = std::move(pair);
  return parseOperandAtom(operand.elements.back());
}

bool Parser::parseOperandAtom(Operand &operand) {
  const Token &token = peek();
  operand.column = token.column;
  if (accept('{')) {
    operand.kind = Operand::Kind::Vector;
    return parseOperandList(operand.elements, '}') &&
           expect('}', "to close the vector");
  }
  if (inCall && accept('(')) {
    operand.kind = Operand::Kind::List;
    return parseOperandList(operand.elements, ')') &&
           expect(')', "to close the list");
  }
  if (accept('['))
    return parseAddress(operand);
  if (startsConstant()) {
    operand.kind = Operand::Kind::Integer;
    return parseConstant(operand.value, "a number");
  }
  if (accept('!')) {
    operand.negated = true;
    return parseName(operand);
  }
  bool negative = accept('-');
  if (!negative)
    accept('+');
  const Token &value = peek();
  if (value.kind == Token::Kind::Float) {
    operand.kind = Operand::Kind::Float;
    operand.bits = value.bits;
    operand.real = negative ? -value.real : value.real;
    operand.value = value.value;
    if (negative && value.bits)
      operand.value ^= uint64_t(1) << (value.bits - 1);
    take();
    return true;
  }
  if (negative)
    return fail("expected a number after '-', found " + describe(value));
  return parseName(operand);
}

/// The special registers that are vectors: components x, y and z, and w, which
/// is 0 (PTX ISA 10).
static bool isVectorRegister(std::string_view name) {
  static const std::unordered_set<std::string_view> known = {
      "%tid",       "%ntid",       "%ctaid",         "%nctaid",
      "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};
  return known.count(name) != 0;
}

/// Whether the simulator knows the special register, or the component of one.
static bool isSpecialRegister(std::string_view name) {
  static const std::unordered_set<std::string_view> known = {
      "%laneid",
      "%warpid",
      "%nwarpid",
      "%smid",
      "%nsmid",
      "%gridid",
      "%cluster_ctarank",
      "%cluster_nctarank",
      "%is_explicit_cluster",
      "%lanemask_eq",
      "%lanemask_lt",
      "%lanemask_le",
      "%lanemask_gt",
      "%lanemask_ge",
      "%clock",
      "%clock_hi",
      "%clock64",
      "%globaltimer",
      "%globaltimer_lo",
      "%globaltimer_hi",
      "%current_graph_exec",
      "%reserved_smem_offset_1",
      "%dynamic_smem_size",
      "%total_smem_size",
      "%aggr_smem_size"};
  constexpr std::string_view driverDefined = "%envreg"; // 10.33
  if (name.substr(0, driverDefined.size()) == driverDefined)
    return true;
  size_t dot = name.find('.');
  return known.count(name) ||
         (dot + 2 == name.size() && name[dot + 1] >= 'x' &&
          name[dot + 1] <= 'z' && isVectorRegister(name.substr(0, dot)));
}

/// All components of a special register.
static Operand vectorOf(const std::string &name) {
  Operand vector, w;
  vector.kind = Operand::Kind::Vector;
  for (const char *component : {".x", ".y", ".z"}) {
    vector.elements.emplace_back();
    vector.elements.back().kind = Operand::Kind::Special;
    vector.elements.back().name = name + component;
  }
  w.kind = Operand::Kind::Integer;
  vector.elements.push_back(std::move(w));
  return vector;
}

bool Parser::parseName(Operand &operand) {
  const Token &token = peek();
  if (!expectIdentifier(operand.name, "an operand"))
    return false;
  operand.column = token.column;
  if (operand.name == "_") {
    operand.kind = Operand::Kind::Sink;
    return true;
  }
  if (const RegisterName *reg = findRegister(operand.name))
    return parseRegister(operand, *reg);
  if (operand.name[0] == '%') {
    operand.kind = Operand::Kind::Special;
    if (peek().kind == Token::Kind::Directive && peek().adjacent)
      operand.name += "." + std::string(take().text);
    if (isVectorRegister(operand.name))
      operand = vectorOf(operand.name);
    else if (!isSpecialRegister(operand.name))
      return fail(token, "register '" + operand.name + "' is not declared");
    return true;
  }
  operand.kind = Operand::Kind::Symbol;
  return parseOffset(operand.offset);
}

bool Parser::parseAddress(Operand &operand) {
  operand.kind = Operand::Kind::Address;
  operand.elements.emplace_back();
  Operand &base = operand.elements.back();
  if (!parseOperand(base))
    return false;
  if (base.kind != Operand::Kind::Register &&
      base.kind != Operand::Kind::Symbol && base.kind != Operand::Kind::Integer)
    return fail("expected a register, a symbol or a number as an address");
  operand.offset = base.offset;
  base.offset = 0;
  if (!parseOffset(operand.offset))
    return false;
  while (accept(',')) {
    operand.elements.emplace_back();
    if (!parseOperand(operand.elements.back()))
      return false;
  }
  return expect(']', "to close the address");
}
