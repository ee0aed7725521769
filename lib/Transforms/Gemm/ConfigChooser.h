// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the configuration of a GEMM op (docs/Chooser.md).

#ifndef FP8_LIB_TRANSFORMS_GEMM_CONFIGCHOOSER_H
#define FP8_LIB_TRANSFORMS_GEMM_CONFIGCHOOSER_H

#include "MachineFile.h"
#include "TunedTable.h"
#include "fp8/IR/Fp8Types.h"
#include "fp8/Tuning/CostModel.h"

#include <optional>
#include <unordered_map>

namespace mlir::fp8 {

namespace tuning = ::fp8::tuning;

/// A configuration that can be made into a kernel, and its time.
struct RankedConfig {
  GemmConfig config;
  tuning::Prediction prediction;
  double aloneUs; ///< its time if it starts when the preceding kernel has ended
  double meanUs;  ///< by which it is ranked (LaunchRanking.h)
  const tuning::KernelShape *shape; ///< lives as long as the chooser
};

/// A configuration and its mean time (LaunchRanking.h), or its time alone if
/// launches are serial. Where nothing is known of the time, it is 0, and the
/// lowering may have to choose the configuration.
struct TimedConfig {
  std::optional<GemmConfig> config;
  double us = 0;
  /// No serial launch that was measured is faster.
  bool isFastestSerial = false;
};

/// Why an op has the configuration that it has.
enum class ConfigSource {
  Pinned,   ///< by the op
  Table,    ///< measured
  Model,    ///< predicted
  Lowering, ///< nothing is known of the extents, so the lowering's default
};

/// "pinned", "table", "model" or "lowering".
StringRef stringifyConfigSource(ConfigSource source);

struct ConfigChoice {
  ConfigSource source;
  std::optional<GemmConfig> config;   ///< none if the lowering chooses
  std::optional<GemmExtents> extents; ///< that it is for
  /// The best first, but before it one of fewer tiles that is as good.
  SmallVector<RankedConfig, 0> ranked;
};

/// How a chosen kernel is launched.
enum class LaunchChoice {
  Fastest, ///< as the model, or a measurement, says
  Serial,
  Programmatic,
};

/// The options of a pass that chooses.
struct ChooserOptions {
  std::string chip, problem, tuned, machine, launch;
  bool exact = false; ///< the kernel is for the M of `problem` alone
};

/// What of a candidate no extent can change, so that it is worked out once for
/// many problems of one op. None if it is no kernel that is worth trying.
using Candidate = std::optional<tuning::KernelModel>;

/// Chooses for the ops of one module. One thread uses it at a time.
class ConfigChooser {
public:
  /// Reads the options; reports what is wrong with them at `module`, after the
  /// name of the pass.
  static FailureOr<ConfigChooser> create(ModuleOp module, StringRef pass,
                                         const ChooserOptions &options);

  /// Ranks configurations of the op, if anything is known of its extents, and
  /// chooses the one that it is to have.
  ConfigChoice choose(BlockwiseGemmOp op) const;
  /// Only the configuration of an op that pins none, with no ranking where the
  /// table decides.
  std::optional<GemmConfig> chooseConfig(BlockwiseGemmOp op) const;

  /// The constants of the machine, fitted to the entries of a table, which may
  /// have many for a problem of the op: the text of a machine file for the GPU
  /// called `gpu`.
  FailureOr<std::string> fit(BlockwiseGemmOp op, StringRef tablePath,
                             StringRef gpu) const;

  /// Replaces M, N and K of the options: each an extent, or
  /// ShapedType::kDynamic.
  void setHint(const std::array<int64_t, 3> &extents) { hint = extents; }

  const chip::Chip &getChip() const { return chip; }
  const chip::Machine &getMachine() const { return *chip.machine; }
  /// The file that has the machine; empty if it is built in.
  StringRef getMachinePath() const {
    return measured ? StringRef(measured->path) : StringRef();
  }

private:
  /// Takes the machine of that name, or the one that the file describes.
  LogicalResult setMachine(StringRef text,
                           function_ref<InFlightDiagnostic()> emitError);

  /// The op's problem, as the cost model has it.
  static tuning::Problem describe(BlockwiseGemmOp op,
                                  const GemmExtents &extents);

  /// What the op's types say of its extents, else the hint, else a guess; none
  /// if all of M, N and K would be guessed.
  std::optional<GemmExtents> getExtents(BlockwiseGemmOp op) const;

