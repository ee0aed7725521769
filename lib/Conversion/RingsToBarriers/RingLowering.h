// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the patterns that lower the rings of one kernel share: the values at its
// start, and the cursors that ends become.

#ifndef FP8_LIB_CONVERSION_RINGSTOBARRIERS_RINGLOWERING_H
#define FP8_LIB_CONVERSION_RINGSTOBARRIERS_RINGLOWERING_H

#include "../FunctionPattern.h"
#include "../Integers.h"
#include "fp8/Analysis/KernelPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fp8 {

class RingBuilder;

/// Builds ops of the barrier family, and arithmetic on addresses.
class BarrierBuilder : public Integers {
public:
  using Integers::Integers;

  template <typename OpT, typename... Args>
  OpT make(Args &&...args) {
    return OpT::create(builder, loc, std::forward<Args>(args)...);
  }
  /// Runs `body` where the condition holds.
  void ifThen(Value condition, function_ref<void(BarrierBuilder &)> body) {
    auto branch = make<scf::IfOp>(condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    body(*this);
  }
  void syncWarp() { make<SyncOp>(SyncScope::Warp); }
};

/// The size of an mbarrier object in bytes (PTX ISA, mbarrier).
inline constexpr int64_t kBarrierBytes = 8;

/// One CTA's share of a copy that several make together.
struct CopyShare {
  int64_t sharers = 1; ///< the CTAs that copy a share each
  Value index;         ///< i32: which share is this CTA's; null if it is alone
  Value mask;          ///< i32: the CTAs that get it; null if it is alone
};

/// Where a CTA is in its cluster. All but the shape is null for a CTA alone.
struct ClusterValues {
  ClusterShape shape;
  Value rank, m, n; ///< i32: the CTA's rank, and its numbers along M and N
  /// i32: what to add to a shared address of this CTA to reach the same place
  /// in the leading CTA of its pair, in the other one, and in the leading CTA
  /// of the cluster.
  Value toPairLeader, toPeer, toClusterLeader;

  static ClusterValues build(ClusterShape shape, Value sharedMemory,
                             BarrierBuilder &builder);
  /// i1: this CTA leads its pair, or its cluster.
  Value isLeading(CtaGrouping grouping, BarrierBuilder &builder) const;
  CopyShare getShare(ClusterAxis axis, int64_t ctaGroup,
                     BarrierBuilder &builder) const;
  /// The CTAs that wait for this one's MMA to hand the slot back; null if none
  /// but this one does.
  Value getReleaseMask(const StagePlan &stage, int64_t ctaGroup,
                       BarrierBuilder &builder) const;
  /// The lanes that tell the CTAs that wait for this one's threads to hand the
  /// slot back, and the rank of each one's CTA; nulls if only this CTA waits.
  struct Arrivals {
    Value arrives, rank;
  };
  Arrivals getReleaseArrivals(const StagePlan &stage, Value lane,
                              BarrierBuilder &builder) const;
};

/// The values at the start of a kernel, and what holds for all of it.
struct KernelStart {
  Value sharedMemory; ///< i32: where the kernel's shared memory begins
  Value warpId;       ///< i32: the warp's number within the CTA
  ClusterValues cluster;
  /// The ns after which a wait gives up; 0 if none does.
  int64_t waitLimit = 0;
};

/// Writes the kernel's start: addresses, warp number, barrier initialisation,
/// and each role's thread; and its end: no CTA leaves while another of its
/// cluster may still reach it.
KernelStart buildPrologue(FunctionOpInterface kernel);

/// Makes branches of switches, and one block of each role. Roles no longer take
/// ends as arguments, but use those of the kernel.
void prepareBlocks(FunctionOpInterface kernel);

/// Gives MMAs with scales the number of the slot that the scales are in.
void numberScaleSlots(FunctionOpInterface kernel);

/// Makes branches of what leading CTAs do.
void branchOnLeadingCtas(FunctionOpInterface kernel,
                         const ClusterValues &cluster);

/// The thread of the role that the op is in.
RoleThreadOp getThread(Operation *op);

/// A cursor over a ring, as the four i32 values that an end, a stage or a warp
/// handle becomes.
struct RingCursor {
  Value barriers; ///< the address of the full barriers, which the empty ones
                  ///< follow
  Value base; ///< pipeline: the address of the tiles; warp handle: that of the
              ///< tensor memory; end of an output pipeline: its named barrier
  Value number; ///< the slot; of a ring with a power of two of slots, the
                ///< number of slots used so far (modulo 2^32)
  Value parity; ///< that this side waits for next; of such a ring, on its first
                ///< lap

