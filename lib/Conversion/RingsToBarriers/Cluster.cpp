// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where CTAs are in their cluster, and which of them a copy or an arrival is
// for: ranks and masks.
//
// A CTA's rank is m + (CTAs along M) * n; the CTAs of a pair are two neighbours
// along M, the even one leads (PTX ISA, CTA pair).

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// Ranks and masks
//===----------------------------------------------------------------------===//

ClusterValues ClusterValues::build(ClusterShape shape, Value sharedMemory,
                                   BarrierBuilder &builder) {
  ClusterValues values;
  values.shape = shape;
  if (shape.getSize() == 1)
    return values;
  values.rank = builder.rem(builder.make<IdOp>(IdKind::Cta), shape.getSize());
  values.m = builder.rem(values.rank, shape.m);
  values.n = shape.k == 1 ? builder.div(values.rank, shape.m) : builder.i32(0);
  // The same distance for every address of the CTA: mapa moves its window.
  auto getOffset = [&](Value rank) {
    return builder.sub(builder.make<MapToCtaOp>(sharedMemory, rank),
                       sharedMemory);
  };
  values.toPairLeader = getOffset(builder.bitAnd(values.rank, ~int64_t(1)));
  values.toPeer = getOffset(builder.bitXor(values.rank, builder.i32(1)));
  values.toClusterLeader = getOffset(builder.i32(0));
  return values;
}

/// A bit for each of `count` CTAs whose ranks are `step` apart.
static int64_t getBits(int64_t count, int64_t step) {
  int64_t bits = 0;
  for (int64_t i = 0; i < count; ++i)
    bits |= int64_t(1) << (i * step);
  return bits;
}

/// The two CTAs of the pair that the CTA of that rank is in.
static Value getPairMask(Value rank, BarrierBuilder &builder) {
  return builder.shiftLeft(builder.i32(3), builder.bitAnd(rank, ~int64_t(1)));
}

Value ClusterValues::isLeading(CtaGrouping grouping,
                               BarrierBuilder &builder) const {
  if (shape.getSize() == 1)
    return builder.equal(builder.i32(0), 0);
  return builder.equal(
      grouping == CtaGrouping::Pair ? builder.bitAnd(rank, 1) : rank, 0);
}

CopyShare ClusterValues::getShare(ClusterAxis axis, int64_t ctaGroup,
                                  BarrierBuilder &builder) const {
  CopyShare share;
  share.sharers = axis == ClusterAxis::N ? shape.n : shape.m / ctaGroup;
  if (share.sharers == 1)
    return share;
  if (axis == ClusterAxis::N) {
    // The CTAs with the same number along M.
    share.index = n;
    share.mask = builder.shiftLeft(builder.i32(getBits(shape.n, shape.m)), m);
    return share;
  }
  // The CTAs with the same number along N that are the same half of their pair.
  share.index = builder.div(m, ctaGroup);
  Value first = builder.add(builder.mul(n, shape.m), builder.rem(m, ctaGroup));
  share.mask =
      builder.shiftLeft(builder.i32(getBits(share.sharers, ctaGroup)), first);
  return share;
}

Value ClusterValues::getReleaseMask(const StagePlan &stage, int64_t ctaGroup,
                                    BarrierBuilder &builder) const {
  bool alongM = stage.sharedAlongM && shape.m > ctaGroup,
       alongN = stage.sharedAlongN && shape.n > 1;
  if (!alongM && !alongN)
    return ctaGroup == 2 ? getPairMask(rank, builder) : Value();
  // In the leading CTA of a pair `m` is even: its own bit and its peer's are
  // neighbours.
  int64_t own = ctaGroup == 2 ? 3 : 1;
  Value first = builder.mul(n, shape.m);
  Value mask;
  if (alongM)
    mask = builder.shiftLeft(builder.i32(getBits(shape.m, 1)), first);
  if (alongN) {
    Value row =
        builder.shiftLeft(builder.i32(own * getBits(shape.n, shape.m)), m);
    mask = mask ? builder.bitOr(mask, row) : row;
  }
  return mask;
}

ClusterValues::Arrivals
ClusterValues::getReleaseArrivals(const StagePlan &stage, Value lane,
                                  BarrierBuilder &builder) const {
  int64_t alongM = stage.sharedAlongM ? shape.m : 1,
          alongN = stage.sharedAlongN ? shape.n : 1;
  if (alongM == 1 && alongN == 1)
    return {};
  auto getRank = [&](Value atM, Value atN) {
    return builder.add(builder.mul(atN, shape.m), atM);
  };
  // First the CTAs of this one's column of the cluster, then the others of its
  // row.
  Value rank;
  if (alongN == 1) {
    rank = getRank(lane, n);
  } else if (alongM == 1) {
    rank = getRank(m, lane);
  } else {
    Value other = builder.add(lane, -alongM);
    Value isPast = builder.atLeast(other, n);
    other = builder.add(other,
                        builder.select(isPast, builder.i32(1), builder.i32(0)));
    rank = builder.select(builder.atLeast(lane, alongM), getRank(m, other),
                          getRank(lane, n));
  }
  return {builder.below(lane, alongM + alongN - 1), rank};
}
