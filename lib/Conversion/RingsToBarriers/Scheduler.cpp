// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the questions and answers of cluster launch control.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

static Value getAnswerSlot(const RingCursor &cursor, Type ring,
                           BarrierBuilder &builder) {
  return builder.add(cursor.base, builder.mul(cursor.getSlot(builder, ring),
                                              KernelPlan::kAnswerBytes));
}

/// request_work: announce the answer to every CTA of the cluster, and ask. The
/// lanes do not meet in between: an answer that comes before the announcement
/// completes no phase, which waits for the arrival (PTX ISA, mbarrier: the
/// tx-count).
static Results lowerRequestWork(RequestWorkOp op,
                                Operands<RequestWorkOp> operands,
                                RingBuilder &builder) {
  RoleThreadOp thread = getThread(op);
  RingCursor cursor(operands.getStage());
  Type ring = cast<StageTypeInterface>(op.getStage().getType()).getRing();
  Value barrier = cursor.getFullBarrier(builder, ring);
  int64_t size = builder.start.cluster.shape.getSize();
  if (size > 1) {
    // A lane for each CTA.
    Value announces = builder.below(thread.getLane(), size);
    builder.ifThen(announces, [&](BarrierBuilder &lane) {
      // As where a slot is handed back, for these lanes alone.
      lane.make<MbarrierExpectOp>(
          lane.make<MapToCtaOp>(barrier,
                                lane.make<KeepInLoopOp>(thread.getLane())),
          KernelPlan::kAnswerBytes, /*arrive=*/true, /*remote=*/true);
    });
  }
  builder.ifThen(thread.getLeader(), [&](BarrierBuilder &leader) {
    if (size == 1)
      leader.make<MbarrierExpectOp>(barrier, KernelPlan::kAnswerBytes,
                                    /*arrive=*/true);
    leader.make<RequestAnswerOp>(getAnswerSlot(cursor, ring, leader), barrier,
                                 size > 1);
  });
  return {};
}

/// next_work: every lane reads the answer.
static Results lowerNextWork(NextWorkOp op, Operands<NextWorkOp> operands,
                             RingBuilder &builder) {
  RingCursor cursor(operands.getStage());
  Type ring = cast<StageTypeInterface>(op.getStage().getType()).getRing();
  auto answer =
      builder.make<ReadAnswerOp>(getAnswerSlot(cursor, ring, builder));
  Value cluster =
      builder.div(answer.getCta(), builder.start.cluster.shape.getSize());
  return {{answer.getMore()}, {builder.toIndex(cluster)}};
}

void mlir::fp8::addSchedulerPatterns(RingPatterns &patterns) {
  patterns.add(lowerRequestWork);
  patterns.add(lowerNextWork);
}
