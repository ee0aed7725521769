// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a text for the addresses of its events.

#include "Addresses.h"

#include <algorithm>

using namespace fp8::prooftext;

Addresses::Addresses(const Code &code, const Counters &counters,
                     const KernelScript &kernel, const Script &script,
                     Matcher &matcher, const Thread &thread)
    : code(code), counters(counters), kernel(kernel), script(script),
      matcher(matcher), thread(thread) {
  findOperands();
  for (const auto &[numbers, operands] : byCounters)
    collect(numbers, operands);
}

void Addresses::findOperands() {
  auto follows = [&](const Form &form, size_t operand) {
    return std::any_of(
        script.events.begin(), script.events.end(), [&](const auto &event) {
          auto field = event.fields.find(form.operands[operand].field);
          return event.kind == form.kind && field != event.fields.end() &&
                 field->second.cursor >= 0;
        });
  };
  for (const CodeStep &step : code.steps)
    for (size_t i = 0; step.form && i < step.sources.size(); ++i) {
      if (!follows(*step.form, i))
        continue;
      Counters::Numbers numbers;
      counters.addOf(step.instruction, i, numbers);
      all.insert(numbers.begin(), numbers.end());
      if (step.form->operands[i].kind == FormOperand::Kind::Shared)
        byCounters[numbers].push_back({&step, i});
    }
}

void Addresses::collect(const Counters::Numbers &numbers,
                        const std::vector<Operand> &operands) {
  constexpr size_t kMostStates = 20'000;
  Counters::Numbers others;
  std::set_difference(all.begin(), all.end(), numbers.begin(), numbers.end(),
                      std::inserter(others, others.end()));
  std::vector<bool> open = counters.getSteps(others);
  Execution execution(code, kernel, thread, open);
  std::map<Operand, Values> found;
  std::set<Operand> unknown;
  for (const Operand &operand : operands)
    found[operand];
  std::set<StateKey> seen;
  std::vector<State> left{execution.getStart()};
  auto look = [&](const State &state, const CodeStep &step) {
    for (size_t i = 0; i < step.sources.size(); ++i)
      if (auto entry = found.find({&step, i}); entry != found.end()) {
        auto value = execution.getValue(state, step.sources[i])
                         .get(step.form->operands[i].mask);
        if (value)
          entry->second.insert(*value);
        else
          unknown.insert({&step, i});
      }
  };
  while (!left.empty()) {
    State state = std::move(left.back());
    left.pop_back();
    auto goesOn = Execution::Outcome::GoesOn;
    while (state.at < code.steps.size()) {
      if (code.isJoin[state.at] && !seen.insert(execution.getKey(state)).second)
        break;
      auto outcome = execution.take(state, left);
      if (outcome == Execution::Outcome::Event) {
        look(state, code.steps[state.at]);
        execution.takeEvent(state, left);
      } else if (outcome != goesOn) {
        break;
      }
    }
    if (seen.size() > kMostStates)
      return;
  }
  for (auto &[operand, its] : found)
    if (!unknown.count(operand))
      values[operand] = std::move(its);
}

bool Addresses::mayHave(const Execution &execution, const Operand &operand,
                        const Matcher::Fields &fields, const Quantity &quantity,
                        uint32_t expected) const {
  auto found = values.find(operand);
  if (found == values.end())
    return true;
  Position position{expected, {}};
  uint8_t &number = position.cursors[quantity.cursor];
  for (; number < 2 * script.cursors[quantity.cursor].slots; ++number)
    if (found->second.count(matcher.getExpected(
            execution, operand.step->form->operands[operand.number], fields,
            quantity, position)))
      return true;
  return false;
}

bool Addresses::mayBe(const Execution &execution, const CodeStep &step,
                      uint32_t expected) {
  auto [entry, isNew] = known.try_emplace({&step, expected}, true);
  if (!isNew)
    return entry->second;
  const Matcher::Fields &fields =
      matcher.get(script.steps[expected].index, *step.form);
  for (const Matcher::Field &field : fields.fields)
    if (field.quantity->cursor >= 0)
      entry->second &= mayHave(execution, {&step, field.operand}, fields,
                               *field.quantity, expected);
  return entry->second;
}
