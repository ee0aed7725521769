// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where variables, parameters and functions lie.

#include "Program/Decoder.h"

#include <algorithm>

using namespace fp8::sim;

static uint64_t alignUp(uint64_t value, uint64_t align) {
  return align ? (value + align - 1) / align * align : value;
}

void Decoder::placeSymbols() {
  using Kind = ConstantRow::Kind;
  // A later one of the same name counts.
  for (const Program::Global &global : program.globals)
    symbols[{-1, std::string(global.name)}] = {
        {Kind::Value, global.address, ""}, {}};
  for (uint32_t i = 1; i < kernel.functions().size(); ++i)
    symbols[{-1, kernel.functions()[i].source->signature.name}] = {
        {Kind::Value, functionAddress(kernel.functions()[i].index), ""}, {}};
  placeParameters();
  placeShared();
  placeFrames();
}

/// The kernel's own.
void Decoder::placeParameters() {
  uint64_t offset = 0;
  for (const EntryParameter &parameter : function.signature.parameters) {
    offset = alignUp(offset, parameter.alignBytes);
    program.parameterOffsets.push_back(offset);
    symbols[{0, parameter.name}] = {{ConstantRow::Kind::Value, offset, ""}, {}};
    offset += parameter.sizeBytes;
  }
  program.parameterBytes = offset;
}

void Decoder::placeShared() {
  uint64_t shared = kSharedReserved, dynamicAlign = 16;
  std::vector<std::pair<int32_t, const ast::Variable *>> dynamic;
  auto place = [&](int32_t scope, const ast::Variable &variable) {
    if (variable.space != ast::Space::Shared)
      return;
    if (variable.unsized || variable.isExtern) {
      dynamic.push_back({scope, &variable});
      dynamicAlign = std::max(dynamicAlign, variable.align);
      return;
    }
    shared = alignUp(shared, variable.align);
    program.sharedSymbols.push_back({variable.name, shared, variable.size});
    symbols[{scope, variable.name}] = {{ConstantRow::Kind::Shared, shared, ""},
                                       {}};
    shared += variable.size;
  };
  for (const ast::Variable &variable : module.variables)
    place(-1, variable);
  for (const ast::Variable &variable : function.variables)
    place(int32_t(variable.scope), variable);
  // Alignments above 1 KiB count from the start of the window, where the
  // reserved bytes end at 1024.
  program.staticSharedEnd =
      dynamic.empty() ? shared : alignUp(shared, dynamicAlign);
  for (auto [scope, variable] : dynamic) {
    program.sharedSymbols.push_back(
        {variable->name, program.staticSharedEnd, 0});
    symbols[{scope, variable->name}] = {
        {ConstantRow::Kind::Shared, program.staticSharedEnd, ""}, {}};
  }
}

namespace {
/// Gives what lies in the frames of functions offsets. A scope's part of the
/// frame begins where that of the scope around it ends, so that scopes beside
/// each other share theirs.
class FrameLayout {
public:
  FrameLayout(const LinkedKernel &kernel, std::vector<Function> &functions)
      : parents(kernel.code().scopeParents), functions(functions),
        used(parents.size()), owner(parents.size()) {
    uint32_t at = 0;
    for (uint32_t scope = 0; scope < parents.size(); ++scope) {
      while (at + 1 < functions.size() &&
             kernel.functions()[at + 1].scope <= scope)
        ++at;
      owner[scope] = at;
    }
  }
  /// The offset within the scope's part.
  uint64_t add(uint32_t scope, uint64_t bytes, uint64_t align) {
    Function &function = functions[owner[scope]];
    function.frameAlign = std::max(function.frameAlign, align);
    uint64_t offset = alignUp(used[scope], align);
    used[scope] = offset + bytes;
    return offset;
  }
  /// Where the parts begin, once all is added.
  std::vector<uint64_t> bases() {
    std::vector<uint64_t> base(parents.size());
    for (uint32_t scope = 0; scope < parents.size(); ++scope) {
      Function &function = functions[owner[scope]];
      if (parents[scope] >= 0)
        base[scope] =
            alignUp(base[size_t(parents[scope])] + used[size_t(parents[scope])],
                    function.frameAlign);
      function.frameBytes =
          std::max(function.frameBytes, base[scope] + used[scope]);
    }
    return base;
  }
  const Function &ownerOf(uint32_t scope) const {
    return functions[owner[scope]];
  }
  bool isEntry(uint32_t scope) const { return owner[scope] == 0; }

private:
  const std::vector<int32_t> &parents;
  std::vector<Function> &functions;
  std::vector<uint64_t> used;
  std::vector<uint32_t> owner; ///< by scope: its function
};
} // namespace

