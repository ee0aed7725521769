// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the slots of a kernel's rings hold, and which ops write and read it.

#ifndef FP8_LIB_PROOF_SLOTCONTENTS_H
#define FP8_LIB_PROOF_SLOTCONTENTS_H

#include "fp8/Analysis/HandleFlow.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::fp8 {

/// CTAs that run the same bodies of `fp8.leading_cta`.
struct CtaClass {
  bool leadsPair = true, leadsCluster = true;
  bool isOfPair = false; ///< the kernel has pairs
  /// The number of the only CTA in its cluster, where CTAs are told apart.
  std::optional<int64_t> rank = std::nullopt;

  bool runs(LeadingCtaOp op) const {
    return op.getGrouping() == CtaGrouping::Pair ? leadsPair : leadsCluster;
  }
};

/// A part of a slot that is written as a whole: a tile, a column of a tile that
/// is copied element by element, or an accumulator.
struct SlotPart {
  /// Of an accumulator there is none.
  StringRef tile;
  /// None: all of the tile, or what no element copy fills.
  std::optional<int64_t> column;

  bool operator==(const SlotPart &other) const {
    return tile == other.tile && column == other.column;
  }
};

/// A stage, and parts of its slot that an op writes or reads.
struct SlotUse {
  Value stage;
  SmallVector<unsigned> parts; ///< numbers of parts of the ring's type
};

/// The parts of slots, by the types of rings.
class SlotContents {
public:
  SlotContents(FunctionOpInterface kernel, const HandleFlow &flow,
               ArrayRef<CtaClass> classes);

  ArrayRef<SlotPart> getParts(Type ring) const;
  /// The parts that an asynchronous copy writes; none if the op is none.
  std::optional<SlotUse> getCopied(Operation *op) const;
  /// The views of slots that threads or products read.
  SmallVector<SlotUse> getRead(Operation *op) const;
  /// The accumulator that a product writes, and on a condition reads.
  std::optional<SlotUse> getAccumulated(MmaOp mma) const;
  /// The parts that the view shows.
  std::optional<SlotUse> getViewed(Value view,
                                   std::optional<int64_t> column) const;

  /// True if the text alone shows that each slot has the part written once.
  bool isAlwaysWritten(Type ring, unsigned part) const;
  /// True if there are parts of which it does not show that.
  bool hasDoubts() const { return !doubtful.empty(); }
  /// True if CTAs copy the part for one another.
  bool isMulticast(Type ring, unsigned part) const;
  /// The classes of CTAs whose own part one of this class reads.
  SmallVector<unsigned> getSources(const SlotUse &use, unsigned cta,
                                   bool readsPair) const;
  unsigned getNumClasses() const { return classes.size(); }
  /// "tile 'a' of the ring of 'a' and 'b'".
  std::string getName(Type ring, unsigned part) const;

private:
  void addParts(Type ring);
  void findWritten(Operation *maker, const HandleFlow &flow);
  bool isWrittenOnce(Operation *maker, unsigned part,
                     const HandleFlow &flow) const;
  bool isAccumulatedAtOnce(Operation *maker, const HandleFlow &flow) const;

  Operation *kernel;
  SmallVector<CtaClass> classes;
  llvm::DenseMap<Type, SmallVector<SlotPart>> parts;
  llvm::DenseSet<std::pair<Type, unsigned>> doubtful, multicast;
};

/// The ring of a stage's type, or of the stage that a ready end gives.
Type getRingOf(Type stage);
/// What messages call a ring.
std::string getRingName(Type ring);

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_SLOTCONTENTS_H
