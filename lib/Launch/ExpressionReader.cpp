// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading expressions.
#include "ExpressionReader.h"

namespace fp8::launch {

unsigned readArgumentReference(const JsonValue &name,
                               const Manifest &manifest) {
  std::string text = name.string();
  if (std::optional<unsigned> index = manifest.findArgument(text))
    return *index;
  name.fail("no argument is named '" + JsonValue::printable(text) + "'");
}

namespace {
Expression readAxisReference(const std::string &key, const JsonValue &json,
                             const Manifest &manifest) {
  std::vector<JsonValue> parts = json.array(2);
  unsigned argument = readArgumentReference(parts[0], manifest);
  int64_t rank = manifest.arguments[argument].shape.size();
  int64_t axis = parts[1].integer();
  if (axis < 0 || axis >= rank)
    parts[1].fail("argument '" + manifest.arguments[argument].name +
                  "' has rank " + std::to_string(rank) + " and no axis " +
                  std::to_string(axis));
  return key == "dim" ? Expression::dim(argument, axis)
                      : Expression::stride(argument, axis);
}
} // namespace

Expression readExpression(const JsonValue &json, const Manifest &manifest) {
  if (json.isNumber())
    return Expression::constant(json.integer());
  if (!json.isObject())
    json.fail("expected an expression: an integer or an object with one key");
  auto [key, member] = json.onlyMember();
  if (key == "dim" || key == "stride")
    return readAxisReference(key, member, manifest);
  if (key == "device") {
    member.oneOf<bool>({{"multiprocessor_count", true}});
    return Expression::multiprocessorCount();
  }
  Operator op = operatorNamed(key);
  if (op.operandCount == 0)
    json.fail("unknown operator '" + JsonValue::printable(key) + "'");
  std::vector<Expression> operands;
  for (const JsonValue &operand : member.array(op.operandCount))
    operands.push_back(readExpression(operand, manifest));
  return Expression::operation(op.kind, std::move(operands));
}

} // namespace fp8::launch
