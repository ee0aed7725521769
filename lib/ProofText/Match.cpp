// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which expected events may be next, whether an event of the text is one of
// them, and what to say if it is not.

#include "Match.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

using namespace fp8::prooftext;
using StepKind = Script::Step::Kind;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

size_t Successors::Hash::operator()(const Position &position) const {
  uint64_t words[2];
  static_assert(sizeof(words) == sizeof(Position));
  std::memcpy(words, &position, sizeof(words));
  StateKey key{words[0], words[1]};
  mix(key, words[1]);
  return key.first;
}

void Successors::close(Position start, Positions &out) {
  std::unordered_set<Position, Hash> visited;
  Positions left{start};
  while (!left.empty()) {
    Position position = left.back();
    left.pop_back();
    if (!visited.insert(position).second)
      continue;
    const Script::Step &step = script.steps[position.step];
    auto goOn = [&](uint32_t to) { left.push_back({to, position.cursors}); };
    switch (step.kind) {
    case StepKind::End:
      out.push_back(position);
      break;
    case StepKind::Event:
      if (script.events[step.index].isDoneBy(thread))
        out.push_back(position);
      else
        goOn(position.step + 1);
      break;
    case StepKind::Skip:
      goOn(position.step + 1);
      break;
    case StepKind::Advance:
      if (focus.follows(step.index))
        script.advance(step.index, position.cursors);
      goOn(position.step + 1);
      break;
    case StepKind::Split:
      goOn(position.step + 1);
      goOn(step.target);
      break;
    case StepKind::Jump:
      goOn(step.target);
      break;
    case StepKind::Ranks:
      goOn(step.ranks >> thread.rank & 1 ? position.step + 1 : step.target);
      break;
    }
  }
}

const Positions &Successors::get(const Position &position) {
  auto [entry, isNew] = next.try_emplace(position);
  if (isNew) {
    close(position, entry->second);
    std::sort(entry->second.begin(), entry->second.end());
  }
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

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
  for (size_t i = 0; i < form.operands.size(); ++i) {
    const std::string &name = form.operands[i].field;
    auto layout = its.fields.find(name + "_layout");
    if (form.operands[i].kind != FormOperand::Kind::Descriptor ||
        layout == its.fields.end())
      continue;
    auto address = its.fields.find(name);
    result.fields.push_back(
        {i, &layout->second,
         address == its.fields.end() ? -1 : address->second.cursor});
  }
  if (auto cta = its.fields.find("cta"); cta != its.fields.end())
    result.cta = &cta->second;
  result.canMatch =
      result.fields.size() + (result.cta != nullptr) == its.fields.size();
  return result;
}

uint64_t Matcher::getExpected(const Execution &execution,
                              const FormOperand &operand, const Fields &fields,
                              const Quantity &quantity,
                              const Position &position) const {
  const Thread &thread = execution.getThread();
  auto evaluate = [&](const Quantity &its) {
    return uint64_t(script.evaluate(its, thread, position.cursors));
  };
  uint64_t value = evaluate(quantity);
  if (operand.kind == FormOperand::Kind::Shared)
    value += execution.getSharedMemory(fields.cta && operand.field == "at"
                                           ? evaluate(*fields.cta)
                                           : thread.rank);
  else if (operand.kind == FormOperand::Kind::Descriptor)
    value = (value + execution.getSharedMemory(thread.rank)) >> 4;
  return value & operand.mask;
}

Agreement Matcher::compare(const Execution &execution, const State &state,
                           const CodeStep &step, const Position &position,
                           const Focus &focus) {
  const Script::Step &expected = script.steps[position.step];
  if (expected.kind != StepKind::Event || !step.form)
    return Agreement::No;
  const Fields &fields = get(expected.index, *step.form);
  const std::string &variant = script.events[expected.index].variant;
  if (!fields.canMatch || (!variant.empty() && variant != step.variant))
    return Agreement::No;
  for (size_t i = 0; i < step.sources.size(); ++i) {
    const FormOperand &operand = step.form->operands[i];
    if (operand.kind == FormOperand::Kind::Fixed &&
        execution.getValue(state, step.sources[i]).get(operand.mask) !=
            operand.value)
      return Agreement::No;
  }
  Agreement result = Agreement::Yes;
  for (const Field &field : fields.fields) {
    const Quantity &quantity = *field.quantity;
    bool isLayout = field.layoutOf != kNoLayout;
    // A sum of an unknown address has unknown bits above, too.
    int cursor = isLayout ? field.layoutOf : quantity.cursor;
    if (cursor >= 0 && !focus.follows(cursor))
      continue;
    const FormOperand &operand = step.form->operands[field.operand];
    const Source &source = step.sources[field.operand];
    if (quantity.parameter >= 0) {
      if (source.kind == Source::Kind::Unknown)
        result = Agreement::Open;
      else if (source.kind != Source::Kind::Parameter ||
               int(source.number) != quantity.parameter)
        return Agreement::No;
      continue;
    }
    auto value = execution.getValue(state, source)
                     .get(isLayout ? ~operand.mask : operand.mask);
    if (!value)
      result = Agreement::Open;
    else if (*value != (isLayout ? uint64_t(quantity.constant)
                                 : getExpected(execution, operand, fields,
                                               quantity, position)))
      return Agreement::No;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string fp8::prooftext::describe(const Execution &execution,
                                     const State &state, const CodeStep &step,
                                     const sim::ast::Function &function) {
  if (!step.form)
    return "'" + function.instructions[step.instruction].mnemonic() + "' " +
           step.fault;
  std::string text = step.form->kind;
  if (!step.variant.empty())
    text += " " + step.variant;
  for (size_t i = 0; i < step.sources.size(); ++i) {
    const FormOperand &operand = step.form->operands[i];
    if (operand.field.empty())
      continue;
    auto value = execution.getValue(state, step.sources[i]).get(operand.mask);
    text += ", " + operand.field + " ";
    if (step.sources[i].kind == Source::Kind::Parameter)
      text += "of parameter " + std::to_string(step.sources[i].number);
    else if (!value)
      text += "unknown";
    else if (operand.kind != FormOperand::Kind::Shared)
      text += std::to_string(*value);
    else
      text += std::to_string((*value & getMask(kRankShift)) - kFirstByte) +
              (*value >> kRankShift == execution.getThread().rank
                   ? ""
                   : " of CTA " + std::to_string(*value >> kRankShift));
    auto layout = execution.getValue(state, step.sources[i]).get(~operand.mask);
    if (operand.kind == FormOperand::Kind::Descriptor && layout)
      text +=
          ", " + operand.field + "_layout " + std::to_string(int64_t(*layout));
  }
  return text;
}

std::string fp8::prooftext::describe(const Script &script, const Thread &thread,
                                     const Position &position) {
  const Script::Step &step = script.steps[position.step];
  if (step.kind == StepKind::End)
    return "the end of the kernel";
  const ScriptEvent &event = script.events[step.index];
  std::string text = event.site + ": " + event.kind;
  if (!event.variant.empty())
    text += " " + event.variant;
  for (const auto &[name, quantity] : event.fields)
    text += ", " + name + " " +
            (quantity.parameter >= 0
                 ? "of parameter " + std::to_string(quantity.parameter)
                 : std::to_string(
                       script.evaluate(quantity, thread, position.cursors)));
  return text;
}
