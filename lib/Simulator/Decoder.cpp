// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands, symbols and qualifiers: what all families of instructions share.

#include "Decoder.h"

#include "Numerics.h"

#include <algorithm>

using namespace fp8::sim;
using ast::Operand;

Type fp8::sim::typeByName(std::string_view name) {
  static const std::unordered_map<std::string_view, Type> types = {
      {"b8", Type::B8},         {"u8", Type::U8},
      {"s8", Type::S8},         {"b16", Type::B16},
      {"u16", Type::U16},       {"s16", Type::S16},
      {"f16", Type::F16},       {"bf16", Type::BF16},
      {"b32", Type::B32},       {"u32", Type::U32},
      {"s32", Type::S32},       {"f32", Type::F32},
      {"tf32", Type::TF32},     {"b64", Type::B64},
      {"u64", Type::U64},       {"s64", Type::S64},
      {"f64", Type::F64},       {"b128", Type::B128},
      {"pred", Type::Pred},     {"f16x2", Type::F16x2},
      {"bf16x2", Type::BF16x2}, {"f32x2", Type::F32x2},
      {"u16x2", Type::U16x2},   {"s16x2", Type::S16x2},
      {"e4m3x2", Type::E4M3x2}, {"e5m2x2", Type::E5M2x2},
      {"e4m3x4", Type::E4M3x4}, {"e5m2x4", Type::E5M2x4}};
  auto it = types.find(name);
  return it == types.end() ? Type::None : it->second;
}

unsigned fp8::sim::typeSize(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::F32x2:
    return 8;
  case Type::B128:
    return 16;
  case Type::None:
  case Type::Pred:
    return 0;
  default:
    return 4;
  }
}

bool fp8::sim::isSignedType(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 ||
         type == Type::S64;
}
bool fp8::sim::isFloatType(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
         type == Type::F64 || type == Type::TF32;
}

const DecodeTable &fp8::sim::decodeTable() {
  static const DecodeTable table = [] {
    DecodeTable t;
    addMoveDecoders(t);
    addIntegerDecoders(t);
    addBitDecoders(t);
    addFloatDecoders(t);
    addPackedDecoders(t);
    addConvertDecoders(t);
    addCompareDecoders(t);
    addControlDecoders(t);
    addWarpDecoders(t);
    addMemoryDecoders(t);
    addAtomicDecoders(t);
    addBarrierDecoders(t);
    addMbarrierDecoders(t);
    addCopyDecoders(t);
    addTmaDecoders(t);
    addMatrixDecoders(t);
    addTcgen05Decoders(t);
    return t;
  }();
  return table;
}

Decoder::Decoder(const ast::Module &module, const ast::Function &function,
                 Program &program)
    : program(program), module(module), function(function) {
  program.module = &module;
  program.function = &function;
  // A 128-bit register takes two rows, so register indices are mapped through
  // rowOf; to keep that a plain identity, every register has two rows.
  program.registers = uint32_t(function.registers.size()) * 2;
  program.rowNames.resize(program.registers);
  for (size_t i = 0; i < function.registers.size(); ++i)
    program.rowNames[2 * i] = program.rowNames[2 * i + 1] =
        function.registers[i].name;
  sinkRow = constantRow({ConstantRow::Kind::Special, 0, "_"});
  constantRow({ConstantRow::Kind::Special, 1, "_"});
  placeSymbols();
}

static uint64_t alignUp(uint64_t value, uint64_t align) {
  return align ? (value + align - 1) / align * align : value;
}

