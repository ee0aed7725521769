// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opcodes by name.

#include "Program/OpcodeTable.h"

using namespace fp8::sim;

void OpcodeTable::addFamily(std::string_view name,
                            void (*addOpcodes)(OpcodeTable &), bool computes) {
  family = name;
  familyComputes = computes;
  addOpcodes(*this);
}

void OpcodeTable::add(std::string_view opcode, DecodeFn decode) {
  auto [it, isNew] =
      entries.try_emplace(opcode, Entry{family, decode, familyComputes});
  if (!isNew)
    refused.push_back("opcode '" + std::string(opcode) + "' of family " +
                      std::string(family) +
                      " is already registered by family " +
                      std::string(it->second.family) +
                      "; let one family decode it and call the other");
}

DecodeFn OpcodeTable::find(std::string_view opcode) const {
  auto it = entries.find(opcode);
  return it == entries.end() ? nullptr : it->second.decode;
}

bool OpcodeTable::computes(std::string_view opcode) const {
  auto it = entries.find(opcode);
  return it != entries.end() && it->second.computes;
}

std::vector<std::string_view> OpcodeTable::opcodes() const {
  std::vector<std::string_view> names;
  for (const auto &entry : entries)
    names.push_back(entry.first);
  return names;
}
