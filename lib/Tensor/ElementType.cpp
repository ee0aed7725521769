// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of element types.
#include "fp8/Tensor/ElementType.h"

#include <algorithm>
#include <cmath>

namespace fp8::tensor {
namespace {
struct Entry {
  ElementType type;
  std::string_view spelling, arrayName;
  unsigned bytes;
  std::optional<FloatFormat> format; ///< none of integers and powers of two
};

/// In the order of the enum.
const std::array<Entry, kElementTypes.size()> entries = {{
    {ElementType::F8E4M3FN, "f8E4M3FN", "float8_e4m3fn", 1,
     FloatFormat{4, 3, /*hasInfinity=*/false, /*saturates=*/true}},
    {ElementType::F8E5M2, "f8E5M2", "float8_e5m2", 1,
     FloatFormat{5, 2, /*hasInfinity=*/true, /*saturates=*/true}},
    {ElementType::F8E8M0FNU, "f8E8M0FNU", "float8_e8m0fnu", 1, std::nullopt},
    {ElementType::BF16, "bf16", "bfloat16", 2,
     FloatFormat{8, 7, /*hasInfinity=*/true, /*saturates=*/false}},
    {ElementType::F16, "f16", "float16", 2,
     FloatFormat{5, 10, /*hasInfinity=*/true, /*saturates=*/false}},
    {ElementType::F32, "f32", "float32", 4,
     FloatFormat{8, 23, /*hasInfinity=*/true, /*saturates=*/false}},
    {ElementType::F64, "f64", "float64", 8,
     FloatFormat{11, 52, /*hasInfinity=*/true, /*saturates=*/false}},
    {ElementType::I8, "i8", "int8", 1, std::nullopt},
    {ElementType::I16, "i16", "int16", 2, std::nullopt},
    {ElementType::I32, "i32", "int32", 4, std::nullopt},
    {ElementType::I64, "i64", "int64", 8, std::nullopt},
}};

const Entry &entryOf(ElementType type) {
  return entries[static_cast<size_t>(type)];
}
} // namespace

double FloatFormat::largest() const {
  // The largest pattern is the NaN of a format that has no infinity.
  int unused = hasInfinity ? 0 : 1;
  return std::ldexp(2 - std::ldexp(1 + unused, -mantissaBits),
                    overflowExponent() - 1);
}

std::string_view spelling(ElementType type) { return entryOf(type).spelling; }

std::string_view arrayName(ElementType type) { return entryOf(type).arrayName; }

unsigned byteSize(ElementType type) { return entryOf(type).bytes; }

const FloatFormat *floatFormat(ElementType type) {
  const Entry &entry = entryOf(type);
  return entry.format ? &*entry.format : nullptr;
}

std::optional<ElementType> parseElementType(std::string_view text) {
  for (const Entry &entry : entries)
    if (entry.spelling == text)
      return entry.type;
  return std::nullopt;
}

bool ElementTypes::contains(ElementType type) const {
  return std::find(begin(), end(), type) != end();
}

std::string ElementTypes::str(std::string_view last) const {
  std::string text;
  for (const ElementType *type = begin(); type != end(); ++type) {
    if (type != begin())
      text += type + 1 == end() && !last.empty() ? " " + std::string(last) + " "
                                                 : ", ";
    text += spelling(*type);
  }
  return text;
}

} // namespace fp8::tensor
