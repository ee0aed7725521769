// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions that a lowered kernel is made of, one function each.
//
// This is the only place that names NVVM ops: their header costs 15 s a file.
// Addresses in shared and tensor memory are i32; "PTX ISA" sections are those
// of version 9.0.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_INSTRUCTIONS_H
#define FP8_LIB_CONVERSION_FP8TONVVM_INSTRUCTIONS_H

#include "../Integers.h"

namespace mlir::fp8 {

/// The pointer that a tensor map argument becomes.
Type getTensorMapPointerType(MLIRContext *context);

/// Adds the symbol of the dynamic shared memory to a gpu.module, if it is not
/// there.
void declareSharedMemory(Operation *gpuModule, Location loc);

/// Adds the variable through which waits that give up leave records to a
/// gpu.module, if it is not there.
void declareWaitRecords(Operation *gpuModule, Location loc);

/// The kind of a product in tensor memory (PTX ISA, tcgen05.mma).
enum class ProductKind { F16, F8F6F4, MXF8F6F4 };

/// A product in tensor memory, of one 32-byte step of K.
struct TensorMemoryProduct {
  ProductKind kind;
  Value accumulator;       ///< its address
  int64_t ctaGroup = 1;    ///< the CTAs that compute it
  Value a, b;              ///< descriptors
  Value aScales, bScales;  ///< addresses, of kind MXF8F6F4 only
  int64_t instruction = 0; ///< the instruction descriptor
  Value accumulate;        ///< an i1: whether D is added to
};

/// A product of 64 rows that a warpgroup computes.
struct WarpgroupProduct {
  int64_t columns;
  StringRef aType, bType; ///< e4m3, e5m2, bf16 or f16
};

/// Builds instructions at a builder's insertion point.
class Instructions : public Integers {
public:
  using Integers::Integers;

  // Arithmetic, beside that of Integers.
  Value i64(int64_t value);
  /// The vector with one element replaced.
  Value insert(Value vector, Value element, int64_t position);
  /// An element of a vector.
  Value extract(Value vector, int64_t position);
  /// Pairs of f32: without a value, of zeros, of one value twice, and the sum
  /// of two.
  Value undefPair();
  Value zeroPair();
  Value splatPair(Value value);
  Value addPair(Value lhs, Value rhs);
  /// Rounds pairs of f32 to `element` and packs them into a vector of i32, the
  /// first pair lowest.
  Value roundAndPack(ArrayRef<Value> pairs, Type element);
  /// Rounds one pair: an i16 of e4m3, an i32 of two 16-bit elements, or the
  /// pair itself.
  Value roundPair(Value pair, Type element);
  /// The two elements of a pair rounded to f32 or e4m3, an i8, each alone.
  std::array<Value, 2> roundApart(Value pair, Type element);
  /// The value of an op of the math dialect on f32, of that name, by an
  /// instruction; null if it is no op that an fp8.map may have (E4).
  Value computeMath(StringRef mathOp, ValueRange operands);
  /// a * b + c on vectors of f32, rounded once.
  Value fma(Value a, Value b, Value c);

  // Threads (PTX ISA, special registers; elect.sync; shfl.sync).
  Value threadId();
  Value laneId();
  /// The warp's number, in a uniform register.
  Value warpId();
  /// The i32, computed here: what depends on it is not moved out of a loop,
  /// where it would take up registers all the while.
  Value keepInLoop(Value value);
  /// The CTA's number along x.
  Value ctaId();
  /// True in one lane of the warp. All lanes must execute it.
  Value elect();
  /// True in all lanes of the warp if the condition holds in each. All lanes
  /// must execute it.
  Value allLanes(Value condition);
  void syncThreads();
  /// Waits until all threads of all CTAs of the cluster have come here, whole
  /// warps together, with barriers that fenceBarrierInit has made visible (PTX
  /// ISA, barrier.cluster).
  void meetCluster();
  /// The same at the end, where what was sent to other CTAs has come there.
  void leaveCluster();
  void syncWarp();
  /// Waits until the kernel in front of this one in its stream has ended and
  /// what it wrote can be read (PTX ISA, griddepcontrol).
  void waitForEarlierKernels();
  /// Lets the kernel behind this one in its stream start, once all CTAs have
  /// come here or ended (PTX ISA, griddepcontrol).
  void startNextKernel();
  /// Waits at a named barrier until `threads` threads have arrived.
  void syncNamedBarrier(Value id, int64_t threads);
  /// Arrives at a named barrier without waiting.
  void arriveNamedBarrier(Value id, int64_t threads);
  /// Runs `body` where the condition holds.
  void ifThen(Value condition, function_ref<void(Instructions &)> body);

