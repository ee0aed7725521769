// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What expressions are worth in a state.

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace fp8::proof;

Truth Machine::decideSign(const State &state, const Linear &sum) {
  if (state.facts.implies(sum))
    return {true, {}};
  if (state.facts.implies(Linear(-1) - sum))
    return {false, {}};
  return {std::nullopt, sum};
}

Machine::Evaluation::Evaluation(Machine &machine) : machine(machine) {
  if (machine.nesting++)
    return;
  machine.evaluation = ++machine.lastEvaluation;
  machine.known.resize(machine.skeleton.expressions.get().size());
}

Truth Machine::decide(const State &state, unsigned process, ExprId id) {
  Evaluation its(*this);
  const Expr &expr = skeleton.expressions[id];
  auto operand = [&](unsigned i) -> const Value & {
    return evaluate(state, process, expr.operands[i]);
  };
  switch (expr.kind) {
  case ExprKind::Less:
  case ExprKind::Equal: {
    const Value &left = operand(0), &right = operand(1);
    for (const Value *value : {&left, &right})
      if (!value->sum)
        return {std::nullopt, value->pivot};
    Linear distance = *right.sum - *left.sum;
    if (expr.kind == ExprKind::Less)
      return decideSign(state, distance - Linear(1));
    Truth least = decideSign(state, distance);
    if (!least.known || !*least.known)
      return least;
    Truth more = decideSign(state, distance - Linear(1));
    if (more.known)
      more.known = !*more.known;
    return more;
  }
  case ExprKind::And:
  case ExprKind::Or: {
    bool decisive = expr.kind == ExprKind::Or;
    Truth left = decide(state, process, expr.operands[0]),
          right = decide(state, process, expr.operands[1]);
    for (Truth *truth : {&left, &right})
      if (truth->known == decisive)
        return *truth;
    return left.known ? right : left;
  }
  case ExprKind::Not: {
    Truth truth = decide(state, process, expr.operands[0]);
    if (truth.known)
      truth.known = !*truth.known;
    return truth;
  }
  default: {
    const Value &value = evaluate(state, process, id);
    if (!value.sum)
      return {std::nullopt, value.pivot};
    return decideSign(state, *value.sum - Linear(1));
  }
  }
}

std::optional<Linear> Machine::findChoice(const State &state, unsigned process,
                                          ExprId id) {
  const Expr &expr = skeleton.expressions[id];
  bool compares = expr.kind == ExprKind::Less || expr.kind == ExprKind::Equal;
  if (compares || expr.kind == ExprKind::And || expr.kind == ExprKind::Or ||
      expr.kind == ExprKind::Not) {
    for (ExprId operand : expr.operands) {
      std::optional<Linear> choice;
      if (!compares)
        choice = findChoice(state, process, operand);
      else if (const Value &value = evaluate(state, process, operand);
               !value.sum)
        choice = value.pivot;
      if (choice)
        return choice;
    }
  }
  return std::nullopt;
}

/// How often the dividend has all terms of the divisor; 0 if the rest would
/// still have some.
static int64_t getMultiple(const Linear &dividend, const Linear &divisor) {
  if (divisor.isConstant() || dividend.isTooLarge() || divisor.isTooLarge())
    return 0;
  auto [atom, factor] = divisor.terms.front();
  auto *term = llvm::find_if(dividend.terms,
                             [&](auto term) { return term.first == atom; });
  int64_t times = term == dividend.terms.end() ? 0 : term->second / factor;
  Linear rest = dividend - divisor * times;
  return rest.terms.size() + divisor.terms.size() == dividend.terms.size()
             ? times
             : 0;
}

Linear Machine::divide(const Linear &dividend, const Linear &divisor,
                       bool isRemainder) {
  // What the divisor divides leaves the division.
  if (int64_t times = getMultiple(dividend, divisor)) {
    Linear rest = dividend - divisor * times, whole(isRemainder ? 0 : times);
    return rest == Linear() ? whole
                            : whole + divide(rest, divisor, isRemainder);
  }
  // The quotient by a product is that of the quotients.
  int64_t factor = std::abs(divisor.constant);
  for (auto [atom, its] : divisor.terms)
    factor = std::gcd(factor, std::abs(its));
  if (factor <= 1)
    return atoms.getAtom(
        {isRemainder ? AtomKind::Remainder : AtomKind::Quotient,
         0,
         {},
         {dividend, divisor}});
  Linear rest(divisor.constant / factor);
  for (auto [atom, its] : divisor.terms)
    rest.terms.push_back({atom, its / factor});
  Linear quotient = divide(atoms.floorDivide(dividend, factor), rest, false);
  return isRemainder ? dividend - atoms.multiply(quotient, divisor) : quotient;
}

