// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions a kernel may call, and their code behind the kernel's.

#include "Program/Linker.h"

#include <algorithm>
#include <string>
#include <unordered_map>

using namespace fp8::sim;

CallOperands::CallOperands(const ast::Instruction &call) {
  using Kind = ast::Operand::Kind;
  auto at = call.operands.begin(), end = call.operands.end();
  if (at != end && at->kind == Kind::List)
    results = &*at++;
  if (at != end && (at->kind == Kind::Symbol || at->kind == Kind::Register))
    callee = &*at++;
  if (at != end && at->kind == Kind::List)
    arguments = &*at++;
  if (at != end && at->kind == Kind::Symbol)
    prototype = &*at++;
}

namespace {

/// The functions of a module that have a body, by name, and who may call whom.
class CallGraph {
public:
  explicit CallGraph(const ast::Module &module) : module(module) {
    for (const ast::Function &function : module.functions)
      if (function.hasBody && !function.isEntry)
        bodies.emplace(function.signature.name, &function);
  }

  /// The functions that `function` names, each once.
  std::vector<const ast::Function *> named(const ast::Function &function) {
    found.clear();
    for (const ast::Instruction &inst : function.instructions) {
      for (const ast::Operand &operand : inst.operands)
        add(operand);
      if (inst.opcode != "call")
        continue;
      CallOperands call(inst);
      // A table in memory may name what an indirect call reaches.
      if (call.callee && call.callee->kind == ast::Operand::Kind::Register)
        for (const ast::Variable &variable : module.variables)
          for (const ast::Variable::Relocation &address : variable.relocations)
            add(address.symbol);
    }
    for (const auto &[label, prototype] : function.prototypes)
      for (const std::string &target : prototype.targets)
        add(target);
    return found;
  }

private:
  const ast::Module &module;
  std::unordered_map<std::string, const ast::Function *> bodies;
  std::vector<const ast::Function *> found;

  void add(const std::string &name) {
    auto body = bodies.find(name);
    if (body != bodies.end() &&
        std::find(found.begin(), found.end(), body->second) == found.end())
      found.push_back(body->second);
  }
  void add(const ast::Operand &operand) {
    if (operand.kind == ast::Operand::Kind::Symbol)
      add(operand.name);
    for (const ast::Operand &element : operand.elements)
      add(element);
  }
};

/// Which functions can be reached from themselves. An address that a function
/// takes counts as a call of every function that makes indirect ones.
std::vector<bool>
findCycles(const std::vector<std::vector<uint32_t>> &callees) {
  std::vector<bool> cyclic(callees.size());
  for (uint32_t start = 0; start < callees.size(); ++start) {
    std::vector<bool> seen(callees.size());
    std::vector<uint32_t> open{start};
    while (!open.empty() && !seen[start]) {
      uint32_t at = open.back();
      open.pop_back();
      for (uint32_t next : callees[at])
        if (!seen[next]) {
          seen[next] = true;
          open.push_back(next);
        }
    }
    cyclic[start] = seen[start];
  }
  return cyclic;
}

bool callsIndirectly(const ast::Function &function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(),
                     [](const ast::Instruction &inst) {
                       if (inst.opcode != "call")
                         return false;
                       CallOperands call(inst);
                       return call.callee &&
                              call.callee->kind == ast::Operand::Kind::Register;
                     });
}

void shiftRegisters(ast::Operand &operand, uint32_t by) {
  if (operand.kind == ast::Operand::Kind::Register)
    operand.index += by;
  for (ast::Operand &element : operand.elements)
    shiftRegisters(element, by);
}

template <typename Map>
void appendScoped(Map &to, const Map &from, uint32_t scope, uint32_t by) {
  for (const auto &[key, value] : from) {
    auto [it, isNew] =
        to.emplace(std::make_pair(key.first + scope, key.second), value);
    if constexpr (std::is_same_v<typename Map::mapped_type, uint32_t>)
      it->second += by;
  }
}

