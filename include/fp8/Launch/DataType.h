// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types of arguments, tensor maps and scalar parameters, by their MLIR
// spelling.
#ifndef FP8_LAUNCH_DATATYPE_H
#define FP8_LAUNCH_DATATYPE_H

#include <optional>
#include <string_view>

namespace fp8::launch {

enum class DataType {
  F8E4M3FN,
  F8E5M2,
  BF16,
  F16,
  F32,
  F64,
  I8,
  I16,
  I32,
  I64
};

/// The MLIR spelling, such as "f8E4M3FN".
std::string_view spelling(DataType type);

/// The type with that spelling, if there is one.
std::optional<DataType> parseDataType(std::string_view text);

/// Bytes an element takes.
unsigned byteSize(DataType type);

/// All spellings, separated by ", ", for error messages.
std::string_view allDataTypeSpellings();

} // namespace fp8::launch

#endif // FP8_LAUNCH_DATATYPE_H
