// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler derives from a linear kernel and writes on its ops as
// `fp8.plan`: counts, bytes, places. Each record names its fields once; the
// attributes of Plan.td parse, print and compare by that list.

#ifndef FP8_IR_PLAN_H
#define FP8_IR_PLAN_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <tuple>

namespace mlir::fp8 {

/// A field of a record: its name in text, and the member, an int64_t or a bool.
template <typename Record, typename Value>
struct PlanField {
  llvm::StringLiteral name;
  Value Record::*member;
};
template <typename Record, typename Value>
PlanField(const char *, Value Record::*) -> PlanField<Record, Value>;

/// What records share. `Record::getFields()` is a tuple of its PlanFields.
template <typename Record>
struct PlanRecord {
  /// Calls `visit` with the name and the member of each field, in order.
  template <typename Self, typename Visitor>
  static void forEachField(Self &record, Visitor visit) {
    std::apply(
        [&](const auto &...field) {
          (visit(field.name, record.*field.member), ...);
        },
        Record::getFields());
  }
  friend bool operator==(const Record &lhs, const Record &rhs) {
    return std::apply(
        [&](const auto &...field) {
          return ((lhs.*field.member == rhs.*field.member) && ...);
        },
        Record::getFields());
  }
  friend llvm::hash_code hash_value(const Record &record) {
    llvm::hash_code hash(0);
    forEachField(record, [&](StringRef, int64_t value) {
      hash = llvm::hash_combine(hash, value);
    });
    return hash;
  }
};

/// A CTA of the kernel.
struct CtaPlan : PlanRecord<CtaPlan> {
  int64_t warps = 0;        ///< to launch: those of the roles, and idle ones
  int64_t idleWarps = 0;    ///< they make the last warpgroup whole
  int64_t sharedMemory = 0; ///< dynamic, in bytes
  int64_t registers = 0;    ///< of a thread when the kernel starts
  /// Of a thread without a role, where roles deal registers out (PTX ISA,
  /// setmaxnreg); else 0.
  int64_t idleRegisters = 0;

  static constexpr auto getFields() {
    return std::tuple(PlanField{"warps", &CtaPlan::warps},
                      PlanField{"idle_warps", &CtaPlan::idleWarps},
                      PlanField{"shared_memory", &CtaPlan::sharedMemory},
                      PlanField{"registers", &CtaPlan::registers},
                      PlanField{"idle_registers", &CtaPlan::idleRegisters});
  }
};

/// A role.
struct RolePlan : PlanRecord<RolePlan> {
  int64_t firstWarp = 0;
  int64_t registers = 0; ///< that its threads set, or 0
  bool takes = false;    ///< they take registers that others give up

  static constexpr auto getFields() {
    return std::tuple(PlanField{"first_warp", &RolePlan::firstWarp},
                      PlanField{"registers", &RolePlan::registers},
                      PlanField{"takes", &RolePlan::takes});
  }
};

/// A ring, a store queue or an exchange, where it is made; and the ops that
/// hand over tensor memory or stage through a queue. Offsets are in bytes of
/// the CTA's shared memory.
struct RingPlan : PlanRecord<RingPlan> {
  /// Arrivals that complete a full barrier, beside the bytes of the copies.
  int64_t fullArrivals = 0;
  int64_t emptyArrivals = 0; ///< arrivals that complete an empty barrier
  /// The copies that fill one slot, in bytes of one CTA.
  int64_t bytes = 0;
  /// Full barriers, then empty barriers, 8 bytes each. Of an output pipeline
  /// the barrier that guards deallocation and the word with the address of the
  /// tensor memory follow them.
  int64_t barrierOffset = 0;
  /// The tiles of a pipeline, the answers of a work queue, the slots of a store
  /// queue or of an exchange.
  int64_t payloadOffset = 0;
  /// Of an output pipeline: epilogue warps that the MMA warp waits for before
  /// it frees tensor memory.
  int64_t deallocArrivals = 0;
  /// 1..15: the barrier over which the address of tensor memory is handed, or
  /// at which the first warpgroup that stages in a store queue meets.
  int64_t namedBarrier = 0;
  /// Threads that meet there: the MMA warp and the epilogue warps.
  int64_t handoffThreads = 0;
  /// Bit i: the i-th end is a consumer whose slots MMAs read, so that their
  /// completion hands a slot back.
  int64_t mmaEnds = 0;
  /// Threads copy elements into the slots; each hand-over arrives for these
  /// too.
  bool hasElements = false;
  /// Of an output pipeline: the columns of tensor memory that it allocates.
  int64_t columns = 0;
  /// No other ring allocates tensor memory.
  bool allocatesAlone = false;
  /// Of a store: the first through its queue.
  bool unused = false;