  static constexpr unsigned kNumValues = 4;

  explicit RingCursor(ValueRange values)
      : barriers(values[0]), base(values[1]), number(values[2]),
        parity(values[3]) {}
  RingCursor(Value barriers, Value base, Value number, Value parity)
      : barriers(barriers), base(base), number(number), parity(parity) {}
  SmallVector<Value> pack() const { return {barriers, base, number, parity}; }

  /// The number of the slot.
  Value getSlot(BarrierBuilder &builder, Type ring) const;
  Value getFullBarrier(BarrierBuilder &builder, Type ring) const;
  Value getEmptyBarrier(BarrierBuilder &builder, Type ring) const;
  /// The address of the slot's tile of that name.
  Value getTile(BarrierBuilder &builder, PipelineType ring,
                StringRef name) const;
  /// The cursor on the next slot.
  RingCursor advance(BarrierBuilder &builder, Type ring) const;
  /// Waits until this side may use the slot.
  void wait(RingBuilder &builder, EndTypeInterface end) const;
  /// True, in all lanes of the warp, if this side may use the slot.
  Value test(BarrierBuilder &builder, EndTypeInterface end) const;
  /// Waits, slot by slot, until the other side has handed every slot back.
  void drain(RingBuilder &builder, EndTypeInterface end) const;

private:
  /// The barrier on which the other side hands the slot to this one.
  Value getAwaitedBarrier(BarrierBuilder &builder, EndTypeInterface end) const;
};

/// Says whole laps with the values that a cursor set out with.
void foldLaps(FunctionOpInterface kernel);

/// What the handle of an exchange becomes, two i32.
struct ExchangeHandle {
  Value base;   ///< the address of the slots, which the barriers follow
  Value parity; ///< of the next lap's full barrier

  explicit ExchangeHandle(ValueRange values)
      : base(values[0]), parity(values[1]) {}
  /// The barrier of what has come, and that of what has been read.
  Value getFullBarrier(BarrierBuilder &builder, ExchangeType type) const;
  Value getEmptyBarrier(BarrierBuilder &builder, ExchangeType type) const;
  /// Waits until all CTAs have read what they were sent in the last lap.
  void waitUntilRead(RingBuilder &builder, ExchangeType type) const;
};

/// What the records of waits mean that give up after `limit` ms: names of
/// roles, rings and barriers, for the launch manifest.
DictionaryAttr makeWaitTable(FunctionOpInterface kernel, int64_t limit);

/// Builds what an op on a ring becomes, knowing the start of the kernel.
class RingBuilder : public BarrierBuilder {
public:
  RingBuilder(OpBuilder &builder, Location loc, const KernelStart &start)
      : BarrierBuilder(builder, loc), start(start) {}

  const KernelStart &start;
};

/// Patterns for the ops on the rings of one kernel.
struct RingPatterns {
  /// Adds one that calls a function.
  template <typename OpT>
  void add(Results (*lower)(OpT, Operands<OpT>, RingBuilder &)) {
    auto build = [lower, &start = start](OpT op, Operands<OpT> operands,
                                         ConversionPatternRewriter &rewriter) {
      RingBuilder builder(rewriter, op.getLoc(), start);
      return lower(op, operands, builder);
    };
    patterns.add<FunctionPattern<OpT, decltype(build)>>(
        converter, patterns.getContext(), build);
  }

  const TypeConverter &converter;
  RewritePatternSet &patterns;
  const KernelStart &start;
};

void addPipelinePatterns(RingPatterns &patterns);
void addExplicitPatterns(RingPatterns &patterns);
void addSchedulerPatterns(RingPatterns &patterns);
void addWarpPatterns(RingPatterns &patterns);
void addTilePatterns(RingPatterns &patterns);
void addQueuePatterns(RingPatterns &patterns);

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_RINGSTOBARRIERS_RINGLOWERING_H
