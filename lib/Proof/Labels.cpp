// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all kinds of labels have in common.

#include "Labels.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;

ArrayRef<ExprId> Labels::get(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  Label label = compute(value);
  return known[value] = std::move(label);
}

void Labels::makeVariables(Value value) {
  Label label;
  for (unsigned i = 0; i < getSize(value.getType()); ++i)
    label.push_back(table.getVariable(expressions.makeVariable()));
  if (!label.empty())
    set(value, std::move(label));
}

void Labels::assign(Value variable, Value value,
                    std::vector<std::pair<unsigned, ExprId>> &assigned) {
  if (!getSize(variable.getType()))
    return;
  // A copy: the label of the value may be computed now.
  Label label(get(value));
  for (auto [left, right] : llvm::zip(get(variable), label))
    assigned.push_back({table[left].value, right});
}

void Labels::clear(Value variable,
                   std::vector<std::pair<unsigned, ExprId>> &assigned) {
  if (!getSize(variable.getType()))
    return;
  for (ExprId left : get(variable))
    assigned.push_back({table[left].value, constant(getNothing())});
}

void Labels::require(ExprId condition, const Twine &rule) {
  std::vector<std::string> &rules = kernel.skeleton.rules;
  std::string text = rule.str();
  auto known = llvm::find(rules, text);
  Statement statement{Statement::Kind::Require};
  statement.site = site;
  statement.condition = condition;
  statement.rule = known - rules.begin();
  if (known == rules.end())
    rules.push_back(std::move(text));
  out->push_back(std::move(statement));
}

void Labels::write(Value stage, unsigned offset, ArrayRef<ExprId> label) {
  Statement statement{Statement::Kind::Assign};
  statement.site = site;
  for (auto [variable, value] : llvm::zip(get(stage).drop_front(offset), label))
    statement.assigned.push_back({table[variable].value, value});
  out->push_back(std::move(statement));
}

void Labels::walk(Operation *op, unsigned number,
                  ::fp8::proof::Block &statements) {
  site = number;
  out = &statements;
  walkOp(op);
}
