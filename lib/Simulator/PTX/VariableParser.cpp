// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables and their initialisers.

#include "PTX/Parser.h"

#include <cstring>

using namespace fp8::sim;

namespace {
constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 32;
} // namespace

bool Parser::parseAlign(uint64_t &align) {
  take();
  if (!expectInteger(align, "an alignment"))
    return false;
  if (align == 0 || (align & (align - 1)) || align > 65536)
    return fail("alignment must be a power of two up to 65536");
  return true;
}

bool Parser::parseVariable(std::vector<ast::Variable> &into, bool isExtern) {
  std::string_view space = take().text;
  ast::Variable prototype;
  prototype.isExtern = isExtern;
  prototype.space = space == "global"   ? ast::Space::Global
                    : space == "const"  ? ast::Space::Const
                    : space == "shared" ? ast::Space::Shared
                    : space == "param"  ? ast::Space::Param
                                        : ast::Space::Local;
  unsigned vector = 1;
  uint64_t align = 0;
  for (bool done = false; !done;) {
    const Token &token = peek();
    if (token.kind != Token::Kind::Directive)
      return fail("expected a type in a variable declaration, found " +
                  describe(token));
    if (token.text == "align") {
      if (!parseAlign(align))
        return false;
    } else if (token.text == "v2" || token.text == "v4" || token.text == "v8") {
      vector = unsigned(token.text[1] - '0');
      take();
    } else if (token.text.substr(0, 9) == "attribute") {
      take();
      if (accept('('))
        while (!atEnd() && !accept(')'))
          take();
    } else {
      int bytes = typeBytes(token.text);
      if (bytes <= 0)
        return fail("unknown variable type " + describe(token));
      prototype.elementBytes = uint64_t(bytes);
      take();
      done = true;
    }
  }
  do {
    ast::Variable variable = prototype;
    variable.line = peek().line;
    if (!expectIdentifier(variable.name, "a variable name"))
      return false;
    if (accept('<'))
      return fail("parameterised variable names are for registers only");
    uint64_t count = vector;
    bool array = false;
    while (accept('[')) {
      array = true;
      uint64_t extent = 0;
      if (peek().is(']')) {
        variable.unsized = true;
      } else if (!parseConstant(extent, "an array size")) {
        return false;
      }
      if (!expect(']', "after the array size"))
        return false;
      if (extent && count > kMaxVariableBytes / extent)
        return fail("variable '" + variable.name + "' is larger than 4 GiB");
      count *= extent;
    }
    (void)array;
    if (count > kMaxVariableBytes / variable.elementBytes)
      return fail("variable '" + variable.name + "' is larger than 4 GiB");
    variable.size = count * variable.elementBytes;
    variable.align = align ? align : variable.elementBytes * vector;
    if (accept('=') && !parseInitialiser(variable))
      return false;
    if (variable.initialiser.size() > variable.size) {
      if (!variable.unsized)
        return fail("initialiser of '" + variable.name +
                    "' is longer than the variable");
      variable.size = variable.initialiser.size();
      variable.unsized = false;
    }
    into.push_back(std::move(variable));
  } while (accept(','));
  return expect(';', "at the end of the variable declaration");
}

bool Parser::parseInitialiser(ast::Variable &variable) {
  uint64_t offset = 0;
  if (!peek().is('{'))
    return parseInitialiserValue(variable, offset);
  unsigned open = 0;
  do {
    while (accept('{'))
      ++open;
    if (!peek().is('}') && !parseInitialiserValue(variable, offset))
      return false;
    while (open && accept('}'))
      --open;
  } while (open && accept(','));
  return open == 0 ||
         fail("initialiser is not closed, found " + describe(peek()));
}

/// The address of a variable or function, with a mask around it or without.
bool Parser::parseInitialAddress(ast::Variable &variable, uint64_t offset,
                                 uint64_t mask) {
  ast::Variable::Relocation relocation{offset, "", 0, mask};
  if (!expectIdentifier(relocation.symbol, "an initial value"))
    return false;
  if (relocation.symbol == "generic" && accept('('))
    if (!expectIdentifier(relocation.symbol, "a variable name") ||
        !expect(')', "after generic("))
      return false;
  if (!parseOffset(relocation.addend))
    return false;
  variable.relocations.push_back(std::move(relocation));
  return true;
}

/// Whether the mask has all bits of one byte, and no others (PTX ISA 5.4.4).
static bool isByte(uint64_t mask) {
  for (uint64_t byte = 0xff; byte; byte <<= 8)
    if (mask == byte)
      return true;
  return false;
}

bool Parser::parseInitialiserValue(ast::Variable &variable, uint64_t &offset) {
  uint64_t value = 0;
  const bool masks = peek().kind == Token::Kind::Integer && peek(1).is('(');
  const uint64_t mask = masks ? take().value : ~uint64_t(0);
  if (masks && !isByte(mask))
    return fail("the mask of an initial value must be one byte, such as "
                "0xff00");
  if (masks)
    take();
  const bool negative = peek().is('-');
  const Token &real = peek(negative);
  if (startsConstant()) {
    if (!parseConstant(value, "an initial value"))
      return false;
    value = masks ? (value & mask) >> __builtin_ctzll(mask) : value;
  } else if (real.kind == Token::Kind::Float && !masks) {
    if (negative)
      take();
    const double number = negative ? -real.real : real.real;
    if (real.bits) {
      value = real.value;
    } else if (variable.elementBytes == 8) {
      std::memcpy(&value, &number, 8);
    } else {
      float narrow = float(number);
      std::memcpy(&value, &narrow, 4);
    }
    take();
  } else if (!parseInitialAddress(variable, offset, mask)) {
    return false;
  }
  if (masks && !expect(')', "to close the mask"))
    return false;
  if (variable.initialiser.size() > kMaxVariableBytes / 16)
    return fail("initialiser is too long");
  for (uint64_t i = 0; i < variable.elementBytes; ++i)
    variable.initialiser.push_back(i < 8 ? uint8_t(value >> (8 * i)) : 0);
  offset += variable.elementBytes;
  return true;
}
