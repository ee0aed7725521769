// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mutations.
#include "Mutator.h"

#include <algorithm>
#include <cstdlib>

namespace fp8::fuzz {
namespace {
/// Where counts, sizes and shifts go wrong.
const std::vector<std::string> kEdges = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "7",
                                         "8",
                                         "15",
                                         "16",
                                         "31",
                                         "32",
                                         "33",
                                         "63",
                                         "64",
                                         "65",
                                         "127",
                                         "128",
                                         "255",
                                         "256",
                                         "257",
                                         "512",
                                         "1024",
                                         "4096",
                                         "65535",
                                         "65536",
                                         "1048576",
                                         "2147483647",
                                         "2147483648",
                                         "4294967295",
                                         "4294967296",
                                         "1152921504606846976",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "99999999999999999999999",
                                         "-1",
                                         "-2147483648",
                                         "-9223372036854775808"};

/// Mutates tokens in place. What a mutation cannot find it leaves.
class TokenMutator {
public:
  TokenMutator(const Corpus &corpus, Tokens &tokens, Random &random,
               const MutatorOptions &options)
      : corpus(corpus), tokens(tokens), random(random), options(options) {}

  void mutate() {
    using Mutation = void (TokenMutator::*)();
    struct Choice {
      unsigned weight;
      Mutation mutation;
    };
    static constexpr Choice choices[] = {{7, &TokenMutator::replaceWord},
                                         {8, &TokenMutator::replaceByNeighbour},
                                         {14, &TokenMutator::replaceNumber},
                                         {6, &TokenMutator::replaceGroup},
                                         {3, &TokenMutator::swapWords},
                                         {3, &TokenMutator::duplicateWord},
                                         {3, &TokenMutator::deleteWord},
                                         {5, &TokenMutator::deleteLine},
                                         {4, &TokenMutator::duplicateLine},
                                         {4, &TokenMutator::moveLine},
                                         {4, &TokenMutator::spliceLines},
                                         {2, &TokenMutator::emptyBlock},
                                         {1, &TokenMutator::nest}};
    unsigned total = 0;
    for (const Choice &choice : choices)
      total += choice.weight;
    unsigned at = random.below(total);
    for (const Choice &choice : choices) {
      if (at < choice.weight)
        return (this->*choice.mutation)();
      at -= choice.weight;
    }
  }

private:
  //--- Places

  /// A token that `accept` takes, or the number of tokens.
  template <typename Accept>
  size_t find(Accept accept) {
    if (tokens.empty())
      return 0;
    size_t from = random.below(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
      size_t at = (from + i) % tokens.size();
      if (accept(tokens[at]))
        return at;
    }
    return tokens.size();
  }
  size_t findWord() {
    return find([](const std::string &token) { return !isSpace(token); });
  }

  struct Range {
    size_t begin, end;
  };
  static Range lineAt(const Tokens &in, size_t at) {
    Range line{at, at};
    while (line.begin > 0 && in[line.begin - 1] != "\n")
      --line.begin;
    while (line.end < in.size() && in[line.end] != "\n")
      ++line.end;
    line.end = std::min(line.end + 1, in.size());
    return line;
  }
  Range findLine() { return lineAt(tokens, random.below(tokens.size())); }

  Tokens copy(Range range) const {
    return Tokens(tokens.begin() + range.begin, tokens.begin() + range.end);
  }
  void erase(Range range) {
    tokens.erase(tokens.begin() + range.begin, tokens.begin() + range.end);
  }
  void insert(size_t at, const Tokens &what) {
    tokens.insert(tokens.begin() + at, what.begin(), what.end());
  }

  //--- Words

