// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The public face of the parser.

#include "fp8/Simulator/PTXModule.h"

#include "PTX/Parser.h"

using namespace fp8::sim;

std::string Diagnostic::str(std::string_view fileName) const {
  return std::string(fileName) + ":" + std::to_string(line) + ":" +
         std::to_string(column) + ": error: " + message;
}

std::string ast::Instruction::mnemonic() const {
  std::string text = opcode;
  for (const std::string &qualifier : qualifiers)
    text += "." + qualifier;
  return text;
}

const ast::Function *ast::Module::findEntry(std::string_view name) const {
  for (const Function &f : functions)
    if (f.isEntry && f.hasBody && f.signature.name == name)
      return &f;
  return nullptr;
}

std::optional<size_t> ast::Module::findFunction(std::string_view name) const {
  std::optional<size_t> found;
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i].signature.name == name && (!found || functions[i].hasBody))
      found = i;
  return found;
}

PTXModule::ParseResult PTXModule::parse(std::string_view text) {
  ParseResult result;
  auto module = std::make_shared<ast::Module>();
  std::vector<Token> tokens = tokenize(text, result.diagnostics);
  Parser(std::move(tokens), result.diagnostics).parse(*module);
  result.module.module = std::move(module);
  return result;
}

const std::string &PTXModule::target() const { return module->target; }
unsigned PTXModule::version() const { return module->version; }
const std::vector<Entry> &PTXModule::entries() const { return module->entries; }

const Entry *PTXModule::findEntry(std::string_view name) const {
  for (const Entry &entry : module->entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}