/// Local variables, parameters of functions and of calls.
void Decoder::placeFrames() {
  program.functions.resize(kernel.functions().size());
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    const LinkedFunction &linked = kernel.functions()[i];
    Function &placed = program.functions[i];
    placed.name = linked.source->signature.name;
    placed.address = functionAddress(linked.index);
    placed.pc = linked.instruction;
    placed.firstRegister = linked.reg;
    placed.registers = uint32_t(linked.source->registers.size());
    placed.recursive = linked.recursive;
  }
  FrameLayout layout(kernel, program.functions);
  struct Placed {
    uint32_t scope;
    const std::string *name;
    uint64_t offset, bytes;
    CallValue *value; ///< to tell, if it is a parameter
  };
  std::vector<Placed> all;
  auto addFormals = [&](uint32_t i, const std::vector<EntryParameter> &formals,
                        std::vector<CallValue> &values) {
    const LinkedFunction &linked = kernel.functions()[i];
    values.resize(formals.size());
    for (size_t n = 0; n < formals.size(); ++n) {
      const EntryParameter &formal = formals[n];
      values[n].bytes = formal.sizeBytes;
      values[n].inRow = formal.reg >= 0;
      if (values[n].inRow)
        values[n].row = (linked.reg + uint32_t(formal.reg)) * 2;
      else
        all.push_back(
            {linked.scope, &formal.name,
             layout.add(linked.scope, formal.sizeBytes, formal.alignBytes),
             formal.sizeBytes, &values[n]});
    }
  };
  for (uint32_t i = 1; i < program.functions.size(); ++i) {
    const ast::Function &source = *kernel.functions()[i].source;
    addFormals(i, source.returns, program.functions[i].results);
    addFormals(i, source.signature.parameters, program.functions[i].parameters);
  }
  for (const ast::Variable &variable : function.variables)
    if (variable.space == ast::Space::Local ||
        variable.space == ast::Space::Param)
      all.push_back({variable.scope, &variable.name,
                     layout.add(variable.scope, variable.size, variable.align),
                     variable.size, nullptr});
  const std::vector<uint64_t> bases = layout.bases();
  for (const Placed &placed : all) {
    uint64_t offset = bases[placed.scope] + placed.offset;
    // The entry's frame is where local memory begins.
    ConstantRow address = {ConstantRow::Kind::Value, offset, ""};
    if (!layout.isEntry(placed.scope))
      address = {ConstantRow::Kind::Frame, offset,
                 layout.ownerOf(placed.scope).name};
    CallValue value;
    value.offset = offset;
    value.bytes = placed.bytes;
    symbols[{int32_t(placed.scope), *placed.name}] = {address, value};
    if (placed.value)
      *placed.value = value;
  }
  program.localBytes = program.functions.front().frameBytes;
}

/// The rows that a call gives its frame's addresses.
void Decoder::listFrameRows() {
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ConstantRow &constant = program.constants[i];
    if (constant.kind != ConstantRow::Kind::Frame)
      continue;
    for (Function &owner : program.functions)
      if (owner.name == constant.name)
        owner.frameRows.push_back(
            {program.registers + uint32_t(i), constant.value});
  }
}
