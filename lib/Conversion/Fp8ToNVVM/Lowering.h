// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the patterns that lower one kernel share: the values set up at its
// start, the cursors of its rings.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_LOWERING_H
#define FP8_LIB_CONVERSION_FP8TONVVM_LOWERING_H

#include "Instructions.h"
#include "fp8/Analysis/KernelPlan.h"

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::fp8 {

/// The values that a role computes once, at its start.
struct RoleValues {
  Value leader; ///< i1: true in one lane of each warp, always the same one
  Value warp;   ///< i32: the warp's number within the role
  Value lane;   ///< i32: 0..31
  bool promotes = false; ///< it adds up over K blocks in registers
};

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
  Value toLeader, toPeer, toFirst;

  static ClusterValues build(ClusterShape shape, Value sharedMemory,
                             Instructions &instructions);
  /// The two CTAs of this CTA's pair.
  Value getPairMask(Instructions &instructions) const;
  CopyShare getShare(ClusterAxis axis, int64_t ctaGroup,
                     Instructions &instructions) const;
  /// The CTAs that wait for this one's MMA to hand the slot back; null if none
  /// but this one does.
  Value getReleaseMask(const StagePlan &stage, int64_t ctaGroup,
                       Instructions &instructions) const;
  /// The lanes that tell the CTAs that wait for this one's threads to hand the
  /// slot back, and the rank of each one's CTA; nulls if only this CTA waits.
  struct Arrivals {
    Value arrives, rank;
  };
  Arrivals getReleaseArrivals(const StagePlan &stage, Value lane,
                              Instructions &instructions) const;
};

/// Where a pair of a warpgroup's fragment lies, from the thread's first on.
struct PairOffset {
  int64_t row, column;
};

/// The place of each of a thread's pairs, in order: part by part, eight columns
/// by eight columns, the row and the eighth after it (PTX ISA, wgmma register
/// fragment D). Of a swapped product, eight rows by eight rows, the column and
/// the eighth after it.
SmallVector<PairOffset> getPairOffsets(FragmentType type);

struct RingCursor;

/// Where a cursor was when it set out, and how far it has come since.
struct CursorWay {
  Value index, phase;
  int64_t steps;
};

/// The state of lowering one kernel.
struct KernelLowering {
  Value sharedMemory; ///< i32: where the kernel's shared memory begins
  Value warpId;       ///< i32: the warp's number within the CTA
  ClusterValues cluster;
  /// The role values for each fp8 op inside a role, whatever becomes of the
  /// role.
  llvm::DenseMap<Operation *, RoleValues> roleOf;
  /// The way of each cursor that has been advanced, by its index.
  mutable llvm::DenseMap<Value, CursorWay> ways;
  /// The ns after which a wait gives up; 0 if none does.
  int64_t waitLimit = 0;

  const RoleValues &getRole(Operation *op) const {
    return roleOf.find(op)->second;
  }
  /// The cursor on the next slot. One that has been all around its ring is back
  /// in the slot that it set out from, by the same values.
  RingCursor advance(const RingCursor &cursor, Type ring,
                     Instructions &instructions) const;
};

/// A cursor over a ring, as the four i32 values that an end, a stage or a warp
/// handle becomes.
struct RingCursor {
  Value barriers; ///< the address of the full barriers, which the empty ones
                  ///< follow
  Value base;  ///< pipeline: the address of the tiles; warp handle: that of the
               ///< tensor memory; end of an output pipeline: its named barrier
  Value index; ///< the slot; of a ring with a power of two of slots, the number
               ///< of slots used so far (modulo 2^32)
  Value phase; ///< the parity that this side waits for next; of such a ring,
               ///< the parity on its first lap

  static constexpr unsigned kNumValues = 4;

  explicit RingCursor(ValueRange values)
      : barriers(values[0]), base(values[1]), index(values[2]),
        phase(values[3]) {}
  RingCursor(Value barriers, Value base, Value index, Value phase)
      : barriers(barriers), base(base), index(index), phase(phase) {}
  SmallVector<Value> pack() const { return {barriers, base, index, phase}; }

