// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The barrier family: what hand-overs consist of.

#include "fp8/IR/Fp8.h"

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
  if ((*this)->getBlock() == &entry && llvm::hasSingleElement(all))
    return success();
  return emitOpError() << "must stand in the entry block of its role, once "
                          "(B1); use the results of the first one";
}

//===----------------------------------------------------------------------===//
// advance
//===----------------------------------------------------------------------===//

// The parity of the first lap stays what it is, so that loops need not carry it.
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
  return success();
}
