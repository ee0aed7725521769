// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum of products in a GEMM, in whatever ops the products are computed.

#include "Product.h"
#include "Access.h"
#include "Depth.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

namespace {

/// What a body adds to the element of the result that it has.
struct Sum {
  linalg::LinalgOp op;
  OpOperand *init;
  Value addend;
};

/// An element that is a sum itself, over the elements of one K block.
struct BlockSum {
  Sum sum;
  /// The element's loops; the reduction is null.
  Indices iteration;
  unsigned reduction;
  /// The extent of a block.
  int64_t depth;
  const Element *init;
};

} // namespace

/// The op as a sum over its reduction loops, each of which is no other's.
static std::optional<Sum> getSum(Operation *operation) {
  auto op = dyn_cast_or_null<linalg::LinalgOp>(operation);
  if (!op || !op.getNumReductionLoops() || op.getNumDpsInits() != 1 ||
      !onlyComputes(op))
    return std::nullopt;
  OpOperand *init = op.getDpsInitOperand(0);
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  AffineMap map = op.getMatchingIndexingMap(init);
  if (llvm::any_of(reductions,
                   [&](unsigned loop) { return map.isFunctionOfDim(loop); }))
    return std::nullopt;
  BlockArgument sum = op.getMatchingBlockArgument(init);
  auto add = op.getBlock()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  if (!add || !sum.hasOneUse() || !llvm::is_contained(add.getOperands(), sum))
    return std::nullopt;
  return Sum{op, init, add.getLhs() == sum ? add.getRhs() : add.getLhs()};
}

std::optional<SmallVector<int64_t, 3>>
fromlinalg::getOrder(const Element *element, ArrayRef<AffineExpr> indices) {
  SmallVector<int64_t, 3> order;
  if (!element->isRead() || element->indices.size() != indices.size())
    return std::nullopt;
  for (AffineExpr index : indices) {
    auto *position = llvm::find(element->indices, index);
    if (position == element->indices.end())
      return std::nullopt;
    order.push_back(position - element->indices.begin());
  }
  return order;
}

static bool dependsOn(const Element *element, Axis axis) {
  return llvm::any_of(element->indices, [&](AffineExpr index) {
    return index.isFunctionOfDim(axis);
  });
}

namespace {

/// Takes one sum apart.
class ProductMatcher {
public:
  ProductMatcher(const Sum &sum, Tracer &tracer, Refusal &refusal)
      : sum(sum), tracer(tracer), refusal(refusal),
        context(sum.op->getContext()) {
    product.op = sum.op;
  }

  /// True if it has to do with f8 elements.
  bool isOfInterest = false;
  FailureOr<Product> match();

private:
  LogicalResult nameLoops();
  const Element *evaluateAddend() {
    return tracer.evaluate(sum.addend, sum.op, iteration);
  }
  std::optional<BlockSum> getBlockSum(const Element *element);
  bool findBlocks(const Element *addend);
  LogicalResult openSum(BlockSum inner);
  LogicalResult collectFactors(const Element *element);
  LogicalResult assignData();
  LogicalResult assignScales();
  /// Takes the element for one of the operand, called `what`, if it is read
  /// where the GEMM op reads that.
  LogicalResult take(gemm::Operand operand, const Element *element,
                     StringRef what);
  LogicalResult takeBScale(const Element *element);
  /// The extent that the reductions run through, dynamic if it is not known.
  int64_t getDepth();
  Indices getIndices(gemm::Operand operand, int64_t bBlock);
  AffineExpr getAxis(Axis axis) { return getAffineDimExpr(axis, context); }

  Sum sum;
  Tracer &tracer;
  Refusal &refusal;
  MLIRContext *context;
  Product product;
  /// For each loop, its index in terms of the axes.
  Indices iteration;
  /// Where the sums of K blocks are added up: the extent of a block.
  int64_t blockDepth = 0;
  /// The op that sums up within K blocks, once it is found.
  linalg::LinalgOp blockOp;
  SmallVector<const Element *> data, scales;
};

} // namespace

/// Gives the loops indices: those of the result's axes l, m and n, the
/// reduction k. Two reductions are those of K blocks and within one.
LogicalResult ProductMatcher::nameLoops() {
  AffineMap map = sum.op.getMatchingIndexingMap(sum.init);
  product.rank = map.getNumResults();
  if (!map.isProjectedPermutation() ||
      sum.op.getNumParallelLoops() != map.getNumResults() || product.rank < 2 ||
      product.rank > 3)
    return refusal.because("its result has " + Twine(product.rank) +
                           " axes; the result of the GEMM op has the axes m "
                           "and n, in a batch after l, with one loop for each");
  iteration.assign(sum.op.getNumLoops(), nullptr);
  for (auto [axis, index] :
       llvm::enumerate(getResultIndices(product.rank, context)))
    iteration[map.getDimPosition(axis)] = index;
  SmallVector<unsigned> reductions;
  sum.op.getReductionDims(reductions);
  AffineExpr k = getAxis(kDepth);
  if (reductions.size() == 1) {
    iteration[reductions[0]] = blockDepth ? k.floorDiv(blockDepth) : k;
    return success();
  }
  int64_t inner = sum.op.getStaticLoopRanges()[reductions.back()];
  if (reductions.size() > 2 || ShapedType::isDynamic(inner))
    return refusal.because("it has " + Twine(reductions.size()) +
                           " reductions; the GEMM op has one, or one over K "
                           "blocks and one inside a block of static extent");
  iteration[reductions[0]] = k.floorDiv(inner);
  iteration[reductions[1]] = k % inner;
  blockOp = sum.op;
  return success();
}