  /// The number of the slot.
  Value getSlot(Instructions &instructions, Type ring) const;
  Value getFullBarrier(Instructions &instructions, Type ring) const;
  Value getEmptyBarrier(Instructions &instructions, Type ring) const;
  /// The cursor on the next slot; the phase flips where the ring wraps.
  RingCursor advance(Instructions &instructions, Type ring) const;
  /// Waits until this side may use the slot, `limit` ns at most if that is not
  /// 0.
  void wait(Instructions &instructions, EndTypeInterface end,
            int64_t limit) const;
  /// True, in all lanes of the warp, if this side may use the slot.
  Value test(Instructions &instructions, EndTypeInterface end) const;
  /// Waits, slot by slot, until the other side has handed every slot back.
  void drain(OpBuilder &builder, Location loc, EndTypeInterface end,
             int64_t limit) const;

private:
  /// The barrier on which the other side hands the slot to this one.
  Value getAwaitedBarrier(Instructions &instructions,
                          EndTypeInterface end) const;
};

/// What the handle of an exchange becomes, two i32.
struct ExchangeHandle {
  Value base;   ///< the address of the slots, which the barriers follow
  Value parity; ///< of the next lap's full barrier

  explicit ExchangeHandle(ValueRange values)
      : base(values[0]), parity(values[1]) {}
  /// The barrier of what has come, and that of what has been read.
  Value getFullBarrier(Instructions &instructions, ExchangeType type) const;
  Value getEmptyBarrier(Instructions &instructions, ExchangeType type) const;
  /// Waits until all CTAs have read what they were sent in the last lap.
  void waitUntilRead(Instructions &instructions, ExchangeType type,
                     int64_t limit) const;
};

/// What the records of waits mean that give up after `limit` ms: names of
/// roles, rings and barriers, for the launch manifest.
DictionaryAttr makeWaitTable(FunctionOpInterface kernel, int64_t limit);

/// The values of operands that became one value each.
inline SmallVector<Value> getSingles(ArrayRef<ValueRange> operands) {
  return llvm::map_to_vector(operands,
                             [](ValueRange parts) { return parts[0]; });
}

/// The parts of all operands, in order.
inline SmallVector<Value> getAllParts(ArrayRef<ValueRange> operands) {
  SmallVector<Value> all;
  for (ValueRange parts : operands)
    llvm::append_range(all, parts);
  return all;
}

/// A pattern that knows the kernel it works in, with 1:N operands.
template <typename OpT>
class KernelPattern : public OpConversionPattern<OpT> {
public:
  using Adaptor = typename OpConversionPattern<OpT>::OneToNOpAdaptor;

  KernelPattern(const TypeConverter &converter, MLIRContext *context,
                const KernelLowering &lowering, PatternBenefit benefit = 1)
      : OpConversionPattern<OpT>(converter, context, benefit),
        lowering(lowering) {}

  LogicalResult
  matchAndRewrite(OpT op, Adaptor operands,
                  ConversionPatternRewriter &rewriter) const final {
    return lower(op, operands, rewriter);
  }

protected:
  virtual LogicalResult lower(OpT op, Adaptor operands,
                              ConversionPatternRewriter &rewriter) const = 0;

  const KernelLowering &lowering;
};

/// Converts the dialect's types: handles to cursors, views to addresses,
/// fragments to registers.
void populateTypeConversions(TypeConverter &converter);

void populateClusterPatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns,
                             const KernelLowering &lowering);
void populateSchedulerPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns,
                               const KernelLowering &lowering);
void populatePipelinePatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              const KernelLowering &lowering);
void populateExplicitPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              const KernelLowering &lowering);
void populateWarpPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          const KernelLowering &lowering);
void populateTilePatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          const KernelLowering &lowering);
void populateFragmentPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              const KernelLowering &lowering);
void populateAddPatterns(const TypeConverter &converter,
                         RewritePatternSet &patterns,
                         const KernelLowering &lowering);
void populatePromotePatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns,
                             const KernelLowering &lowering);
void populateStorePatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns,
                           const KernelLowering &lowering);
void populateExchangePatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              const KernelLowering &lowering);
void populateWarpgroupPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns,
                               const KernelLowering &lowering);

/// Writes the kernel's start: addresses, warp number, barrier initialisation,
/// and each role's values; and its end: no CTA leaves while another of its
/// cluster may still reach it.
KernelLowering buildPrologue(FunctionOpInterface kernel);

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_LOWERING_H
