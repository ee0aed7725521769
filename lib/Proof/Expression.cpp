// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of a skeleton's expressions.

#include "fp8/Proof/Expression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace fp8::proof;

std::optional<std::pair<int64_t, int64_t>>
ExprTable::getBounds(ExprId id) const {
  const Expr &expr = expressions[id];
  if (expr.kind == ExprKind::Constant)
    return {{expr.value, expr.value}};
  if (expr.kind == ExprKind::Parameter) {
    const Parameter &parameter = parameters[expr.value];
    if (!parameter.most)
      return std::nullopt;
    return {{parameter.least, *parameter.most}};
  }
  bool isSum = expr.kind == ExprKind::Add;
  if (!isSum && expr.kind != ExprKind::Multiply)
    return std::nullopt;
  auto left = getBounds(expr.operands[0]), right = getBounds(expr.operands[1]);
  if (!left || !right)
    return std::nullopt;
  if (isSum)
    return {{left->first + right->first, left->second + right->second}};
  if (left->first < 0 || right->first < 0)
    return std::nullopt;
  return {{left->first * right->first, left->second * right->second}};
}

/// What the quotient or the remainder by a constant is, if the dividend is a
/// multiple of it and a rest that is less.
std::optional<ExprId> ExprTable::foldDivision(ExprKind kind, ExprId dividend,
                                              ExprId divisor) const {
  const Expr &sum = expressions[dividend];
  if (expressions[divisor].kind != ExprKind::Constant ||
      sum.kind != ExprKind::Add)
    return std::nullopt;
  int64_t number = expressions[divisor].value;
  for (auto [multiple, rest] : {std::pair(sum.operands[0], sum.operands[1]),
                                std::pair(sum.operands[1], sum.operands[0])}) {
    const Expr &product = expressions[multiple];
    auto bounds = getBounds(rest);
    if (product.kind != ExprKind::Multiply || !bounds || bounds->first < 0 ||
        bounds->second >= number)
      continue;
    for (unsigned i : {0, 1})
      if (const Expr &factor = expressions[product.operands[i]];
          factor.kind == ExprKind::Constant && factor.value == number)
        return kind == ExprKind::Remainder ? rest : product.operands[1 - i];
  }
  return std::nullopt;
}

/// What a sum or a product with a constant is without it.
std::optional<ExprId> ExprTable::fold(ExprKind kind, ExprId left,
                                      ExprId right) {
  if (kind == ExprKind::FloorDivide || kind == ExprKind::Remainder)
    return foldDivision(kind, left, right);
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
