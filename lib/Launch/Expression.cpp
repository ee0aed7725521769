// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation and printing of manifest expressions.
#include "fp8/Launch/Expression.h"

#include <limits>
#include <optional>

namespace fp8::launch {
namespace {
using Kind = Expression::Kind;

struct OperatorEntry {
  Kind kind;
  std::string_view name;
  unsigned operandCount;
};
constexpr OperatorEntry operators[] = {
    {Kind::Add, "add", 2},         {Kind::Sub, "sub", 2},
    {Kind::Mul, "mul", 2},         {Kind::FloorDiv, "floordiv", 2},
    {Kind::CeilDiv, "ceildiv", 2}, {Kind::Rem, "rem", 2},
    {Kind::Min, "min", 2},         {Kind::Max, "max", 2},
    {Kind::Eq, "eq", 2},           {Kind::Ne, "ne", 2},
    {Kind::Lt, "lt", 2},           {Kind::Le, "le", 2},
    {Kind::Gt, "gt", 2},           {Kind::Ge, "ge", 2},
    {Kind::And, "and", 2},         {Kind::Or, "or", 2},
    {Kind::Select, "select", 3},
};

Error arithmeticError(Kind kind, int64_t lhs, int64_t rhs,
                      std::string_view problem) {
  return Error{std::string(operatorName(kind)) + "(" + std::to_string(lhs) +
               ", " + std::to_string(rhs) + ") " + std::string(problem)};
}

Expected<int64_t> divide(Kind kind, int64_t lhs, int64_t rhs) {
  if (rhs == 0)
    return arithmeticError(kind, lhs, rhs, "divides by zero");
  if (lhs == std::numeric_limits<int64_t>::min() && rhs == -1)
    return arithmeticError(kind, lhs, rhs, "overflows 64 bits");
  int64_t quotient = lhs / rhs, remainder = lhs % rhs;
  bool inexactNegative = remainder != 0 && (remainder < 0) != (rhs < 0);
  bool inexactPositive = remainder != 0 && !inexactNegative;
  switch (kind) {
  case Kind::FloorDiv:
    return quotient - (inexactNegative ? 1 : 0);
  case Kind::CeilDiv:
    return quotient + (inexactPositive ? 1 : 0);
  default:
    return remainder;
  }
}

std::optional<int64_t> compare(Kind kind, int64_t lhs, int64_t rhs) {
  switch (kind) {
  case Kind::Eq:
    return lhs == rhs;
  case Kind::Ne:
    return lhs != rhs;
  case Kind::Lt:
    return lhs < rhs;
  case Kind::Le:
    return lhs <= rhs;
  case Kind::Gt:
    return lhs > rhs;
  case Kind::Ge:
    return lhs >= rhs;
  case Kind::Min:
    return lhs < rhs ? lhs : rhs;
  case Kind::Max:
    return lhs < rhs ? rhs : lhs;
  default:
    return std::nullopt;
  }
}

bool isTruthValue(int64_t value) { return value == 0 || value == 1; }

Expected<int64_t> apply(Kind kind, int64_t lhs, int64_t rhs) {
  if (std::optional<int64_t> result = compare(kind, lhs, rhs))
    return *result;
  int64_t result = 0;
  bool overflow = false;
  switch (kind) {
  case Kind::Add:
    overflow = __builtin_add_overflow(lhs, rhs, &result);
    break;
  case Kind::Sub:
    overflow = __builtin_sub_overflow(lhs, rhs, &result);
    break;
  case Kind::Mul:
    overflow = __builtin_mul_overflow(lhs, rhs, &result);
    break;
  case Kind::And:
  case Kind::Or:
    if (!isTruthValue(lhs) || !isTruthValue(rhs))
      return arithmeticError(kind, lhs, rhs,
                             "needs truth values, which are 0 or 1");
    return kind == Kind::And ? (lhs & rhs) : (lhs | rhs);
  default:
    return divide(kind, lhs, rhs);
  }
  if (overflow)
    return arithmeticError(kind, lhs, rhs, "overflows 64 bits");
  return result;
}
} // namespace

std::string_view operatorName(Kind kind) {
  for (const OperatorEntry &entry : operators)
    if (entry.kind == kind)
      return entry.name;
  return {};
}

Operator operatorNamed(std::string_view name) {
  for (const OperatorEntry &entry : operators)
    if (entry.name == name)
      return {entry.kind, entry.operandCount};
  return {};
}

Expression Expression::constant(int64_t value) {
  Expression result;
  result.constantValue = value;
  return result;
}

Expression Expression::dim(unsigned argument, unsigned axis) {
  Expression result;
  result.nodeKind = Kind::Dim;
  result.argumentIndex = argument;
  result.axisIndex = axis;
  return result;
}

Expression Expression::stride(unsigned argument, unsigned axis) {
  Expression result = dim(argument, axis);
  result.nodeKind = Kind::Stride;
  return result;
}

Expression Expression::multiprocessorCount() {
  Expression result;
  result.nodeKind = Kind::MultiprocessorCount;
  return result;
}

Expression Expression::operation(Kind kind, std::vector<Expression> operands) {
  Expression result;
  result.nodeKind = kind;
  result.children = std::move(operands);
  return result;
}

Expected<int64_t>
Expression::evaluate(const std::vector<ArgumentValue> &arguments,
                     const DeviceProperties &device) const {
  switch (nodeKind) {
  case Kind::Constant:
    return constantValue;
  case Kind::Dim:
    return arguments.at(argumentIndex).shape.at(axisIndex);
  case Kind::Stride:
    return arguments.at(argumentIndex).strides.at(axisIndex);
  case Kind::MultiprocessorCount:
    return device.multiprocessorCount;
  default:
    break;
  }
  Expected<int64_t> first = children[0].evaluate(arguments, device);
  if (!first)
    return first;
  if (nodeKind == Kind::Select) {
    if (!isTruthValue(*first))
      return Error{"select needs a truth value, 0 or 1, but got " +
                   std::to_string(*first)};
    return children[*first ? 1 : 2].evaluate(arguments, device);
  }
  Expected<int64_t> second = children[1].evaluate(arguments, device);
  if (!second)
    return second;
  return apply(nodeKind, *first, *second);
}

std::string Expression::str(const std::vector<std::string> &names) const {
  switch (nodeKind) {
  case Kind::Constant:
    return std::to_string(constantValue);
  case Kind::Dim:
    return names.at(argumentIndex) + ".shape[" + std::to_string(axisIndex) +
           "]";
  case Kind::Stride:
    return names.at(argumentIndex) + ".strides[" + std::to_string(axisIndex) +
           "]";
  case Kind::MultiprocessorCount:
    return "multiprocessor_count";
  default:
    break;
  }
  std::string text(operatorName(nodeKind));
  for (size_t i = 0; i < children.size(); ++i)
    text += (i == 0 ? "(" : ", ") + children[i].str(names);
  return text + ")";
}

} // namespace fp8::launch
