// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts of how often parts of slots were written.

#include "Fills.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

std::optional<unsigned> Fills::getCounted(Type ring, unsigned part) const {
  if (contents.isAlwaysWritten(ring, part))
    return std::nullopt;
  unsigned number = 0;
  for (unsigned other = 0; other < part; ++other)
    number += !contents.isAlwaysWritten(ring, other);
  return number;
}

unsigned Fills::getNumCounted(Type ring) const {
  unsigned number = 0;
  for (unsigned part = 0; part < contents.getParts(ring).size(); ++part)
    number += !contents.isAlwaysWritten(ring, part);
  return number;
}

/// True if the type is that of a stage that its role fills, or of an end that
/// gives one.
static bool fills(Type type) {
  if (auto ready = dyn_cast<ReadyType>(type))
    return cast<EndTypeInterface>(ready.getEnd()).isProducer();
  return cast<EndTypeInterface>(cast<StageTypeInterface>(type).getEndType())
      .isProducer();
}

unsigned Fills::getSize(Type type) const {
  Type ring = getRingOf(type);
  if (!ring)
    return 0;
  return getNumCounted(ring) * (fills(type) ? 1 : contents.getNumClasses());
}

unsigned Fills::getFirstField(Type stage) const {
  return fills(stage) ? cta * getNumCounted(getRingOf(stage)) : 0;
}

Labels::Label Fills::compute(Value value) {
  // No op makes a stage of nothing.
  return Label(
      getSize(value.getType()),
      table.getOpaque("a slot that is not followed", {}, Scope::Launch));
}

bool Fills::follows(Operation *op) const {
  return contents.getCopied(op) || isa<MmaOp>(op) ||
         !contents.getRead(op).empty();
}

bool Fills::isRowShown(PromoteOp promote, IntegerRanges &ranges) {
  Value row = promote.getARow();
  return !row || ranges.isBelow(row, promote.getAScale().getType().getRows());
}

SmallVector<Value> Fills::getIntegers(Operation *op) const {
  auto promote = dyn_cast<PromoteOp>(op);
  if (promote && !isRowShown(promote, ranges))
    return {promote.getARow()};
  auto mma = dyn_cast<MmaOp>(op);
  if (!mma || !mma.getAccumulate())
    return {};
  return {mma.getAccumulate()};
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

void Fills::requireWritten(const SlotUse &use, bool readsPair) {
  Type ring = getRingOf(use.stage.getType());
  for (unsigned part : use.parts) {
    std::optional<unsigned> number = getCounted(ring, part);
    if (!number)
      continue;
    for (unsigned source : contents.getSources(use, cta, readsPair))
      require(atLeast(get(use.stage)[source * getNumCounted(ring) + *number],
                      constant(1)),
              contents.getName(ring, part) +
                  " must be written in each lap in which " + role +
                  " reads it");
  }
}

/// What several producers write is counted where the slot is emptied.
void Fills::begin(Value stage, unsigned number, ::fp8::proof::Block &block) {
  if (fills(stage.getType()))
    return;
  site = number;
  out = &block;
  Type ring = getRingOf(stage.getType());
  if (isa<OutputPipelineType>(ring))
    return;
  for (unsigned part = 0; part < contents.getParts(ring).size(); ++part)
    if (std::optional<unsigned> counted = getCounted(ring, part))
      require(atLeast(constant(1),
                      get(stage)[cta * getNumCounted(ring) + *counted]),
              contents.getName(ring, part) +
                  " must not be written twice in one lap");
}

void Fills::walkCopy(const SlotUse &use) {
  Type ring = getRingOf(use.stage.getType());
  for (unsigned part : use.parts) {
    std::optional<unsigned> number = getCounted(ring, part);
    if (!number)
      continue;
    ExprId count = get(use.stage)[*number];
    requireEqual(count, constant(0),
                 contents.getName(ring, part) +
                     " must not be written twice in one lap");
    write(use.stage, *number, {table.get(Expr::Add, {count, constant(1)})});
  }
}

void Fills::walkMma(MmaOp mma) {
  std::optional<SlotUse> use = contents.getAccumulated(mma);
  Type ring = use ? getRingOf(use->stage.getType()) : Type();
  if (!ring || !getNumCounted(ring))
    return;
  if (Value condition = mma.getAccumulate())
    require(
        table.get(Expr::Or, {table.get(Expr::Not, {expressions.get(condition)}),
                             atLeast(get(use->stage)[0], constant(1))}),
        "an accumulator must be written before " + role +
            " adds products to it");
  write(use->stage, 0, {constant(1)});
}

void Fills::walkOp(Operation *op) {
  if (std::optional<SlotUse> use = contents.getCopied(op))
    return walkCopy(*use);
  auto mma = dyn_cast<MmaOp>(op);
  for (const SlotUse &use : contents.getRead(op))
    requireWritten(use, /*readsPair=*/mma != nullptr);
  if (auto promote = dyn_cast<PromoteOp>(op);
      promote && !isRowShown(promote, ranges)) {
    ExprId row = expressions.get(promote.getARow()),
           rows = constant(promote.getAScale().getType().getRows());
    require(table.get(Expr::And, {atLeast(row, constant(0)),
                                  table.get(Expr::Less, {row, rows})}),
            "the row of the A scales must be one of the tile in " + role);
  }
  if (mma)
    walkMma(mma);
}
