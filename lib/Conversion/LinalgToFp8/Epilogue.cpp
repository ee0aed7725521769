// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a GEMM does to the sum, in whatever ops it is written.

#include "Epilogue.h"
#include "Access.h"

#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

/// The next op of the block that has to do with the contents of the memref.
static Operation *getNextAccess(Operation *op, Value memref,
                                AliasAnalysis &aliases) {
  for (op = op->getNextNode(); op; op = op->getNextNode())
    if (getAccess(op, getBase(memref), aliases).isModOrRef())
      return op;
  return nullptr;
}

SmallVector<Result> fromlinalg::getResults(const Product &product,
                                           AliasAnalysis &aliases) {
  SmallVector<Result> results = {{product.op, getTarget(product.op)}};
  while (true) {
    auto [end, target] = results.back();
    Operation *next = nullptr;
    if (isa<MemRefType>(target.getType())) {
      next = getNextAccess(end, target, aliases);
      if (next && !getAccess(next, getBase(target), aliases).isRef())
        next = nullptr;
    } else if (target.hasOneUse()) {
      next = *target.user_begin();
      if (next->getNumResults() && getViewSource(next->getResult(0))) {
        results.back().target = next->getResult(0);
        continue;
      }
    }
    if (!next || next->getBlock() != end->getBlock() || !isElementwise(next))
      return results;
    results.push_back({next, getTarget(next)});
  }
}

namespace {

/// Takes an element of the result apart.
class EpilogueMatcher {
public:
  EpilogueMatcher(const Product &product, Refusal &refusal)
      : product(product), refusal(refusal), context(product.op->getContext()) {
    epilogue.operands = product.operands;
  }

  FailureOr<Epilogue> match(const Element *element);

private:
  bool isSum(const Element *element) const;
  bool containsSum(const Element *element) const;
  LogicalResult takeRounding(const Element *&element);
  void takeScale(const Element *&element);
  bool findArgument(const Element *element);
  bool takeTerms(const Element *element, Epilogue &result) const;
  bool takeTerm(const Element *term, Epilogue &result) const;
  bool takeBias(const Element *term, Epilogue &result) const;
  bool takeResidual(const Element *term, Epilogue &result) const;
  LogicalResult checkFunction(const Element *element);

  const Product &product;
  Refusal &refusal;
  MLIRContext *context;
  Epilogue epilogue;
};

} // namespace

bool EpilogueMatcher::isSum(const Element *element) const {
  return element->isRead() && element->writer == product.op &&
         getWritten(product.op, element->value, element->indices) ==
             getResultIndices(product.rank, context);
}

bool EpilogueMatcher::containsSum(const Element *element) const {
  bool contains = false;
  walk(element, [&](const Element *each) { contains |= isSum(each); });
  return contains;
}

LogicalResult EpilogueMatcher::takeRounding(const Element *&element) {
  if (element->type.isF32())
    return success();
  auto truncation = element->kind == Element::Kind::Compute
                        ? dyn_cast<arith::TruncFOp>(element->op)
                        : nullptr;
  if (!truncation || !element->operands[0]->type.isF32())
    return refusal.because(
        "the result of " + debugString(element->type) +
            " is not rounded once from f32, as the GEMM op does",
        element->getLoc(), "computed here");
  if (!element->type.isBF16() && !element->type.isF16())
    return refusal.because(
        "the result is converted to " + debugString(element->type) +
            " as arith.truncf does; the GEMM op rounds to bf16 and f16, and "
            "saturates f8E4M3FN and f8E5M2",
        element->getLoc(), "converted here");
  auto mode = truncation.getRoundingmode();
  if (mode && *mode != arith::RoundingMode::to_nearest_even)
    return refusal.because("the result is rounded " +
                               arith::stringifyRoundingMode(*mode) +
                               "; the GEMM op rounds to_nearest_even",
                           element->getLoc(), "rounded here");
  epilogue.ops.insert_range(element->through);
  element = element->operands[0];
  return success();
}

/// True if the element is read where the GEMM op reads that of the operand, a
/// row or a number that matrices of a batch share. The tensor or memref may
/// lack leading axes of extent 1.
static bool isReadAs(gemm::Operand operand, const Element *read) {
  MLIRContext *context = read->type.getContext();
  Indices indices = getIndices(gemm::getOperand(operand), /*rank=*/2, context);
  if (read->indices.size() > indices.size())
    return false;
  size_t missing = indices.size() - read->indices.size();
  ArrayRef<AffineExpr> all = indices;
  return read->indices == all.drop_front(missing) &&
         llvm::all_of(all.take_front(missing), [&](AffineExpr index) {
           return index == getAffineConstantExpr(0, context);
         });
}

/// The number that is read, the same for all elements; null if it is none.
static const Element *getNumber(gemm::Operand operand, const Element *element,
                                OpSet &ops) {
  OpSet passed;
  const Element *read = getRead(element, passed);
  if (!read || !takes(gemm::getOperand(operand), read->type) ||
      !isReadAs(operand, read))
    return nullptr;
  ops.insert_range(passed);
  return read;
}

void EpilogueMatcher::takeScale(const Element *&element) {
  if (!element->is<arith::MulFOp>())
    return;
  for (unsigned side : {0, 1}) {
    if (!containsSum(element->operands[1 - side]))
      continue;
    Operand &scale = epilogue.operands[gemm::Operand::DScale];
    scale.element =
        getNumber(gemm::Operand::DScale, element->operands[side], epilogue.ops);
    if (!scale)
      continue;
    epilogue.ops.insert_range(element->through);
    element = element->operands[1 - side];
    return;
  }
}

