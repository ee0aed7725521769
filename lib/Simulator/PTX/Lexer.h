// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits PTX text into tokens.

#ifndef FP8_LIB_SIMULATOR_PTX_LEXER_H
#define FP8_LIB_SIMULATOR_PTX_LEXER_H

#include "fp8/Simulator/PTXModule.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace fp8::sim {

struct Token {
  enum class Kind : uint8_t {
    Identifier,
    Directive,
    Integer,
    Float,
    String,
    Punctuation,
    End
  };
  Kind kind = Kind::End;
  uint8_t bits = 0; ///< Float: 32 for 0f, 64 for 0d, 0 for a decimal literal
  bool adjacent = false; ///< no blank before it
  unsigned line = 0;
  unsigned column = 0;
  std::string_view text; ///< Directive: without the dot
  uint64_t value = 0;
  double real = 0;

  bool is(char c) const {
    return kind == Kind::Punctuation && text.size() == 1 && text[0] == c;
  }
  bool isDirective(std::string_view name) const {
    return kind == Kind::Directive && text == name;
  }
  bool isIdentifier(std::string_view name) const {
    return kind == Kind::Identifier && text == name;
  }
};

/// The tokens point into `text`. A lexical error adds a diagnostic and ends the
/// list. The last token is End.
std::vector<Token> tokenize(std::string_view text,
                            std::vector<Diagnostic> &diagnostics);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_PTX_LEXER_H
