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
    if (!collect(numbers, operands))
      break;
}

void Addresses::findOperands() {
  // The fields that follow a cursor, by kind of event.
  std::set<std::pair<std::string, std::string>> fields;
  for (const ScriptEvent &event : script.events)
    for (const auto &[name, quantity] : event.fields)
      if (quantity.cursor >= 0)
        fields.insert({event.kind, name});
  for (const CodeStep &step : code.steps)
    for (size_t i = 0; step.form && i < step.sources.size(); ++i) {
      if (!fields.count({step.form->kind, step.form->operands[i].field}))
        continue;
      Counters::Numbers numbers;
      counters.addOf(step.instruction, i, numbers);
      all.insert(numbers.begin(), numbers.end());
      if (step.form->operands[i].kind == FormOperand::Kind::Shared)
        byCounters[numbers].push_back({&step, i});
    }
}

bool Addresses::collect(const Counters::Numbers &numbers,
                        const std::vector<Operand> &operands) {
  constexpr size_t kMostStates = 5'000;
  Counters::Numbers others;
  std::set_difference(all.begin(), all.end(), numbers.begin(), numbers.end(),
                      std::inserter(others, others.end()));
  std::vector<bool> open = counters.getSteps(others);
  Execution execution(code, kernel, thread, open);
  std::map<Operand, Values> found;
  std::set<Operand> unknown;
  for (const Operand &operand : operands)
    found[operand];
  auto look = [&](const State &state, bool isEvent) {
    const CodeStep &step = code.steps[state.at];
    for (size_t i = 0; isEvent && i < step.sources.size(); ++i)
      if (auto entry = found.find({&step, i}); entry != found.end()) {
        auto value = execution.getValue(state, step.sources[i])
                         .get(step.form->operands[i].mask);
        if (value)
          entry->second.insert(*value);
        else
          unknown.insert({&step, i});
      }
  };
  if (!execution.explore(kMostStates, look))
    return false;
  for (auto &[operand, its] : found)
    if (!unknown.count(operand))
      values[operand] = std::move(its);
  return true;
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
