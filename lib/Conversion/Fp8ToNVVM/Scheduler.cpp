// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the questions and answers of cluster launch control.

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

static Value getAnswerSlot(const RingCursor &cursor, Type ring,
                           Instructions &instructions) {
  return instructions.add(cursor.base,
                          instructions.mul(cursor.getSlot(instructions, ring),
                                           KernelPlan::kAnswerBytes));
}

namespace {

/// request_work: announce the answer to every CTA of the cluster, then ask.
struct LowerRequestWork : public KernelPattern<RequestWorkOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(RequestWorkOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Instructions instructions(rewriter, loc);
    const RoleValues &role = lowering.getRole(op);
    RingCursor cursor(operands.getStage());
    Type ring = cast<StageTypeInterface>(op.getStage().getType()).getRing();
    Value barrier = cursor.getFullBarrier(instructions, ring);
    int64_t size = lowering.cluster.shape.getSize();
    if (size > 1) {
      // A lane for each CTA.
      Value announces =
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                role.lane, instructions.i32(size));
      instructions.ifThen(announces, [&](Instructions &lane) {
        // As where a slot is handed back, for these lanes alone.
        lane.arriveExpectBytesRemote(
            lane.mapToCta(barrier, lane.keepInLoop(role.lane)),
            KernelPlan::kAnswerBytes);
      });
      instructions.syncWarp();
    }
    instructions.ifThen(role.leader, [&](Instructions &leader) {
      if (size == 1)
        leader.arriveExpectBytes(barrier, KernelPlan::kAnswerBytes);
      leader.requestWork(getAnswerSlot(cursor, ring, leader), barrier,
                         size > 1);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

/// next_work: every lane reads the answer.
struct LowerNextWork : public KernelPattern<NextWorkOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(NextWorkOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor cursor(operands.getStage());
    Type ring = cast<StageTypeInterface>(op.getStage().getType()).getRing();
    auto [more, cta] =
        instructions.readAnswer(getAnswerSlot(cursor, ring, instructions));
    Value cluster = instructions.div(cta, lowering.cluster.shape.getSize());
    rewriter.replaceOp(op, {more, instructions.toIndex(cluster)});
    return success();
  }
};

} // namespace

void mlir::fp8::populateSchedulerPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns,
                                          const KernelLowering &lowering) {
  patterns.add<LowerRequestWork, LowerNextWork>(
      converter, patterns.getContext(), lowering);
}
