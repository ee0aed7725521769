// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JSON of files that a user may have made (not public).

#ifndef FP8_LIB_TRANSFORMS_GEMM_SHALLOWJSON_H
#define FP8_LIB_TRANSFORMS_GEMM_SHALLOWJSON_H

#include "llvm/Support/JSON.h"

namespace mlir::fp8 {

/// Parses text whose values nest in few levels. LLVM's parser calls itself at
/// each level, so text of many would overflow the stack; here it is an error.
inline llvm::Expected<llvm::json::Value> parseShallowJSON(StringRef text) {
  constexpr int kMostLevels = 64;
  int level = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      isString = !isString;
    else if (isString && c == '\\')
      ++i;
    else if (!isString && (c == '[' || c == '{') && ++level > kMostLevels)
      return llvm::createStringError("it nests deeper than %d levels",
                                     kMostLevels);
    else if (!isString && (c == ']' || c == '}'))
      --level;
  }
  return llvm::json::parse(text);
}

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_SHALLOWJSON_H