const Value &Machine::evaluate(const State &state, unsigned process,
                               ExprId id) {
  Evaluation its(*this);
  // Operands are shared among expressions.
  auto &[when, value] = known[id];
  if (when != evaluation) {
    value = evaluateNew(state, process, id);
    when = evaluation;
  }
  return value;
}

Value Machine::evaluateNew(const State &state, unsigned process, ExprId id) {
  const Expr &expr = skeleton.expressions[id];
  switch (expr.kind) {
  case ExprKind::Constant:
    return {Linear(expr.value), {}};
  case ExprKind::Parameter:
    if (auto it = parameters.find(expr.value); it != parameters.end())
      return {Linear(it->second), {}};
    return {atoms.getParameter(expr.value), {}};
  case ExprKind::Variable: {
    const std::optional<Linear> &value =
        state.processes[process].values[expr.value];
    if (!value)
      failure = "a value is used that was not followed";
    return {value.value_or(Linear()), {}};
  }
  case ExprKind::Equal:
  case ExprKind::Less:
  case ExprKind::And:
  case ExprKind::Or:
  case ExprKind::Not: {
    Truth truth = decide(state, process, id);
    if (!truth.known)
      return {std::nullopt, truth.pivot};
    return {Linear(*truth.known), {}};
  }
  case ExprKind::Select: {
    Truth truth = decide(state, process, expr.operands[0]);
    if (!truth.known)
      return {std::nullopt, truth.pivot};
    return evaluate(state, process, expr.operands[*truth.known ? 1 : 2]);
  }
  default:
    break;
  }
  llvm::SmallVector<const Linear *, 3> operands;
  for (ExprId operand : expr.operands) {
    const Value &value = evaluate(state, process, operand);
    if (!value.sum)
      return value;
    operands.push_back(&*value.sum);
  }
  return compute(state, expr, operands);
}

Value Machine::compute(const State &state, const Expr &expr,
                       llvm::ArrayRef<const Linear *> operands) {
  switch (expr.kind) {
  case ExprKind::Add:
    return {*operands[0] + *operands[1], {}};
  case ExprKind::Multiply:
    return {atoms.multiply(*operands[0], *operands[1]), {}};
  case ExprKind::FloorDivide:
  case ExprKind::Remainder: {
    // A launch for which the kernel divides by 0 says nothing.
    if (isConcrete && *operands[1] == Linear())
      failure = "it divides by 0";
    if (!operands[1]->isConstant() || operands[1]->constant <= 0)
      return {
          divide(*operands[0], *operands[1], expr.kind == ExprKind::Remainder),
          {}};
    int64_t divisor = operands[1]->constant;
    Linear quotient = atoms.floorDivide(*operands[0], divisor);
    return {expr.kind == ExprKind::FloorDivide
                ? quotient
                : *operands[0] - quotient * divisor,
            {}};
  }
  case ExprKind::Minimum:
  case ExprKind::Maximum: {
    bool isMinimum = expr.kind == ExprKind::Minimum;
    Truth truth = decideSign(state, *operands[1] - *operands[0]);
    // Where they may be equal, either will do.
    if (!truth.known && state.facts.implies(*operands[0] - *operands[1]))
      truth.known = false;
    if (!truth.known && keepsMinima)
      return {atoms.getExtremum(*operands[0], *operands[1], isMinimum), {}};
    if (!truth.known)
      return {std::nullopt, truth.pivot};
    return {*operands[*truth.known == isMinimum ? 0 : 1], {}};
  }
  case ExprKind::Where:
    return {atoms.substitute(*operands[0], {{operands[1]->terms[0].first,
                                             Linear(expr.value)}}),
            {}};
  default: {
    Atom atom{AtomKind::Opaque, expr.value, {}, {}};
    for (const Linear *operand : operands)
      atom.operands.push_back(*operand);
    return {atoms.getAtom(std::move(atom)), {}};
  }
  }
}
