// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The barrier family: what hand-overs consist of.

#include "BindingRegion.h"
#include "BoxBytes.h"
#include "OpRules.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fp8;

LogicalResult mlir::fp8::verifyBarriers(Operation *kernel) {
  if (!kernel->hasAttr(Fp8Dialect::kLinearAttrName))
    return kernel->emitOpError()
           << "has '" << Fp8Dialect::kBarriersAttrName << "' without '"
           << Fp8Dialect::kLinearAttrName
           << "', by which passes know a kernel; add the latter";
  WalkResult result = kernel->walk([](Operation *op) {
    auto areOfRings = [](auto types) {
      return llvm::any_of(types, [](Type type) {
        return isLinear(type) && !isa<PendingType>(type);
      });
    };
    if (!areOfRings(op->getOperandTypes()) && !areOfRings(op->getResultTypes()))
      return WalkResult::advance();
    op->emitOpError() << "works on a ring in a kernel with '"
                      << Fp8Dialect::kBarriersAttrName
                      << "', whose rings are barriers already; remove the "
                         "attribute, or the op";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::fp8::OpTrait::impl::verifyInBarrierPhase(Operation *op) {
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  if (!kernel || !kernel->hasAttr(Fp8Dialect::kLinearAttrName) ||
      kernel->hasAttr(Fp8Dialect::kBarriersAttrName))
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError()
      << "does a part of a hand-over in a kernel whose rings are no barriers "
         "yet (B4); hand over with fp8.acquire and fp8.release, or run "
         "--convert-fp8-rings-to-barriers before";
  diagnostic.attachNote(kernel.getLoc()) << "the kernel";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// role_thread
//===----------------------------------------------------------------------===//

void RoleThreadOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getLeader(), "leader");
  setName(getWarp(), "warp");
  setName(getLane(), "lane");
}

LogicalResult RoleThreadOp::verify() {
  Block &entry = cast<RoleOp>((*this)->getParentOp()).getBody().front();
  auto all = entry.getOps<RoleThreadOp>();
  if ((*this)->getBlock() != &entry || !llvm::hasSingleElement(all))
    return emitOpError() << "must stand in the entry block of its role, once "
                            "(B1); use the results of the first one";
  auto id = getId().getDefiningOp<IdOp>();
  if (!id || id.getKind() != IdKind::Warp ||
      id->getBlock() != (*this)->getParentOp()->getBlock())
    return emitOpError() << "must read the number of its warp from an "
                            "'fp8.id warp' of the kernel's entry block (B1)";
  return success();
}

//===----------------------------------------------------------------------===//
// advance
//===----------------------------------------------------------------------===//

// The parity of the first lap stays what it is, so that loops need not carry
// it.
LogicalResult AdvanceOp::canonicalize(AdvanceOp op, PatternRewriter &rewriter) {
  if (!countsSlots(op.getStages()) || op.getNextParity().use_empty())
    return failure();
  rewriter.replaceAllUsesWith(op.getNextParity(), op.getParity());
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

LogicalResult MbarrierArriveOp::verify() {
  if (getRemote() && getAfterCopies())
    return emitOpError() << "arrives after copies, which it does at barriers "
                            "of its own CTA alone (B3); remove 'remote'";
  return success();
}

LogicalResult MbarrierExpectOp::verify() {
  if (getRemote() && !getArrive())
    return emitOpError() << "tells a barrier of another CTA without arriving "
                            "there (B2); add 'arrive'";
  if (getLaunched() && getArrive())
    return emitOpError() << "tells a number that the launch decides with an "
                            "arrival (B5); remove 'arrive', and arrive behind "
                            "the last number";
  return verifyToldBytes(*this);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult CopyTileOp::verify() {
  if (failed(verifyCoordinates(*this, getCoordinates(), getMap().getType())))
    return failure();
  return verifyToldBytes(*this);
}

LogicalResult CopyElementOp::verify() {
  return verifyElementSource(*this, getSource().getType(), getIndices());
}

LogicalResult StoreAtOp::verify() {
  return verifyStore(*this, getFragment().getType(), getMap().getType(),
                     getCoordinates(), getRest(),
                     cast<StoreQueueType>(getQueue()));
}

//===----------------------------------------------------------------------===//
// Shares of a sum
//===----------------------------------------------------------------------===//

LogicalResult SendSharesOp::verify() {
  return verifyExchanged(*this, getFragment().getType(),
                         cast<ExchangeType>(getExchange()));
}

LogicalResult AddSharesOp::verify() {
  Type share = cast<ExchangeType>(getExchange()).getShare(),
       type = getShare().getType();
  if (type != share)
    return emitOpError() << "yields a share of the exchange, which is " << share
                         << " (J2), but its result is " << type;
  return success();
}
