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
      } else if (!expectInteger(extent, "an array size")) {
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

bool Parser::parseInitialiserValue(ast::Variable &variable, uint64_t &offset) {
  bool negative = accept('-');
  const Token &token = take();
  uint64_t value = 0;
  if (token.kind == Token::Kind::Integer) {
    value = negative ? 0 - token.value : token.value;
  } else if (token.kind == Token::Kind::Float) {
    double real = negative ? -token.real : token.real;
    if (token.bits) {
      value = token.value;
    } else if (variable.elementBytes == 8) {
      std::memcpy(&value, &real, 8);
    } else {
      float narrow = float(real);
      std::memcpy(&value, &narrow, 4);
    }
  } else if (token.kind == Token::Kind::Identifier) {
    std::string name(token.text);
    if (name == "generic" && accept('(')) {
      if (!expectIdentifier(name, "a variable name") ||
          !expect(')', "after generic("))
        return false;
    }
    int64_t addend = 0;
    if (accept('+')) {
      uint64_t extra;
      if (!expectInteger(extra, "an offset"))
        return false;
      addend = int64_t(extra);
    }
    variable.relocations.push_back({offset, name, addend});
  } else {
    return fail(token, "expected an initial value, found " + describe(token));
  }
  if (variable.initialiser.size() > kMaxVariableBytes / 16)
    return fail("initialiser is too long");
  for (uint64_t i = 0; i < variable.elementBytes; ++i)
    variable.initialiser.push_back(i < 8 ? uint8_t(value >> (8 * i)) : 0);
  offset += variable.elementBytes;
  return true;
}
