// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expressions of a certificate.

#include "ExpressionWriter.h"

using namespace fp8::proof;

ExpressionWriter::Id ExpressionWriter::get(llvm::StringRef kind,
                                           llvm::ArrayRef<int64_t> numbers) {
  auto [it, isNew] =
      ids.try_emplace({kind.str(), numbers.vec()}, expressions.size());
  if (isNew) {
    llvm::json::Array expression{kind};
    for (int64_t number : numbers)
      expression.push_back(number);
    expressions.push_back(std::move(expression));
  }
  return it->second;
}

ExpressionWriter::Id ExpressionWriter::getOpaque(int64_t name,
                                                 llvm::ArrayRef<Id> operands) {
  std::vector<int64_t> numbers = {name};
  numbers.insert(numbers.end(), operands.begin(), operands.end());
  return get("opaque", numbers);
}