static bool readsFloat8(const Element *element) {
  bool reads = false;
  walk(element, [&](const Element *each) {
    reads |= each->isRead() && isFloat8(each->type);
  });
  return reads;
}

/// The element as the sum of f8 products in a K block. A sum of anything else
/// is a number that is read.
std::optional<BlockSum> ProductMatcher::getBlockSum(const Element *element) {
  std::optional<Sum> inner = getSum(element->writer);
  if (!element->isRead() || !element->type.isF32() || !inner ||
      inner->op.getNumReductionLoops() != 1)
    return std::nullopt;
  std::optional<Indices> loops =
      tracer.getIteration(inner->op, element->value, element->indices);
  if (!loops || llvm::count(*loops, nullptr) != 1)
    return std::nullopt;
  const Element *init = tracer.evaluate(
      inner->op.getMatchingBlockArgument(inner->init), inner->op, *loops);
  unsigned reduction = llvm::find(*loops, nullptr) - loops->begin();
  int64_t depth = inner->op.getStaticLoopRanges()[reduction];
  Indices within = *loops;
  within[reduction] = getAxis(kDepth);
  if (!init->isConstant(0.0) || ShapedType::isDynamic(depth) ||
      !readsFloat8(tracer.evaluate(inner->addend, inner->op, within)))
    return std::nullopt;
  return BlockSum{*inner, *loops, reduction, depth, init};
}

/// True if what is added up has a sum of a K block as a factor, so that the
/// one reduction is that of K blocks.
bool ProductMatcher::findBlocks(const Element *addend) {
  walk(addend, [&](const Element *each) {
    if (std::optional<BlockSum> inner = getBlockSum(each)) {
      isOfInterest = true;
      if (!blockOp)
        blockDepth = inner->depth;
    }
  });
  return blockDepth;
}

/// Goes on with the products in the sum: what multiplies it multiplies each of
/// them. That is so of one sum; of two all products would be multiplied with
/// one another.
LogicalResult ProductMatcher::openSum(BlockSum inner) {
  if (blockOp)
    return refusal.because("it multiplies sums of K blocks with one another; "
                           "the GEMM op multiplies elements",
                           inner.sum.op->getLoc(), "the second sum");
  blockOp = inner.sum.op;
  inner.iteration[inner.reduction] = getAxis(kDepth) % inner.depth;
  product.ops.insert(inner.sum.op);
  product.ops.insert_range(inner.init->through);
  return collectFactors(
      tracer.evaluate(inner.sum.addend, inner.sum.op, inner.iteration));
}

/// Adds the factors of an element to `data` and `scales`.
LogicalResult ProductMatcher::collectFactors(const Element *element) {
  if (element->isRead()) {
    product.ops.insert_range(element->through);
    if (std::optional<BlockSum> inner = getBlockSum(element))
      return openSum(*inner);
    (isFloat8(element->type) ? data : scales).push_back(element);
    return success();
  }
  // However scales were computed, they are read.
  if (!readsFloat8(element))
    if (const Element *scale = getRead(element, product.ops)) {
      scales.push_back(scale);
      return success();
    }
  product.ops.insert_range(element->through);
  if (element->is<arith::ExtFOp>())
    return collectFactors(element->operands.front());
  if (element->is<arith::MulFOp>()) {
    if (!element->type.isF32())
      return refusal.because("it multiplies in " + debugString(element->type) +
                                 ", but the GEMM op computes in f32",
                             element->getLoc(), "multiplied here");
    return success(succeeded(collectFactors(element->operands[0])) &&
                   succeeded(collectFactors(element->operands[1])));
  }
  if (element->isConstant(1.0))
    return success();
  return refusal.because(
      "a factor in the sum is neither read from memory nor a product; the GEMM "
      "op multiplies A and B by their scales",
      element->getLoc(), "the factor");
}

Indices ProductMatcher::getIndices(gemm::Operand operand, int64_t bBlock) {
  return fromlinalg::getIndices(gemm::getOperand(operand, {bBlock}),
                                product.rank, context);
}

