// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of a skeleton's expressions.

#include "fp8/Proof/Expression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace fp8::proof;

/// What a sum or a product with a constant is without it.
std::optional<ExprId> ExprTable::fold(ExprKind kind, ExprId left,
                                      ExprId right) {
  if (kind != ExprKind::Add && kind != ExprKind::Multiply)
    return std::nullopt;
  if (expressions[left].kind == ExprKind::Constant)
    std::swap(left, right);
  if (expressions[right].kind != ExprKind::Constant)
    return std::nullopt;
  bool isSum = kind == ExprKind::Add;
  int64_t a = expressions[left].value, b = expressions[right].value;
  if (expressions[left].kind == ExprKind::Constant)
    return getConstant(isSum ? a + b : a * b);
  if (b == (isSum ? 0 : 1))
    return left;
  return std::nullopt;
}

ExprId ExprTable::get(ExprKind kind, llvm::ArrayRef<ExprId> operands,
                      int64_t value) {
  if (operands.size() == 2)
    if (std::optional<ExprId> folded = fold(kind, operands[0], operands[1]))
      return *folded;
  Expr expr{kind, value, llvm::SmallVector<ExprId, 3>(operands)};
  auto [it, isNew] = ids.try_emplace(expr, expressions.size());
  if (isNew)
    expressions.push_back(std::move(expr));
  return it->second;
}

ExprId ExprTable::getParameter(const Parameter &parameter) {
  auto known = llvm::find_if(parameters, [&](const Parameter &other) {
    return other.name == parameter.name;
  });
  int64_t number = known - parameters.begin();
  if (known == parameters.end())
    parameters.push_back(parameter);
  return get(ExprKind::Parameter, {}, number);
}

ExprId ExprTable::getOpaque(llvm::StringRef name,
                            llvm::ArrayRef<ExprId> operands, Scope scope,
                            bool isData) {
  auto known = llvm::find_if(names, [&](const Name &other) {
    return other.text == name && other.scope == scope;
  });
  int64_t number = known - names.begin();
  if (known == names.end())
    names.push_back({name.str(), scope, isData});
  return get(ExprKind::Opaque, operands, number);
}