/// C, or beta * C.
bool EpilogueMatcher::takeResidual(const Element *term,
                                   Epilogue &result) const {
  if (result.operands[gemm::Operand::C])
    return false;
  Indices indices =
      getIndices(gemm::getOperand(gemm::Operand::C), product.rank, context);
  auto take = [&](const Element *element) {
    OpSet passed;
    const Element *c = getRead(element, passed);
    auto order = c ? getOrder(c, indices) : std::nullopt;
    if (!order)
      return false;
    result.operands[gemm::Operand::C] = {c, *order};
    result.ops.insert_range(passed);
    return true;
  };
  if (term->is<arith::MulFOp>())
    for (unsigned side : {0, 1}) {
      OpSet passed;
      const Element *beta =
          getNumber(gemm::Operand::Beta, term->operands[side], passed);
      if (!beta || !take(term->operands[1 - side]))
        continue;
      result.operands[gemm::Operand::Beta].element = beta;
      result.ops.insert_range(passed);
      result.ops.insert_range(term->through);
      return true;
    }
  return take(term);
}

bool EpilogueMatcher::takeBias(const Element *term, Epilogue &result) const {
  OpSet passed;
  Operand &bias = result.operands[gemm::Operand::Bias];
  const Element *read = getRead(term, passed);
  if (bias || !read || !isReadAs(gemm::Operand::Bias, read))
    return false;
  bias.element = read;
  result.ops.insert_range(passed);
  return true;
}

/// What is added to the sum: zero, a bias, a residual, or a sum of those.
bool EpilogueMatcher::takeTerm(const Element *term, Epilogue &result) const {
  if (isSum(term) || term->isConstant(0.0)) {
    result.ops.insert_range(term->through);
    return true;
  }
  if (term->is<arith::AddFOp>() && term->type.isF32()) {
    Epilogue both = result;
    both.ops.insert_range(term->through);
    if (takeTerm(term->operands[0], both) &&
        takeTerm(term->operands[1], both)) {
      result = both;
      return true;
    }
  }
  return !containsSum(term) &&
         (takeBias(term, result) || takeResidual(term, result));
}

/// The sum itself, or a sum of it with what the GEMM op adds to it.
bool EpilogueMatcher::takeTerms(const Element *element,
                                Epilogue &result) const {
  if (!isSum(element) && !element->is<arith::AddFOp>())
    return false;
  int count = 0;
  walk(element, [&](const Element *each) { count += isSum(each); });
  return count == 1 && takeTerm(element, result) &&
         takeTerm(product.init, result);
}

/// What the function is one of: the largest sum with nothing else around it,
/// the same wherever the function uses it.
bool EpilogueMatcher::findArgument(const Element *element) {
  if (epilogue.argument && areEqual(element, epilogue.argument))
    return true;
  Epilogue result = epilogue;
  if (!epilogue.argument && takeTerms(element, result)) {
    epilogue = result;
    epilogue.argument = element;
    return true;
  }
  return !isSum(element) &&
         llvm::all_of(element->operands, [&](const Element *operand) {
           return !containsSum(operand) || findArgument(operand);
         });
}

LogicalResult EpilogueMatcher::checkFunction(const Element *element) {
  if (areEqual(element, epilogue.argument) ||
      element->kind == Element::Kind::Constant) {
    if (element != epilogue.argument)
      epilogue.ops.insert_range(element->through);
    return success();
  }
  epilogue.ops.insert_range(element->through);
  if (element->kind != Element::Kind::Compute)
    return refusal.because("the function of the sum uses a value that is "
                           "neither the sum nor a constant (G10)",
                           element->getLoc(), "used here");
  if (element->is<arith::TruncFOp>() || element->is<arith::ExtFOp>())
    return refusal.because("the sum is rounded before the end; the GEMM op "
                           "rounds once",
                           element->getLoc(), "rounded here");
  return success(llvm::all_of(element->operands, [&](auto *operand) {
    return succeeded(checkFunction(operand));
  }));
}

FailureOr<Epilogue> EpilogueMatcher::match(const Element *element) {
  if (!containsSum(element))
    return refusal.because(
        "the result does not use the element of the sum at " +
        print(getResultIndices(product.rank, context)));
  if (failed(takeRounding(element)))
    return failure();
  takeScale(element);
  if (!findArgument(element))
    return refusal.because("the GEMM op cannot add this value to the sum; it "
                           "adds beta * C, with C read at " +
                               print(getResultIndices(product.rank, context)) +
                               ", and a bias read at [n]",
                           element->getLoc(), "computed here");
  if (areEqual(element, epilogue.argument))
    return epilogue;
  epilogue.function = element;
  if (failed(checkFunction(element)))
    return failure();
  return epilogue;
}

FailureOr<Epilogue> fromlinalg::matchEpilogue(const Product &product,
                                              const Element *element,
                                              Refusal &refusal) {
  return EpilogueMatcher(product, refusal).match(element);
}

/// Computes the element from the function's argument.
static Value build(OpBuilder &builder, Location location,
                   const Element *element, const Element *argument,
                   Value value) {
  if (areEqual(element, argument))
    return value;
  if (element->kind == Element::Kind::Constant)
    return arith::ConstantOp::create(builder, location,
                                     cast<TypedAttr>(element->constant));
  IRMapping mapping;
  for (auto [operand, source] :
       llvm::zip_equal(element->operands, element->op->getOperands()))
    mapping.map(source, build(builder, location, operand, argument, value));
  return builder.clone(*element->op, mapping)->getResult(0);
}

void fromlinalg::buildFunction(OpBuilder &builder, Location location,
                               Region &body, const Epilogue &epilogue) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&body, body.end(), builder.getF32Type(), location);
  YieldOp::create(builder, location,
                  build(builder, location, epilogue.function, epilogue.argument,
                        block->getArgument(0)));
}
