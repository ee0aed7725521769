// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations of registers and operands that name them (PTX ISA 5.1.1, 5.4.2,
// 6.4.3).
#include "PTX/Parser.h"

using namespace fp8::sim;
using ast::Operand;

namespace {
constexpr size_t kMaxRegisters = 1 << 18;
constexpr unsigned kVectorBytes = 16;
/// The elements of a vector have two sets of names.
constexpr std::string_view kElements = "xyzw", kColours = "rgba";

unsigned vectorElements(const Token &token) {
  if (token.isDirective("v2"))
    return 2;
  return token.isDirective("v4") ? 4 : 1;
}
} // namespace

bool Parser::parseRegisters() {
  take();
  unsigned elements = vectorElements(peek());
  if (elements > 1)
    take();
  if (peek().kind != Token::Kind::Directive)
    return fail("expected a register type, found " + describe(peek()));
  int bytes = typeBytes(peek().text);
  if (bytes < 0)
    return fail("unknown register type " + describe(peek()));
  if (elements > 1 && (!bytes || unsigned(bytes) * elements > kVectorBytes))
    return fail("a vector register has up to 16 bytes, and no predicates");
  unsigned bits = bytes ? unsigned(bytes) * 8 : 1;
  take();
  do {
    std::string name;
    const Token &token = peek();
    if (!expectIdentifier(name, "a register name"))
      return false;
    uint64_t count = 1;
    bool range = accept('<');
    if (range && (!expectInteger(count, "a number of registers") ||
                  !expect('>', "after the number of registers")))
      return false;
    if (count > kMaxRegisters ||
        function->registers.size() + count * elements > kMaxRegisters)
      return fail(token, "function declares more than " +
                             std::to_string(kMaxRegisters) + " registers");
    for (uint64_t i = 0; i < count; ++i)
      if (!declareRegister(token, range ? name + std::to_string(i) : name, bits,
                           elements))
        return false;
  } while (accept(','));
  return expect(';', "at the end of the register declaration");
}

bool Parser::declareRegister(const Token &token, const std::string &name,
                             unsigned bits, unsigned elements) {
  auto first = uint32_t(function->registers.size());
  if (!registerScopes.back()
           .emplace(name, RegisterName{first, elements})
           .second)
    return fail(token, "register '" + name + "' is declared twice");
  if (elements == 1)
    function->registers.push_back({name, bits});
  else
    for (unsigned i = 0; i < elements; ++i)
      function->registers.push_back({name + "." + kElements[i], bits});
  return true;
}

const Parser::RegisterName *
Parser::findRegister(const std::string &name) const {
  for (auto it = registerScopes.rbegin(); it != registerScopes.rend(); ++it) {
    auto found = it->find(name);
    if (found != it->end())
      return &found->second;
  }
  return nullptr;
}

bool Parser::parseRegister(Operand &operand, const RegisterName &reg) {
  operand.kind = Operand::Kind::Register;
  operand.index = reg.first;
  if (peek().kind == Token::Kind::Directive && peek().adjacent) {
    std::string_view element = peek().text;
    size_t at = element.size() == 1 ? kElements.find(element[0])
                                    : std::string_view::npos;
    if (at == std::string_view::npos && element.size() == 1)
      at = kColours.find(element[0]);
    if (at >= reg.elements || reg.elements == 1)
      return fail("register '" + operand.name + "' has no element " +
                  describe(peek()));
    operand.index += uint32_t(at);
    operand.name = function->registers[operand.index].name;
    take();
    return true;
  }
  if (reg.elements == 1)
    return true;
  // The vector itself stands for its elements in braces.
  operand.kind = Operand::Kind::Vector;
  for (unsigned i = 0; i < reg.elements; ++i) {
    Operand &element = operand.elements.emplace_back();
    element.kind = Operand::Kind::Register;
    element.column = operand.column;
    element.index = reg.first + i;
    element.name = function->registers[element.index].name;
  }
  return true;
}
