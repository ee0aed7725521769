// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes GEMM ops of linalg ops that compute the same.

#include "Epilogue.h"
#include "Memory.h"

#include "fp8/Conversion/Passes.h"
#include "fp8/IR/Fp8.h"

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/Threading.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_CONVERTLINALGTOFP8
#include "fp8/Conversion/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;
using namespace mlir::fp8::fromlinalg;

namespace {

/// Writes one GEMM op, before `end`.
class GemmBuilder {
public:
  GemmBuilder(const Product &product, const Epilogue &epilogue, Operation *end)
      : product(product), epilogue(epilogue), builder(end),
        location(product.op->getLoc()) {}

  /// Fails, and leaves nothing behind, if the op's rules say that there is no
  /// such GEMM.
  LogicalResult build(Value target, Refusal &refusal);

private:
  Value getMemref(Value value);
  Value getOperand(gemm::Operand operand);
  Value getTransposed(const Operand &operand);
  Value getMatrix(const Operand &operand);
  LogicalResult verifyGemm(BlockwiseGemmOp gemm, Refusal &refusal);
  LogicalResult checkLayouts(Value target, Refusal &refusal);
  template <typename OpTy, typename... Args>
  Value create(Args &&...args) {
    auto op = OpTy::create(builder, location, std::forward<Args>(args)...);
    created.push_back(op);
    return op->getResult(0);
  }

  const Product &product;
  const Epilogue &epilogue;
  OpBuilder builder;
  Location location;
  SmallVector<Operation *> created;
};

} // namespace

/// The memref that the value is, or that the tensor lies in.
Value GemmBuilder::getMemref(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  if (auto source = value.getDefiningOp<bufferization::ToTensorOp>())
    return source.getBuffer();
  return create<bufferization::ToBufferOp>(
      MemRefType::get(type.getShape(), type.getElementType()), value,
      /*read_only=*/true);
}

/// The memref with its axes in the operand's order.
Value GemmBuilder::getTransposed(const Operand &operand) {
  Value memref = getMemref(operand.element->value);
  if (llvm::is_sorted(operand.order))
    return memref;
  SmallVector<unsigned> order(operand.order.begin(), operand.order.end());
  auto map = AffineMap::getPermutationMap(order, builder.getContext());
  return create<memref::TransposeOp>(memref, AffineMapAttr::get(map));
}

/// A number or a row as a matrix of one row.
Value GemmBuilder::getMatrix(const Operand &operand) {
  Value memref = getMemref(operand.element->value);
  auto type = cast<MemRefType>(memref.getType());
  if (type.getRank() == 2)
    return memref;
  SmallVector<int64_t> shape = {1, type.getRank() ? type.getDimSize(0) : 1};
  SmallVector<OpFoldResult> extents = {builder.getIndexAttr(1),
                                       builder.getIndexAttr(shape[1])};
  if (ShapedType::isDynamic(shape[1])) {
    Value axis = create<arith::ConstantIndexOp>(0);
    extents[1] = create<memref::DimOp>(memref, axis);
  }
  SmallVector<ReassociationIndices> groups;
  if (type.getRank())
    groups.push_back({0, 1});
  return create<memref::ExpandShapeOp>(ArrayRef(shape), memref, groups,
                                       extents);
}

/// What the op takes for the operand; null if nothing is read for it.
Value GemmBuilder::getOperand(gemm::Operand operand) {
  const Operand &read = epilogue.operands[operand];
  if (!read)
    return nullptr;
  bool isRow = gemm::getOperand(operand).rows.axis == gemm::Axis::One;
  return isRow ? getMatrix(read) : getTransposed(read);
}

/// Asks the op's own rules, whose error becomes the reason.
LogicalResult GemmBuilder::verifyGemm(BlockwiseGemmOp gemm, Refusal &refusal) {
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(builder.getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    if (llvm::get_threadid() != thread)
                                      return failure();
                                    if (refusal.reason.empty())
                                      refusal.reason = diagnostic.str();
                                    return success();
                                  });
  return verify(gemm);
}

