// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Skeletons and certificates as JSON.

#include "fp8/Proof/Certificate.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"

using namespace fp8::proof;
namespace json = llvm::json;

template <typename Range, typename Function>
static json::Array toArray(const Range &range, Function function) {
  json::Array array;
  for (const auto &element : range)
    array.push_back(function(element));
  return array;
}

template <typename Range>
static json::Array toNumbers(const Range &range) {
  return toArray(range, [](auto number) { return int64_t(number); });
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kExprKinds[] = {
    "constant",  "parameter", "variable", "add",    "multiply", "divide",
    "remainder", "minimum",   "maximum",  "equal",  "less",     "and",
    "or",        "not",       "select",   "opaque", "where"};
static constexpr llvm::StringLiteral kScopes[] = {"launch", "cta", "thread"};

static llvm::StringRef toString(Scope scope) {
  return kScopes[static_cast<int>(scope)];
}

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

static json::Value toJSON(const Parameter &parameter) {
  json::Object object{{"name", parameter.name},
                      {"scope", toString(parameter.scope)},
                      {"least", parameter.least}};
  if (parameter.most)
    object["most"] = *parameter.most;
  if (parameter.below)
    object["below"] = *parameter.below;
  return object;
}

static json::Value toJSON(const ExprTable::Name &name) {
  return json::Object{{"name", name.text}, {"scope", toString(name.scope)}};
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kStatementKinds[] = {
    "wait", "signal", "drain", "answer", "assign",
    "if",   "for",    "while", "require"};

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
  const ExprTable &table = skeleton.expressions;
  return json::Object{
      {"kernel", skeleton.kernel},
      {"parameters", all(table.getParameters())},
      {"names", all(table.getNames())},
      {"expressions", all(table.get())},
      {"channels", all(skeleton.channels)},
      {"ends", all(skeleton.ends)},
      {"processes", all(skeleton.processes)},
      {"rules", toArray(skeleton.rules, [](auto &its) { return its; })},
      {"coupled", skeleton.coupled}};
}

//===----------------------------------------------------------------------===//
// The certificate
//===----------------------------------------------------------------------===//

/// What every proof takes for granted.
static constexpr llvm::StringLiteral kAssumptions[] = {
    "copies and MMAs that are issued complete, and every warp is scheduled in "
    "the end",
    "the CTAs of a cluster run at the same time",
    "index arithmetic does not wrap, and launch arguments are not negative",
    "memory from which roles read what they decide about does not change",
    "loops without an op that waits or signals end, and steps of loops are "
    "positive",
    "a work queue has a last answer",
    "CTAs of a cluster take the same branches"};

json::Object fp8::proof::makeCertificate(const Skeleton &skeleton,
                                         int64_t clusterSize,
                                         json::Object witness) {
  return json::Object{
      {"version", kCertificateVersion},
      {"kernel", skeleton.kernel},
      {"cluster", clusterSize},
      {"skeleton", toJSON(skeleton)},
      {"witness", std::move(witness)},
      {"assumptions",
       toArray(kAssumptions, [](llvm::StringRef text) { return text; })}};
}

static std::string getDigest(llvm::StringRef text) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true);
}

void fp8::proof::seal(json::Object &certificate,
                      std::optional<llvm::StringRef> ptx) {
  certificate.erase("digest");
  if (ptx)
    certificate["ptx"] = getDigest(*ptx);
  // Keys are printed in order, and without spaces.
  std::string text =
      llvm::formatv("{0}", json::Value(json::Object(certificate))).str();
  certificate["digest"] = getDigest(text);
}
