// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report of a planned kernel, as text, JSON and a graph.

#ifndef FP8_ANALYSIS_KERNELREPORT_H
#define FP8_ANALYSIS_KERNELREPORT_H

#include "fp8/Analysis/KernelPlan.h"

#include "llvm/Support/JSON.h"

namespace mlir::fp8 {

/// The arrivals of one role at a barrier in one phase.
struct ArrivalReport {
  std::string role;
  int64_t count; ///< arrivals of this role, of all CTAs that arrive
  std::string how;
};

/// The barriers of one kind of a ring, one for each slot.
struct BarrierReport {
  std::string name;  ///< full, empty, deallocation or hand-off
  int64_t depth;     ///< barriers of this kind
  int64_t arrivals;  ///< the count with which it is initialised; threads for a
                     ///< named barrier
  int64_t bytes;     ///< the bytes that complete a phase beside the arrivals
  int64_t offset;    ///< in shared memory, bytes; the number of a named barrier
  std::string phase; ///< how the parity that is waited for runs
  SmallVector<std::string> waiters; ///< the roles that wait
  SmallVector<ArrivalReport> arrivers;
  bool isNamed = false; ///< a named barrier, not an mbarrier
};

/// One ring and its barriers.
struct RingReport {
  std::string name; ///< such as "pipeline a, b"
  int64_t stages;
  int64_t sharedMemoryBytes; ///< of the slots, without the barriers
  int64_t tmemColumns;
  SmallVector<BarrierReport, 0> barriers;
};

/// A role and its warps.
struct RoleReport {
  std::string name;
  WarpRange warps;
};

/// The report of a linear kernel, read from its plan.
class KernelReport {
public:
  /// The kernel must be planned (isPlanned).
  explicit KernelReport(FunctionOpInterface kernel);

  ArrayRef<RoleReport> getRoles() const { return roles; }
  ArrayRef<RingReport> getRings() const { return rings; }

  void print(raw_ostream &os) const;
  llvm::json::Value toJSON() const;
  /// Prints roles and rings as a graph in the language of Graphviz. Each role
  /// that arrives at a barrier has an edge with its count, and each role that
  /// waits has an edge.
  void printGraph(raw_ostream &os) const;

private:
  void addRing(Operation *op);
  void addQueue(StoreQueueOp op);
  void addExchange(ExchangeOp op);
  void addOutputBarriers(OutputPipelineOp op, RingReport &report);
  /// The registers of a thread in the role that has the most.
  int64_t getMaxRegisters() const {
    return growing.empty() ? cta.registers : takenRegisters;
  }
  /// The role that works on the end.
  static RoleOp getRole(Value end);

  std::string name;
  ClusterShape cluster;
  SmallVector<RoleReport, 0> roles;
  SmallVector<RingReport, 0> rings;
  CtaPlan cta;
  SmallVector<WarpRange> growing;
  int64_t takenRegisters = 0;
  int64_t storeQueueBytes = 0;
  int64_t tmemColumns = 0;
};

} // namespace mlir::fp8

#endif // FP8_ANALYSIS_KERNELREPORT_H