  // Shared memory.
  /// The address of the kernel's dynamic shared memory, aligned to 1024 bytes.
  Value sharedMemory();
  /// What stands for a shared address of this CTA in the CTA of that rank in
  /// the cluster (PTX ISA, mapa).
  Value mapToCta(Value address, Value rank);
  Value loadShared(Value address, Type type);
  /// An f32, bf16 or f16 in shared memory, as f32.
  Value loadSharedFloat(Value address, Type element);
  /// `count` consecutive `element`s, aligned to all of them, as pairs of f32.
  SmallVector<Value> loadSharedPairs(Value address, Type element,
                                     int64_t count);
  /// Starts the store of four f32 to shared memory of a CTA of the cluster; its
  /// 16 bytes count on the barrier there. Addresses are such as mapToCta makes
  /// (PTX ISA, st.async).
  void storeRemote(Value address, ValueRange values, Value barrier);
  /// With `alone` the store is not merged with its neighbours.
  void storeShared(Value address, Value value, bool alone = false);

  // Barriers (PTX ISA, mbarrier).
  void initBarrier(Value address, int64_t arrivals);
  /// Makes initialised barriers visible to the async proxy and the cluster.
  void fenceBarrierInit();
  /// Waits until the phase of that parity has completed. After `limit` ns, if
  /// that is not 0, says that it has not, and traps.
  /// `acquiresCluster`: what other CTAs did before they arrived has been done.
  void waitBarrier(Value address, Value parity, int64_t limit,
                   bool acquiresCluster = false);
  /// True if the phase of that parity has completed. Does not wait.
  Value testBarrier(Value address, Value parity, bool acquiresCluster = false);
  void arrive(Value address);
  /// Arrives at a barrier of another CTA of the cluster.
  void arriveRemote(Value address);
  void expectBytes(Value address, Value bytes);
  void arriveExpectBytes(Value address, int64_t bytes);
  /// The same at a barrier of another CTA of the cluster.
  void arriveExpectBytesRemote(Value address, int64_t bytes);

  // Copies by threads (PTX ISA, cp.async).
  /// Starts the copy of the 4 bytes of `source`, a memref, at `indices` to
  /// shared memory; of zeros where `exists`, if there is one, is false.
  void copyElement(Value destination, Value source, ValueRange indices,
                   Value exists);
  /// Arrives at the barrier, whose count has this arrival in it, when all
  /// copies of the thread so far are complete.
  void arriveAfterCopies(Value barrier);

  // Bulk tensor copies (PTX ISA, cp.async.bulk.tensor). Coordinates: row,
  // column, as index.
  /// With a mask the copy goes to the same place in each CTA of the mask, an
  /// i32; with `ctaGroup` 2 the barrier may be that of the pair's other CTA.
  void loadTile(Value destination, Value map, ValueRange coordinates,
                Value barrier, Value mask, int64_t ctaGroup);
  /// Brings a box near, to the L2 cache.
  void prefetchTile(Value map, ValueRange coordinates);
  /// Brings a map near to where copies read it.
  void prefetchMap(Value map);
  void storeTile(Value source, Value map, ValueRange coordinates);
  void commitStores();
  /// The extent of a memref, an argument of the kernel, as i32.
  Value extent(Value memref, int64_t axis);
  /// Copies `count` elements, i32, from shared memory to those of a memref, an
  /// argument of the kernel, from `indices`, i32, on.
  void storeElements(Value source, Value memref, ValueRange indices,
                     Value count);
  /// Waits until at most `pending` groups of this thread's stores are
  /// unfinished: written, or with `readOnly` read.
  void waitStores(int64_t pending, bool readOnly);
  /// Makes this thread's writes to shared memory visible to bulk copies and
  /// MMAs.
  void fenceAsyncProxy();

