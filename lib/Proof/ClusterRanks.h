// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CTAs of a cluster that share slots, by rank.

#ifndef FP8_LIB_PROOF_CLUSTERRANKS_H
#define FP8_LIB_PROOF_CLUSTERRANKS_H

#include "fp8/Analysis/KernelPlan.h"

namespace mlir::fp8 {

/// Where CTAs are in their cluster: the rank counts along M first.
class ClusterRanks {
public:
  explicit ClusterRanks(ClusterShape shape) : shape(shape) {}

  int64_t getSize() const { return shape.getSize(); }
  ClusterShape getShape() const { return shape; }
  int64_t getM(int64_t rank) const { return rank % shape.m; }
  int64_t getN(int64_t rank) const { return shape.k == 1 ? rank / shape.m : 0; }
  static int64_t getPairLeader(int64_t rank) { return rank & ~int64_t(1); }
  static int64_t getPeer(int64_t rank) { return rank ^ 1; }

  /// Of each rank, what `function` says.
  std::vector<int64_t> map(function_ref<int64_t(int64_t)> function) const;
  /// The CTAs that copy parts of one tile for one another, in the order of
  /// their parts.
  SmallVector<int64_t> getSharers(int64_t rank, ClusterAxis axis,
                                  int64_t ctaGroup) const;
  /// The CTAs that wait for what this one hands back, in the order of the
  /// lanes that tell them: those of its column, then the others of its row.
  SmallVector<int64_t> getVisitors(int64_t rank, const StagePlan &stage) const;
  /// The same as a mask, for products that hand back. Both CTAs of a pair
  /// wait.
  int64_t getReleaseMask(int64_t rank, const StagePlan &stage,
                         int64_t ctaGroup) const;

private:
  ClusterShape shape;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_CLUSTERRANKS_H
