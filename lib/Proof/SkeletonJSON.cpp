// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Skeletons as JSON, with blocks inside of blocks.

#include "JSONArray.h"
#include "fp8/Proof/Certificate.h"

using namespace fp8::proof;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kExprKinds[] = {
    "constant",  "parameter", "variable", "add",    "multiply", "divide",
    "remainder", "minimum",   "maximum",  "equal",  "less",     "and",
    "or",        "not",       "select",   "opaque", "where"};

/// [kind, value], or [kind, operand, ...]; of an opaque one, the number of its
/// name and then the operands; of one in another place, the parameter's value
/// there.
static json::Value toJSON(const Expr &expr) {
  json::Array array{kExprKinds[static_cast<int>(expr.kind)]};
  if (expr.kind <= ExprKind::Variable || expr.kind >= ExprKind::Opaque)
    array.push_back(expr.value);
  for (ExprId operand : expr.operands)
    array.push_back(operand);
  return array;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kStatementKinds[] = {
    "wait", "signal", "drain", "answer",  "assign",
    "if",   "for",    "while", "require", "access"};

static json::Array toJSON(const Block &block);

static json::Value toJSON(const Statement &statement) {
  using Kind = Statement::Kind;
  json::Object object{{"do", kStatementKinds[static_cast<int>(statement.kind)]},
                      {"site", statement.site}};
  if (statement.kind <= Kind::Answer)
    object["end"] = statement.end;
  if (!statement.assigned.empty())
    object["assign"] = toArray(statement.assigned, [](auto &assigned) {
      return json::Array{assigned.first, assigned.second};
    });
  if (statement.kind == Kind::Require)
    object["rule"] = statement.rule;
  if (statement.kind == Kind::Branch || statement.kind == Kind::While ||
      statement.kind == Kind::Require)
    object["condition"] = statement.condition;
  if (statement.kind == Kind::For) {
    object["bounds"] =
        json::Array{statement.lower, statement.upper, statement.step};
    object["variables"] =
        json::Array{statement.variable, statement.bound, statement.stride};
  }
  if (statement.meets)
    object["meets"] = true;
  if (!statement.first.empty())
    object["first"] = toJSON(statement.first);
  if (!statement.second.empty())
    object["second"] = toJSON(statement.second);
  return object;
}

static json::Array toJSON(const Block &block) {
  return toArray(block, [](const Statement &its) { return toJSON(its); });
}

//===----------------------------------------------------------------------===//
// The skeleton
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kParts[] = {"slots", "allocation",
                                                 "deallocation"};

static json::Value toJSON(const Channel &channel) {
  return json::Object{{"name", channel.name},
                      {"ring", channel.ring},
                      {"part", kParts[static_cast<int>(channel.part)]},
                      {"slots", channel.slots},
                      {"data", channel.holdsData},
                      {"producers", toNumbers(channel.producers)},
                      {"consumers", toNumbers(channel.consumers)},
                      {"site", channel.site}};
}

static json::Value toJSON(const End &end) {
  return json::Object{
      {"name", end.name}, {"channel", end.channel}, {"fills", end.isProducer}};
}

static json::Value toJSON(const Process &process) {
  return json::Object{{"name", process.name},
                      {"role", process.role},
                      {"ranks", toNumbers(process.ranks)},
                      {"site", process.site},
                      {"variables", process.numVariables},
                      {"body", toJSON(process.body)}};
}

json::Object fp8::proof::toJSON(const Skeleton &skeleton) {
  auto all = [](const auto &range) {
    return toArray(range, [](const auto &its) { return ::toJSON(its); });
  };
  return json::Object{{"expressions", all(skeleton.expressions.get())},
                      {"channels", all(skeleton.channels)},
                      {"ends", all(skeleton.ends)},
                      {"processes", all(skeleton.processes)}};
}
