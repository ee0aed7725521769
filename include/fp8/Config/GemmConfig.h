// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The configuration of a GEMM: how the op becomes a kernel. A field is a member
// of GemmConfig and a row of getFields(); parser, printer, equality, hash and
// limits follow from the rows.
#ifndef FP8_CONFIG_GEMMCONFIG_H
#define FP8_CONFIG_GEMMCONFIG_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fp8::config {

/// The number of CTAs in the largest cluster. More than 8 need a launch
/// attribute (CUDA programming guide, thread block clusters).
inline constexpr int64_t kMaxClusterSize = 16;

/// The CTAs of a cluster along M and N, and those that divide K.
struct ClusterShape {
  int64_t m = 1, n = 1, k = 1;
  int64_t getSize() const { return m * n * k; }
};

/// How output tiles are assigned to CTAs.
enum class SchedulerKind {
  OneTile,              ///< each CTA computes one
  Persistent,           ///< each CTA computes every Nth, N CTAs being resident
  ClusterLaunchControl, ///< a CTA asks for the next tile
};

/// What becomes of the row of tiles that is not full.
enum class Edge {
  Last,  ///< it is the last one; what reaches beyond M is loaded as zeros
  First, ///< it is the first one, and overlaps the second
  Fit, ///< it is the last one; a row of tiles that is alone loads no more rows
       ///< than there are, rounded up to a multiple of 8
};
inline constexpr int kEdges = 3;

/// The name of each scheduler, in the order of the enumeration.
const std::vector<std::string_view> &getSchedulerWords();
std::string_view stringify(SchedulerKind kind);

/// Extents are in elements.
struct GemmConfig {
  /// What one MMA computes: of one CTA, or of a CTA pair.
  int64_t tileM = 128, tileN = 128, tileK = 128;
  int64_t ctaGroup = 1; ///< the CTAs that compute a tile together, 1 or 2
  ClusterShape cluster;
  int64_t stages = 0;       ///< slots of the ring of A and B; 0: as many as fit
  int64_t accumulators = 0; ///< in tensor memory; 0: as many as fit
  SchedulerKind scheduler = SchedulerKind::Persistent;
  /// Rows, or columns, of blocks that are computed together, for L2; a block is
  /// the tiles of a cluster. 0: the schedule chooses.
  int64_t band = 0;
  /// The lanes that promote load the B scales that columns share, also where
  /// the ring of A and B could bring them.
  bool lanesLoadBScales = false;
  /// The bytes, aligned to as many, of which L2 reads all from memory where a
  /// copy of A or B reads some.
  int64_t l2Promotion = 256;
  /// The kernel may start while the preceding kernel ends.
  bool programmatic = false;
  Edge edge = Edge::Last;
  /// A programmatic kernel lets the following one start right behind its wait,
  /// not in front of its last store.
  bool signalsAtWait = false;

  /// The rows of D that one CTA computes, and the rows of B that it holds.
  int64_t getCtaRows() const { return tileM / ctaGroup; }
  int64_t getCtaColumns() const { return tileN / ctaGroup; }
};

/// The valid values of a number: multiples of `step` in least..most.
struct Limits {
  int64_t least, most;
  std::string_view reason = {}; ///< in diagnostics; may be empty
  int64_t step = 1;
};

/// One number of a field, which is a member of GemmConfig.
struct Number {
  int64_t (*get)(const GemmConfig &config);
  void (*set)(GemmConfig &config, int64_t value);
  std::string_view name; ///< in diagnostics
  /// None if the limits depend on other fields.
  std::optional<Limits> limits;
};

/// One field, written "name = value".
struct Field {
  std::string_view name;
  /// The value: numbers with " x " between them.
  std::vector<Number> numbers;
  /// If not empty, the value is one of these words, and the number is its
  /// index.
  std::vector<std::string_view> words;
  std::string_view documentation; ///< what the field says; docs/Gemm.md has it
  /// Sets the field to its default. The preceding fields are set already.
  void (*setDefault)(GemmConfig &config);

  /// True if the field has its default value.
  bool isDefault(const GemmConfig &config) const;
};

/// Every field, in the order of the text. The first one, the tile, is always
/// written.
const std::vector<Field> &getFields();

/// The fields without their default values, and the tile: "tile = 64 x 64 x
/// 128, split_k = 4".
std::string stringify(const GemmConfig &config);

/// The text of a diagnostic if no chip can compute the configuration; empty
/// otherwise.
std::string findFault(const GemmConfig &config);

bool operator==(const GemmConfig &lhs, const GemmConfig &rhs);

/// "one, two or three"
std::string list(const std::vector<std::string_view> &words);

} // namespace fp8::config

#endif // FP8_CONFIG_GEMMCONFIG_H
