// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expressions of a certificate: few kinds, of which others are made.

#ifndef FP8_LIB_PROOF_EXPRESSIONWRITER_H
#define FP8_LIB_PROOF_EXPRESSIONWRITER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <map>

namespace fp8::proof {

/// A list of expressions, each of a kind and the numbers of expressions in
/// front of it. Equal ones have one number.
class ExpressionWriter {
public:
  using Id = int64_t;

  // [kind, number], and of an opaque one the operands behind.
  Id getConstant(int64_t value) { return get("constant", {value}); }
  Id getParameter(int64_t number) { return get("parameter", {number}); }
  Id getVariable(int64_t number) { return get("variable", {number}); }
  Id getOpaque(int64_t name, llvm::ArrayRef<Id> operands);
  // [kind, operands].
  Id add(Id a, Id b) { return get("add", {a, b}); }
  Id multiply(Id a, Id b) { return get("multiply", {a, b}); }
  Id divide(Id a, Id b) { return get("divide", {a, b}); }
  Id minimum(Id a, Id b) { return get("minimum", {a, b}); }
  Id less(Id a, Id b) { return get("less", {a, b}); }
  Id both(Id a, Id b) { return get("and", {a, b}); }
  Id select(Id condition, Id yes, Id no) {
    return get("select", {condition, yes, no});
  }
  // What is made of these.
  Id negate(Id a) { return multiply(a, getConstant(-1)); }
  Id remainder(Id a, Id b) { return add(a, negate(multiply(divide(a, b), b))); }
  Id maximum(Id a, Id b) { return add(add(a, b), negate(minimum(a, b))); }
  Id opposite(Id condition) { return less(condition, getConstant(1)); }
  Id either(Id a, Id b) { return opposite(both(opposite(a), opposite(b))); }
  Id equal(Id a, Id b) {
    return both(opposite(less(a, b)), opposite(less(b, a)));
  }

  llvm::json::Array take() { return std::move(expressions); }

private:
  Id get(llvm::StringRef kind, llvm::ArrayRef<int64_t> numbers);

  llvm::json::Array expressions;
  std::map<std::pair<std::string, std::vector<int64_t>>, Id> ids;
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_EXPRESSIONWRITER_H