/// Appends a function's code, with what it numbers counted on.
void append(ast::Function &to, const ast::Function &from) {
  const uint32_t instruction = uint32_t(to.instructions.size()),
                 reg = uint32_t(to.registers.size()),
                 scope = uint32_t(to.scopeParents.size()),
                 location = uint32_t(to.locations.size());
  to.registers.insert(to.registers.end(), from.registers.begin(),
                      from.registers.end());
  to.locations.insert(to.locations.end(), from.locations.begin(),
                      from.locations.end());
  for (int32_t parent : from.scopeParents)
    to.scopeParents.push_back(parent < 0 ? -1 : parent + int32_t(scope));
  for (ast::Variable variable : from.variables) {
    variable.scope += scope;
    to.variables.push_back(std::move(variable));
  }
  for (ast::Instruction inst : from.instructions) {
    inst.scope += scope;
    inst.location += location;
    if (inst.guard >= 0)
      inst.guard += int32_t(reg);
    for (ast::Operand &operand : inst.operands)
      shiftRegisters(operand, reg);
    to.instructions.push_back(std::move(inst));
  }
  // Behind its last instruction a function returns.
  ast::Instruction end;
  end.opcode = "ret";
  end.line =
      from.instructions.empty() ? from.line : from.instructions.back().line;
  end.scope = scope;
  end.location = location;
  to.instructions.push_back(std::move(end));
  appendScoped(to.labels, from.labels, scope, instruction);
  appendScoped(to.branchTargets, from.branchTargets, scope, 0);
  appendScoped(to.prototypes, from.prototypes, scope, 0);
}

} // namespace

LinkedKernel::LinkedKernel(const ast::Module &module,
                           const ast::Function &entry)
    : entry(&entry) {
  collect(module);
  if (parts.size() > 1)
    merge();
}

void LinkedKernel::collect(const ast::Module &module) {
  CallGraph graph(module);
  std::unordered_map<const ast::Function *, uint32_t> indices{{entry, 0}};
  std::vector<std::vector<uint32_t>> callees;
  parts.push_back({entry, size_t(entry - module.functions.data())});
  for (uint32_t i = 0; i < parts.size(); ++i) {
    callees.emplace_back();
    for (const ast::Function *callee : graph.named(*parts[i].source)) {
      auto [it, isNew] = indices.emplace(callee, uint32_t(parts.size()));
      if (isNew)
        parts.push_back({callee, size_t(callee - module.functions.data())});
      callees.back().push_back(it->second);
    }
  }
  for (uint32_t i = 0; i < parts.size(); ++i)
    if (callsIndirectly(*parts[i].source))
      for (uint32_t callee = 1; callee < parts.size(); ++callee)
        callees[i].push_back(callee);
  std::vector<bool> cyclic = findCycles(callees);
  for (uint32_t i = 0; i < parts.size(); ++i)
    parts[i].recursive = cyclic[i];
}

void LinkedKernel::merge() {
  ast::Function &code = merged.emplace();
  code.isEntry = code.hasBody = true;
  code.signature = entry->signature;
  code.line = entry->line;
  code.scopeParents.clear();
  code.locations.clear();
  for (LinkedFunction &part : parts) {
    part.instruction = uint32_t(code.instructions.size());
    part.reg = uint32_t(code.registers.size());
    part.scope = uint32_t(code.scopeParents.size());
    append(code, *part.source);
  }
}

uint32_t LinkedKernel::functionOf(uint32_t instruction) const {
  auto behind =
      std::upper_bound(parts.begin(), parts.end(), instruction,
                       [](uint32_t at, const LinkedFunction &function) {
                         return at < function.instruction;
                       });
  return uint32_t(behind - parts.begin()) - 1;
}

std::optional<uint32_t> LinkedKernel::find(std::string_view name) const {
  for (uint32_t i = 1; i < parts.size(); ++i)
    if (parts[i].source->signature.name == name)
      return i;
  return std::nullopt;
}
