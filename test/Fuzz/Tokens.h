// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text as tokens, coarse enough for MLIR, PTX and JSON alike. What the tokens
// spell is the text, white space included.

#ifndef FP8_TEST_FUZZ_TOKENS_H
#define FP8_TEST_FUZZ_TOKENS_H

#include <string>
#include <string_view>
#include <vector>

namespace fp8::fuzz {

using Tokens = std::vector<std::string>;

/// Comments (`//` to the end of the line) are left out: a mutation in one would
/// be lost.
Tokens tokenise(std::string_view text);

std::string spell(const Tokens &tokens);

bool isSpace(const std::string &token);
bool isNumber(const std::string &token);

/// What may stand for what: a letter for names (by their sigil), numbers,
/// strings and each punctuation mark.
char kindOf(const std::string &token);

/// The bracket that closes the one at `open`, or `open` where nothing does.
size_t closing(const Tokens &tokens, size_t open);
bool isOpening(const std::string &token);

} // namespace fp8::fuzz

#endif // FP8_TEST_FUZZ_TOKENS_H
