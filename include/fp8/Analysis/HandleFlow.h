// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values are one handle: linear values followed through control flow,
// acquire, release and their halves.

#ifndef FP8_ANALYSIS_HANDLEFLOW_H
#define FP8_ANALYSIS_HANDLEFLOW_H

#include "fp8/IR/Fp8.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fp8 {

/// What was done with one acquired stage, whatever names it had on the way.
struct StageUse {
  SmallVector<AcquireOp> acquires;
  SmallVector<Operation *> handOvers;      ///< ops that hand it over
  SmallVector<TileCopyOpInterface> copies; ///< copies into its tiles
  SmallVector<LoadElementOp> elementLoads; ///< copies of single elements
  SmallVector<RequestWorkOp> requests;
  SmallVector<MmaOp>
      mmas; ///< MMAs that read its tiles or write its accumulator
  SmallVector<Operation *>
      readers; ///< ops by which threads read its tiles or its accumulator
};

/// The stage that the op hands over to the other side of its ring; null if it
/// hands none over.
Value getHandedOver(Operation *op);

/// The linear values of a kernel, grouped. Two values are of one *stage* if one
/// is handed on or signalled as the other; of one *end* if one is handed on,
/// waited for, acquired, signalled, released or advanced as the other.
class HandleFlow {
public:
  explicit HandleFlow(Operation *kernel);

  /// A number for the stage that the value names; equal for equal stages.
  unsigned getStage(Value value) const { return stages.find(value); }
  /// What happens to each stage, by its number, in the order of the text.
  const llvm::MapVector<unsigned, StageUse> &getStageUses() const {
    return stageUses;
  }
  /// A number for the end (or warp handle, or store queue) that the value
  /// belongs to; equal for equal ends.
  unsigned getEnd(Value value) const;
  /// All ops that take the end's next slot, or wait for it, in the order of the
  /// text. The end is their first operand.
  ArrayRef<Operation *> getAcquires(unsigned end) const;
  /// The ops that made the rings to which the handle may belong, in the order
  /// of the text: several where control flow exchanges ends of one type.
  ArrayRef<Operation *> getRings(Value handle) const;

private:
  /// Union-find over values.
  class Groups {
  public:
    void join(Value a, Value b);
    unsigned find(Value value);

  private:
    unsigned idOf(Value value);
    llvm::DenseMap<Value, unsigned> ids;
    SmallVector<unsigned> parents;
  };

  void joinForwarded(Operation *op);
  void joinContinued(Operation *op);
  void joinPair(Value from, Value to);
  void joinEnds(Value from, Value to);
  void collectUses(Operation *kernel);
  void traceRings(Operation *kernel);

  mutable Groups stages, ends;
  /// What each value goes on as, in the direction of control flow.
  llvm::DenseMap<Value, SmallVector<Value, 2>> successors;
  llvm::DenseMap<Value, SmallVector<Operation *, 1>> rings;
  llvm::MapVector<unsigned, StageUse> stageUses;
  llvm::DenseMap<unsigned, SmallVector<Operation *>> acquires;
};

} // namespace mlir::fp8

#endif // FP8_ANALYSIS_HANDLEFLOW_H