/// Views, and the GEMM op, take memrefs with strides.
LogicalResult GemmBuilder::checkLayouts(Value target, Refusal &refusal) {
  auto check = [&](Value value, Location location) -> LogicalResult {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type || type.isStrided())
      return success();
    return refusal.because("the layout of " + debugString(type) +
                               " has no strides, which the GEMM op needs",
                           location, "this memref");
  };
  for (const fromlinalg::Operand &read :
       ArrayRef<fromlinalg::Operand>(epilogue.operands))
    if (read && failed(check(read.element->value, read.element->getLoc())))
      return failure();
  return check(target, target.getLoc());
}

LogicalResult GemmBuilder::build(Value target, Refusal &refusal) {
  if (failed(checkLayouts(target, refusal)))
    return failure();
  using gemm::Operand;
  Value a = getOperand(Operand::A), aScale = getOperand(Operand::AScale);
  Value b = getOperand(Operand::B), bScale = getOperand(Operand::BScale);
  Value c = getOperand(Operand::C), beta = getOperand(Operand::Beta);
  Value bias = getOperand(Operand::Bias), dScale = getOperand(Operand::DScale);
  auto gemm = BlockwiseGemmOp::create(builder, location, a, aScale, b, bScale,
                                      c, beta, bias, target, dScale,
                                      /*config=*/nullptr, product.bBlock);
  if (epilogue.function)
    buildFunction(builder, location, gemm.getBody(), epilogue);
  if (succeeded(verifyGemm(gemm, refusal)))
    return success();
  for (const fromlinalg::Operand &read :
       ArrayRef<fromlinalg::Operand>(epilogue.operands))
    if (read && !llvm::is_sorted(read.order))
      refusal.notes.emplace_back(read.element->getLoc(),
                                 "read here at " +
                                     print(read.element->indices) +
                                     ", so the pass uses a transposed view");
  gemm.erase();
  for (Operation *op : llvm::reverse(created))
    op->erase();
  return failure();
}

namespace {

/// What becomes of one contraction.
class Converter {
public:
  Converter(linalg::LinalgOp op, AliasAnalysis &aliases)
      : location(op.getLoc()), op(op), aliases(&aliases) {}

  /// Makes a GEMM op of it if it is one. Adds the ops that are gone.
  void convert(llvm::SmallPtrSetImpl<Operation *> &erased);

  Location location;
  /// What was not converted, and why: an op behind the GEMM op if `rest` says
  /// where that is, else the contraction; nothing without a reason.
  Refusal refusal;
  std::optional<Location> rest;

private:
  LogicalResult convertTo(const Product &product, ArrayRef<Result> results,
                          llvm::SmallPtrSetImpl<Operation *> &erased);
  FailureOr<Result> getDestination(const Result &result);

  linalg::LinalgOp op;
  AliasAnalysis *aliases;
};

} // namespace

/// Where the GEMM op goes, and what it writes: of a tensor, the memref that it
/// is materialised in.
FailureOr<Result> Converter::getDestination(const Result &result) {
  if (isa<MemRefType>(result.target.getType()))
    return result;
  bufferization::MaterializeInDestinationOp materialize;
  if (result.target.hasOneUse())
    materialize = dyn_cast<bufferization::MaterializeInDestinationOp>(
        *result.target.user_begin());
  if (!materialize || !isa<MemRefType>(materialize.getDest().getType()))
    return refusal.because(
        "its result is a tensor that is not written to a memref; end with "
        "bufferization.materialize_in_destination, or bufferize first",
        result.end->getLoc(), "the result");
  return Result{materialize, materialize.getDest()};
}

