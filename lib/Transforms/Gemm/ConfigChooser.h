// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the configuration of a GEMM op (docs/Chooser.md).

#ifndef FP8_LIB_TRANSFORMS_GEMM_CONFIGCHOOSER_H
#define FP8_LIB_TRANSFORMS_GEMM_CONFIGCHOOSER_H

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
  /// The fastest first, but before it one of fewer tiles that is as good.
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
  std::string chip, problem, tuned, launch;
};

/// By tile and cluster, which tell candidates apart.
struct CandidateHash {
  size_t operator()(const GemmConfig &config) const {
    return llvm::hash_combine(config.tileM, config.tileN, config.cluster.m,
                              config.cluster.n, config.cluster.k);
  }
};

/// What of a candidate no extent can change, so that it is worked out once for
/// many problems of one op. None if it is no kernel that is worth trying.
using CandidateShape = std::optional<tuning::KernelShape>;

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
  /// table has it.
  std::optional<GemmConfig> chooseConfig(BlockwiseGemmOp op) const;

  /// Replaces M, N and K of the options: each an extent, or
  /// ShapedType::kDynamic.
  void setHint(const std::array<int64_t, 3> &extents) { hint = extents; }

  const chip::Chip &getChip() const { return *chip; }
  const chip::Machine &getMachine() const { return *chip->machine; }

private:
  /// What the op's types say of its extents, else the hint, else a guess; none
  /// if all of M, N and K would be guessed.
  std::optional<GemmExtents> getExtents(BlockwiseGemmOp op) const;

  /// The configuration, for M of about `m`: with the edge of M first, where
  /// there is one and that is a kernel. Then no copy of A reaches far beyond M,
  /// which costs time. One kernel serves M of whole tiles and others.
  GemmConfig placeEdge(BlockwiseGemmOp op, GemmConfig config, int64_t m) const;

  /// The candidates for the extents that can be kernels, in no order.
  SmallVector<RankedConfig, 0> predictAll(BlockwiseGemmOp op,
                                          const GemmExtents &extents) const;

  /// Ranks configurations for the extents, the fastest first, but before it one
  /// of fewer tiles that is as good.
  SmallVector<RankedConfig, 0> rank(BlockwiseGemmOp op,
                                    const GemmExtents &extents) const;

  /// The configuration where nothing is predicted: none, or only the launch.
  std::optional<GemmConfig>
  chooseUnpredicted(const std::optional<GemmExtents> &extents) const;

  /// The shape that the configuration gives the op's kernel; of an op that was
  /// asked about before, it is remembered.
  const CandidateShape &getShape(BlockwiseGemmOp op,
                                 const GemmConfig &config) const;

  /// What the table has for the op; none if it has nothing, or what it has
  /// cannot be a kernel.
  std::optional<GemmConfig> lookup(BlockwiseGemmOp op,
                                   const GemmExtents &extents) const;

  const chip::Chip *chip;
  /// M, N and K, or ShapedType::kDynamic.
  std::array<int64_t, 3> hint;
  std::optional<TunedTable> table;
  LaunchChoice launch = LaunchChoice::Fastest;
  mutable DenseMap<Operation *, std::unordered_map<GemmConfig, CandidateShape,
                                                   CandidateHash>>
      shapes;
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_CONFIGCHOOSER_H
