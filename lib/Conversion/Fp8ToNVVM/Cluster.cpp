// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers what CTAs of a cluster do for one another: ranks, masks, and the
// regions that the leading CTA runs alone.
//
// A CTA's rank is m + (CTAs along M) * n; the CTAs of a pair are two neighbours
// along M, the even one leads (PTX ISA, CTA pair).

#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Ranks and masks
//===----------------------------------------------------------------------===//

ClusterValues ClusterValues::build(ClusterShape shape, Value sharedMemory,
                                   Instructions &instructions) {
  ClusterValues values;
  values.shape = shape;
  if (shape.getSize() == 1)
    return values;
  values.rank = instructions.rem(instructions.ctaId(), shape.getSize());
  values.m = instructions.rem(values.rank, shape.m);
  values.n = shape.k == 1 ? instructions.div(values.rank, shape.m)
                          : instructions.i32(0);
  // The same distance for every address of the CTA: mapa moves its window.
  auto getOffset = [&](Value rank) {
    return instructions.sub(instructions.mapToCta(sharedMemory, rank),
                            sharedMemory);
  };
  values.toLeader = getOffset(instructions.bitAnd(values.rank, ~int64_t(1)));
  values.toPeer =
      getOffset(instructions.bitXor(values.rank, instructions.i32(1)));
  values.toFirst = getOffset(instructions.i32(0));
  return values;
}

/// A bit for each of `count` CTAs whose ranks are `step` apart.
static int64_t getBits(int64_t count, int64_t step) {
  int64_t bits = 0;
  for (int64_t i = 0; i < count; ++i)
    bits |= int64_t(1) << (i * step);
  return bits;
}

Value ClusterValues::getPairMask(Instructions &instructions) const {
  return instructions.shiftLeft(instructions.i32(3),
                                instructions.bitAnd(rank, ~int64_t(1)));
}

CopyShare ClusterValues::getShare(ClusterAxis axis, int64_t ctaGroup,
                                  Instructions &instructions) const {
  CopyShare share;
  share.sharers = axis == ClusterAxis::N ? shape.n : shape.m / ctaGroup;
  if (share.sharers == 1)
    return share;
  if (axis == ClusterAxis::N) {
    // The CTAs with the same number along M.
    share.index = n;
    share.mask =
        instructions.shiftLeft(instructions.i32(getBits(shape.n, shape.m)), m);
    return share;
  }
  // The CTAs with the same number along N that are the same half of their pair.
  share.index = instructions.div(m, ctaGroup);
  Value first = instructions.add(instructions.mul(n, shape.m),
                                 instructions.rem(m, ctaGroup));
  share.mask = instructions.shiftLeft(
      instructions.i32(getBits(share.sharers, ctaGroup)), first);
  return share;
}

Value ClusterValues::getReleaseMask(const StagePlan &stage, int64_t ctaGroup,
                                    Instructions &instructions) const {
  bool alongM = stage.sharedAlongM && shape.m > ctaGroup,
       alongN = stage.sharedAlongN && shape.n > 1;
  if (!alongM && !alongN)
    return ctaGroup == 2 ? getPairMask(instructions) : Value();
  // In the leading CTA of a pair `m` is even: its own bit and its peer's are
  // neighbours.
  int64_t own = ctaGroup == 2 ? 3 : 1;
  Value first = instructions.mul(n, shape.m);
  Value mask;
  if (alongM)
    mask = instructions.shiftLeft(instructions.i32(getBits(shape.m, 1)), first);
  if (alongN) {
    Value row = instructions.shiftLeft(
        instructions.i32(own * getBits(shape.n, shape.m)), m);
    mask = mask ? instructions.bitOr(mask, row) : row;
  }
  return mask;
}

ClusterValues::Arrivals
ClusterValues::getReleaseArrivals(const StagePlan &stage, Value lane,
                                  Instructions &instructions) const {
  int64_t alongM = stage.sharedAlongM ? shape.m : 1,
          alongN = stage.sharedAlongN ? shape.n : 1;
  if (alongM == 1 && alongN == 1)
    return {};
  auto getRank = [&](Value atM, Value atN) {
    return instructions.add(instructions.mul(atN, shape.m), atM);
  };
  // First the CTAs of this one's column of the cluster, then the others of its
  // row.
  Value rank;
  if (alongN == 1) {
    rank = getRank(lane, n);
  } else if (alongM == 1) {
    rank = getRank(m, lane);
  } else {
    Value other = instructions.add(lane, -alongM);
    Value isPast = instructions.atLeast(other, n);
    other =
        instructions.add(other, instructions.select(isPast, instructions.i32(1),
                                                    instructions.i32(0)));
    rank = instructions.select(instructions.atLeast(lane, alongM),
                               getRank(m, other), getRank(lane, n));
  }
  return {instructions.below(lane, alongM + alongN - 1), rank};
}

//===----------------------------------------------------------------------===//
// leading_cta
//===----------------------------------------------------------------------===//

namespace {

/// leading_cta: a branch on the CTA's rank.
struct LowerLeadingCta : public KernelPattern<LeadingCtaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(LeadingCtaOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> inits = getAllParts(operands.getInits());
    auto branch = scf::IfOp::create(
        rewriter, loc, ValueRange(inits).getTypes(),
        isLeading(op, loc, rewriter), /*withElseRegion=*/true);
    TypeConverter::SignatureConversion signature(
        op.getBody().getNumArguments());
    (void)getTypeConverter()->convertSignatureArgs(
        op.getBody().getArgumentTypes(), signature);
    Block *body = rewriter.applySignatureConversion(
        &op.getBody().front(), signature, getTypeConverter());
    // The body's own yield ends the branch; it is converted in its turn.
    rewriter.inlineBlockBefore(body, branch.thenBlock(),
                               branch.thenBlock()->end(), inits);
    rewriter.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, inits);

    SmallVector<SmallVector<Value>> results;
    size_t next = 0;
    for (ValueRange values : operands.getInits()) {
      ResultRange all = branch.getResults();
      auto range = all.slice(next, values.size());
      results.emplace_back(range.begin(), range.end());
      next += values.size();
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  Value isLeading(LeadingCtaOp op, Location loc, OpBuilder &builder) const {
    Instructions instructions(builder, loc);
    const ClusterValues &cluster = lowering.cluster;
    if (cluster.shape.getSize() == 1)
      return instructions.equal(instructions.i32(0), 0);
    Value within = op.getGrouping() == CtaGrouping::Pair
                       ? instructions.bitAnd(cluster.rank, 1)
                       : cluster.rank;
    return instructions.equal(within, 0);
  }
};

/// The yield of a leading_cta, which is an scf.if by now.
struct LowerLeadingYield : public KernelPattern<YieldOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(YieldOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    if (!isa<scf::IfOp>(op->getParentOp()))
      return rewriter.notifyMatchFailure(op, "its parent is lowered first");
    SmallVector<Value> values = getAllParts(operands.getOperands());
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, values);
    return success();
  }
};

} // namespace

void mlir::fp8::populateClusterPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        const KernelLowering &lowering) {
  patterns.add<LowerLeadingCta, LowerLeadingYield>(
      converter, patterns.getContext(), lowering);
}
