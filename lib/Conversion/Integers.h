// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on i32 at a builder's insertion point, for all conversions of
// kernels.

#ifndef FP8_LIB_CONVERSION_INTEGERS_H
#define FP8_LIB_CONVERSION_INTEGERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::fp8 {

/// Builds ops on i32. Comparisons are unsigned.
class Integers {
public:
  Integers(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value i32(int64_t value) {
    return arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value add(Value lhs, Value rhs) { return make<arith::AddIOp>(lhs, rhs); }
  Value add(Value lhs, int64_t rhs) {
    return rhs == 0 ? lhs : add(lhs, i32(rhs));
  }
  Value sub(Value lhs, Value rhs) { return make<arith::SubIOp>(lhs, rhs); }
  Value mul(Value lhs, int64_t rhs) {
    return make<arith::MulIOp>(lhs, i32(rhs));
  }
  Value div(Value lhs, int64_t rhs) {
    return rhs == 1 ? lhs : make<arith::DivUIOp>(lhs, i32(rhs));
  }
  Value rem(Value lhs, int64_t rhs) {
    return rhs == 1 ? i32(0) : make<arith::RemUIOp>(lhs, i32(rhs));
  }
  Value bitAnd(Value lhs, Value rhs) { return make<arith::AndIOp>(lhs, rhs); }
  Value bitAnd(Value lhs, int64_t rhs) { return bitAnd(lhs, i32(rhs)); }
  Value bitOr(Value lhs, Value rhs) { return make<arith::OrIOp>(lhs, rhs); }
  Value bitXor(Value lhs, Value rhs) { return make<arith::XOrIOp>(lhs, rhs); }
  Value shiftLeft(Value lhs, Value rhs) {
    return make<arith::ShLIOp>(lhs, rhs);
  }
  Value shiftLeft(Value lhs, int64_t rhs) { return shiftLeft(lhs, i32(rhs)); }
  Value shiftRight(Value lhs, int64_t rhs) {
    return make<arith::ShRUIOp>(lhs, i32(rhs));
  }
  Value equal(Value lhs, int64_t rhs) {
    return compare(arith::CmpIPredicate::eq, lhs, i32(rhs));
  }
  Value atLeast(Value lhs, Value rhs) {
    return compare(arith::CmpIPredicate::uge, lhs, rhs);
  }
  Value atLeast(Value lhs, int64_t rhs) { return atLeast(lhs, i32(rhs)); }
  Value below(Value lhs, int64_t rhs) {
    return compare(arith::CmpIPredicate::ult, lhs, i32(rhs));
  }
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return make<arith::SelectOp>(condition, ifTrue, ifFalse);
  }
  /// An i32 as an index.
  Value toIndex(Value value) {
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        value);
  }
  /// An index as i32, the width of coordinates.
  Value toI32(Value index) {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      index);
  }

  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }

  OpBuilder &getBuilder() { return builder; }

protected:
  OpBuilder &builder;
  Location loc;

private:
  template <typename OpT, typename... Operands>
  Value make(Operands... operands) {
    return OpT::create(builder, loc, operands...);
  }
};

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_INTEGERS_H
