// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbols, labels and qualifiers: what all families share.

#include "Program/Decoder.h"

#include "Program/RowPlaces.h"

#include <algorithm>

using namespace fp8::sim;

Decoder::Decoder(const OpcodeTable &opcodes, const ast::Module &module,
                 const LinkedKernel &kernel, Program &program)
    : program(program), module(module), kernel(kernel), function(kernel.code()),
      opcodes(opcodes) {
  program.module = &module;
  program.function = &function;
  // A 128-bit register takes two rows, so register indices are mapped through
  // rowOf; to keep that a plain identity, every register has two rows.
  program.registers = uint32_t(function.registers.size()) * 2;
  program.predicates = uint32_t(function.registers.size());
  program.rowNames.resize(program.registers);
  for (size_t i = 0; i < function.registers.size(); ++i)
    program.rowNames[2 * i] = program.rowNames[2 * i + 1] =
        function.registers[i].name;
  sinkRow = constantRow({ConstantRow::Kind::Special, 0, "_"});
  constantRow({ConstantRow::Kind::Special, 1, "_"});
  placeSymbols();
}

uint32_t Decoder::constantRow(ConstantRow constant) {
  auto key = std::make_pair(int(constant.kind),
                            std::make_pair(constant.value, constant.name));
  auto it = constantRows.find(key);
  if (it != constantRows.end())
    return it->second;
  uint32_t row = program.registers + uint32_t(program.constants.size());
  program.constants.push_back(std::move(constant));
  constantRows.emplace(std::move(key), row);
  return row;
}

uint32_t Decoder::constant(uint64_t value) {
  return constantRow({ConstantRow::Kind::Value, value, ""});
}

bool Decoder::run(std::vector<SimulationError> &errors) {
  struct Unknown {
    size_t error;    ///< its index
    unsigned places; ///< instructions
  };
  std::map<std::string, Unknown> unknown; ///< by message
  program.code.resize(function.instructions.size() + 1);
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    current = &function.instructions[i];
    Inst &inst = program.code[i];
    inst.index = uint32_t(i);
    inst.text = current;
    failed = false;
    if (decodeOne(inst))
      continue;
    auto [found, first] = unknown.insert({failure, {errors.size(), 0}});
    ++found->second.places;
    if (!first)
      continue;
    SimulationError error{ErrorKind::Unsupported};
    error.message = failure;
    error.where.ptxLine = current->line;
    errors.push_back(std::move(error));
  }
  for (const auto &[message, at] : unknown)
    if (at.places > 1)
      errors[at.error].message +=
          " (" + std::to_string(at.places) + " instructions)";
  // What is half decoded names operands that it does not have.
  if (!errors.empty())
    return false;
  listRows();
  findFragments();
  listFrameRows();
  placeRows(program);
  return true;
}

/// Gathers what each instruction reads and writes, and says which are plain.
void Decoder::listRows() {
  for (Inst &inst : program.code) {
    auto gather = [&](const uint32_t *rows, uint32_t count, bool isList,
                      RowRange more) {
      std::vector<uint32_t> all(rows, rows + count);
      if (isList)
        all.insert(all.end(), program.lists.begin() + inst.list,
                   program.lists.begin() + inst.list + inst.listCount);
      all.insert(all.end(), program.begin(more), program.end(more));
      RowRange range{uint32_t(program.lists.size()), uint32_t(all.size())};
      program.lists.insert(program.lists.end(), all.begin(), all.end());
      return range;
    };
    inst.reads = gather(inst.s, inst.sources, !inst.listIsDestination,
                        {inst.sourceList, inst.sourceListCount});
    inst.writes = gather(inst.d, inst.destinations, inst.listIsDestination, {});
    inst.plain = inst.computes && !inst.needed && !inst.keepsReady &&
                 !inst.exclusive && inst.convergence == Convergence::None;
  }
}

/// Marks the other instructions that use registers of wgmma instructions.
void Decoder::findFragments() {
  std::vector<bool> &fragment = program.fragmentRows;
  for (const Inst &inst : program.code)
    if (inst.wgmma) {
      fragment.resize(program.registers);
      for (uint32_t n = 0; n < inst.listCount; ++n)
        fragment[program.lists[inst.list + n]] = true;
    }
  if (fragment.empty())
    return;
  for (Inst &inst : program.code)
    for (RowRange range : {inst.reads, inst.writes})
      inst.touchesFragments |=
          !inst.wgmma && std::any_of(program.begin(range), program.end(range),
                                     [&](uint32_t row) {
                                       return row < fragment.size() &&
                                              fragment[row];
                                     });
}