  void replaceWord() {
    size_t at = findWord();
    if (at == tokens.size())
      return;
    const Tokens &words = corpus.words(kindOf(tokens[at]));
    if (!words.empty())
      tokens[at] = random.of(words);
  }
  /// Another name, number or string of the same text.
  void replaceByNeighbour() {
    size_t at = findWord();
    if (at == tokens.size())
      return;
    char kind = kindOf(tokens[at]);
    std::string old = tokens[at];
    size_t other = find([&](const std::string &token) {
      return kindOf(token) == kind && token != old;
    });
    if (other != tokens.size())
      tokens[at] = tokens[other];
  }
  void replaceNumber() {
    size_t at = find(isNumber);
    if (at == tokens.size())
      return;
    // What is too long for 64 bits is an edge, and stays.
    uint64_t value = tokens[at].size() < 19
                         ? std::strtoull(tokens[at].c_str(), nullptr, 0)
                         : 0;
    switch (random.below(6)) {
    case 0:
      tokens[at] = std::to_string(value + 1);
      break;
    case 1:
      tokens[at] = std::to_string(value - 1);
      break;
    case 2:
      tokens[at] = std::to_string(value * 2);
      break;
    case 3:
      tokens[at] = std::to_string(uint64_t(1) << random.below(64));
      break;
    default:
      tokens[at] = random.of(kEdges);
    }
  }
  void replaceGroup() {
    size_t at = find(isOpening);
    if (at == tokens.size() || at == 0)
      return;
    size_t end = closing(tokens, at);
    const std::vector<Tokens> &groups = corpus.groups(tokens[at - 1]);
    if (end == at || groups.empty())
      return;
    const Tokens &group = random.of(groups);
    if (group.front() != tokens[at])
      return;
    erase({at, end + 1});
    insert(at, group);
  }
  void swapWords() {
    size_t at = findWord();
    if (at == tokens.size())
      return;
    size_t other = std::min(at + 1 + random.below(20), tokens.size() - 1);
    if (!isSpace(tokens[other]))
      std::swap(tokens[at], tokens[other]);
  }
  void duplicateWord() {
    size_t at = findWord();
    if (at != tokens.size())
      insert(at, {tokens[at]});
  }
  void deleteWord() {
    size_t at = findWord();
    if (at != tokens.size())
      erase({at, at + 1});
  }

  //--- Lines and blocks

  void deleteLine() { erase(findLine()); }
  void duplicateLine() {
    Range line = findLine();
    insert(line.end, copy(line));
  }
  void moveLine() {
    Range from = findLine();
    Tokens line = copy(from);
    erase(from);
    insert(tokens.empty() ? 0 : findLine().begin, line);
  }
  void spliceLines() {
    const Tokens &other = random.of(corpus.texts()).tokens;
    if (other.empty())
      return;
    Range lines = lineAt(other, random.below(other.size()));
    for (uint64_t more = random.below(6); more && lines.end < other.size();
         --more)
      lines.end = lineAt(other, lines.end).end;
    insert(findLine().begin,
           Tokens(other.begin() + lines.begin, other.begin() + lines.end));
  }
  void emptyBlock() {
    size_t at = find(isOpening);
    if (at != tokens.size())
      erase({at + 1, std::max(at + 1, closing(tokens, at))});
  }
  /// Reader's recursion has an end.
  void nest() {
    size_t at = find(isOpening);
    if (at == tokens.size())
      return;
    size_t depth = 1;
    while (depth < options.deepest && random.chance(80))
      depth *= 10;
    std::string what = tokens[at];
    if (at > 0 && kindOf(tokens[at - 1]) == 'a' && random.chance(50))
      what = tokens[at - 1] + what;
    std::string nested;
    for (size_t i = 0; i < std::min(depth, options.deepest); ++i)
      nested += what;
    tokens[at] = nested + tokens[at];
  }

  const Corpus &corpus;
  Tokens &tokens;
  Random &random;
  const MutatorOptions &options;
};

void mutateBytes(std::string &bytes, Random &random) {
  if (bytes.empty())
    return;
  size_t at = random.below(bytes.size());
  size_t count = std::min<size_t>(1 + random.below(16), bytes.size() - at);
  switch (random.below(6)) {
  case 0:
    bytes[at] ^= char(1u << random.below(8));
    break;
  case 1:
    bytes[at] = char(random.next());
    break;
  case 2:
    bytes.insert(at, count, char(random.next()));
    break;
  case 3:
    bytes.erase(at, count);
    break;
  case 4:
    bytes.insert(random.below(bytes.size()), bytes.substr(at, count));
    break;
  default:
    if (random.chance(20))
      bytes.resize(at);
    else
      bytes[at] = char(bytes[at] + (random.chance(50) ? 1 : -1));
  }
}
} // namespace

std::string mutate(const Corpus &corpus, const Corpus::Text &text,
                   Random &random, const MutatorOptions &options) {
  unsigned count = 1;
  while (count < 12 && random.chance(35))
    ++count;
  if (text.binary || random.chance(8)) {
    std::string bytes = text.bytes;
    for (; count; --count)
      mutateBytes(bytes, random);
    return bytes;
  }
  Tokens tokens = text.tokens;
  for (; count && !tokens.empty(); --count)
    TokenMutator(corpus, tokens, random, options).mutate();
  return spell(tokens);
}

} // namespace fp8::fuzz
