// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The texts that inputs are made from, and the words and groups in them.

#ifndef FP8_TEST_FUZZ_CORPUS_H
#define FP8_TEST_FUZZ_CORPUS_H

#include "Tokens.h"

#include <map>

namespace fp8::fuzz {

/// The files of a folder that end in `suffix`, by name.
class Corpus {
public:
  /// Ends the process with a message where it finds none.
  Corpus(const std::string &folder, const std::string &suffix);

  struct Text {
    std::string name; ///< of the file
    std::string bytes;
    Tokens tokens;
    bool binary = false; ///< MLIR bytecode, mutated by bytes alone
  };
  const std::vector<Text> &texts() const { return all; }

  /// Different tokens of a kind (kindOf); none for a kind that is not there.
  const Tokens &words(char kind) const;
  /// Different balanced groups behind a token, such as the `<...>` behind
  /// `memref`, brackets included; short ones only.
  const std::vector<Tokens> &groups(const std::string &front) const;

private:
  void harvest(const Tokens &tokens);

  std::vector<Text> all;
  std::map<char, Tokens> wordsByKind;
  std::map<std::string, std::vector<Tokens>> groupsByFront;
};

/// Ends the process with a message where it cannot.
void writeFile(const std::string &path, const std::string &bytes);

} // namespace fp8::fuzz

#endif // FP8_TEST_FUZZ_CORPUS_H
