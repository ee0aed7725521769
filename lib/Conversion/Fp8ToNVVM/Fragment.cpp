// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers fragments that come from nothing else in shared memory: zeros,
// accumulators that are read, and regions that are computed on them.
//
// A thread holds its part of a fragment as pairs of f32: Blackwell multiplies
// and adds two f32 in one instruction (PTX ISA, fma.rn.f32x2).

#include "Fragment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Reading accumulators
//===----------------------------------------------------------------------===//

/// The columns of tensor memory of one load. Narrow loads let ptxas start the
/// next as soon as a few registers are free; wide ones are fewer, which is
/// better where all fit beside the sums, and where hardly two do.
static int64_t getLoadColumns(int64_t columns) {
  int64_t load = columns > 64 && columns <= 160 ? 16 : 32;
  while (columns % load)
    load /= 2;
  return load;
}

/// The loads of a thread that holds one row.
static SmallVector<Value> startRowLoads(Value address,
                                        const RegisterLayout &layout,
                                        Instructions &instructions) {
  int64_t halfDistance = 0, columns = layout.getNumRegisters();
  for (const RegisterLayout::Digit &digit : layout.getDigits())
    if (digit.unit == Unit::Lane && digit.axis == RegisterLayout::Column)
      halfDistance = digit.stride;
  int64_t load = getLoadColumns(columns);
  SmallVector<Value> loads;
  for (int64_t column = 0; column < columns; column += load)
    loads.push_back(instructions.startTmemLoad(
        instructions.add(address, column), load, halfDistance));
  return loads;
}

/// The loads of the transpose: rows of the fragment are columns of tensor
/// memory, eight of which are a matrix of 16 lanes.
static SmallVector<Value> startMatrixLoads(Value address,
                                           const RegisterLayout &layout,
                                           Instructions &instructions) {
  constexpr int64_t kLanes = 16, kColumns = 8, kRegisters = 4;
  int64_t columns = layout.getRun(RegisterLayout::Row, Unit::Lane),
          perLanes = columns / kColumns * kRegisters,
          load = getLoadColumns(columns);
  SmallVector<Value> loads;
  for (int64_t reg = 0; reg < layout.getNumRegisters(); reg += perLanes) {
    // The lane is in the upper half of the address.
    Value lanes = instructions.add(address, (reg / perLanes * kLanes) << 16);
    for (int64_t column = 0; column < columns; column += load)
      loads.push_back(instructions.startTmemMatrixLoad(
          instructions.add(lanes, column), load / kColumns));
  }
  return loads;
}

SmallVector<Value> mlir::fp8::readAccumulator(Value address,
                                              const FragmentPart &part,
                                              Instructions &instructions) {
  address = instructions.add(address, part.tmemOffset);
  // All loads, then one wait: a wait waits for all that were started, so that
  // loads overlap only between two. ptxas starts them as registers come free,
  // and makes each use wait for its own load alone.
  return instructions.finishTmemLoads(
      part.layout.isOneRow()
          ? startRowLoads(address, part.layout, instructions)
          : startMatrixLoads(address, part.layout, instructions));
}

RoleValues mlir::fp8::getRoleAfterSums(Operation *op,
                                       Instructions &instructions) {
  RoleValues role = getRole(op);
  if (role.promotes)
    role.lane = instructions.keepInLoop(role.lane);
  return role;
}

//===----------------------------------------------------------------------===//
// zero, read, read_element
//===----------------------------------------------------------------------===//

/// zero: pairs of zeros.
static SmallVector<Value> spellZero(ZeroOp op, Operands<ZeroOp>,
                                    Instructions &to) {
  return SmallVector<Value>(
      op.getFragment().getType().getColumnsPerThread() / 2, to.zeroPair());
}

/// read: load and wait.
static SmallVector<Value> spellRead(ReadOp op, Operands<ReadOp> operands,
                                    Instructions &to) {
  FragmentPart part(op.getFragment().getType(), getRole(op), to);
  return readAccumulator(operands.getAccumulator()[0], part, to);
}

/// read_element: the same load in every thread.
static Value spellReadElement(ReadElementOp op,
                              Operands<ReadElementOp> operands,
                              Instructions &to) {
  constexpr int64_t kBytes = 4;
  Value address = to.add(operands.getRow()[0], kBytes * op.getColumn());
  return to.loadShared(address, op.getElement().getType());
}

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

/// The body of a map, for one element of each operand.
static Value cloneBody(MapOp op, ValueRange elements, OpBuilder &builder) {
  Block &body = op.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), elements);
  for (Operation &inner : body.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(mapping.lookupOrDefault(operand));
    if (Value value =
            Instructions(builder, inner.getLoc())
                .computeMath(inner.getName().getStringRef(), operands))
      mapping.map(inner.getResult(0), value);
    else
      builder.clone(inner, mapping);
  }
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
}

/// map: the body, once for each element.
static SmallVector<Value> spellMap(MapOp op, Operands<MapOp> operands,
                                   Instructions &to) {
  SmallVector<Value> results;
  for (size_t i = 0, e = operands.getInits()[0].size(); i < e; ++i) {
    Value pair;
    for (int64_t position : {0, 1}) {
      SmallVector<Value> elements;
      for (ValueRange pairs : operands.getInits())
        elements.push_back(to.extract(pairs[i], position));
      Value value = cloneBody(op, elements, to.getBuilder());
      pair = to.insert(pair ? pair : to.undefPair(), value, position);
    }
    results.push_back(pair);
  }
  return results;
}

void mlir::fp8::populateFragmentPatterns(const TypeConverter &converter,
                                         RewritePatternSet &all) {
  SpellingPatterns patterns{converter, all};
  patterns.add<ZeroOp>(spellZero);
  patterns.add<ReadOp>(spellRead);
  patterns.add<ReadElementOp>(spellReadElement);
  patterns.add<MapOp>(spellMap);
}
