// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranges as JSON arrays.

#ifndef FP8_LIB_PROOF_JSONARRAY_H
#define FP8_LIB_PROOF_JSONARRAY_H

#include "llvm/Support/JSON.h"

namespace fp8::proof {

/// The array of what the function makes of each element.
template <typename Range, typename Function>
llvm::json::Array toArray(const Range &range, Function function) {
  llvm::json::Array array;
  for (const auto &element : range)
    array.push_back(function(element));
  return array;
}

template <typename Range>
llvm::json::Array toNumbers(const Range &range) {
  return toArray(range, [](auto number) { return int64_t(number); });
}

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_JSONARRAY_H
