// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values of a process are the same in all CTAs of a cluster.

#include "Uniformity.h"

#include "llvm/ADT/STLExtras.h"

using namespace fp8::proof;

Uniformity::Uniformity(const ExprTable &table, const Block &body,
                       int64_t clusterSize)
    : table(table), clusterSize(clusterSize) {
  for (size_t before = 0;; before = variables.size()) {
    follow(body, /*isVarying=*/false);
    if (variables.size() == before)
      return;
  }
}

bool Uniformity::isOfCluster(const Expr &expr) const {
  if (expr.kind != ExprKind::FloorDivide)
    return false;
  const Expr &dividend = table[expr.operands[0]],
             &divisor = table[expr.operands[1]];
  return dividend.kind == ExprKind::Parameter &&
         table.getParameters()[dividend.value].scope != Scope::Thread &&
         divisor.kind == ExprKind::Constant && divisor.value > 0 &&
         divisor.value % clusterSize == 0;
}

bool Uniformity::varies(const Statement &statement) const {
  if (statement.kind == Statement::Kind::For)
    return varies(statement.lower) || varies(statement.upper) ||
           varies(statement.step);
  return varies(statement.condition);
}

bool Uniformity::varies(ExprId id) const {
  const Expr &expr = table[id];
  if (isOfCluster(expr))
    return false;
  switch (expr.kind) {
  case ExprKind::Parameter:
    return table.getParameters()[expr.value].scope != Scope::Launch;
  case ExprKind::Variable:
    return variables.contains(expr.value);
  case ExprKind::Opaque:
    if (table.getName(expr.value).scope != Scope::Launch)
      return true;
    break;
  default:
    break;
  }
  return llvm::any_of(expr.operands,
                      [&](ExprId operand) { return varies(operand); });
}

void Uniformity::follow(const Block &block, bool isVarying) {
  for (const Statement &statement : block)
    follow(statement, isVarying);
}

void Uniformity::follow(const Statement &statement, bool isVarying) {
  using Kind = Statement::Kind;
  switch (statement.kind) {
  case Kind::Assign:
    for (auto [variable, id] : statement.assigned)
      if (isVarying || varies(id))
        variables.insert(variable);
    break;
  case Kind::Wait:
    // What slots bring may be of one CTA.
    for (auto [variable, field] : statement.assigned)
      variables.insert(variable);
    break;
  case Kind::Answer:
    // The CTAs of a cluster read the same answer.
    for (auto [variable, unused] : statement.assigned)
      if (isVarying)
        variables.insert(variable);
    break;
  case Kind::Branch:
  case Kind::While:
    isVarying |= varies(statement);
    break;
  case Kind::For:
    isVarying |= varies(statement);
    if (isVarying)
      variables.insert(statement.variable);
    break;
  case Kind::Signal:
  case Kind::Drain:
  case Kind::Require:
  case Kind::Access:
    break;
  }
  follow(statement.first, isVarying);
  follow(statement.second, isVarying);
}
