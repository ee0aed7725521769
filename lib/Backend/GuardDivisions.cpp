// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass fp8-guard-divisions; Passes.td says what it does and why.

#include "fp8/Backend/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8GUARDDIVISIONS
#include "fp8/Backend/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;

/// The divisions of one value by one other in a block, in order. Some give the
/// quotient, others the remainder.
using Division = SmallVector<Operation *>;

/// True if the pass has put it behind a comparison before.
static bool isGuarded(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  if (!branch || op->getParentRegion() != &branch.getElseRegion())
    return false;
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
         compare.getLhs() == op->getOperand(1) &&
         matchPattern(compare.getRhs(), m_One());
}

/// The divisions by an argument of the kernel. A block that also divides by a
/// computed value, as bands of tiles do, takes that time anyway and has none.
static SmallVector<Division> findDivisions(gpu::GPUFuncOp kernel) {
  llvm::MapVector<std::tuple<Block *, Value, Value>, Division> divisions;
  llvm::SmallPtrSet<Block *, 4> others;
  kernel.walk([&](Operation *op) {
    if (!isa<arith::DivUIOp, arith::RemUIOp>(op) || isGuarded(op))
      return;
    Value dividend = op->getOperand(0), divisor = op->getOperand(1);
    auto argument = dyn_cast<BlockArgument>(divisor);
    if (argument && argument.getOwner() == &kernel.getBody().front()) {
      divisions[{op->getBlock(), dividend, divisor}].push_back(op);
    } else if (!matchPattern(divisor, m_Constant())) {
      others.insert(op->getBlock());
    }
  });
  SmallVector<Division> found;
  for (auto &[key, division] : divisions)
    if (!others.contains(std::get<Block *>(key)))
      found.push_back(division);
  return found;
}

static void guard(const Division &division) {
  Operation *first = division.front();
  OpBuilder builder(first);
  Location loc = first->getLoc();
  // The dividend may be what another division gives, which has been replaced.
  Value dividend = first->getOperand(0), divisor = first->getOperand(1);
  Type type = dividend.getType();
  Value one = arith::ConstantOp::create(builder, loc,
                                        builder.getIntegerAttr(type, 1)),
        isOne = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      divisor, one);
  auto branch = scf::IfOp::create(
      builder, loc, isOne,
      [&](OpBuilder &inner, Location) {
        Value zero = arith::ConstantOp::create(inner, loc,
                                               inner.getIntegerAttr(type, 0));
        scf::YieldOp::create(inner, loc, ValueRange{dividend, zero});
      },
      [&](OpBuilder &inner, Location) {
        Value quotient = arith::DivUIOp::create(inner, loc, dividend, divisor),
              remainder = arith::RemUIOp::create(inner, loc, dividend, divisor);
        scf::YieldOp::create(inner, loc, ValueRange{quotient, remainder});
      });
  for (Operation *op : division) {
    op->replaceAllUsesWith(
        ValueRange{branch.getResult(isa<arith::RemUIOp>(op))});
    op->erase();
  }
}

namespace {

struct GuardDivisionsPass
    : public mlir::fp8::impl::Fp8GuardDivisionsBase<GuardDivisionsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      for (const Division &division : findDivisions(kernel))
        guard(division);
  }
};

} // namespace
