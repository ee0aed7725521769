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

/// The columns of one load. Narrow loads let ptxas start the next as soon as a
/// few registers are free; wide ones are fewer, which is better where all fit
/// beside the sums, and where hardly two do.
static int64_t getLoadColumns(int64_t columns) {
  int64_t load = columns > 64 && columns <= 160 ? 16 : 32;
  while (columns % load)
    load /= 2;
  return load;
}

SmallVector<Value> mlir::fp8::readAccumulator(Value address,
                                              const FragmentPart &part,
                                              Instructions &instructions) {
  address = instructions.add(address, part.tmemOffset);
  int64_t halfDistance = 0, columns = part.layout.getNumRegisters();
  for (const RegisterLayout::Digit &digit : part.layout.getDigits())
    if (digit.unit == Unit::Lane && digit.axis == RegisterLayout::Column)
      halfDistance = digit.stride;
  // All loads, then one wait: a wait waits for all that were started, so that
  // loads overlap only between two. ptxas starts them as registers come free,
  // and makes each use wait for its own load alone.
  int64_t load = getLoadColumns(columns);
  SmallVector<Value> loads;
  for (int64_t column = 0; column < columns; column += load)
    loads.push_back(instructions.startTmemLoad(
        instructions.add(address, column), load, halfDistance));
  return instructions.finishTmemLoads(loads);
}

RoleValues mlir::fp8::getRoleAfterSums(Operation *op, Instructions &instructions) {
  RoleValues role = getRole(op);
  if (role.promotes)
    role.lane = instructions.keepInLoop(role.lane);
  return role;
}

namespace {

//===----------------------------------------------------------------------===//
// zero, read
//===----------------------------------------------------------------------===//

/// zero: pairs of zeros.
struct LowerZero : public KernelPattern<ZeroOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ZeroOp op, Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    auto pairType = VectorType::get(2, rewriter.getF32Type());
    Value zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                           rewriter.getZeroAttr(pairType));
    SmallVector<Value> pairs(
        op.getFragment().getType().getColumnsPerThread() / 2, zero);
    rewriter.replaceOpWithMultiple(op, {pairs});
    return success();
  }
};

/// read: load and wait.
struct LowerRead : public KernelPattern<ReadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ReadOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    FragmentPart part(op.getFragment().getType(), getRole(op),
                      instructions);
    rewriter.replaceOpWithMultiple(
        op,
        {readAccumulator(operands.getAccumulator()[0], part, instructions)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

/// map: the body, once for each element.
struct LowerMap : public KernelPattern<MapOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(MapOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    SmallVector<Value> results;
    for (size_t i = 0, e = operands.getInits()[0].size(); i < e; ++i) {
      Value pair;
      for (int64_t position : {0, 1}) {
        SmallVector<Value> elements;
        for (ValueRange pairs : operands.getInits())
          elements.push_back(instructions.extract(pairs[i], position));
        Value value = clone(op, elements, rewriter);
        pair = instructions.insert(pair ? pair : instructions.undefPair(),
                                   value, position);
      }
      results.push_back(pair);
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  static Value clone(MapOp op, ValueRange elements,
                     ConversionPatternRewriter &rewriter) {
    Block &body = op.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), elements);
    for (Operation &inner : body.without_terminator()) {
      SmallVector<Value> operands;
      for (Value operand : inner.getOperands())
        operands.push_back(mapping.lookupOrDefault(operand));
      if (Value value =
              Instructions(rewriter, inner.getLoc())
                  .computeMath(inner.getName().getStringRef(), operands))
        mapping.map(inner.getResult(0), value);
      else
        rewriter.clone(inner, mapping);
    }
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  }
};

//===----------------------------------------------------------------------===//
// read_element
//===----------------------------------------------------------------------===//

/// read_element: the same load in every thread.
struct LowerReadElement : public KernelPattern<ReadElementOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ReadElementOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    constexpr int64_t kBytes = 4;
    Value address =
        instructions.add(operands.getRow()[0], kBytes * op.getColumn());
    rewriter.replaceOp(
        op, instructions.loadShared(address, op.getElement().getType()));
    return success();
  }
};

} // namespace

void mlir::fp8::populateFragmentPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<LowerZero, LowerRead, LowerReadElement, LowerMap>(
      converter, patterns.getContext());
}