bool Decoder::fail(std::string message) {
  if (!failed)
    failure = "instruction '" + current->mnemonic() + "': " + message;
  failed = true;
  return false;
}

bool Decoder::decodeOne(Inst &inst) {
  DecodeFn decode = opcodes.find(current->opcode);
  if (!decode) {
    failed = true;
    failure = "unknown instruction '" + current->mnemonic() +
              "'; the simulator has no rule for it";
    return false;
  }
  qualifierUsed.assign(current->qualifiers.size(), false);
  nextOperand = 0;
  cacheHint = false;
  inst.guard = current->guard;
  inst.guardNegated = current->guardNegated;
  inst.computes = opcodes.computes(current->opcode);
  if (!decode(*this, inst) || failed)
    return false;
  for (size_t i = 0; i < current->qualifiers.size(); ++i)
    if (!qualifierUsed[i])
      return fail("the qualifier '." + current->qualifiers[i] +
                  "' is not supported here");
  if (operandsLeft())
    return fail("has " + std::to_string(operandsLeft()) +
                " operand(s) more than this form takes");
  return inst.fn || fail("is not supported with this type");
}

bool Decoder::take(std::string_view qualifier) {
  for (size_t i = 0; i < current->qualifiers.size(); ++i)
    if (!qualifierUsed[i] && current->qualifiers[i] == qualifier) {
      qualifierUsed[i] = true;
      return true;
    }
  return false;
}

bool Decoder::hasQualifier(std::string_view qualifier) const {
  return std::find(current->qualifiers.begin(), current->qualifiers.end(),
                   qualifier) != current->qualifiers.end();
}

int Decoder::takeOneOf(std::initializer_list<std::string_view> qualifiers) {
  int index = 0;
  for (std::string_view qualifier : qualifiers) {
    if (take(qualifier))
      return index;
    ++index;
  }
  return -1;
}

bool Decoder::takeScope(Inst &inst) {
  const int scope = takeOneOf({"cta", "cluster", "gpu", "sys"});
  if (scope >= 0)
    inst.scope = Scope(std::min(scope, int(Scope::Gpu)));
  return scope >= 0;
}

Type Decoder::takeType() {
  for (size_t i = 0; i < current->qualifiers.size(); ++i) {
    if (qualifierUsed[i])
      continue;
    Type type = typeByName(current->qualifiers[i]);
    if (type == Type::None)
      continue;
    qualifierUsed[i] = true;
    return type;
  }
  fail("has no supported type");
  return Type::None;
}

void Decoder::dropCacheHints() {
  takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
             "L1::evict_last", "L1::no_allocate"});
  takeOneOf({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  cacheHint |= take("L2::cache_hint");
}

template <typename Map>
const typename Map::mapped_type *
Decoder::findInScopes(const Map &map, const std::string &name) const {
  for (int32_t scope = int32_t(current->scope); scope >= 0;
       scope = function.scopeParents[size_t(scope)]) {
    auto it = map.find({typename Map::key_type::first_type(scope), name});
    if (it != map.end())
      return &it->second;
  }
  auto it = map.find({typename Map::key_type::first_type(-1), name});
  return it == map.end() ? nullptr : &it->second;
}

bool Decoder::label(const std::string &name, uint32_t &target) {
  const uint32_t *found = findInScopes(function.labels, name);
  if (!found)
    return fail("label '" + name + "' is not defined");
  target = *found;
  return true;
}

const std::vector<std::string> *
Decoder::branchTargets(const std::string &name) const {
  return findInScopes(function.branchTargets, name);
}

const ast::Prototype *Decoder::prototype(const std::string &name) const {
  return findInScopes(function.prototypes, name);
}

const Decoder::Symbol *Decoder::symbol(const std::string &name) const {
  return findInScopes(symbols, name);
}

const CallValue *Decoder::frameValue(const std::string &name) const {
  const Symbol *found = symbol(name);
  return found && found->frame.bytes ? &found->frame : nullptr;
}

uint32_t Decoder::functionIndex() const {
  return kernel.functionOf(uint32_t(current - function.instructions.data()));
}
