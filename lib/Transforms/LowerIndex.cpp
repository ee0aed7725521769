// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes ops of the index dialect to those of arith.

#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8LOWERINDEX
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;

/// Ops that compute the same from the same operands: neither has a flag of
/// overflow, both are undefined where they divide by 0, and both give poison if
/// they shift by the type's width or more.
static constexpr std::pair<StringLiteral, StringLiteral> kSame[] = {
    {"index.add", "arith.addi"},
    {"index.and", "arith.andi"},
    {"index.bool.constant", "arith.constant"},
    {"index.casts", "arith.index_cast"},
    {"index.castu", "arith.index_castui"},
    {"index.ceildivs", "arith.ceildivsi"},
    {"index.ceildivu", "arith.ceildivui"},
    {"index.cmp", "arith.cmpi"},
    {"index.constant", "arith.constant"},
    {"index.divs", "arith.divsi"},
    {"index.divu", "arith.divui"},
    {"index.floordivs", "arith.floordivsi"},
    {"index.maxs", "arith.maxsi"},
    {"index.maxu", "arith.maxui"},
    {"index.mins", "arith.minsi"},
    {"index.minu", "arith.minui"},
    {"index.mul", "arith.muli"},
    {"index.or", "arith.ori"},
    {"index.rems", "arith.remsi"},
    {"index.remu", "arith.remui"},
    {"index.shl", "arith.shli"},
    {"index.shrs", "arith.shrsi"},
    {"index.shru", "arith.shrui"},
    {"index.sub", "arith.subi"},
    {"index.xor", "arith.xori"},
};

/// The name of the arith op that does the same; empty if there is none.
static StringRef getSame(Operation *op) {
  const auto *same = llvm::find_if(kSame, [&](auto &pair) {
    return op->getName().getStringRef() == pair.first;
  });
  return same == std::end(kSame) ? StringRef() : StringRef(same->second);
}

/// The attributes of the arith op. Predicates have the same names.
static NamedAttrList getAttributes(Operation *op) {
  auto compare = dyn_cast<index::CmpOp>(op);
  if (!compare)
    return op->getAttrs();
  NamedAttrList attributes(op->getDiscardableAttrDictionary());
  auto predicate = arith::symbolizeCmpIPredicate(
      stringifyIndexCmpPredicate(compare.getPred()));
  attributes.append(
      "predicate", arith::CmpIPredicateAttr::get(op->getContext(), *predicate));
  return attributes;
}

namespace {

struct LowerIndexPass
    : public mlir::fp8::impl::Fp8LowerIndexBase<LowerIndexPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      bool isOfIndex = isa_and_nonnull<index::IndexDialect>(op->getDialect());
      StringRef same = isOfIndex ? getSame(op) : "";
      if (same.empty())
        return;
      OpBuilder builder(op);
      Operation *made = builder.create(
          op->getLoc(), builder.getStringAttr(same), op->getOperands(),
          op->getResultTypes(), getAttributes(op).getAttrs());
      op->replaceAllUsesWith(made);
      op->erase();
    });
  }
};

} // namespace
