// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Skeletons as JSON, with a list of steps for each process.

#include "ExpressionWriter.h"
#include "JSONArray.h"
#include "fp8/Proof/Certificate.h"

using namespace fp8::proof;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Writes an expression of a skeleton; what it is made of was written before.
static int64_t write(const Expr &expr, llvm::ArrayRef<int64_t> numbers,
                     ExpressionWriter &out) {
  llvm::SmallVector<int64_t> operands;
  for (ExprId operand : expr.operands)
    operands.push_back(numbers[operand]);
  auto binary = [&](auto member) {
    return (out.*member)(operands[0], operands[1]);
  };
  using Writer = ExpressionWriter;
  switch (expr.kind) {
  case ExprKind::Constant:
    return out.getConstant(expr.value);
  case ExprKind::Parameter:
    return out.getParameter(expr.value);
  case ExprKind::Variable:
    return out.getVariable(expr.value);
  case ExprKind::Add:
    return binary(&Writer::add);
  case ExprKind::Multiply:
    return binary(&Writer::multiply);
  case ExprKind::FloorDivide:
    return binary(&Writer::divide);
  case ExprKind::Remainder:
    return binary(&Writer::remainder);
  case ExprKind::Minimum:
    return binary(&Writer::minimum);
  case ExprKind::Maximum:
    return binary(&Writer::maximum);
  case ExprKind::Equal:
    return binary(&Writer::equal);
  case ExprKind::Less:
    return binary(&Writer::less);
  case ExprKind::And:
    return binary(&Writer::both);
  case ExprKind::Or:
    return binary(&Writer::either);
  case ExprKind::Not:
    return out.opposite(operands[0]);
  case ExprKind::Select:
    return out.select(operands[0], operands[1], operands[2]);
  case ExprKind::Opaque:
  case ExprKind::Where: // not in a proof of progress
    return out.getOpaque(expr.value, operands);
  }
  llvm_unreachable("all kinds are handled");
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether the other side of the channel takes notice of the end: not if a
/// class of CTAs makes no use of it.
static bool isUsed(const Skeleton &skeleton, size_t number) {
  const End &end = skeleton.ends[number];
  const Channel &channel = skeleton.channels[end.channel];
  return llvm::is_contained(
      end.isProducer ? channel.producers : channel.consumers, number);
}

namespace {

/// Lays the blocks of a process out one behind the other. A step here is one of
/// the machine, but for jumps, which it takes for nothing.
class ProgramWriter {
public:
  ProgramWriter(llvm::ArrayRef<int64_t> numbers, ExpressionWriter &expressions)
      : numbers(numbers), expressions(expressions) {}

  json::Array write(const Block &body) {
    append(body);
    json::Array program;
    for (json::Object &step : steps)
      program.push_back(std::move(step));
    return program;
  }

private:
  using Kind = Statement::Kind;

  void append(const Block &block) {
    for (const Statement &statement : block)
      append(statement);
  }
  void append(const Statement &statement);
  void appendFor(const Statement &loop);
  void appendWhile(const Statement &loop);
  void appendBranch(const Statement &branch);
  void appendExchange(const Statement &statement);
  /// Returns the number of the step.
  size_t add(llvm::StringRef kind, const Statement &statement,
             std::optional<int64_t> condition = std::nullopt);
  void jump(const Statement &loop, size_t to, json::Array assign = {});
  /// Lets a step go on behind the last one.
  void landHere(size_t step) { steps[step]["to"] = steps.size(); }

  llvm::ArrayRef<int64_t> numbers; ///< of the skeleton's expressions
  ExpressionWriter &expressions;
  std::vector<json::Object> steps;
};

} // namespace

size_t ProgramWriter::add(llvm::StringRef kind, const Statement &statement,
                          std::optional<int64_t> condition) {
  json::Object step{{"kind", kind}, {"site", statement.site}};
  if (condition)
    step["condition"] = *condition;
  if (condition && statement.meets)
    step["meets"] = true;
  steps.push_back(std::move(step));
  return steps.size() - 1;
}

void ProgramWriter::jump(const Statement &loop, size_t to, json::Array assign) {
  json::Object &step = steps[add("jump", loop)];
  step["to"] = to;
  if (!assign.empty())
    step["assign"] = std::move(assign);
}

void ProgramWriter::appendFor(const Statement &loop) {
  int64_t variable = expressions.getVariable(loop.variable),
          bound = expressions.getVariable(loop.bound),
          stride = expressions.getVariable(loop.stride);
  json::Object &begin = steps[add("assign", loop)];
  begin["assign"] = json::Array{json::Array{loop.variable, numbers[loop.lower]},
                                json::Array{loop.bound, numbers[loop.upper]},
                                json::Array{loop.stride, numbers[loop.step]}};
  size_t guard = add("branch", loop, expressions.less(variable, bound));
  append(loop.first);
  jump(loop, guard,
       json::Array{
           json::Array{loop.variable, expressions.add(variable, stride)}});
  landHere(guard);
}

void ProgramWriter::appendWhile(const Statement &loop) {
  size_t start = steps.size();
  if (!loop.first.empty())
    add("assign", loop); // the machine enters the first block in a step
  append(loop.first);
  size_t guard = add("branch", loop, numbers[loop.condition]);
  append(loop.second);
  jump(loop, start);
  landHere(guard);
}

void ProgramWriter::appendBranch(const Statement &branch) {
  size_t decision = add("branch", branch, numbers[branch.condition]);
  append(branch.first);
  if (!branch.second.empty()) {
    size_t end = steps.size();
    jump(branch, 0);
    landHere(decision);
    append(branch.second);
    return landHere(end);
  }
  landHere(decision);
}

void ProgramWriter::append(const Statement &statement) {
  switch (statement.kind) {
  case Kind::Branch:
    return appendBranch(statement);
  case Kind::For:
    return appendFor(statement);
  case Kind::While:
    return appendWhile(statement);
  case Kind::Assign: {
    auto write = [&](auto its) {
      return json::Array{its.first, numbers[its.second]};
    };
    steps[add("assign", statement)]["assign"] =
        toArray(statement.assigned, write);
    return;
  }
  case Kind::Require:
  case Kind::Access:
    add("assign", statement); // they change nothing
    return;
  case Kind::Wait:
  case Kind::Signal:
  case Kind::Drain:
  case Kind::Answer:
    return appendExchange(statement);
  }
}

void ProgramWriter::appendExchange(const Statement &statement) {
  static constexpr llvm::StringLiteral kKinds[] = {"wait", "signal", "drain",
                                                   "answer"};
  json::Object &step =
      steps[add(kKinds[static_cast<int>(statement.kind)], statement)];
  step["end"] = numbers[statement.end];
  // What a slot brings is not followed, but for whether there is work.
  if (statement.kind != Kind::Signal && !statement.assigned.empty())
    step["assign"] = toArray(
        statement.assigned, [](auto its) { return json::Array{its.first, 0}; });
}

//===----------------------------------------------------------------------===//
// The skeleton
//===----------------------------------------------------------------------===//

static json::Value toJSON(const Parameter &parameter) {
  json::Object object{{"name", parameter.name},
                      {"scope", static_cast<int>(parameter.scope)},
                      {"least", parameter.least}};
  if (parameter.most)
    object["most"] = *parameter.most;
  if (parameter.below)
    object["below"] = *parameter.below;
  return object;
}

static json::Value toJSON(const Channel &channel) {
  return json::Object{{"name", channel.name},
                      {"slots", channel.slots},
                      {"data", channel.holdsData},
                      {"site", channel.site}};
}

json::Object fp8::proof::toPrograms(const Skeleton &skeleton) {
  ExpressionWriter expressions;
  llvm::SmallVector<int64_t> numbers;
  for (const Expr &expr : skeleton.expressions.get())
    numbers.push_back(write(expr, numbers, expressions));
  json::Array processes = toArray(skeleton.processes, [&](const Process &its) {
    return json::Object{
        {"name", its.name},
        {"role", its.role},
        {"site", its.site},
        {"ranks", toNumbers(its.ranks)},
        {"program", ProgramWriter(numbers, expressions).write(its.body)}};
  });
  auto toName = [](const ExprTable::Name &its) {
    return json::Object{{"name", json::fixUTF8(its.text)}, // of any op
                        {"scope", static_cast<int>(its.scope)}};
  };
  json::Array ends;
  for (auto [number, end] : llvm::enumerate(skeleton.ends)) {
    bool isOfChannel = isUsed(skeleton, number);
    ends.push_back(
        json::Object{{"name", end.name},
                     {"channel", isOfChannel ? int64_t(end.channel) : -1},
                     {"fills", isOfChannel && end.isProducer}});
  }
  return json::Object{
      {"parameters", toArray(skeleton.expressions.getParameters(),
                             [](auto &its) { return ::toJSON(its); })},
      {"names", toArray(skeleton.expressions.getNames(), toName)},
      {"channels",
       toArray(skeleton.channels, [](auto &its) { return ::toJSON(its); })},
      {"ends", std::move(ends)},
      {"processes", std::move(processes)},
      {"expressions", expressions.take()},
      {"coupled", skeleton.coupled}};
}
