// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a thread is in the expected events: what may be next, whether an event
// of the text is that, and what to say if it is not.

#include "Walk.h"

#include <algorithm>

using namespace fp8::prooftext;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

void Walk::close(const Position &position, Positions &out, Positions &visited) {
  if (std::find(visited.begin(), visited.end(), position) != visited.end())
    return;
  visited.push_back(position);
  const Script::Step &step = script.steps[position.step];
  Position further = position;
  auto goOn = [&](uint32_t to) {
    further.step = to;
    close(further, out, visited);
  };
  switch (step.kind) {
  case Script::Step::Kind::End:
    out.push_back(position);
    break;
  case Script::Step::Kind::Event:
    if (script.events[step.index].isDoneBy(thread))
      out.push_back(position);
    else
      goOn(position.step + 1);
    break;
  case Script::Step::Kind::Advance:
    script.advance(step.index, further.cursors);
    goOn(position.step + 1);
    break;
  case Script::Step::Kind::Split:
    goOn(position.step + 1);
    goOn(step.target);
    break;
  case Script::Step::Kind::Jump:
    goOn(step.target);
    break;
  case Script::Step::Kind::Ranks:
    goOn(step.ranks >> thread.rank & 1 ? position.step + 1 : step.target);
    break;
  }
}

const Positions &Walk::getNext(const Position &position) {
  auto [entry, isNew] = next.try_emplace(position);
  if (isNew) {
    Positions visited;
    close(position, entry->second, visited);
    std::sort(entry->second.begin(), entry->second.end());
  }
  return entry->second;
}

const Matcher::Fields &Matcher::get(uint32_t event, const Form &form) {
  auto [entry, isNew] = found[event].try_emplace(&form);
  Fields &result = entry->second;
  const ScriptEvent &its = script.events[event];
  if (!isNew || its.kind != form.kind)
    return result;
  for (size_t i = 0; i < form.operands.size(); ++i)
    if (auto field = its.fields.find(form.operands[i].field);
        field != its.fields.end())
      result.fields.push_back({i, &field->second});
  if (auto cta = its.fields.find("cta"); cta != its.fields.end())
    result.cta = &cta->second;
  result.canMatch =
      result.fields.size() + (result.cta != nullptr) == its.fields.size();
  return result;
}

uint64_t Walk::getExpected(const FormOperand &operand,
                           const Matcher::Fields &fields,
                           const Quantity &quantity,
                           const Position &position) const {
  auto evaluate = [&](const Quantity &its) {
    return uint64_t(script.evaluate(its, thread, position.cursors));
  };
  uint64_t value = evaluate(quantity);
  if (operand.kind == FormOperand::Kind::Shared)
    value += getSharedMemory(fields.cta && operand.field == "at"
                                 ? evaluate(*fields.cta)
                                 : thread.rank);
  else if (operand.kind == FormOperand::Kind::Descriptor)
    value = (value + getSharedMemory(thread.rank)) >> 4;
  return value & operand.mask;
}

bool Walk::matches(const State &state, const CodeStep &step,
                   const Position &position) {
  const Script::Step &expected = script.steps[position.step];
  if (expected.kind != Script::Step::Kind::Event || !step.form)
    return false;
  const Matcher::Fields &fields = matcher.get(expected.index, *step.form);
  if (!fields.canMatch)
    return false;
  for (size_t i = 0; i < step.sources.size(); ++i) {
    const FormOperand &operand = step.form->operands[i];
    if (operand.kind == FormOperand::Kind::Fixed &&
        getValue(state, step.sources[i]).get(operand.mask) != operand.value)
      return false;
  }
  for (const Matcher::Field &field : fields.fields) {
    const FormOperand &operand = step.form->operands[field.operand];
    if (getValue(state, step.sources[field.operand]).get(operand.mask) !=
        getExpected(operand, fields, *field.quantity, position))
      return false;
  }
  return true;
}

bool Walk::mayMatch(const State &state, const CodeStep &step) {
  for (const Position &position : state.positions) {
    const Script::Step &expected = script.steps[position.step];
    if (expected.kind != Script::Step::Kind::Event || !step.form)
      continue;
    const Matcher::Fields &fields = matcher.get(expected.index, *step.form);
    bool isOpen = false, differs = false;
    for (const Matcher::Field &field : fields.fields) {
      const FormOperand &operand = step.form->operands[field.operand];
      auto value =
          getValue(state, step.sources[field.operand]).get(operand.mask);
      isOpen |= !value;
      differs |= value && *value != getExpected(operand, fields,
                                                *field.quantity, position);
    }
    if (fields.canMatch && isOpen && !differs)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::string Walk::describe(const State &state, const CodeStep &step) const {
  const sim::ast::Instruction &instruction =
      code.function->instructions[step.instruction];
  if (!step.form)
    return "'" + instruction.mnemonic() + "' is no event of a kernel";
  std::string text = step.form->kind;
  for (size_t i = 0; i < step.sources.size(); ++i) {
    const FormOperand &operand = step.form->operands[i];
    if (operand.field.empty())
      continue;
    auto value = getValue(state, step.sources[i]).get(operand.mask);
    text += ", " + operand.field + " ";
    if (!value)
      text += "unknown";
    else if (operand.kind != FormOperand::Kind::Shared)
      text += std::to_string(*value);
    else
      text += std::to_string((*value & getMask(kRankShift)) - kFirstByte) +
              (*value >> kRankShift == thread.rank
                   ? ""
                   : " of CTA " + std::to_string(*value >> kRankShift));
  }
  return text;
}

std::string Walk::describe(const Position &position) const {
  const Script::Step &step = script.steps[position.step];
  if (step.kind == Script::Step::Kind::End)
    return "the end of the kernel";
  const ScriptEvent &event = script.events[step.index];
  std::string text = event.site + ": " + event.kind;
  for (const auto &[name, quantity] : event.fields)
    text += ", " + name + " " +
            std::to_string(script.evaluate(quantity, thread, position.cursors));
  return text;
}

void Walk::report(const State &state, const CodeStep *step,
                  std::string message) {
  mismatch.emplace();
  mismatch->line =
      step ? code.function->instructions[step->instruction].line : 0;
  std::string who = script.name.empty() ? "a warp without a role"
                                        : "role \"" + script.name + "\"";
  mismatch->message = who + " (" + thread.str() + "): " + message;
  for (const Position &position : state.positions) {
    std::string text = describe(position);
    auto &expected = mismatch->expected;
    if (std::find(expected.begin(), expected.end(), text) == expected.end())
      expected.push_back(std::move(text));
  }
}
