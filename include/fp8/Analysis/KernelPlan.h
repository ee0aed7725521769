// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is derived from a linear kernel (phase 2): warps, arrival counts, bytes,
// shared memory, tensor memory.

#ifndef FP8_ANALYSIS_KERNELPLAN_H
#define FP8_ANALYSIS_KERNELPLAN_H

#include "fp8/Analysis/HandleFlow.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fp8 {

/// The warps of a role: [first, first + count).
struct WarpRange {
  int64_t first = 0;
  int64_t count = 0;
};

/// The CTAs whose slots the ring hands over together, 1 or 2.
int64_t getCtaGroup(Type ring);

/// One ring of a kernel: the arrivals its barriers expect and where it lies in
/// shared memory. Offsets in bytes.
struct RingPlan {
  int64_t fullArrivals = 0;  ///< arrivals that complete a full barrier, beside
                             ///< the bytes of the copies
  int64_t emptyArrivals = 0; ///< arrivals that complete an empty barrier
  int64_t barrierOffset = 0; ///< full barriers, then empty barriers, 8 bytes
                             ///< each; see OutputPlan for what follows them
  int64_t payloadOffset = 0; ///< the tiles of a pipeline, the answers of a work
                             ///< queue; unused for an output pipeline
  int64_t ctaGroup = 1;      ///< the CTAs whose slots are handed over together
  bool sharedAlongM = false; ///< the CTAs along M copy into each other's slots
  bool sharedAlongN = false; ///< those along N do
  bool hasElements = false;  ///< threads copy elements into the slots, and each
                             ///< hand-over arrives for these too

  /// True if other CTAs copy into the slots, or wait for them.
  bool isShared() const {
    return ctaGroup == 2 || sharedAlongM || sharedAlongN;
  }
  /// The CTAs whose MMA warps, or consuming threads, hand a slot of one CTA
  /// back.
  int64_t getNumReleasers(ClusterShape cluster) const;
};

/// What an output pipeline has beside its ring.
struct OutputPlan {
  int64_t deallocArrivals = 0; ///< epilogue warps that the MMA warp waits for
                               ///< before it frees tensor memory
  int64_t namedBarrier = 0;    ///< the named barrier (1..15) over which the
                               ///< address of the tensor memory is handed
  int64_t handoffThreads =
      0; ///< threads that meet there: the MMA warp and the epilogue warps
};

/// What the hand-over of a stage depends on. Plain data: it outlives the ops
/// that it was read from.
struct StagePlan {
  int64_t bytes = 0;           ///< of the copies issued into the stage
  bool bytesAtAcquire = false; ///< they are all issued in the block of the one
                               ///< acquire, so it can announce them
  bool usedByMma = false;      ///< an asynchronous MMA reads or writes it
  bool usedByThreads = false;  ///< threads read it, or their products do
  bool loadedByThreads =
      false;                 ///< they load from it, through the generic proxy
  bool sharedAlongM = false; ///< other CTAs along M copy into it
  bool sharedAlongN = false; ///< other CTAs along N do
  bool hasElements = false;  ///< its hand-over arrives for copied elements
};

/// The registers of a thread. A kernel starts with as many for each as its
/// warps leave; where warpgroups multiply into theirs, those that hold no
/// fragments hand some over (PTX ISA, setmaxnreg).
struct RegisterPlan {
  int64_t atEntry = 0;
  /// The warps whose threads take more, in order: whole warpgroups. None where
  /// all keep what they start with.
  SmallVector<WarpRange> takers;
  int64_t multiply = 0; ///< of the takers' threads
  int64_t others = 0;   ///< of all other threads

  bool isDealt() const { return !takers.empty(); }
  bool takes(WarpRange warps) const;
};

/// Everything that lowering a kernel needs to know and that its text does not
/// state.
class KernelPlan {
public:
  /// Analyses the kernel, or reports what is wrong with it at the op, with
  /// notes at the causes.
  static FailureOr<KernelPlan> analyze(FunctionOpInterface kernel);

  /// What the hand-over of the stage depends on.
  StagePlan getStage(Value stage) const {
    return stages.lookup(flow->getStage(stage));
  }
  ClusterShape getCluster() const { return cluster; }
  WarpRange getWarps(RoleOp role) const { return roles.lookup(role); }
  /// The warps to launch: those of the roles and, where registers are dealt out
  /// to warpgroups, idle ones that make the last of these whole.
  int64_t getNumWarps() const { return numWarps; }
  int64_t getNumIdleWarps() const { return numIdleWarps; }
  const RegisterPlan &getRegisters() const { return registers; }
  int64_t getNumOutputs() const { return outputs.size(); }
  const RingPlan &getRing(Operation *ring) const {
    return rings.find(ring)->second;
  }
  /// True if MMAs read the stages that the consumer end takes.
  bool isConsumedByMma(Value end) const;
  /// The bytes of the copies that fill one slot of the ring in one CTA.
  int64_t getFullBytes(Operation *ring) const;
  /// The ops that made the rings to which a handle may belong: several where
  /// control flow exchanges ends of one type. What the hand-over of a stage
  /// depends on is the same for all of them.
  ArrayRef<Operation *> getRings(Value handle) const {
    return flow->getRings(handle);
  }
  /// The output pipeline to which the end of a role belongs. Where that may be
  /// one of several, their plans differ in the named barrier alone.
  const OutputPlan &getOutput(Value end) const {
    return outputs.find(getRings(end).front())->second;
  }
  int64_t getQueueOffset(StoreQueueOp queue) const {
    return queues.lookup(queue);
  }
  /// The named barrier over which the first warpgroup that stages in the queue
  /// meets; those of the others follow it.
  int64_t getQueueBarrier(Value queue) const {
    return queueBarriers.lookup(flow->getEnd(queue));
  }
  /// Where the slots of an exchange begin; its barriers follow them, first that
  /// of what has come, then that of what has been read.
  int64_t getExchangeOffset(ExchangeOp exchange) const {
    return exchanges.lookup(exchange);
  }
  int64_t getSharedMemoryBytes() const { return sharedMemoryBytes; }

