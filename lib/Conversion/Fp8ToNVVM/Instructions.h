// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions that a lowered kernel is made of, one function each.
//
// This is the only place that names NVVM ops: their header costs 15 s a file.
// Addresses in shared and tensor memory are i32; "PTX ISA" sections are those
// of version 9.0.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_INSTRUCTIONS_H
#define FP8_LIB_CONVERSION_FP8TONVVM_INSTRUCTIONS_H

#include "mlir/IR/Builders.h"

namespace mlir::fp8 {

/// The pointer that a tensor map argument becomes.
Type getTensorMapPointerType(MLIRContext *context);

/// Adds the symbol of the dynamic shared memory to a gpu.module, if it is not
/// there.
void declareSharedMemory(Operation *gpuModule, Location loc);

/// Builds instructions at a builder's insertion point.
class Instructions {
public:
  Instructions(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  // Arithmetic.
  Value i32(int64_t value);
  Value add(Value lhs, Value rhs);
  Value add(Value lhs, int64_t rhs);
  Value mul(Value lhs, int64_t rhs);
  Value bitAnd(Value lhs, int64_t rhs);
  Value bitXor(Value lhs, Value rhs);
  Value shiftRight(Value lhs, int64_t rhs);
  Value shiftLeft(Value lhs, int64_t rhs);
  Value equal(Value lhs, int64_t rhs);
  Value select(Value condition, Value ifTrue, Value ifFalse);
  /// An i32 as an index.
  Value toIndex(Value value);
  /// An index as i32, the width of coordinates.
  Value toI32(Value index);
  /// The vector with one element replaced.
  Value insert(Value vector, Value element, int64_t position);
  /// Rounds pairs of f32 to `element` and packs them into a vector of i32, the
  /// first pair lowest.
  Value roundAndPack(ArrayRef<Value> pairs, Type element);
  /// a * b + c on vectors of f32, rounded once.
  Value fma(Value a, Value b, Value c);

  // Threads (PTX ISA, special registers; elect.sync; shfl.sync).
  Value threadId();
  Value laneId();
  /// The warp's number, in a uniform register.
  Value warpId();
  /// True in one lane of the warp. All lanes must execute it.
  Value elect();
  void syncThreads();
  void syncWarp();
  /// Waits at a named barrier until `threads` threads have arrived.
  void syncNamedBarrier(Value id, int64_t threads);
  /// Arrives at a named barrier without waiting.
  void arriveNamedBarrier(Value id, int64_t threads);
  /// Runs `body` where the condition holds.
  void ifThen(Value condition, function_ref<void(Instructions &)> body);

  // Shared memory.
  /// The address of the kernel's dynamic shared memory, aligned to 1024 bytes.
  Value sharedMemory();
  Value loadShared(Value address, Type type);
  void storeShared(Value address, Value value);

  // Barriers (PTX ISA, mbarrier).
  void initBarrier(Value address, int64_t arrivals);
  /// Makes initialised barriers visible to the async proxy and the cluster.
  void fenceBarrierInit();
  /// Waits until the phase of that parity has completed.
  void waitBarrier(Value address, Value parity);
  void arrive(Value address);
  void expectBytes(Value address, int64_t bytes);
  void arriveExpectBytes(Value address, int64_t bytes);

  // Bulk tensor copies (PTX ISA, cp.async.bulk.tensor). Coordinates: row,
  // column, as index.
  void loadTile(Value destination, Value map, ValueRange coordinates,
                Value barrier);
  void storeTile(Value source, Value map, ValueRange coordinates);
  void commitStores();
  /// Waits until at most `pending` groups of this thread's stores are
  /// unfinished: written, or with `readOnly` read.
  void waitStores(int64_t pending, bool readOnly);
  /// Makes this thread's writes to shared memory visible to bulk copies and
  /// MMAs.
  void fenceAsyncProxy();

  // Tensor memory (PTX ISA, tcgen05).
  /// The whole warp allocates columns; their address is written to shared
  /// memory.
  void allocateColumns(Value addressSlot, int64_t columns);
  void freeColumns(Value address, int64_t columns);
  /// Gives up the right to allocate.
  void relinquishAllocation();
  void fenceBeforeThreadSync();
  void fenceAfterThreadSync();
  /// D (+)= A * B^T for one 32-byte step of K; `accumulate` is an i1.
  void mma(Value accumulator, Value aDescriptor, Value bDescriptor,
           int64_t instruction, Value accumulate);
  /// Arrives at the barrier when this thread's MMAs so far are complete.
  void commitMmas(Value barrier);
  /// Starts the load of `columns` columns of this warp's 32 lanes, one lane a
  /// thread, as `columns` i32 registers.
  Value startTmemLoad(Value address, int64_t columns);
  /// Waits for all loads that were started, and yields the loaded value as
  /// pairs of f32. The values of `pinned`, pairs of f32 too, are computed
  /// before the wait; they are replaced by what stands for them after it.
  SmallVector<Value> finishTmemLoad(Value loaded,
                                    MutableArrayRef<Value> pinned);

private:
  Value sharedPointer(Value address);
  Value tmemPointer(Value address);

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_INSTRUCTIONS_H
