// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements as expressions: comparing, walking and printing them.

#include "Element.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

static AffineExpr getIndex(gemm::Extent extent, MLIRContext *context) {
  auto block = [&](Axis axis) {
    return getAffineDimExpr(axis, context).floorDiv(extent.block);
  };
  switch (extent.axis) {
  case gemm::Axis::One:
    return getAffineConstantExpr(0, context);
  case gemm::Axis::M:
    return block(kRow);
  case gemm::Axis::N:
    return block(kColumn);
  case gemm::Axis::K:
    return block(kDepth);
  }
  llvm_unreachable("no other axis");
}

Indices fromlinalg::getIndices(const gemm::OperandInfo &operand, int64_t rank,
                               MLIRContext *context) {
  Indices indices;
  if (rank == 3 && operand.batched)
    indices.push_back(getAffineDimExpr(kBatch, context));
  indices.push_back(getIndex(operand.rows, context));
  indices.push_back(getIndex(operand.columns, context));
  return indices;
}

Indices fromlinalg::getResultIndices(int64_t rank, MLIRContext *context) {
  return getIndices(gemm::getOperand(gemm::Operand::D), rank, context);
}

bool Element::isConstant(double number) const {
  auto attribute = dyn_cast_or_null<FloatAttr>(constant);
  return kind == Kind::Constant && attribute &&
         attribute.getValue().isExactlyValue(number);
}

Location Element::getLoc() const {
  bool isKnown = !isa<UnknownLoc>(op->getLoc()) || !op->getParentOp();
  return isKnown ? op->getLoc() : op->getParentOp()->getLoc();
}

bool fromlinalg::isFloat8(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
}

bool fromlinalg::areEqual(const Element *left, const Element *right) {
  if (left == right)
    return true;
  if (left->kind != right->kind || left->type != right->type)
    return false;
  switch (left->kind) {
  case Element::Kind::Read:
    return left->value == right->value && left->writer == right->writer &&
           left->indices == right->indices;
  case Element::Kind::Constant:
    return left->constant == right->constant;
  case Element::Kind::Compute:
    return left->op->getName() == right->op->getName() &&
           left->op->getAttrs() == right->op->getAttrs() &&
           left->operands.size() == right->operands.size() &&
           llvm::all_of(llvm::zip_equal(left->operands, right->operands),
                        [](auto pair) {
                          return areEqual(std::get<0>(pair), std::get<1>(pair));
                        });
  case Element::Kind::Opaque:
    return false;
  }
  llvm_unreachable("a kind of element without a case");
}

const Element *fromlinalg::getRead(const Element *element, OpSet &ops) {
  OpSet passed;
  const Element *inner = element;
  for (; inner->is<arith::ExtFOp>(); inner = inner->operands.front())
    passed.insert_range(inner->through);
  const Element *read = inner->isRead() ? inner : inner->stored;
  if (!read) {
    passed.clear();
    read = element->stored;
  }
  if (!read)
    return nullptr;
  ops.insert_range(passed);
  ops.insert_range(read->through);
  return read;
}

void fromlinalg::walk(const Element *element,
                      llvm::function_ref<void(const Element *)> visit) {
  visit(element);
  for (const Element *operand : element->operands)
    walk(operand, visit);
}

/// `expression` with the axes' names, in brackets where it is an operand.
static std::string printExpression(AffineExpr expression, bool isOperand) {
  static constexpr const char *names[] = {"l", "m", "n", "k"};
  if (auto axis = dyn_cast<AffineDimExpr>(expression))
    return names[axis.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return std::to_string(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  StringRef word;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    word = " + ";
    break;
  case AffineExprKind::Mul:
    word = " * ";
    break;
  case AffineExprKind::Mod:
    word = " mod ";
    break;
  case AffineExprKind::FloorDiv:
    word = " floordiv ";
    break;
  default:
    word = " ceildiv ";
    break;
  }
  std::string text = printExpression(binary.getLHS(), true) + word.str() +
                     printExpression(binary.getRHS(), true);
  return isOperand ? "(" + text + ")" : text;
}

std::string fromlinalg::print(ArrayRef<AffineExpr> indices) {
  std::string text = "[";
  for (AffineExpr index : indices) {
    if (text.size() > 1)
      text += ", ";
    text += printExpression(index, /*isOperand=*/false);
  }
  return text + "]";
}
