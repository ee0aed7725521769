// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host side of a GEMM: checks, tensor maps, and the launch of its kernel.
#ifndef FP8_LIB_TRANSFORMS_GEMM_LAUNCHBUILDER_H
#define FP8_LIB_TRANSFORMS_GEMM_LAUNCHBUILDER_H

#include "GemmSchedule.h"
#include "fp8/IR/GemmOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::fp8 {

/// Writes the host code of one launch.
class LaunchBuilder {
public:
  LaunchBuilder(OpBuilder &builder, BlockwiseGemmOp op,
                const GemmSchedule &schedule)
      : builder(builder), loc(op.getLoc()), op(op), schedule(schedule) {
    // Those that every GEMM has come first, as in the constraints of manifests.
    for (bool optional : {false, true})
      for (const gemm::OperandInfo &info : gemm::getOperands(getScaling(op)))
        if (info.optional == optional && getOperand(op, info.operand))
          operands.push_back(info);
  }

  void checkOperands();
  void launch(gpu::GPUFuncOp kernel);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  /// An extent of the operand's matrices.
  Value dim(Value memref, int64_t axis) {
    return memref::DimOp::create(builder, loc, memref,
                                 schedule.problem.getMatrixAxis() + axis);
  }
  Value getBatch(Value memref) {
    return memref::DimOp::create(builder, loc, memref, 0);
  }
  Value ceilDiv(Value value, int64_t divisor) {
    if (divisor == 1)
      return value;
    return arith::CeilDivUIOp::create(builder, loc, value, constant(divisor));
  }
  void require(Value condition, const Twine &rule) {
    cf::AssertOp::create(builder, loc, condition, builder.getStringAttr(rule));
  }
  void requireEqual(Value lhs, Value rhs, const Twine &rule) {
    require(
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lhs, rhs),
        rule);
  }
  void requireBelow(Value lhs, int64_t limit, const Twine &rule) {
    require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lhs,
                                  constant(limit)),
            rule);
  }
  Value getValue(const gemm::OperandInfo &info) {
    return getOperand(op, info.operand);
  }
  /// Asserts what the rules ask of M, N and K, and of operands of these.
  void checkExtents();
  void requireExtents(const gemm::OperandInfo &info,
                      function_ref<Value(gemm::Extent)> evaluate);
  /// Asserts what the rules ask of a batch.
  void checkBatch();
  void requireBScaleSpan();
  void requireRowBytes(const gemm::OperandInfo &info);
  /// The CTAs to launch.
  Value getGrid(Value tilesM, Value tilesN);
  Value getArgument(GemmParameter parameter);
  Value getArgument(gemm::Operand operand);
  Value getArgument(GemmExtra extra);
  /// The map of the rows of C or D that the first row of tiles stores.
  Value getMapOfFirst(gemm::Operand operand);

  OpBuilder &builder;
  Location loc;
  BlockwiseGemmOp op;
  const GemmSchedule &schedule;
  SmallVector<gemm::OperandInfo, gemm::kOperands> operands; ///< that the op has
  Value mapOfA; ///< of which another argument has the bytes of a box
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_LAUNCHBUILDER_H