  /// True if M is in the op's types, or the kernel serves no other M.
  bool knowsM(BlockwiseGemmOp op) const;

  /// A candidate of an op with each edge, worked out where it is first asked
  /// for.
  class EachEdge {
  public:
    /// The candidate with the edge that the configuration names.
    const Candidate &get(const ConfigChooser &chooser, BlockwiseGemmOp op,
                         const GemmConfig &config);
    /// The candidate for M of about `m`, whose configuration `config` becomes:
    /// with the edge of M first, where there is one and that is a kernel. Then
    /// no copy of A reaches far beyond M, which costs time. One kernel serves M
    /// of whole tiles and others.
    const Candidate &getUsual(const ConfigChooser &chooser, BlockwiseGemmOp op,
                              GemmConfig &config, int64_t m);

  private:
    std::array<std::optional<Candidate>, config::kEdges> kinds;
  };

  /// The extents by which candidates are ranked. All tiles have multiples of
  /// eight rows, so M is rounded up to one, and M of one multiple get the same
  /// configuration. A few rows, and an M in the op's types, stay as they are.
  static GemmExtents roundUp(BlockwiseGemmOp op, GemmExtents extents);

  /// The candidates for the extents that can be kernels, in no order; with
  /// `onlyBest` some that are slower than others may be left out.
  SmallVector<RankedConfig, 0> predictAll(BlockwiseGemmOp op,
                                          const GemmExtents &extents,
                                          bool onlyBest) const;

  /// Ranks configurations for the extents, the best first, but before it one of
  /// fewer tiles that is as good.
  SmallVector<RankedConfig, 0> rank(BlockwiseGemmOp op,
                                    const GemmExtents &extents) const;

  /// The configuration that is predicted to be the best.
  TimedConfig chooseBest(BlockwiseGemmOp op, const GemmExtents &extents) const;
  /// The same for the rounded extents, worked out once. The next call may
  /// invalidate it.
  const TimedConfig &chooseKnown(BlockwiseGemmOp op,
                                 const GemmExtents &extents) const;

  /// The configuration where nothing is predicted: none, or only the launch.
  std::optional<GemmConfig>
  chooseUnpredicted(const std::optional<GemmExtents> &extents) const;

  /// The op's kernel with that configuration.
  Candidate makeCandidate(BlockwiseGemmOp op, const GemmConfig &config) const;

  /// What an entry takes as it is launched; 0 if that was not measured.
  double getTime(const TunedTable::Entry &entry) const;
  /// What the table has for the op: the first of its entries that serves it.
  std::optional<TimedConfig> lookup(BlockwiseGemmOp op,
                                    const GemmExtents &extents) const;
  /// Whether what was measured counts, and not the prediction. An entry has the
  /// least mean time. For a serial launch another kernel may be predicted to
  /// take less, unless the fastest of these was measured.
  bool prefersMeasured(const TimedConfig &measured,
                       const TimedConfig &predicted) const;
  /// What was measured with a larger M and took less than `us`, by more than
  /// noise.
  std::optional<GemmConfig>
  lookupFaster(BlockwiseGemmOp op, const GemmExtents &extents, double us) const;
  /// What an entry has for the op; none if it cannot be a kernel, or copies far
  /// beyond that M.
  std::optional<GemmConfig> adapt(BlockwiseGemmOp op,
                                  const TunedTable::Entry &entry,
                                  const GemmExtents &extents) const;

  /// With the machine that the options name.
  chip::Chip chip;
  std::shared_ptr<const MachineFile> measured; ///< null if it is built in
  /// M, N and K, or ShapedType::kDynamic.
  std::array<int64_t, 3> hint;
  bool hintIsExact = false; ///< the kernel is for the M of the hint alone
  std::optional<TunedTable> table;
  LaunchChoice launch = LaunchChoice::Fastest;
  /// Of the ops that were asked about: the candidates by what tells them apart,
  /// and those of the table.
  mutable DenseMap<Operation *, std::unordered_map<uint64_t, EachEdge>>
      candidates;
  mutable DenseMap<Operation *,
                   std::unordered_map<const TunedTable::Entry *, EachEdge>>
      entries;
  /// What was chosen for rounded extents: whether M is known, M, N, K and the
  /// batch.
  mutable DenseMap<
      std::tuple<Operation *, int, int64_t, int64_t, int64_t, int64_t>,
      TimedConfig>
      chosen;
  /// What was chosen last, to begin with: it changes no choice.
  mutable DenseMap<Operation *, uint64_t> lastBest;
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_CONFIGCHOOSER_H
