// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks through elementwise ops, on tensors and on memrefs, for what an element
// was computed from.

#include "Access.h"
#include "Element.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

/// Elements of one expression at most: what uses a value twice doubles it.
static constexpr size_t kMaximumElements = 1024;

/// Terms of an index at most: what uses a loop's index twice doubles them.
static constexpr unsigned kMaximumTerms = 64;

/// The terms of an expression, up to one more than are allowed.
static unsigned countTerms(AffineExpr expression, unsigned before = 0) {
  if (before > kMaximumTerms)
    return before;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return before + 1;
  return countTerms(binary.getRHS(), countTerms(binary.getLHS(), before));
}

bool fromlinalg::isElementwise(Operation *op) {
  if (isa<memref::CopyOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && onlyComputes(linalgOp) &&
         linalgOp.getNumParallelLoops() == linalgOp.getNumLoops() &&
         linalgOp.getNumDpsInits() == 1 &&
         linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0))
             .isPermutation();
}

Value fromlinalg::getTarget(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return copy.getTarget();
  auto linalgOp = cast<linalg::LinalgOp>(op);
  return linalgOp->getNumResults() ? linalgOp->getResult(0)
                                   : linalgOp.getDpsInitOperand(0)->get();
}

std::optional<Indices> fromlinalg::getWritten(linalg::LinalgOp op, Value source,
                                              Indices indices) {
  Value target = op.getDpsInitOperand(0)->get();
  if (isa<MemRefType>(source.getType()) &&
      (getBase(target) != source || failed(fromBase(target, indices))))
    return std::nullopt;
  return indices;
}

Element *Tracer::create(Element::Kind kind, Type type, Operation *op) {
  Element &element = elements.emplace_back();
  element.kind = kind;
  element.type = type;
  element.op = op;
  return &element;
}

Operation *Tracer::findWriter(Value source, Operation *reader) {
  if (isa<TensorType>(source.getType()))
    return source.getDefiningOp();
  Operation *allocation = source.getDefiningOp();
  for (Operation *op = reader->getPrevNode(); op && op != allocation;
       op = op->getPrevNode())
    if (getAccess(op, source, aliases).isMod())
      return op;
  return nullptr;
}

std::optional<Indices> Tracer::getIteration(linalg::LinalgOp op, Value source,
                                            const Indices &indices) {
  if (op.getNumDpsInits() != 1)
    return std::nullopt;
  std::optional<Indices> written = getWritten(op, source, indices);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!written || !map.isProjectedPermutation() ||
      map.getNumResults() != written->size())
    return std::nullopt;
  Indices iteration(op.getNumLoops());
  for (auto [axis, index] : llvm::enumerate(*written))
    iteration[map.getDimPosition(axis)] = index;
  return iteration;
}

Element *Tracer::readStored(Value source, const Indices &indices,
                            Operation *reader, Operation *writer) {
  Element *element = create(Element::Kind::Read,
                            getElementTypeOrSelf(source.getType()), reader);
  element->value = source;
  element->indices = indices;
  element->writer = writer;
  return element;
}

/// The element as the writer computes it; null if that cannot be told.
Element *Tracer::readWritten(Value source, const Indices &indices,
                             Operation *writer) {
  if (!isElementwise(writer))
    return nullptr;
  if (auto copy = dyn_cast<memref::CopyOp>(writer)) {
    Indices at = indices;
    if (getBase(copy.getTarget()) != source ||
        failed(fromBase(copy.getTarget(), at)))
      return nullptr;
    return read(copy.getSource(), at, writer);
  }
  auto op = cast<linalg::LinalgOp>(writer);
  std::optional<Indices> iteration = getIteration(op, source, indices);
  if (!iteration)
    return nullptr;
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  // What is quantised here is data; only where it is moved is looked through.
  if (isFloat8(yielded.getType()) && !isa<BlockArgument>(yielded))
    return nullptr;
  return evaluate(yielded, op, *iteration);
}

Element *Tracer::read(Value source, Indices indices, Operation *reader) {
  if (llvm::any_of(indices, [](AffineExpr index) {
        return countTerms(index) > kMaximumTerms;
      }))
    return readStored(source, indices, reader, /*writer=*/nullptr);
  while (Value viewed = getViewSource(source)) {
    if (failed(toSource(source, indices)))
      break;
    source = viewed;
  }
  for (AffineExpr &index : indices)
    index = simplify(index);
  Attribute attribute;
  if (matchPattern(source, m_Constant(&attribute)))
    if (auto splat = dyn_cast<SplatElementsAttr>(attribute)) {
      Element *element =
          create(Element::Kind::Constant, splat.getElementType(), reader);
      element->constant = splat.getSplatValue<Attribute>();
      return element;
    }
  Operation *writer = findWriter(source, reader);
  Element *element = nullptr;
  if (writer && elements.size() < kMaximumElements)
    element = readWritten(source, indices, writer);
  if (!element)
    return readStored(source, indices, reader, writer);
  // Where it was only moved on, it is still stored where it was before.
  if (element->stored)
    element->stored->through.push_back(writer);
  else if (!element->isRead())
    element->stored = readStored(source, indices, reader, writer);
  element->through.push_back(writer);
  return element;
}

Element *Tracer::evaluate(Value scalar, linalg::LinalgOp op,
                          ArrayRef<AffineExpr> iteration) {
  Type type = scalar.getType();
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (argument && argument.getOwner() == op.getBlock()) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    scalar = operand->get();
    if (isa<ShapedType>(scalar.getType())) {
      Indices indices;
      for (AffineExpr index : op.getMatchingIndexingMap(operand).getResults())
        indices.push_back(index.replaceDims(iteration));
      return read(scalar, indices, op);
    }
  }
  Attribute attribute;
  if (matchPattern(scalar, m_Constant(&attribute))) {
    Element *element = create(Element::Kind::Constant, type, op);
    element->constant = attribute;
    return element;
  }
  Operation *inner = scalar.getDefiningOp();
  bool isComputed = inner && inner->getBlock() == op.getBlock() &&
                    inner->getNumResults() == 1 && !inner->getNumRegions() &&
                    isa_and_present<arith::ArithDialect, math::MathDialect>(
                        inner->getDialect()) &&
                    elements.size() < kMaximumElements;
  if (!isComputed)
    return create(Element::Kind::Opaque, type, inner ? inner : op);
  Element *element = create(Element::Kind::Compute, type, inner);
  for (Value operand : inner->getOperands())
    element->operands.push_back(evaluate(operand, op, iteration));
  return element;
}