/// Tries the last of the results as D.
LogicalResult Converter::convertTo(const Product &product,
                                   ArrayRef<Result> results,
                                   llvm::SmallPtrSetImpl<Operation *> &erased) {
  auto [end, target] = results.back();
  Tracer tracer(*aliases);
  int64_t rank = cast<ShapedType>(target.getType()).getRank();
  if (rank != product.rank)
    return refusal.because("the sum has " + Twine(product.rank) +
                               " axes, but its result has " + Twine(rank),
                           target.getLoc(), "the result");
  const Element *element = tracer.read(
      target, getResultIndices(rank, end->getContext()), end->getNextNode());
  FailureOr<Epilogue> epilogue = matchEpilogue(product, element, refusal);
  if (failed(epilogue))
    return failure();
  FailureOr<Result> destination = getDestination(results.back());
  if (failed(destination))
    return failure();

  OpSet ops = product.ops;
  ops.insert_range(epilogue->ops);
  Replacement replacement(ops, epilogue->operands, destination->end,
                          destination->target, *aliases);
  for (const Result &result : results.drop_back())
    if (failed(replacement.checkUnseen(result.end, refusal)))
      return failure();
  if (failed(replacement.checkOrder(
          epilogue->operands[gemm::Operand::C].element, refusal)) ||
      failed(GemmBuilder(product, *epilogue, destination->end)
                 .build(destination->target, refusal)))
    return failure();
  if (destination->end != end)
    destination->end->erase();
  replacement.erase(erased);
  return success();
}

void Converter::convert(llvm::SmallPtrSetImpl<Operation *> &erased) {
  Tracer tracer(*aliases);
  FailureOr<Product> product = failure();
  if (!matchProduct(op, tracer, product, refusal)) {
    refusal = Refusal();
    return;
  }
  if (failed(product))
    return;
  SmallVector<Result> results = getResults(*product, *aliases);
  // What a tensor holds on the way has no memref to be in.
  bool isMemRef = isa<MemRefType>(results.back().target.getType());
  constexpr size_t kMostSteps = 32; // each is tried
  if (isMemRef && results.size() > kMostSteps)
    results.truncate(kMostSteps);
  size_t least = isMemRef ? 1 : results.size();
  for (size_t count = results.size(); count >= least; --count) {
    Refusal longer = std::exchange(refusal, Refusal());
    if (succeeded(
            convertTo(*product, ArrayRef(results).take_front(count), erased))) {
      refusal = std::move(longer);
      return;
    }
    rest = results[count - 1].end->getLoc();
  }
  rest = std::nullopt;
}

/// Says what was not done, if anything.
static void report(const Converter &converter) {
  if (converter.rest)
    converter.refusal.emit(*converter.rest, "not part of the GEMM op");
  else if (!converter.refusal.reason.empty())
    converter.refusal.emit(converter.location, "not converted to a GEMM op");
}

namespace {

struct ConvertLinalgToFp8Pass
    : public mlir::fp8::impl::ConvertLinalgToFp8Base<ConvertLinalgToFp8Pass> {
  // Whether parts of a buffer are disjoint is asked by their offsets' bounds.
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertLinalgToFp8Base::getDependentDialects(registry);
    arith::registerValueBoundsOpInterfaceExternalModels(registry);
    memref::registerValueBoundsOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    auto &aliases = getAnalysis<AliasAnalysis>();
    SmallVector<linalg::LinalgOp> ops;
    // The GEMM op is lowered in host functions of the outermost module.
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      function->walk([&](linalg::LinalgOp op) {
        if (op.getNumReductionLoops())
          ops.push_back(op);
      });
    // The last first: a sum over K blocks comes behind those that it adds up.
    llvm::SmallPtrSet<Operation *, 16> erased;
    SmallVector<Converter> converters;
    for (linalg::LinalgOp op : llvm::reverse(ops)) {
      if (erased.contains(op))
        continue;
      converters.emplace_back(op, aliases).convert(erased);
    }
    for (const Converter &converter : llvm::reverse(converters))
      report(converter);
  }
};

} // namespace
