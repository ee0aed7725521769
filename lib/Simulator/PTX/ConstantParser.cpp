// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer constant expressions (PTX ISA 4.5.4 to 4.5.6).

#include "PTX/Parser.h"

#include <string_view>

using namespace fp8::sim;

namespace {
using Constant = Parser::Constant;

Constant truth(bool value) { return {value ? 1u : 0u, false}; }
bool anyUnsigned(Constant a, Constant b) {
  return a.isUnsigned || b.isUnsigned;
}
int64_t number(Constant a) { return int64_t(a.bits); }

bool isLess(Constant a, Constant b) {
  return anyUnsigned(a, b) ? a.bits < b.bits : number(a) < number(b);
}

/// `b` is not 0.
Constant quotient(Constant a, Constant b) {
  if (anyUnsigned(a, b))
    return {a.bits / b.bits, true};
  // The least number has no counterpart.
  return {b.bits == ~uint64_t(0) ? 0 - a.bits : uint64_t(number(a) / number(b)),
          false};
}

/// By more than 63, the shift loses all bits but those of the sign.
Constant shifted(Constant a, Constant b, bool left) {
  const bool all = b.bits > 63;
  if (left)
    return {all ? 0 : a.bits << b.bits, a.isUnsigned};
  if (a.isUnsigned)
    return {all ? 0 : a.bits >> b.bits, true};
  return {uint64_t(number(a) >> (all ? 63 : b.bits)), false};
}

struct Operator {
  std::string_view text;
  unsigned precedence; ///< the larger, the tighter
  bool divides;        ///< not by 0
  Constant (*compute)(Constant, Constant);
};

#define ARITHMETIC(op)                                                         \
  [](Constant a, Constant b) {                                                 \
    return Constant{a.bits op b.bits, anyUnsigned(a, b)};                      \
  }
#define TRUTH(expression)                                                      \
  [](Constant a, Constant b) { return truth(expression); }
/// A longer one comes before those that it begins with.
const Operator kOperators[] = {
    {"*", 10, false, ARITHMETIC(*)},
    {"/", 10, true, quotient},
    {"%", 10, true,
     [](Constant a, Constant b) {
       return Constant{a.bits % b.bits, false};
     }},
    {"+", 9, false, ARITHMETIC(+)},
    {"-", 9, false, ARITHMETIC(-)},
    {"<<", 8, false,
     [](Constant a, Constant b) { return shifted(a, b, true); }},
    {">>", 8, false,
     [](Constant a, Constant b) { return shifted(a, b, false); }},
    {"<=", 7, false, TRUTH(!isLess(b, a))},
    {">=", 7, false, TRUTH(!isLess(a, b))},
    {"<", 7, false, TRUTH(isLess(a, b))},
    {">", 7, false, TRUTH(isLess(b, a))},
    {"==", 6, false, TRUTH(a.bits == b.bits)},
    {"!=", 6, false, TRUTH(a.bits != b.bits)},
    {"&&", 2, false, TRUTH(a.bits &&b.bits)},
    {"||", 1, false, TRUTH(a.bits || b.bits)},
    {"&", 5, false, ARITHMETIC(&)},
    {"^", 4, false, ARITHMETIC(^)},
    {"|", 3, false, ARITHMETIC(|)},
};
#undef ARITHMETIC
#undef TRUTH
/// Of the terms in an offset: those of `*`.
constexpr unsigned kTerm = 10;
} // namespace

bool Parser::startsConstant() const {
  size_t ahead = 0;
  while (peek(ahead).is('+') || peek(ahead).is('-') || peek(ahead).is('~') ||
         peek(ahead).is('!'))
    ++ahead;
  const Token &token = peek(ahead);
  return token.kind == Token::Kind::Integer || token.isIdentifier("WARP_SZ") ||
         (token.is('(') && !(inCall && ahead == 0));
}

bool Parser::parseConstant(uint64_t &value, const char *what) {
  Constant constant;
  if (!parseConditional(constant, what))
    return false;
  value = constant.bits;
  return true;
}

bool Parser::parseConditional(Constant &value, const char *what) {
  if (!parseBinary(value, 1, what))
    return false;
  if (!accept('?'))
    return true;
  if (depth >= kMaxNesting)
    return fail("constant expressions are nested too deeply");
  ++depth;
  Constant yes, no;
  const bool ok = parseConditional(yes, what) &&
                  expect(':', "of a conditional") && parseConditional(no, what);
  --depth;
  if (!ok)
    return false;
  value = {value.bits ? yes.bits : no.bits, anyUnsigned(yes, no)};
  return true;
}

bool Parser::parseBinary(Constant &value, unsigned least, const char *what) {
  if (!parseUnary(value, what))
    return false;
  while (true) {
    const Operator *found = nullptr;
    for (const Operator &candidate : kOperators) {
      const std::string_view text = candidate.text;
      if (peek().is(text[0]) &&
          (text.size() == 1 || (peek(1).is(text[1]) && peek(1).adjacent))) {
        found = &candidate;
        break;
      }
    }
    if (!found || found->precedence < least)
      return true;
    for (size_t i = 0; i < found->text.size(); ++i)
      take();
    Constant right;
    if (!parseBinary(right, found->precedence + 1, what))
      return false;
    if (found->divides && !right.bits)
      return fail("a constant expression divides by 0");
    value = found->compute(value, right);
  }
}

bool Parser::parseUnary(Constant &value, const char *what) {
  if (depth >= kMaxNesting)
    return fail("constant expressions are nested too deeply");
  ++depth;
  bool ok = true;
  if (accept('+')) {
    ok = parseUnary(value, what);
  } else if (accept('-')) {
    ok = parseUnary(value, what);
    value.bits = 0 - value.bits;
  } else if (accept('~')) {
    ok = parseUnary(value, what);
    value = {~value.bits, true};
  } else if (accept('!')) {
    ok = parseUnary(value, what);
    value = truth(!value.bits);
  } else if (peek().is('(') &&
             (peek(1).isDirective("s64") || peek(1).isDirective("u64"))) {
    take();
    const bool isUnsigned = take().text == "u64";
    ok = expect(')', "after a cast") && parseUnary(value, what);
    value.isUnsigned = isUnsigned;
  } else if (accept('(')) {
    ok = parseConditional(value, what) &&
         expect(')', "to close a constant expression");
  } else if (peek().isIdentifier("WARP_SZ")) { // 4.5.1
    take();
    value = {32, false};
  } else {
    const std::string_view text = peek().text;
    ok = expectInteger(value.bits, what);
    value.isUnsigned =
        ok && (number(value) < 0 || text.back() == 'U' || text.back() == 'u');
  }
  --depth;
  return ok;
}

bool Parser::parseOffset(int64_t &offset) {
  while (peek().is('+') || peek().is('-')) {
    const bool negative = take().is('-');
    Constant term;
    if (!parseBinary(term, kTerm, "an offset"))
      return false;
    offset = int64_t(uint64_t(offset) + (negative ? 0 - term.bits : term.bits));
  }
  return true;
}
