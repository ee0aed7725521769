// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values of a process are the same in all CTAs of a cluster.

#ifndef FP8_LIB_PROOF_UNIFORMITY_H
#define FP8_LIB_PROOF_UNIFORMITY_H

#include "fp8/Proof/Skeleton.h"

#include "llvm/ADT/DenseSet.h"

namespace fp8::proof {

/// Follows from the text alone: a value varies if it is computed from what
/// tells CTAs or threads apart, or set where such a value decides. CTAs that
/// have taken equally many turns of a loop whose bounds do not vary have the
/// same values, but for those that vary.
class Uniformity {
public:
  Uniformity(const ExprTable &table, const Block &body, int64_t clusterSize);

  bool varies(ExprId id) const;
  /// Of a branch or a loop: whether what decides about it varies.
  bool varies(const Statement &statement) const;

private:
  /// The number of the cluster, out of that of the CTA.
  bool isOfCluster(const Expr &expr) const;
  void follow(const Block &block, bool isVarying);
  void follow(const Statement &statement, bool isVarying);

  const ExprTable &table;
  int64_t clusterSize;
  llvm::DenseSet<unsigned> variables; ///< that vary
};

} // namespace fp8::proof

#endif // FP8_LIB_PROOF_UNIFORMITY_H