void Decoder::placeSymbols() {
  uint64_t offset = 0;
  for (const EntryParameter &parameter : function.signature.parameters) {
    offset = alignUp(offset, parameter.alignBytes);
    program.parameterOffsets.push_back(offset);
    symbols[parameter.name] = {ConstantRow::Kind::Value, offset};
    offset += parameter.sizeBytes;
  }
  program.parameterBytes = offset;
  for (const Program::Global &global : program.globals)
    symbols[global.variable->name] = {ConstantRow::Kind::Value, global.address};

  uint64_t shared = kSharedReserved, local = 0;
  std::vector<const ast::Variable *> dynamic;
  uint64_t dynamicAlign = 16;
  auto place = [&](const std::vector<ast::Variable> &variables) {
    for (const ast::Variable &variable : variables) {
      if (variable.space == ast::Space::Shared) {
        if (variable.unsized || variable.isExtern) {
          dynamic.push_back(&variable);
          dynamicAlign = std::max(dynamicAlign, variable.align);
          continue;
        }
        shared = alignUp(shared, variable.align);
        program.sharedSymbols.push_back({variable.name, shared, variable.size});
        symbols[variable.name] = {ConstantRow::Kind::Shared, shared};
        shared += variable.size;
      } else if (variable.space == ast::Space::Local) {
        local = alignUp(local, variable.align);
        symbols[variable.name] = {ConstantRow::Kind::Value, local};
        local += variable.size;
      }
    }
  };
  place(module.variables);
  place(function.variables);
  // Alignments above 1 KiB count from the start of the window, where the
  // reserved bytes end at 1024.
  program.staticSharedEnd =
      dynamic.empty() ? shared : alignUp(shared, dynamicAlign);
  for (const ast::Variable *variable : dynamic) {
    program.sharedSymbols.push_back(
        {variable->name, program.staticSharedEnd, 0});
    symbols[variable->name] = {ConstantRow::Kind::Shared,
                               program.staticSharedEnd};
  }
  program.localBytes = local;
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

bool Decoder::run(std::vector<SimulationError> &errors, unsigned maxErrors) {
  program.code.resize(function.instructions.size() + 1);
  for (size_t i = 0;
       i < function.instructions.size() && errors.size() < maxErrors; ++i) {
    current = &function.instructions[i];
    Inst &inst = program.code[i];
    inst.index = uint32_t(i);
    inst.text = current;
    failed = false;
    if (decodeOne(inst))
      continue;
    SimulationError error;
    error.kind = ErrorKind::Unsupported;
    error.message = failure;
    error.where.ptxLine = current->line;
    errors.push_back(std::move(error));
  }
  return errors.empty();
}

bool Decoder::fail(std::string message) {
  if (!failed)
    failure = "instruction '" + current->mnemonic() + "': " + message;
  failed = true;
  return false;
}

bool Decoder::decodeOne(Inst &inst) {
  auto it = decodeTable().find(current->opcode);
  if (it == decodeTable().end()) {
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
  if (!it->second(*this, inst) || failed)
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
  fail("has no type that the simulator knows");
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

const Operand *Decoder::peekOperand() const {
  return nextOperand < current->operands.size()
             ? &current->operands[nextOperand]
             : nullptr;
}

const Operand *Decoder::takeOperand() {
  if (nextOperand < current->operands.size())
    return &current->operands[nextOperand++];
  fail("lacks an operand");
  return nullptr;
}

unsigned Decoder::registerBytes(const Operand &operand) const {
  return operand.kind == Operand::Kind::Register
             ? function.registers[operand.index].bits / 8
             : 0;
}

bool Decoder::row(const Operand &operand, Type type, uint32_t &row) {
  switch (operand.kind) {
  case Operand::Kind::Register:
    if (function.registers[operand.index].bits == 1)
      return fail("predicate '" + operand.name +
                  "' stands where a register is needed");
    if (typeSize(type) * 8 > function.registers[operand.index].bits)
      return fail("register '" + operand.name + "' is too narrow");
    row = operand.index * 2;
    return true;
  case Operand::Kind::Integer: {
    uint64_t value = operand.value;
    if (type == Type::F32 || type == Type::TF32)
      value = bitCast<uint32_t>(float(int64_t(value)));
    else if (type == Type::F64)
      value = bitCast<uint64_t>(double(int64_t(value)));
    unsigned bytes = typeSize(type);
    if (bytes && bytes < 8)
      value &= (uint64_t(1) << (bytes * 8)) - 1;
    row = constant(value);
    return true;
  }
  case Operand::Kind::Float: {
    uint64_t value = operand.value;
    if (typeSize(type) == 8 && operand.bits != 64)
      value = bitCast<uint64_t>(operand.real);
    else if (typeSize(type) == 4 && operand.bits != 32)
      value = bitCast<uint32_t>(float(operand.real));
    else if (typeSize(type) == 2)
      value = type == Type::BF16 ? doubleToBF16(operand.real)
                                 : doubleToF16(operand.real);
    row = constant(value);
    return true;
  }
  case Operand::Kind::Special:
    if (operand.name.rfind("%clock", 0) == 0 ||
        operand.name.rfind("%globaltimer", 0) == 0)
      return fail("'" + operand.name + "' can only be read by mov");
    row = constantRow({ConstantRow::Kind::Special, 0, operand.name});
    return true;
  case Operand::Kind::Symbol: {
    auto it = symbols.find(operand.name);
    if (it == symbols.end())
      return fail("'" + operand.name + "' is not declared");
    row = constantRow(
        {it->second.kind, it->second.value + uint64_t(operand.offset), ""});
    return true;
  }
  default:
    return fail("has an operand of an unexpected form");
  }
}

bool Decoder::destinationRow(const Operand &operand, Type type, uint32_t &row) {
  if (operand.kind == Operand::Kind::Sink) {
    row = sinkRow;
    return true;
  }
  if (operand.kind != Operand::Kind::Register)
    return fail("needs a register as destination");
  return this->row(operand, type, row);
}

bool Decoder::destination(Inst &inst, Type type) {
  const Operand *operand = takeOperand();
  if (!operand || !destinationRow(*operand, type, inst.d[inst.destinations]))
    return false;
  ++inst.destinations;
  return true;
}

bool Decoder::source(Inst &inst, Type type) {
  const Operand *operand = takeOperand();
  if (!operand || !row(*operand, type, inst.s[inst.sources]))
    return false;
  ++inst.sources;
  return true;
}

bool Decoder::predicateDestination(Inst &inst) {
  const Operand *operand = takeOperand();
  if (!operand)
    return false;
  if (operand->kind == Operand::Kind::Pair) {
    for (const Operand &element : operand->elements) {
      int32_t &slot = inst.pd[inst.predicateDestinations++];
      if (element.kind == Operand::Kind::Sink)
        continue;
      if (element.kind != Operand::Kind::Register ||
          function.registers[element.index].bits != 1)
        return fail("needs a predicate as destination");
      slot = int32_t(element.index);
    }
    return true;
  }
  int32_t &slot = inst.pd[inst.predicateDestinations++];
  if (operand->kind == Operand::Kind::Sink)
    return true;
  if (operand->kind != Operand::Kind::Register ||
      function.registers[operand->index].bits != 1)
    return fail("needs a predicate as destination");
  slot = int32_t(operand->index);
  return true;
}

bool Decoder::predicateSource(Inst &inst) {
  const Operand *operand = takeOperand();
  if (!operand)
    return false;
  if (operand->kind != Operand::Kind::Register ||
      function.registers[operand->index].bits != 1)
    return fail("needs a predicate as source");
  if (operand->negated)
    inst.predicateNegations |= uint8_t(1 << inst.predicateSources);
  inst.p[inst.predicateSources++] = operand->index;
  return true;
}

bool Decoder::list(Inst &inst, unsigned count, Type type, bool isDestination) {
  const Operand *operand = takeOperand();
  if (!operand)
    return false;
  inst.list = uint32_t(program.lists.size());
  inst.listCount = count;
  inst.listIsDestination = isDestination;
  auto add = [&](const Operand &element) {
    uint32_t at = 0;
    if (isDestination ? !destinationRow(element, type, at)
                      : !row(element, type, at))
      return false;
    program.lists.push_back(at);
    return true;
  };
  if (operand->kind != Operand::Kind::Vector)
    return count == 1 ? add(*operand)
                      : fail("needs a vector of " + std::to_string(count) +
                             " registers");
  if (operand->elements.size() != count)
    return fail("needs a vector of " + std::to_string(count) +
                " registers, not " + std::to_string(operand->elements.size()));
  return std::all_of(operand->elements.begin(), operand->elements.end(), add);
}

bool Decoder::address(Inst &inst, const Operand **whole) {
  const Operand *operand = takeOperand();
  if (!operand)
    return false;
  if (operand->kind != Operand::Kind::Address)
    return fail("needs an address in brackets");
  if (whole)
    *whole = operand;
  else if (operand->elements.size() != 1)
    return fail("needs an address without coordinates");
  const Operand &base = operand->elements[0];
  // Addresses may sit in 32-bit or 64-bit registers.
  Type type = base.kind == Operand::Kind::Register ? Type::B32 : Type::B64;
  if (!row(base, type, inst.s[inst.sources]))
    return false;
  ++inst.sources;
  inst.offset = operand->offset;
  return true;
}

bool Decoder::immediate(uint64_t &value) {
  const Operand *operand = takeOperand();
  if (!operand)
    return false;
  if (operand->kind != Operand::Kind::Integer)
    return fail("needs an immediate integer");
  value = operand->value;
  return true;
}

bool Decoder::label(const std::string &name, uint32_t &target) {
  for (int32_t scope = int32_t(current->scope); scope >= 0;
       scope = function.scopeParents[size_t(scope)]) {
    auto it = function.labels.find({uint32_t(scope), name});
    if (it != function.labels.end()) {
      target = it->second;
      return true;
    }
  }
  return fail("label '" + name + "' is not defined");
}

const std::vector<std::string> *
Decoder::branchTargets(const std::string &name) const {
  for (int32_t scope = int32_t(current->scope); scope >= 0;
       scope = function.scopeParents[size_t(scope)]) {
    auto it = function.branchTargets.find({uint32_t(scope), name});
    if (it != function.branchTargets.end())
      return &it->second;
  }
  return nullptr;
}
