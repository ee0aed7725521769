// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The PTX lexer (PTX ISA, chapter 4).

#include "PTX/Lexer.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace fp8::sim;

namespace {

class Lexer {
public:
  Lexer(std::string_view text, std::vector<Diagnostic> &diagnostics)
      : text(text), diagnostics(diagnostics) {}

  std::vector<Token> run() {
    while (!failed && next()) {
    }
    Token end;
    end.line = line;
    end.column = column();
    tokens.push_back(end);
    return std::move(tokens);
  }

private:
  std::string_view text;
  std::vector<Diagnostic> &diagnostics;
  std::vector<Token> tokens;
  size_t pos = 0;
  size_t lineStart = 0;
  size_t lastEnd = size_t(-1);
  unsigned line = 1;
  bool failed = false;

  unsigned column() const { return unsigned(pos - lineStart + 1); }
  char peek(size_t ahead = 0) const {
    return pos + ahead < text.size() ? text[pos + ahead] : '\0';
  }
  static bool isWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
  }

  void fail(std::string message) {
    diagnostics.push_back({line, column(), std::move(message)});
    failed = true;
  }

  void newline() {
    ++line;
    lineStart = pos;
  }

  bool skipBlanks() {
    while (pos < text.size()) {
      char c = text[pos];
      if (c == '\n') {
        ++pos;
        newline();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++pos;
      } else if (c == '/' && peek(1) == '/') {
        while (pos < text.size() && text[pos] != '\n')
          ++pos;
      } else if (c == '/' && peek(1) == '*') {
        unsigned startLine = line;
        size_t end = text.find("*/", pos + 2);
        if (end == std::string_view::npos) {
          fail("comment opened on line " + std::to_string(startLine) +
               " is not closed");
          return false;
        }
        for (; pos < end + 2; ++pos)
          if (text[pos] == '\n') {
            ++line;
            lineStart = pos + 1;
          }
      } else if (c == '\0') { // nvrtc and some tools end the text with a NUL
        ++pos;
      } else {
        return true;
      }
    }
    return false;
  }

  Token &push(Token::Kind kind, size_t start, size_t count, size_t begin) {
    Token token;
    token.kind = kind;
    token.line = line;
    token.column = unsigned(begin - lineStart + 1);
    token.text = text.substr(start, count);
    token.adjacent = begin == lastEnd;
    lastEnd = pos;
    tokens.push_back(token);
    return tokens.back();
  }

  bool next() {
    if (!skipBlanks())
      return false;
    size_t start = pos;
    char c = text[pos];
    if (std::isdigit(static_cast<unsigned char>(c)))
      return number();
    if (c == '.' && isWord(peek(1))) {
      ++pos;
      word();
      push(Token::Kind::Directive, start + 1, pos - start - 1, start);
      return true;
    }
    if (isWord(c) || (c == '%' && isWord(peek(1)))) {
      ++pos;
      word();
      push(Token::Kind::Identifier, start, pos - start, start);
      return true;
    }
    if (c == '"')
      return string();
    if (std::strchr("{}[]()<>,;:=+-!|@*&~^/?%", c)) {
      ++pos;
      push(Token::Kind::Punctuation, start, 1, start);
      return true;
    }
    if (c == '#') // a C preprocessor line marker
      while (pos < text.size() && text[pos] != '\n')
        ++pos;
    else
      fail(std::isprint(static_cast<unsigned char>(c))
               ? std::string("unexpected character '") + c + "'"
               : std::string("unexpected byte that is not PTX text"));
    return !failed;
  }

  /// Words of qualifiers hold "::", as in shared::cta.
  void word() {
    while (isWord(peek()) ||
           (peek() == ':' && peek(1) == ':' && isWord(peek(2))))
      pos += peek() == ':' ? 2 : 1;
  }

