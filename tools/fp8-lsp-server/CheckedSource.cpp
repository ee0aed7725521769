// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses a text and runs the linearity check on it, as often as an editor asks.

#include "CheckedSource.h"

#include "fp8/IR/Fp8.h"
#include "fp8/IR/Linearity.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::server;

std::unique_ptr<CheckedSource>
CheckedSource::create(const DialectRegistry &registry, StringRef text) {
  std::unique_ptr<CheckedSource> source(new CheckedSource(registry));
  source->context.allowUnregisteredDialects();
  source->sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text),
                                     SMLoc());
  ScopedDiagnosticHandler collect(&source->context, [&](Diagnostic &error) {
    LinearityError &added =
        source->errors.emplace_back(LinearityError{error.getLocation(), {}});
    for (Diagnostic &note : error.getNotes())
      added.notes.push_back(note.getLocation());
    return success();
  });
  ParserConfig config(&source->context, /*verifyAfterParse=*/false);
  if (failed(parseAsmSourceFile(source->sources, &source->block, config,
                                &source->state)))
    return nullptr;
  source->errors.clear();
  source->block.walk([](FunctionOpInterface function) {
    if (function->hasAttr(Fp8Dialect::kLinearAttrName))
      (void)verifyLinearity(function);
  });
  return source;
}

StringRef CheckedSource::getText() const {
  return sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
}

SmallVector<Value> CheckedSource::getLinearValuesAt(Location location) {
  SmallVector<Value> values;
  auto add = [&](ValueRange range) {
    for (Value value : range)
      if (value.getLoc() == location && isLinear(value.getType()))
        values.push_back(value);
  };
  block.walk([&](Operation *op) {
    add(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        add(block.getArguments());
  });
  return values;
}

SmallVector<Operation *> CheckedSource::getOperationsAt(Location location) {
  SmallVector<Operation *> operations;
  block.walk([&](Operation *op) {
    if (op->getLoc() == location)
      operations.push_back(op);
  });
  return operations;
}

const AsmParserState::SMDefinition *
CheckedSource::getValueDefinition(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const AsmParserState::BlockDefinition *found =
        state.getBlockDef(argument.getOwner());
    if (!found || argument.getArgNumber() >= found->arguments.size())
      return nullptr;
    return &found->arguments[argument.getArgNumber()];
  }
  const AsmParserState::OperationDefinition *found =
      state.getOpDef(value.getDefiningOp());
  if (!found)
    return nullptr;
  unsigned index = cast<OpResult>(value).getResultNumber();
  const AsmParserState::SMDefinition *group = nullptr;
  for (const auto &candidate : found->resultGroups)
    if (candidate.startIndex <= index)
      group = &candidate.definition;
  return group;
}

/// The identifier that begins there, with the number of a result behind it.
static StringRef lexName(SMLoc begin) {
  const char *end = begin.getPointer();
  if (*end != '%')
    return "";
  ++end;
  while (llvm::isAlnum(*end) || StringRef("$._-").contains(*end))
    ++end;
  if (*end == '#' && llvm::isDigit(end[1]))
    for (++end; llvm::isDigit(*end);)
      ++end;
  return StringRef(begin.getPointer(), end - begin.getPointer());
}

SmallVector<SMRange> CheckedSource::getUses(Value value) const {
  SmallVector<SMRange> uses;
  const AsmParserState::SMDefinition *definition = getValueDefinition(value);
  std::string name = getName(value);
  if (!definition || name.empty())
    return uses;
  for (SMRange use : definition->uses) {
    StringRef found = lexName(use.Start);
    if (found == name)
      uses.emplace_back(use.Start, SMLoc::getFromPointer(found.end()));
  }
  return uses;
}

std::string CheckedSource::getName(Value value) const {
  const AsmParserState::SMDefinition *definition = getValueDefinition(value);
  if (!definition)
    return "";
  std::string name = lexName(definition->loc.Start).str();
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return name;
  // Of a group of results, each has a number.
  const auto &groups = state.getOpDef(result.getOwner())->resultGroups;
  auto group = llvm::find_if(
      groups, [&](auto &group) { return &group.definition == definition; });
  unsigned end = std::next(group) == groups.end()
                     ? result.getOwner()->getNumResults()
                     : std::next(group)->startIndex;
  if (end - group->startIndex == 1)
    return name;
  return name + "#" +
         std::to_string(result.getResultNumber() - group->startIndex);
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string CheckedSource::getTypeText(Type type) const {
  SmallVector<std::pair<std::string, std::string>> aliases;
  for (const auto &alias : state.getTypeAliasDefs())
    aliases.emplace_back(print(alias.value), "!" + alias.name.str());
  // A type that has others in it comes before these.
  llvm::sort(aliases,
             [](auto &a, auto &b) { return a.first.size() > b.first.size(); });
  std::string text = print(type);
  for (auto &[full, alias] : aliases)
    for (size_t at = 0; (at = text.find(full, at)) != std::string::npos;
         at += alias.size())
      text.replace(at, full.size(), alias);
  return text;
}

std::string CheckedSource::getFreshName(StringRef name) const {
  std::string fresh = "%" + name.str();
  for (unsigned number = 1; getText().contains(fresh); ++number)
    fresh = ("%" + name + Twine(number)).str();
  return fresh;
}
