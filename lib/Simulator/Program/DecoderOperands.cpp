// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of instructions as rows.

#include "Program/Decoder.h"

#include "Numerics/Formats.h"

#include <algorithm>

using namespace fp8::sim;
using ast::Operand;

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
                  "' is used where a register is needed");
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
    const Symbol *found = symbol(operand.name);
    if (!found)
      return fail("'" + operand.name + "' is not declared");
    ConstantRow address = found->constant;
    address.value += uint64_t(operand.offset);
    row = constantRow(std::move(address));
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

bool Decoder::requiresChip(unsigned number) {
  // "sm_" and digits, perhaps with a letter behind them.
  unsigned target = 0;
  for (char c : module.target)
    if (c >= '0' && c <= '9')
      target = target * 10 + unsigned(c - '0');
  return target >= number ||
         fail("needs sm_" + std::to_string(number) +
              " or later, but the module is for " + module.target);
}

bool Decoder::sourceList(Inst &inst, unsigned count, Type type) {
  Inst one;
  if (!list(one, count, type, false))
    return false;
  if (!inst.sourceListCount)
    inst.sourceList = one.list;
  inst.sourceListCount += count;
  return true;
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
  inst.addresses |= uint8_t(1u << inst.sources);
  ++inst.sources;
  inst.offset = operand->offset;
  return true;
}

bool Decoder::address(Inst &inst, uint64_t &offset) {
  int64_t first = inst.offset;
  if (!address(inst))
    return false;
  offset = uint64_t(inst.offset);
  inst.offset = first;
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
