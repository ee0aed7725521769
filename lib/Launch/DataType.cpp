// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types and their spellings.
#include "fp8/Launch/DataType.h"

#include <cassert>
#include <string>

namespace fp8::launch {
namespace {
struct Entry {
  DataType type;
  std::string_view spelling;
  unsigned bytes;
};
constexpr Entry entries[] = {
    {DataType::F8E4M3FN, "f8E4M3FN", 1},
    {DataType::F8E5M2, "f8E5M2", 1},
    {DataType::BF16, "bf16", 2},
    {DataType::F16, "f16", 2},
    {DataType::F32, "f32", 4},
    {DataType::F64, "f64", 8},
    {DataType::I8, "i8", 1},
    {DataType::I16, "i16", 2},
    {DataType::I32, "i32", 4},
    {DataType::I64, "i64", 8},
};

const Entry &entryOf(DataType type) {
  for (const Entry &entry : entries)
    if (entry.type == type)
      return entry;
  assert(false && "a DataType without an entry");
  return entries[0];
}
} // namespace

std::string_view spelling(DataType type) { return entryOf(type).spelling; }

unsigned byteSize(DataType type) { return entryOf(type).bytes; }

std::optional<DataType> parseDataType(std::string_view text) {
  for (const Entry &entry : entries)
    if (entry.spelling == text)
      return entry.type;
  return std::nullopt;
}

std::string_view allDataTypeSpellings() {
  static const std::string all = [] {
    std::string text;
    for (const Entry &entry : entries) {
      if (!text.empty())
        text += ", ";
      text += entry.spelling;
    }
    return text;
  }();
  return all;
}

} // namespace fp8::launch
