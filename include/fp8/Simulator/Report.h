// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of a simulated launch: broken rules, with the place in the PTX and
// in the source, and statistics.

#ifndef FP8_SIMULATOR_REPORT_H
#define FP8_SIMULATOR_REPORT_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8::sim {

enum class ErrorKind : uint8_t {
  InvalidLaunch, ///< launch configuration or arguments do not fit the kernel
  Unsupported, ///< an instruction, qualifier or operand that the simulator does
               ///< not know
  LimitExceeded, ///< step, memory or grid limit
  Deadlock,      ///< nothing can make progress; the notes list every waiter
  Trap,          ///< the kernel executed `trap`
  OutOfBounds, ///< an access outside a buffer, shared memory or a tensor-memory
               ///< allocation
  Misaligned,  ///< an address that breaks an alignment rule
  UninitialisedRegister, ///< a register that nothing wrote
  RegisterInFlight,      ///< a register that an unfinished asynchronous load or
                         ///< wgmma owns
  UninitialisedMemory,   ///< shared, tensor or global memory that nothing wrote
  MemoryInFlight, ///< memory that an unfinished asynchronous operation writes
                  ///< or reads
  Race,           ///< conflicting accesses that no synchronisation orders
  MissingProxyFence,    ///< generic-proxy data used by the async proxy without
                        ///< fence.proxy.async
  MissingTcgen05Fence,  ///< tensor memory handed over without tcgen05.fence
  MissingWgmmaFence,    ///< registers handed to wgmma without wgmma.fence
  BarrierUninitialised, ///< an mbarrier operation on something that is not a
                        ///< live mbarrier
  BarrierMisuse,   ///< init of a live barrier, count out of range, ordinary
                   ///< access to a barrier
  TooManyArrivals, ///< more arrivals in a phase than the barrier expects
  EarlyArrival,    ///< an arrival or a copy may signal the phase before its own
  MissedPhase,     ///< a phase may complete before all who wait by parity have
                   ///< seen the one before
  TransactionOverrun, ///< bytes that land in another phase than they were
                      ///< issued for, or more than expected
  NamedBarrierMisuse, ///< bar.sync/bar.arrive with counts that disagree
  DivergentAligned,   ///< lanes cannot meet at an .aligned or .sync instruction
  TensorMemoryAllocation, ///< alloc, dealloc or relinquish used wrongly, or
                          ///< columns never freed
  TensorMap,              ///< a TMA copy with a broken or unusable tensor map
  BadDescriptor, ///< an instruction or shared-memory descriptor of an MMA with
                 ///< an invalid field
  WorkInFlight,  ///< a CTA ends while asynchronous work still uses its memory
  ExitedCta,     ///< a CTA of the cluster is accessed after its end, or may be
  EarlyAccess, ///< global memory accessed before griddepcontrol.wait, where the
               ///< launch is programmatic
  InvalidOperation, ///< anything else that PTX declares undefined
};

/// A stable lower-case name with dashes, e.g. "memory-in-flight".
std::string_view errorKindName(ErrorKind kind);

/// A line of PTX and, where `.loc` gives it, of the source.
struct SourcePoint {
  unsigned ptxLine = 0;
  std::string file;
  unsigned line = 0;

  /// "ptx line 12 (gemm.mlir:34)".
  std::string str() const;
};

struct SimulationNote {
  SourcePoint where;
  std::string message;
};

struct SimulationError {
  ErrorKind kind;
  std::string message; ///< the thing, the rule and the cure
  SourcePoint where;
  bool inThread = false; ///< whether block, warp and lane mean anything
  std::array<uint32_t, 3> block{0, 0, 0};
  int warp = -1;
  int lane = -1;
  std::vector<SimulationNote> notes;

  /// The error and its notes, one a line.
  std::string str() const;
};

struct Statistics {
  uint64_t warpInstructions = 0;
  uint64_t mmas = 0;
  uint64_t tmaLoads = 0;
  uint64_t tmaLoadBytes = 0;
  uint64_t tmaStores = 0;
  uint64_t tmaStoreBytes = 0;
  uint64_t barrierPhases = 0;    ///< mbarrier phases completed
  uint64_t blocks = 0;           ///< CTAs run to their end
  uint64_t canceledClusters = 0; ///< that running ones took over
};

/// The contributions of one warp, or of work that it issued, to the phases of
/// an mbarrier.
struct BarrierSource {
  enum class Kind : uint8_t {
    Arrive,    ///< mbarrier.arrive of all forms; a count
    Commit,    ///< tcgen05.commit; a count
    CopyAsync, ///< cp.async.mbarrier.arrive; a count
    Expect,    ///< expect_tx; bytes
    Bytes,     ///< complete_tx of copies and responses; bytes
  };
  Kind kind = Kind::Arrive;
  uint32_t rank = 0; ///< of the CTA of the warp
  uint32_t warp = 0;
  uint64_t phases = 0;          ///< in how many completed phases
  uint64_t least = 0, most = 0; ///< in one of these phases
  uint64_t total = 0;
};

/// "arrive", "commit", "copy-async", "expect" or "bytes".
std::string_view barrierSourceName(BarrierSource::Kind kind);

/// The mbarriers at one place of a CTA rank, over all clusters of the grid.
struct BarrierUse {
  uint32_t rank = 0;   ///< of the CTA in its cluster
  uint32_t offset = 0; ///< in its shared memory
  std::string symbol;  ///< the variable that it lies in, and where
  uint32_t symbolOffset = 0;
  uint32_t count = 0;      ///< of mbarrier.init
  uint64_t inits = 0;      ///< times it was initialised
  uint64_t phases = 0;     ///< completed, after all inits
  uint64_t unfinished = 0; ///< lives that ended in a phase that had begun
  std::vector<BarrierSource> sources;
};

/// A wait of a thread for a phase that is complete, or another access of its to
/// an mbarrier, when it executes the instruction. What is asynchronous about it
/// happens later. An instruction that reaches the barriers of several CTAs has
/// an access for each.
struct BarrierAccess {
  bool waits = false;
  std::array<uint32_t, 3> block{0, 0, 0}; ///< of the thread's CTA
  uint32_t warp = 0, lane = 0;
  /// The mbarrier: the rank of its CTA in the cluster, the shared variable that
  /// it lies in, and where.
  uint32_t rank = 0;
  std::string_view symbol;
  uint32_t offset = 0;
  unsigned ptxLine = 0;
};

struct Report {
  std::vector<SimulationError> errors;
  Statistics statistics;
  std::vector<BarrierUse> barriers; ///< by rank, offset and count
  /// Hash of the order of barrier events (arrive, phase completion, wait
  /// success, with warp and barrier): two runs with different hashes took
  /// different interleavings.
  uint64_t barrierEventHash = 0;
  uint64_t barrierEventCount = 0;

  bool ok() const { return errors.empty(); }
  /// All errors as text.
  std::string str() const;
};

} // namespace fp8::sim

#endif // FP8_SIMULATOR_REPORT_H
