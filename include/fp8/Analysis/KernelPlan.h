// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives the plan of a linear kernel (phase 2): warps, arrival counts, bytes,
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

/// Checks that a role of those warps can do the op's work (R2, R3), on
/// fragments that its warps hold.
LogicalResult checkRoleWarps(Operation *op, WarpRange warps);

/// The number of CTAs whose slots the ring hands over together, 1 or 2.
int64_t getCtaGroup(Type ring);

/// True if the slot is handed over by an engine that the elected lane sets to
/// work, without a meeting of the warp: the lanes meet behind the wait for it.
/// A lane that lags by a lap would wait for a phase whose parity is back, which
/// PTX does not allow (PTX ISA, mbarrier.test_wait: the current phase or the
/// one before it), and for ever.
bool isSignalledByEngine(Value stage, const StagePlan &plan);

/// One ring of a kernel, with the facts from which its plan follows.
struct PlannedRing : RingPlan {
  int64_t ctaGroup = 1;      ///< the CTAs whose slots are handed over together
  bool sharedAlongM = false; ///< the CTAs along M copy into each other's slots
  bool sharedAlongN = false; ///< those along N do

  /// True if other CTAs copy into the slots or wait for them.
  bool isShared() const {
    return ctaGroup == 2 || sharedAlongM || sharedAlongN;
  }
  /// The number of CTAs whose MMA warps, or consuming threads, hand back a slot
  /// of one CTA.
  int64_t getNumReleasers(ClusterShape cluster) const;
};

/// The registers of a thread. A kernel starts with the registers of the
/// multiprocessor divided by its warps. Where warpgroups multiply into
/// registers, the warps that hold no fragments give some registers to those
/// that do (PTX ISA, setmaxnreg).
struct RegisterPlan {
  int64_t atEntry = 0;
  /// The warps of the roles whose threads take more registers, in whole
  /// warpgroups. Empty if all threads keep the registers that they start with.
  SmallVector<WarpRange> growing;
  int64_t multiply = 0; ///< of the threads that take more
  int64_t others = 0;   ///< of all other threads

  bool isDealt() const { return !growing.empty(); }
  bool takes(WarpRange warps) const;
};

/// The warps whose threads take more registers, in a planned kernel. Adjacent
/// roles form one range.
SmallVector<WarpRange> getGrowingWarps(FunctionOpInterface kernel);

/// True if the kernel is linear, and its rings are no barriers yet.
bool hasRings(FunctionOpInterface kernel);

/// True if `--fp8-plan-kernels` has planned the kernel.
bool isPlanned(FunctionOpInterface kernel);

/// Everything that the lowering of a kernel needs and that the kernel does not
/// state.
class KernelPlan {
public:
  /// Analyses the kernel. Reports each broken rule at its op, with notes at the
  /// causes.
  static FailureOr<KernelPlan> analyze(FunctionOpInterface kernel);

  /// Writes the plan on the kernel and its ops as `fp8.plan`, and replaces an
  /// existing plan.
  void write(FunctionOpInterface kernel) const;
  /// Emits an error at the first op whose plan differs from this one: the
  /// kernel has changed since it was planned.
  LogicalResult check(FunctionOpInterface kernel) const;

  /// The facts on which the hand-over of the stage depends.
  StagePlan getStage(Value stage) const {
    return stages.lookup(flow->getStage(stage));
  }
  ClusterShape getCluster() const { return cluster; }
  WarpRange getWarps(RoleOp role) const { return roles.lookup(role); }
  /// The warps to launch: the warps of the roles and, where warpgroups
  /// redistribute registers, the idle warps that complete the last warpgroup.
  int64_t getNumWarps() const { return numWarps; }
  const PlannedRing &getRing(Operation *ring) const {
    return rings.find(ring)->second;
  }
  /// The ops that make the rings to which a handle may belong. There are
  /// several if control flow exchanges ends of one type; the hand-over of a
  /// stage depends on the same facts for all of them.
  ArrayRef<Operation *> getRings(Value handle) const {
    return flow->getRings(handle);
  }
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
  /// The number of warps or warpgroups with their own slots in a store queue:
  /// the warps, or the warpgroups if a tile has the rows of a warpgroup.
  static int64_t getNumStagers(StoreQueueType queue);
  /// Payloads begin at multiples of the largest alignment, that of swizzled
  /// tiles.
  static constexpr int64_t kPayloadAlignment = 1024;
  static int64_t getQueueBytes(StoreQueueType queue) {
    return getNumStagers(queue) * queue.getDepth() * getSlotStride(queue);
  }
  /// The bytes of one slot of an exchange, and of the whole exchange.
  static int64_t getShareBytes(ExchangeType exchange);
  static int64_t getExchangeBytes(ExchangeType exchange) {
    return getExchangeEmptyBarrier(exchange) + 8;
  }
  /// Offsets in an exchange, after its slots, of the barrier that completes
  /// when all parts have arrived, and of the barrier that completes when all
  /// parts have been read.
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
  /// The attribute to write on the op; null for most ops.
  Attribute getAttribute(Operation *op) const;
  StagePlan getStagePlan(Operation *op, Value stage) const;
  RingPlan getRingPlan(Operation *maker) const;
  /// True if MMAs read the stages that the consumer end takes.
  bool isConsumedByMma(Value end) const;
  /// The bytes of the copies that fill one slot of the ring in one CTA.
  int64_t getFullBytes(Operation *ring) const;
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
  LogicalResult planRing(Operation *op, PlannedRing &ring);
  LogicalResult checkCluster() const;
  LogicalResult checkSharedSlots(Operation *op, const PlannedRing &ring) const;
  LogicalResult checkOperandRing(Operation *op, const PlannedRing &ring) const;
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
  LogicalResult planTensorMemory(FunctionOpInterface kernel);

  std::shared_ptr<HandleFlow> flow;
  llvm::MapVector<Operation *, WarpRange> roles;
  llvm::MapVector<Operation *, PlannedRing> rings;
  SmallVector<Operation *> outputs;           ///< the output pipelines
  llvm::DenseMap<unsigned, StagePlan> stages; ///< by the number of the stage
  /// Store queues and exchanges.
  llvm::MapVector<Operation *, RingPlan> queues;
  /// The op that makes a store queue, by the queue's number.
  llvm::DenseMap<unsigned, Operation *> queueMakers;
  ClusterShape cluster;
  RegisterPlan registers;
  int64_t numWarps = 0;
  int64_t numIdleWarps = 0;
  int64_t sharedMemoryBytes = 0;
};

} // namespace mlir::fp8

#endif // FP8_ANALYSIS_KERNELPLAN_H