  bool string() {
    size_t start = pos++;
    while (pos < text.size() && text[pos] != '"' && text[pos] != '\n')
      pos += text[pos] == '\\' && pos + 1 < text.size() ? 2 : 1;
    if (peek() != '"') {
      pos = start;
      fail("string is not closed");
      return false;
    }
    ++pos;
    push(Token::Kind::String, start + 1, pos - start - 2, start);
    return true;
  }

  bool number() {
    size_t start = pos;
    char second = char(std::tolower(static_cast<unsigned char>(peek(1))));
    if (peek() == '0' && (second == 'f' || second == 'd'))
      return hexFloat(second == 'f' ? 8 : 16);
    int base = 10;
    if (peek() == '0' && (second == 'x' || second == 'b')) {
      base = second == 'x' ? 16 : 2;
      pos += 2;
    } else if (peek() == '0' &&
               std::isdigit(static_cast<unsigned char>(peek(1)))) {
      base = 8;
    }
    uint64_t value = 0;
    bool overflow = false;
    size_t digits = pos;
    for (; std::isxdigit(static_cast<unsigned char>(peek())); ++pos) {
      char d = char(std::tolower(static_cast<unsigned char>(peek())));
      int digit = d >= 'a' ? d - 'a' + 10 : d - '0';
      if (digit >= base)
        break;
      overflow |= value > (~uint64_t(0) - uint64_t(digit)) / uint64_t(base);
      value = value * uint64_t(base) + uint64_t(digit);
    }
    bool decimal = base == 10 || base == 8;
    if (decimal &&
        ((peek() == '.' && std::isdigit(static_cast<unsigned char>(peek(1)))) ||
         peek() == 'e' || peek() == 'E' || (peek() == '.' && !isWord(peek(1)))))
      return decimalFloat(start);
    if (pos == digits) {
      fail("number without digits");
      return false;
    }
    if (peek() == 'U' || peek() == 'u')
      ++pos;
    if (overflow) {
      pos = start;
      fail("integer does not fit in 64 bits");
      return false;
    }
    if (isWord(peek())) {
      fail("unexpected character in a number");
      return false;
    }
    push(Token::Kind::Integer, start, pos - start, start).value = value;
    return true;
  }

  bool hexFloat(unsigned digits) {
    size_t start = pos;
    pos += 2;
    uint64_t bits = 0;
    unsigned seen = 0;
    for (; std::isxdigit(static_cast<unsigned char>(peek())) && seen < digits;
         ++pos, ++seen) {
      char d = char(std::tolower(static_cast<unsigned char>(peek())));
      bits = bits << 4 | uint64_t(d >= 'a' ? d - 'a' + 10 : d - '0');
    }
    if (seen != digits || isWord(peek())) {
      pos = start;
      fail("floating-point literal needs exactly " + std::to_string(digits) +
           " hexadecimal digits");
      return false;
    }
    Token &token = push(Token::Kind::Float, start, pos - start, start);
    token.bits = uint8_t(digits * 4);
    token.value = bits;
    if (digits == 8) {
      uint32_t narrow = uint32_t(bits);
      float value;
      std::memcpy(&value, &narrow, 4);
      token.real = value;
    } else {
      std::memcpy(&token.real, &bits, 8);
    }
    return true;
  }

  bool decimalFloat(size_t start) {
    auto digits = [&] {
      while (std::isdigit(static_cast<unsigned char>(peek())))
        ++pos;
    };
    pos = start;
    digits();
    if (peek() == '.') {
      ++pos;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++pos;
      if (peek() == '+' || peek() == '-')
        ++pos;
      digits();
    }
    std::string copy(text.substr(start, pos - start));
    push(Token::Kind::Float, start, pos - start, start).real =
        std::strtod(copy.c_str(), nullptr);
    return true;
  }
};

} // namespace

std::vector<Token> fp8::sim::tokenize(std::string_view text,
                                      std::vector<Diagnostic> &diagnostics) {
  return Lexer(text, diagnostics).run();
}