  // Cluster launch control (PTX ISA, clusterlaunchcontrol).
  /// Asks for the work of a cluster that has not started; the answer goes to
  /// `slot`, with `multicast` in every CTA of the cluster.
  void requestWork(Value slot, Value barrier, bool multicast);
  /// Reads an answer: an i1, whether there is work, and an i32, the number
  /// along x of the first CTA whose work it is.
  std::pair<Value, Value> readAnswer(Value slot);

  // Tensor memory (PTX ISA, tcgen05).
  /// The whole warp allocates columns; their address is written to shared
  /// memory. With `ctaGroup` 2 the warps of both CTAs of the pair do it, here
  /// and below.
  void allocateColumns(Value addressSlot, int64_t columns, int64_t ctaGroup);
  void freeColumns(Value address, int64_t columns, int64_t ctaGroup);
  /// Gives up the right to allocate.
  void relinquishAllocation(int64_t ctaGroup);
  void fenceBeforeThreadSync();
  void fenceAfterThreadSync();
  /// D (+)= A * B^T for one 32-byte step of K.
  void mma(const TensorMemoryProduct &product);
  /// Copies a tile of 32 rows of 16 bytes to four columns, to each quarter of
  /// the lanes. MMAs of this thread that follow read what it
  /// copied.
  void copyToTensorMemory(Value address, Value descriptor, int64_t ctaGroup);
  /// Arrives at the barrier when this thread's MMAs so far are complete; with a
  /// mask, an i32, at the same place in each CTA of the mask.
  void commitMmas(Value barrier, Value mask, int64_t ctaGroup);
  /// Starts the load of `columns` columns of this warp's 32 lanes, one lane a
  /// thread, as `columns` i32 registers. With a `laneHalfDistance` the threads
  /// 16 to 31 load from the first 16 lanes too, that many columns further.
  Value startTmemLoad(Value address, int64_t columns, int64_t laneHalfDistance);
  /// Starts the load of matrices, one beside the other, of 16 of the warp's
  /// lanes and eight columns, as four i32 registers each: like those of a
  /// product in registers (PTX ISA, tcgen05.ld, shape 16x256b).
  Value startTmemMatrixLoad(Value address, int64_t matrices);
  /// Waits for all loads that were started, and yields what was loaded, in
  /// order, as pairs of f32.
  SmallVector<Value> finishTmemLoads(ArrayRef<Value> loads);
  /// Has the pairs computed before any barrier or asm that follows. Emits no
  /// instruction.
  void pin(MutableArrayRef<Value> pairs);
  /// The same for pairs that warpgroups hold, each f32 by itself.
  void pinProduct(MutableArrayRef<Value> pairs);

  // Warpgroups (PTX ISA, wgmma).
  /// Starts D = A * B^T for the 64 rows and the K extent of two tiles, as one
  /// group; `product` describes it. D is in `registers`, f32 each, to whose
  /// contents it is added if `accumulates`, or in new ones if there are none.
  SmallVector<Value> startWarpgroupMma(const WarpgroupProduct &product,
                                       ArrayRef<Value> aDescriptors,
                                       ArrayRef<Value> bDescriptors,
                                       ValueRange registers, bool accumulates);
  /// Waits for all products of the warpgroup but the last `behind`; yields what
  /// is in the registers.
  SmallVector<Value> waitWarpgroupMma(ValueRange registers, int64_t behind);
  /// Makes it `count` registers a thread, more (`takes`) or fewer than before,
  /// in all warps of a warpgroup; waits until there are as many.
  void setRegisters(int64_t count, bool takes);
  /// Stores 8x8 matrices of 16-bit elements, one, two or four, an i32 of each a
  /// lane; lanes 8i to 8i+7 give the addresses of the rows of the i-th. A lane
  /// holds two elements of a row, or transposed of a column.
  void storeMatrices(Value address, ValueRange matrices,
                     bool transposed = false);

private:
  /// Gives up what has waited until `deadline`, the i64 that a loop carries, 0
  /// at first; the one to carry on.
  Value checkDeadline(Value address, Value parity, Value deadline,
                      int64_t limit);
  /// Writes the record of a wait of `waited` ns, and traps.
  void giveUp(Value address, Value parity, Value waited);

  Value sharedPointer(Value address);
  Value tmemPointer(Value address);
  Value clusterPointer(Value address);
  Value toMask(Value mask);
};

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_INSTRUCTIONS_H
