// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions of a kernel's integers and handles.

#ifndef FP8_LIB_PROOF_EXPRESSIONS_H
#define FP8_LIB_PROOF_EXPRESSIONS_H

#include "Forwarding.h"
#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Analysis/NonNegative.h"
#include "fp8/Proof/Expression.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fp8 {

/// The expressions of what one process computes.
class ProcessExpressions {
public:
  /// The process is run by these warps of the `numWarps` of each CTA.
  ProcessExpressions(::fp8::proof::ExprTable &table, WarpRange warps,
                     int64_t numWarps, int64_t clusterSize)
      : table(table), warps(warps), numWarps(numWarps),
        clusterSize(clusterSize) {}

  /// Gives the value a variable of its own.
  unsigned makeVariable(Value value);
  unsigned makeVariable() { return numVariables++; }
  void set(Value value, ::fp8::proof::ExprId id) { known[value] = id; }
  ::fp8::proof::ExprId get(Value value);
  /// One of the loop's bounds. What is negative is large to an unsigned loop.
  ::fp8::proof::ExprId getBound(scf::ForOp loop, Value bound);
  /// The number of the lane.
  ::fp8::proof::ExprId getLane();
  /// Makes the number of a CTA out of those of its cluster and of its place
  /// there. `inPair`: its number in its pair, in a kernel of CTA pairs.
  void followRank(std::optional<int64_t> inPair);
  /// The argument of the kernel is a multiple of the number.
  void setMultiple(int64_t argument, int64_t number) {
    multiples[argument] = number;
  }
  std::optional<int64_t> getInPair() const { return inPair; }
  /// The CTA's number in its cluster.
  ::fp8::proof::ExprId getRank();
  /// The parameter that tells the CTAs of a cluster apart; of pairs, the pairs.
  /// It has values from 0 to below `getNumPlaces`.
  ::fp8::proof::ExprId getPlace();
  int64_t getNumPlaces() const { return clusterSize / (inPair ? 2 : 1); }
  /// An extent of a memref that is an argument of the kernel.
  ::fp8::proof::ExprId getExtent(int64_t argument, int64_t axis);
  /// Says what the extent is in every launch.
  void setExtent(int64_t argument, int64_t axis, ::fp8::proof::ExprId extent) {
    extents[{argument, axis}] = extent;
  }
  ::fp8::proof::ExprId getArgument(int64_t number);
  unsigned getNumVariables() const { return numVariables; }

private:
  ::fp8::proof::ExprId getThread();
  ::fp8::proof::ExprId getBlockId(gpu::Dimension dimension);
  /// What the kernel or its launch says of threads, CTAs and clusters; none if
  /// the op says something else.
  std::optional<::fp8::proof::ExprId> computeShape(Operation *op);
  ::fp8::proof::ExprId compute(Value value);
  ::fp8::proof::ExprId computeArith(Operation *op);
  std::optional<::fp8::proof::ExprId> computeBits(Operation *op);
  std::optional<::fp8::proof::ExprId> computeBool(Operation *op);
  ::fp8::proof::ExprId divideTowardsZero(Operation *op,
                                         ::fp8::proof::ExprKind kind);
  ::fp8::proof::ExprId makeOpaque(Value value);
  ::fp8::proof::ExprId makeUnknown(Value value);

  ::fp8::proof::ExprTable &table;
  WarpRange warps;
  int64_t numWarps, clusterSize;
  bool followsRank = false;
  std::optional<int64_t> inPair;
  std::map<int64_t, int64_t> multiples; ///< by argument
  std::map<std::pair<int64_t, int64_t>, ::fp8::proof::ExprId> extents;
  llvm::DenseMap<Value, ::fp8::proof::ExprId> known;
  NonNegative nonNegative{/*asUnsigned=*/false}, unwrapped{/*asUnsigned=*/true};
  PoisonedValues poisoned;
  unsigned numVariables = 0;
};

/// The values from which the expression of this one is computed.
SmallVector<Value> getSources(Value value);

/// What a role's argument is in front of the role.
Value getOutside(Value value);

/// True if the kernel may change the array itself, or if it is no argument.
bool mayChange(Value array);

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_EXPRESSIONS_H
