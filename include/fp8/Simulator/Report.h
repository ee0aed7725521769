// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of a simulated launch: broken rules, with the place in the PTX and
// in the source, and statistics.

#ifndef FP8_SIMULATOR_REPORT_H
#define FP8_SIMULATOR_REPORT_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fp8::sim {

/// What a broken rule is about. Rules.def says what each kind means.
enum class ErrorKind : uint8_t {
#define FP8_KIND(ID, NAME, MEANING) ID,
#include "fp8/Simulator/Rules.def"
};

/// A stable lower-case name with dashes, e.g. "memory-in-flight".
std::string_view errorKindName(ErrorKind kind);

enum class Severity : uint8_t {
  Error,   ///< breaks on hardware
  Warning, ///< against the letter of the PTX ISA, harmless where it was seen
};

/// A row of Rules.def: a kind as a whole, or a narrower rule.
enum class Rule : uint8_t {
#define FP8_KIND(ID, NAME, MEANING) ID,
#define FP8_RULE(ID, KIND, SEVERITY, NAME, REASON) ID,
#include "fp8/Simulator/Rules.def"
};

struct RuleInfo {
  std::string_view name; ///< stable; of a warning, its section of Warnings.md
  ErrorKind kind;
  Severity severity;
  std::string_view reason; ///< why it is a warning; empty for errors
};
const RuleInfo &infoOf(Rule rule);
/// Of all that breaks the kind and none of its narrower rules.
constexpr Rule ruleOf(ErrorKind kind) { return Rule(kind); }

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

/// A broken rule, whatever its severity.
struct SimulationError {
  ErrorKind kind = ErrorKind::InvalidOperation;
  Rule rule = ruleOf(kind);
  Severity severity = Severity::Error;
  std::string message; ///< the thing, the rule and the cure
  SourcePoint where;
  bool isAssertion = false; ///< a failed assert() of CUDA C++
  bool inThread = false;    ///< whether block, warp and lane mean anything
  std::array<uint32_t, 3> block{0, 0, 0};
  int warp = -1;
  int lane = -1;
  std::vector<SimulationNote> notes;

  /// "error" or "warning".
  std::string_view severityName() const;
  /// Why it is a warning, as a note says it; empty for errors.
  std::string reason() const;
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

  Statistics &operator+=(const Statistics &other);
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

/// What one call of vprintf printed.
struct PrintedText {
  std::array<uint32_t, 3> block{0, 0, 0}, thread{0, 0, 0};
  std::string text; ///< may hold several lines or a part of one

  /// Each line behind "block (0,0,0) thread (0,0,0): ".
  std::string str() const;
};

/// The registers of 32 bits that a thread needs at a time, the most that it may
/// have, and the line of the PTX that needs them. ptxas spills what a
/// thread lacks, unless it can compute values later, or again.
struct RegisterNeed {
  uint32_t needed = 0, available = 0;
  unsigned ptxLine = 0;
};

/// What the timing model says of a launch (docs/Timing.md).
struct KernelTime {
  double microseconds = 0;
  double cycles = 0;    ///< of the SM, without the launch
  double gigahertz = 0; ///< the clock, which falls with the load
  double launchUs = 0;
  /// Of the cycles, before the preceding kernel has ended. Negative if CTAs
  /// that do not run in step lose more.
  double aheadUs = 0;
  RegisterNeed registers;
  bool spills = false; ///< the model expects ptxas to spill
  /// The share of the cycles in which each engine of the first CTA's SM works.
  std::vector<std::pair<std::string_view, double>> engines;
};

struct Report {
  std::vector<SimulationError> errors;
  std::vector<SimulationError> warnings; ///< one a rule and instruction
  Statistics statistics;
  std::vector<BarrierUse> barriers; ///< by rank, offset and count
  /// Hash of the order of barrier events (arrive, phase completion, wait
  /// success, with warp and barrier) in each cluster: two runs with different
  /// hashes took different interleavings.
  uint64_t barrierEventHash = 0;
  uint64_t barrierEventCount = 0;
  /// In the order of the schedule, as much as CUDA keeps by default: 1 MiB.
  std::vector<PrintedText> printed;
  uint64_t printedBytes = 0;      ///< of all text, also of what is dropped
  std::optional<KernelTime> time; ///< where Options::timing asks for it

  bool ok() const { return errors.empty(); }
  /// Whether the rule is reported at this line; a message without a line is
  /// never the same as another.
  bool has(Rule rule, Severity severity, unsigned ptxLine) const;
  /// All errors, then all warnings, as text.
  std::string str() const;
};

} // namespace fp8::sim

#endif // FP8_SIMULATOR_REPORT_H
