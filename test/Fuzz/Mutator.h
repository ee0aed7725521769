// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutations of a text: mostly of tokens and lines, so that what comes out often
// passes the parser, and of bytes.

#ifndef FP8_TEST_FUZZ_MUTATOR_H
#define FP8_TEST_FUZZ_MUTATOR_H

#include "Corpus.h"
#include "Random.h"

namespace fp8::fuzz {

struct MutatorOptions {
  /// Brackets that a mutation nests at most.
  size_t deepest = 100000;
};

/// Some mutations of `text`, one in two of three cases; what they bring in
/// comes from `corpus`.
std::string mutate(const Corpus &corpus, const Corpus::Text &text,
                   Random &random, const MutatorOptions &options);

} // namespace fp8::fuzz

#endif // FP8_TEST_FUZZ_MUTATOR_H