  static constexpr auto getFields() {
    return std::tuple(PlanField{"full_arrivals", &RingPlan::fullArrivals},
                      PlanField{"empty_arrivals", &RingPlan::emptyArrivals},
                      PlanField{"bytes", &RingPlan::bytes},
                      PlanField{"barriers", &RingPlan::barrierOffset},
                      PlanField{"payload", &RingPlan::payloadOffset},
                      PlanField{"dealloc_arrivals", &RingPlan::deallocArrivals},
                      PlanField{"named_barrier", &RingPlan::namedBarrier},
                      PlanField{"handoff_threads", &RingPlan::handoffThreads},
                      PlanField{"mma_ends", &RingPlan::mmaEnds},
                      PlanField{"has_elements", &RingPlan::hasElements},
                      PlanField{"columns", &RingPlan::columns},
                      PlanField{"allocates_alone", &RingPlan::allocatesAlone},
                      PlanField{"unused", &RingPlan::unused});
  }
};

/// What the hand-over of a stage depends on: on the ops that acquire it, fill
/// it and hand it over.
struct StagePlan : PlanRecord<StagePlan> {
  int64_t bytes = 0; ///< of the copies issued into the stage
  /// The copies are all issued in the block of the one acquire, so it announces
  /// them.
  bool bytesAtAcquire = false;
  bool usedByMma = false;     ///< an asynchronous MMA reads or writes it
  bool usedByThreads = false; ///< threads read it, or their products do
  /// Threads load from it, through the generic proxy.
  bool loadedByThreads = false;
  bool overwrittenByTma = false; ///< copies fill the slot again
  bool sharedAlongM = false;     ///< other CTAs along M copy into it
  bool sharedAlongN = false;     ///< other CTAs along N do
  bool hasElements = false;      ///< its hand-over arrives for copied elements
  /// The lanes need not meet here. Of an op that hands the stage over: they met
  /// before it, and one lane has worked since. Of an acquire: they meet in a
  /// later one, before anything is done.
  bool converged = false;

  static constexpr auto getFields() {
    return std::tuple(
        PlanField{"bytes", &StagePlan::bytes},
        PlanField{"bytes_at_acquire", &StagePlan::bytesAtAcquire},
        PlanField{"used_by_mma", &StagePlan::usedByMma},
        PlanField{"used_by_threads", &StagePlan::usedByThreads},
        PlanField{"loaded_by_threads", &StagePlan::loadedByThreads},
        PlanField{"overwritten_by_tma", &StagePlan::overwrittenByTma},
        PlanField{"shared_along_m", &StagePlan::sharedAlongM},
        PlanField{"shared_along_n", &StagePlan::sharedAlongN},
        PlanField{"has_elements", &StagePlan::hasElements},
        PlanField{"converged", &StagePlan::converged});
  }
};

/// An addition of a product to sums in registers.
struct SumPlan : PlanRecord<SumPlan> {
  /// A later product of the block may take the registers of this one.
  bool beforeProduct = false;

  static constexpr auto getFields() {
    return std::tuple(PlanField{"before_product", &SumPlan::beforeProduct});
  }
};

/// A wait for a product in registers.
struct WaitPlan : PlanRecord<WaitPlan> {
  /// Products started behind the one that is waited for, which may still run.
  int64_t behind = 0;

  static constexpr auto getFields() {
    return std::tuple(PlanField{"behind", &WaitPlan::behind});
  }
};

} // namespace mlir::fp8

#endif // FP8_IR_PLAN_H