LogicalResult ProductMatcher::take(gemm::Operand operand,
                                   const Element *element, StringRef what) {
  Indices indices = getIndices(operand, product.bBlock);
  auto order = getOrder(element, indices);
  if (!order)
    return refusal.because("it reads " + what + " at " +
                               print(element->indices) +
                               ", but the GEMM op reads at " + print(indices),
                           element->getLoc(), "read here");
  product.operands[operand] = {element, *order};
  return success();
}

LogicalResult ProductMatcher::assignData() {
  gemm::OperandInfo a = gemm::getOperand(gemm::Operand::A);
  for (const Element *element : data)
    if (!takes(a, element->type))
      return refusal.because(
          "an operand has elements of " + debugString(element->type) +
              "; the GEMM op multiplies " + a.types.str("or"),
          element->getLoc(), "read here");
  if (data.size() != 2)
    return refusal.because("it multiplies f8 elements of " +
                           Twine(data.size()) +
                           " operands; the GEMM op multiplies two, A and B");
  if (!dependsOn(data[0], kRow))
    std::swap(data[0], data[1]);
  return success(succeeded(take(gemm::Operand::A, data[0], "A")) &&
                 succeeded(take(gemm::Operand::B, data[1], "B")));
}

LogicalResult ProductMatcher::takeBScale(const Element *element) {
  auto isRead = [&](int64_t block) {
    return getOrder(element, getIndices(gemm::Operand::BScale, block));
  };
  if (const auto *block = llvm::find_if(gemm::kBBlocks, isRead);
      block != gemm::kBBlocks.end())
    product.bBlock = *block;
  return take(gemm::Operand::BScale, element, "the scales of B");
}

LogicalResult ProductMatcher::assignScales() {
  const Element *aScale = nullptr, *bScale = nullptr;
  for (const Element *element : scales) {
    const Element *&scale = dependsOn(element, kRow) ? aScale : bScale;
    if (scale)
      return refusal.because("it multiplies by more than one scale of A and "
                             "one of B",
                             element->getLoc(), "the extra scale");
    scale = element;
  }
  if (!aScale || !bScale)
    return refusal.because("it has no scales of " + Twine(aScale ? "B" : "A") +
                           ", which the GEMM op reads for each block");
  return success(
      succeeded(take(gemm::Operand::AScale, aScale, "the scales of A")) &&
      succeeded(takeBScale(bScale)));
}

int64_t ProductMatcher::getDepth() {
  int64_t depth = blockDepth ? blockDepth : 1;
  SmallVector<unsigned> reductions;
  sum.op.getReductionDims(reductions);
  for (unsigned loop : reductions) {
    int64_t extent = sum.op.getStaticLoopRanges()[loop];
    if (ShapedType::isDynamic(extent))
      return extent;
    depth *= extent;
  }
  return depth;
}

FailureOr<Product> ProductMatcher::match() {
  LogicalResult named = nameLoops();
  if (failed(named)) // only to see whether it is of interest
    iteration.assign(sum.op.getNumLoops(), getAxis(kDepth));
  const Element *addend = evaluateAddend();
  isOfInterest = readsFloat8(addend);
  if (findBlocks(addend) && succeeded(named)) {
    named = nameLoops();
    addend = evaluateAddend();
  }
  LogicalResult collected =
      succeeded(named) ? collectFactors(addend) : failure();
  if (!isOfInterest || failed(named) || failed(collected))
    return failure();
  if (!addend->type.isF32())
    return refusal.because("it adds up in " + debugString(addend->type) +
                           ", but the GEMM op computes in f32");
  if (failed(assignData()) || failed(assignScales()) ||
      failed(checkDepth(product, sum.op, getDepth(), scales, refusal)))
    return failure();
  product.ops.insert(sum.op);
  product.init = tracer.evaluate(sum.op.getMatchingBlockArgument(sum.init),
                                 sum.op, iteration);
  return product;
}

/// True if the op multiplies f8 elements, whatever it makes of the products.
static bool multipliesFloat8(linalg::LinalgOp op, Tracer &tracer) {
  if (!op.getBlock()->getTerminator()->getNumOperands())
    return false;
  Indices iteration(op.getNumLoops(),
                    getAffineDimExpr(kDepth, op->getContext()));
  bool multiplies = false;
  walk(tracer.evaluate(op.getBlock()->getTerminator()->getOperand(0), op,
                       iteration),
       [&](const Element *each) {
         multiplies |= each->is<arith::MulFOp>() && readsFloat8(each);
       });
  return multiplies;
}

bool fromlinalg::matchProduct(linalg::LinalgOp op, Tracer &tracer,
                              FailureOr<Product> &product, Refusal &refusal) {
  std::optional<Sum> sum = getSum(op);
  if (!sum) {
    product = refusal.because(
        onlyComputes(op)
            ? "it is not a sum of products that one arith.addf adds to a "
              "result without the reduction's axis"
            : "its body accesses memory or has other effects, which the GEMM "
              "op would lose");
    return multipliesFloat8(op, tracer);
  }
  ProductMatcher matcher(*sum, tracer, refusal);
  product = matcher.match();
  return matcher.isOfInterest;
}
