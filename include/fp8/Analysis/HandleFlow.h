// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups linear values that are the same handle: follows them through control
// flow, acquire, release and their halves.

#ifndef FP8_ANALYSIS_HANDLEFLOW_H
#define FP8_ANALYSIS_HANDLEFLOW_H

#include "fp8/IR/Fp8.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fp8 {

/// All uses of one acquired stage, under all values that name it.
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

/// The stage that the op hands over to the other side of its ring; null if
/// there is none.
Value getHandedOver(Operation *op);

/// Calls `forward` for each linear value that an op with regions, or a
/// terminator in one, hands on: with an argument or a result that it becomes.
void forEachForwarded(Operation *op,
                      function_ref<void(Value from, Value to)> forward);

/// The linear values of a kernel, in groups. Two values are in the same *stage*
/// if one becomes the other by control flow or a signal. They are in the same
/// *end* if one becomes the other by control flow, a wait, an acquire, a
/// signal, a release or a step. They are of the same *variable* if one becomes
/// the other by a wait, an acquire, a signal, a release or a step, or if an op
/// with regions gives them the same value: control flow moves an end from one
/// variable to another.
class HandleFlow {
public:
  explicit HandleFlow(Operation *kernel);

  /// The number of the value's stage; equal for equal stages.
  unsigned getStage(Value value) const { return stages.find(value); }
  /// The uses of each stage, by its number, in the order of the text.
  const llvm::MapVector<unsigned, StageUse> &getStageUses() const {
    return stageUses;
  }
  /// The number of the value's end (or warp handle, or store queue); equal for
  /// equal ends.
  unsigned getEnd(Value value) const;
  unsigned getVariable(Value value) const { return variables.find(value); }
  /// All ops that take or await the end's next slot, in the order of the text.
  /// The end is their first operand.
  ArrayRef<Operation *> getAcquires(unsigned end) const;
  /// The ops that make the rings to which the handle may belong, in the order
  /// of the text. There are several if control flow exchanges ends of one type.
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

  mutable Groups stages, ends, variables;
  /// The values that each value becomes, in the direction of control flow.
  llvm::DenseMap<Value, SmallVector<Value, 2>> successors;
  llvm::DenseMap<Value, SmallVector<Operation *, 1>> rings;
  llvm::MapVector<unsigned, StageUse> stageUses;
  llvm::DenseMap<unsigned, SmallVector<Operation *>> acquires;
};

} // namespace mlir::fp8

#endif // FP8_ANALYSIS_HANDLEFLOW_H
