// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the dialect's TableGen files say, looked up by name.

#include "Documentation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::server;

namespace {
struct Entry {
  StringRef name, markdown;
};
} // namespace

/// Written by write-documentation.py.
static constexpr Entry entries[] = {
#include "Documentation.inc"
};

std::string server::getDocumentation(StringRef name) {
  const Entry *entry = llvm::find_if(
      entries, [&](const Entry &entry) { return entry.name == name; });
  if (entry == std::end(entries))
    return "";
  return "### `" + name.str() + "`\n\n" + entry->markdown.str();
}

std::string server::getNameAt(StringRef text, llvm::lsp::Position position) {
  for (int line = 0; line < position.line; ++line)
    text = text.split('\n').second;
  StringRef line = text.split('\n').first;
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
  size_t at = std::min<size_t>(std::max(position.character, 0), line.size());
  auto isMark = [](char c) { return c == '!' || c == '#'; };
  if (at < line.size() && isMark(line[at]))
    ++at;
  size_t begin = at, end = at;
  while (begin > 0 && isPart(line[begin - 1]))
    --begin;
  while (end < line.size() && isPart(line[end]))
    ++end;
  // The mark in front tells types and attributes from ops.
  if (begin > 0 && isMark(line[begin - 1]))
    --begin;
  StringRef name = line.slice(begin, end);
  return name.ltrim("!#").starts_with("fp8.") ? name.str() : "";
}
