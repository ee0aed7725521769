// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CTAs of a cluster that share slots.

#include "ClusterRanks.h"

using namespace mlir;
using namespace mlir::fp8;

std::vector<int64_t>
ClusterRanks::map(function_ref<int64_t(int64_t)> function) const {
  std::vector<int64_t> values;
  for (int64_t rank = 0; rank < getSize(); ++rank)
    values.push_back(function(rank));
  return values;
}

SmallVector<int64_t> ClusterRanks::getSharers(int64_t rank, ClusterAxis axis,
                                              int64_t ctaGroup) const {
  SmallVector<int64_t> sharers;
  for (int64_t other = 0; other < getSize(); ++other) {
    bool shares = axis == ClusterAxis::N
                      ? getM(other) == getM(rank)
                      : getN(other) == getN(rank) &&
                            getM(other) % ctaGroup == getM(rank) % ctaGroup;
    if (shares)
      sharers.push_back(other);
  }
  return sharers;
}

SmallVector<int64_t> ClusterRanks::getVisitors(int64_t rank,
                                               const StagePlan &stage) const {
  bool alongM = stage.sharedAlongM && shape.m > 1,
       alongN = stage.sharedAlongN && shape.n > 1;
  SmallVector<int64_t> visitors;
  if (alongM)
    for (int64_t other = 0; other < getSize(); ++other)
      if (getN(other) == getN(rank))
        visitors.push_back(other);
  if (alongN)
    for (int64_t other = 0; other < getSize(); ++other)
      if (getM(other) == getM(rank) && !(alongM && other == rank))
        visitors.push_back(other);
  return visitors;
}

int64_t ClusterRanks::getReleaseMask(int64_t rank, const StagePlan &stage,
                                     int64_t ctaGroup) const {
  int64_t mask =
      ctaGroup == 2 ? int64_t(3) << getPairLeader(rank) : int64_t(1) << rank;
  for (int64_t visitor : getVisitors(rank, stage)) {
    // Those of the row come in pairs, which share their slots.
    bool isOfRow = getM(visitor) == getM(rank);
    mask |= (ctaGroup == 2 && isOfRow ? int64_t(3) << getPairLeader(visitor)
                                      : int64_t(1) << visitor);
  }
  return mask;
}