  /// The size of an answer of cluster launch control, in bytes (PTX ISA,
  /// clusterlaunchcontrol.try_cancel).
  static constexpr int64_t kAnswerBytes = 16;
  /// The offset of a tile array within a pipeline's payload, in bytes.
  static int64_t getTileOffset(PipelineType ring, StringRef name);
  /// The distance from a tile to the same tile of the next stage, in bytes.
  static int64_t getTileStride(TileType tile);
  static int64_t getPayloadBytes(PipelineType ring);
  /// The distance between slots of a store queue, in bytes.
  static int64_t getSlotStride(StoreQueueType queue);
  /// Who has slots of its own in a store queue: each warp or, where a tile has
  /// the rows of a warpgroup, each warpgroup.
  static int64_t getNumStagers(StoreQueueType queue);
  /// Payloads begin at multiples of the widest alignment, that of swizzled
  /// tiles.
  static constexpr int64_t kPayloadAlignment = 1024;
  static int64_t getQueueBytes(StoreQueueType queue) {
    return getNumStagers(queue) * queue.getDepth() * getSlotStride(queue);
  }
  /// A slot of an exchange, and all that it takes up, in bytes.
  static int64_t getShareBytes(ExchangeType exchange);
  static int64_t getExchangeBytes(ExchangeType exchange) {
    return getExchangeEmptyBarrier(exchange) + 8;
  }
  /// Offsets within an exchange, behind its slots, of the barrier of what has
  /// come and of that of what has been read.
  static int64_t getExchangeFullBarrier(ExchangeType exchange) {
    return exchange.getCtas() * getShareBytes(exchange);
  }
  static int64_t getExchangeEmptyBarrier(ExchangeType exchange) {
    return getExchangeFullBarrier(exchange) + 8;
  }
  /// Offsets, from the ring's barriers, of the barrier that guards deallocation
  /// and of the word with the tensor-memory address.
  static int64_t getDeallocBarrierOffset(OutputPipelineType ring) {
    return 16 * ring.getNumStages();
  }
  static int64_t getTmemAddressOffset(OutputPipelineType ring) {
    return 16 * ring.getNumStages() + 8;
  }

private:
  LogicalResult checkPhase(FunctionOpInterface kernel);
  LogicalResult dealWarps(FunctionOpInterface kernel);
  void planRegisters();
  LogicalResult checkRoles(FunctionOpInterface kernel);
  LogicalResult checkTileOp(Operation *op);
  static LogicalResult checkRules(FunctionOpInterface kernel);
  static LogicalResult checkForeign(FunctionOpInterface kernel);
  LogicalResult checkStages() const;
  void planStages();
  LogicalResult planSharing();
  LogicalResult checkExchanged(AcquireOp acquire, Operation *first,
                               Operation *other) const;
  LogicalResult planRings(FunctionOpInterface kernel);
  LogicalResult planRing(Operation *op, RingPlan &ring);
  LogicalResult checkCluster() const;
  LogicalResult checkSharedSlots(Operation *op, const RingPlan &ring) const;
  LogicalResult checkWorkQueue(WorkQueueOp queue) const;
  static LogicalResult checkMma(MmaOp mma);
  LogicalResult planOutput(OutputPipelineOp output);
  LogicalResult planQueues(FunctionOpInterface kernel);
  LogicalResult checkHandoff(OutputPipelineOp output, RoleOp mma,
                             RoleOp epilogue);
  LogicalResult checkHandoffThreads(FunctionOpInterface kernel) const;
  /// The role that takes the end; an error at the ring if none does.
  FailureOr<RoleOp> getRoleOf(Value end);
  LogicalResult layOutSharedMemory(FunctionOpInterface kernel);
  LogicalResult checkTensorMemory(FunctionOpInterface kernel);

  std::shared_ptr<HandleFlow> flow;
  llvm::MapVector<Operation *, WarpRange> roles;
  llvm::MapVector<Operation *, RingPlan> rings;
  llvm::MapVector<Operation *, OutputPlan> outputs;
  llvm::DenseMap<unsigned, StagePlan> stages; ///< by the number of the stage
  llvm::DenseMap<Operation *, int64_t> queues, exchanges;
  llvm::DenseMap<unsigned, int64_t> queueBarriers; ///< by the queue's number
  ClusterShape cluster;
  RegisterPlan registers;
  int64_t numWarps = 0;
  int64_t numIdleWarps = 0;
  int64_t sharedMemoryBytes = 0;
};

} // namespace mlir::fp8

#endif // FP8_ANALYSIS_KERNELPLAN_H
