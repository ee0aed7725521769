// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a corpus.
#include "Corpus.h"

#include "ReadFile.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

namespace fp8::fuzz {
namespace {
constexpr size_t kLongestGroup = 60; // tokens

[[noreturn]] void die(const std::string &message) {
  std::cerr << "fp8-fuzz: " << message << "\n";
  std::exit(2);
}

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// Each once, in order: the same on every run.
template <typename T>
void makeUnique(std::vector<T> &values) {
  std::set<T> set(values.begin(), values.end());
  values.assign(set.begin(), set.end());
}
} // namespace

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << bytes))
    die("cannot write " + path);
}

Corpus::Corpus(const std::string &folder, const std::string &suffix) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error))
    if (endsWith(entry.path().string(), suffix) ||
        endsWith(entry.path().string(), suffix + "bc"))
      paths.push_back(entry.path().string());
  if (paths.empty())
    die("there is no file *" + suffix + " in '" + folder + "'");
  std::sort(paths.begin(), paths.end());
  for (const std::string &path : paths) {
    Text &text = all.emplace_back();
    text.name = std::filesystem::path(path).filename().string();
    text.bytes = test::readFile(path);
    text.binary = endsWith(path, "bc");
    if (text.binary)
      continue;
    text.tokens = tokenise(text.bytes);
    harvest(text.tokens);
  }
  for (auto &[kind, words] : wordsByKind)
    makeUnique(words);
  for (auto &[front, groups] : groupsByFront)
    makeUnique(groups);
}

void Corpus::harvest(const Tokens &tokens) {
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (isSpace(tokens[at]))
      continue;
    wordsByKind[kindOf(tokens[at])].push_back(tokens[at]);
    if (at == 0 || !isOpening(tokens[at]))
      continue;
    size_t end = closing(tokens, at);
    if (end > at && end - at < kLongestGroup)
      groupsByFront[tokens[at - 1]].emplace_back(tokens.begin() + at,
                                                 tokens.begin() + end + 1);
  }
}

const Tokens &Corpus::words(char kind) const {
  static const Tokens none;
  auto found = wordsByKind.find(kind);
  return found == wordsByKind.end() ? none : found->second;
}

const std::vector<Tokens> &Corpus::groups(const std::string &front) const {
  static const std::vector<Tokens> none;
  auto found = groupsByFront.find(front);
  return found == groupsByFront.end() ? none : found->second;
}

} // namespace fp8::fuzz
