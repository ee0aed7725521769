// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text to tokens and back.
#include "Tokens.h"

#include <algorithm>
#include <cctype>

namespace fp8::fuzz {
namespace {
constexpr std::string_view kSigils = "%!@#^.$_";

bool isWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) ||
         kSigils.find(c) != std::string_view::npos;
}
bool isWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Reads one token from the front of a text.
class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}

  size_t length() const {
    if (text[0] == '\n')
      return 1;
    if (isBlank(text[0]))
      return span(1, isBlank);
    if (text[0] == '"')
      return stringLength();
    if (isDigit(text[0]))
      return numberLength();
    if (isWordStart(text[0]))
      return span(1, isWordPart);
    return 1;
  }

private:
  template <typename Part>
  size_t span(size_t at, Part part) const {
    while (at < text.size() && part(text[at]))
      ++at;
    return at;
  }
  size_t stringLength() const {
    for (size_t at = 1; at < text.size() && text[at] != '\n'; ++at)
      if (text[at] == '"' && text[at - 1] != '\\')
        return at + 1;
    return 1;
  }
  /// PTX's 0x7f and 0f3F800000 are one number; of MLIR's 4x8xf32 it is the 4.
  size_t numberLength() const {
    if (text.size() > 2 && text[0] == '0' && std::isalpha(text[1]))
      return span(2, isWordPart);
    return span(1, isDigit);
  }

  std::string_view text;
};
} // namespace

Tokens tokenise(std::string_view text) {
  Tokens tokens;
  bool afterExtent = false;
  while (!text.empty()) {
    if (text.substr(0, 2) == "//") {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
      continue;
    }
    bool isBetweenExtents = afterExtent && text[0] == 'x';
    size_t length = isBetweenExtents ? 1 : Reader(text).length();
    tokens.emplace_back(text.substr(0, length));
    afterExtent = isNumber(tokens.back()) || tokens.back() == "?";
    text.remove_prefix(length);
  }
  return tokens;
}

std::string spell(const Tokens &tokens) {
  std::string text;
  for (const std::string &token : tokens)
    text += token;
  return text;
}

bool isSpace(const std::string &token) {
  return token.empty() || isBlank(token[0]) || token[0] == '\n';
}

bool isNumber(const std::string &token) {
  return !token.empty() && isDigit(token[0]);
}

char kindOf(const std::string &token) {
  if (token.empty())
    return ' ';
  if (isNumber(token))
    return '0';
  if (std::isalpha(static_cast<unsigned char>(token[0])))
    return 'a';
  return token[0];
}

bool isOpening(const std::string &token) {
  return token == "(" || token == "[" || token == "{" || token == "<";
}

size_t closing(const Tokens &tokens, size_t open) {
  const std::string &opener = tokens[open];
  std::string closer = opener == "("   ? ")"
                       : opener == "[" ? "]"
                       : opener == "{" ? "}"
                                       : ">";
  size_t depth = 0;
  for (size_t at = open; at < tokens.size(); ++at) {
    if (tokens[at] == opener)
      ++depth;
    // The arrow's is none.
    else if (tokens[at] == closer && tokens[at - 1] != "-" && --depth == 0)
      return at;
  }
  return open;
}

} // namespace fp8::fuzz
