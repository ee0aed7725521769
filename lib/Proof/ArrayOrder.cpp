// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requirements on indices of arrays.

#include "ArrayOrder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;

/// The index that the rule is about.
static Value getIndex(Operation *access) {
  if (auto load = dyn_cast<memref::LoadOp>(access))
    return load.getIndices().back();
  return cast<memref::StoreOp>(access).getIndices().back();
}

SmallVector<Value> ArrayOrder::getIntegers(Operation *op) const {
  if (!follows(op))
    return {};
  return {getIndex(op)};
}

ExprId ArrayOrder::makeVariable(int64_t value) {
  ExprId variable = table.getVariable(expressions.makeVariable());
  variables.push_back({variable, value});
  return variable;
}

void ArrayOrder::assign(ExprId variable, ExprId value) {
  Statement statement{Statement::Kind::Assign};
  statement.site = site;
  statement.assigned = {{table[variable].value, value}};
  out->push_back(std::move(statement));
}

void ArrayOrder::begin(Value stage, unsigned number,
                       ::fp8::proof::Block &block) {
  bool isGuard = llvm::any_of(memory.getRules(), [&](auto &rule) {
    return rule.second.guard && rule.second.modulus > 1;
  });
  auto acquire = stage.getDefiningOp<AcquireOp>();
  if (!isGuard || !acquire)
    return;
  site = number;
  out = &block;
  ExprId end = getEnd(stage);
  auto [it, isNew] = counts.try_emplace(end);
  if (isNew)
    it->second = makeVariable(0);
  ExprId its = table.getVariable(expressions.makeVariable());
  assign(its, it->second);
  assign(it->second, table.get(Expr::Add, {it->second, constant(1)}));
  numbers[stage] = its;
}

void ArrayOrder::walkOp(Operation *op) {
  ArrayRule rule = memory.getRules().lookup(op);
  ExprId index = expressions.get(getIndex(op));
  if (!rule.guard) {
    ExprId last = makeVariable(-1);
    require(table.get(Expr::Less, {last, index}),
            "several warps must not write one element twice, which nothing "
            "orders");
    return assign(last, index);
  }
  if (rule.modulus == 1)
    return;
  ExprId end = getEnd(rule.guard.getStage());
  auto remainder = [&](ExprId id) {
    return table.get(Expr::Remainder, {id, constant(rule.modulus)});
  };
  auto number = numbers.find(rule.guard.getStage());
  bool isCounted = table[end].kind == Expr::Constant && number != numbers.end();
  require(isCounted ? equal(remainder(index), remainder(number->second))
                    : constant(0),
          "the number of the slot that is held must decide the element");
}

void ArrayOrder::finish(unsigned number, ::fp8::proof::Block &body) {
  if (variables.empty())
    return;
  Statement statement{Statement::Kind::Assign};
  statement.site = number;
  for (auto [variable, value] : variables)
    statement.assigned.push_back({table[variable].value, constant(value)});
  body.insert(body.begin(), std::move(statement));
}
