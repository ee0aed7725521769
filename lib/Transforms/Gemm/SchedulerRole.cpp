// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scheduler role of a GEMM under cluster launch control: asks for the next
// tile.
//
// Ends: the work queue's, the throttle's, and the work queue's that it reads.

#include "KernelBuilder.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class SchedulerRole : public KernelBuilder {
public:
  explicit SchedulerRole(const KernelBuilder &base) : KernelBuilder(base) {}

  void build(ValueRange ends);
};

} // namespace

void SchedulerRole::build(ValueRange ends) {
  role("scheduler", 1, ends, [&](ValueRange inits) {
    return forEachTile(inits, [&](Value, Value, ValueRange carried) {
      // Of each cluster one CTA asks, once the load role has begun the tile
      // before.
      return inLeadingCta(
          CtaGrouping::Cluster, carried, [&](ValueRange inner) -> Carried {
            auto none = [](ValueRange) { return Carried(); };
            Carried throttle = stageScope<ConsumeOp>(inner[1], {}, none);
            Carried queue = stageScope<ProduceOp>(
                inner[0], {}, [&](ValueRange stages) -> Carried {
                  RequestWorkOp::create(builder, loc, stages[0]);
                  return {};
                });
            return {queue[0], throttle[0]};
          });
    });
  });
}

void mlir::fp8::buildSchedulerRole(const KernelBuilder &base, ValueRange ends) {
  SchedulerRole(base).build(ends);
}
