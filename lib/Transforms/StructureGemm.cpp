// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes each GEMM op a structured kernel and its launch (phase 0 to 1). This
// file holds the host side.

#include "Gemm/StructuredKernel.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8STRUCTUREGEMM
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// Writes the host code of one launch.
class LaunchBuilder {
public:
  LaunchBuilder(OpBuilder &builder, BlockwiseGemmOp op,
                const GemmSchedule &schedule)
      : builder(builder), loc(op.getLoc()), op(op), schedule(schedule) {}

  void checkOperands();
  void launch(gpu::GPUFuncOp kernel);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  /// An extent of the operand's matrices.
  Value dim(Value memref, int64_t axis) {
    return memref::DimOp::create(builder, loc, memref,
                                 schedule.problem.getMatrixAxis() + axis);
  }
  Value getBatch(Value memref) {
    return memref::DimOp::create(builder, loc, memref, 0);
  }
  Value ceilDiv(Value value, int64_t divisor) {
    if (divisor == 1)
      return value;
    return arith::CeilDivUIOp::create(builder, loc, value, constant(divisor));
  }
  void require(Value condition, const Twine &rule) {
    cf::AssertOp::create(builder, loc, condition, builder.getStringAttr(rule));
  }
  void requireEqual(Value lhs, Value rhs, const Twine &rule) {
    require(
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lhs, rhs),
        rule);
  }
  void requireBelow(Value lhs, int64_t limit, const Twine &rule) {
    require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lhs,
                                  constant(limit)),
            rule);
  }
  void requireBScale(Value n, Value blocks);
  /// What is asked of a batch.
  void checkBatch();
  void requireRowBytes(Value memref, StringRef name);
  void checkAddendExtents(Value m, Value n);
  /// The CTAs to launch.
  Value getGrid(Value tilesM, Value tilesN);
  Value getArgument(GemmParameter parameter);

  OpBuilder &builder;
  Location loc;
  BlockwiseGemmOp op;
  const GemmSchedule &schedule;
};

} // namespace

static bool isStatic(Value memref) {
  return cast<MemRefType>(memref.getType()).hasStaticShape();
}

/// What the op's verifier could not see because an extent is dynamic is
/// asserted; the launch manifest carries it on.
void LaunchBuilder::checkOperands() {
  Value a = op.getA(), aScale = op.getAScale(), b = op.getB(), d = op.getD();
  if (!llvm::all_of(op->getOperands(), isStatic)) {
    Value m = dim(a, 0), n = dim(b, 0), k = dim(a, 1);
    Value blocks = ceilDiv(k, GemmSchedule::kScaleBlock);
    for (auto [extent, name] :
         {std::pair(m, "M"), std::pair(n, "N"), std::pair(k, "K")})
      requireBelow(extent, GemmSchedule::kMaxExtent,
                   Twine(name) + " must be below 2^31, the range of TMA "
                                 "coordinates (G4)");
    requireEqual(dim(b, 1), k, "a and b must agree in K");
    Value rest = arith::RemUIOp::create(builder, loc, k, constant(16));
    requireEqual(rest, constant(0), "K must be a multiple of 16 (G4)");
    requireEqual(dim(aScale, 0), blocks,
                 "a_scale must have ceil(K/128) rows (G2)");
    requireEqual(dim(aScale, 1), m, "a_scale must have M columns (G2)");
    requireBScale(n, blocks);
    requireEqual(dim(d, 0), m, "d must have M rows (G3)");
    requireEqual(dim(d, 1), n, "d must have N columns (G3)");
    checkAddendExtents(m, n);
  }
  requireRowBytes(a, "a");
  requireRowBytes(aScale, "a_scale");
  requireRowBytes(b, "b");
  requireRowBytes(d, "d");
  if (op.getC())
    requireRowBytes(op.getC(), "c");
  if (op.getBias())
    requireRowBytes(op.getBias(), "bias");
  if (schedule.problem.hasColumnScales())
    requireRowBytes(op.getBScale(), "b_scale");
  if (schedule.problem.isBatch)
    checkBatch();
}

void LaunchBuilder::requireBScale(Value n, Value blocks) {
  Value bScale = op.getBScale();
  if (schedule.problem.hasColumnScales()) {
    requireEqual(dim(bScale, 0), blocks,
                 "b_scale must have ceil(K/128) rows (G2)");
    requireEqual(dim(bScale, 1), n, "b_scale must have N columns (G2)");
    return;
  }
  requireEqual(dim(bScale, 0), ceilDiv(n, schedule.problem.bBlock),
               "b_scale must have ceil(N/" + Twine(schedule.problem.bBlock) +
                   ") rows (G2)");
  requireEqual(dim(bScale, 1), blocks,
               "b_scale must have ceil(K/128) columns (G2)");
}

void LaunchBuilder::checkBatch() {
  Value batch = getBatch(op.getA());
  if (!llvm::all_of(op->getOperands(), isStatic)) {
    requireBelow(batch, GemmSchedule::kMaxExtent,
                 "the batch extent must be below 2^31, the range of TMA "
                 "coordinates (G6)");
    for (auto [memref, name] :
         {std::pair<Value, StringRef>(op.getAScale(), "a_scale"),
          {op.getB(), "b"},
          {op.getBScale(), "b_scale"},
          {op.getC(), "c"},
          {op.getD(), "d"}})
      if (memref)
        requireEqual(getBatch(memref), batch,
                     Twine("a and ") + name +
                         " must agree in the batch extent (G6)");
  }
  // Kernels number tiles, and B's scales, in 32 bits.
  requireBelow(arith::MulIOp::create(builder, loc,
                                     getArgument(GemmParameter::TilesM),
                                     getArgument(GemmParameter::TilesN)),
               GemmSchedule::kMaxExtent,
               "the tiles of a batch must be fewer than 2^31 (G6)");
  if (schedule.problem.hasColumnScales())
    return;
  auto bScale =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getBScale());
  Value span;
  for (auto [extent, stride] :
       llvm::zip(bScale.getSizes(), bScale.getStrides())) {
    Value reach = arith::MulIOp::create(builder, loc, extent, stride);
    span = span ? arith::AddIOp::create(builder, loc, span, reach) : reach;
  }
  requireBelow(span, GemmSchedule::kMaxExtent,
               "the elements of b_scale must lie within 2^31 of one another "
               "(G6)");
}

void LaunchBuilder::checkAddendExtents(Value m, Value n) {
  if (Value c = op.getC()) {
    requireEqual(dim(c, 0), m, "c must have M rows (G7)");
    requireEqual(dim(c, 1), n, "c must have N columns (G7)");
  }
  if (Value bias = op.getBias()) {
    // A batch has it in common.
    auto extent = [&](int64_t axis) -> Value {
      return memref::DimOp::create(builder, loc, bias, axis);
    };
    requireEqual(extent(0), constant(1), "bias must have one row (G8)");
    requireEqual(extent(1), n, "bias must have N columns (G8)");
  }
}

void LaunchBuilder::requireRowBytes(Value memref, StringRef name) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return;
  // Static strides are checked by the op's verifier.
  int64_t rows = type.getRank() - 2;
  for (int64_t axis = rows; axis >= 0; --axis) {
    if (!ShapedType::isDynamic(strides[axis]))
      continue;
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, memref);
    Value bytes = builder.createOrFold<arith::MulIOp>(
        loc, metadata.getStrides()[axis],
        constant(type.getElementType().getIntOrFloatBitWidth() / 8));
    Value rest = arith::RemUIOp::create(builder, loc, bytes, constant(16));
    requireEqual(
        rest, constant(0),
        Twine("the ") + (axis < rows ? "matrices" : "rows") + " of " + name +
            " must be a multiple of 16 bytes apart, because TMA copies "
            "them (G4)");
  }
}

Value LaunchBuilder::getGrid(Value tilesM, Value tilesN) {
  // Whole clusters: those at the edges compute tiles past the result too.
  int64_t size = schedule.cluster.getSize();
  Value clusters =
      arith::MulIOp::create(builder, loc, ceilDiv(tilesM, schedule.cluster.m),
                            ceilDiv(tilesN, schedule.cluster.n));
  if (schedule.scheduler == SchedulerKind::Persistent) {
    Value resident = MultiprocessorCountOp::create(builder, loc);
    if (size > 1)
      resident = arith::MaxUIOp::create(
          builder, loc,
          arith::DivUIOp::create(builder, loc, resident, constant(size)),
          constant(1));
    clusters = arith::MinUIOp::create(builder, loc, clusters, resident);
  }
  return size == 1 ? clusters
                   : Value(arith::MulIOp::create(builder, loc, clusters,
                                                 constant(size)));
}

Value LaunchBuilder::getArgument(GemmParameter parameter) {
  Type type = schedule.getParameterType(parameter);
  auto map = [&](Value memref, bool wholeUnits = false) -> Value {
    return TensorMapOp::create(builder, loc, type, memref, wholeUnits);
  };
  switch (parameter) {
  case GemmParameter::AMap:
    return map(op.getA());
  case GemmParameter::AScaleMap:
    return map(op.getAScale());
  case GemmParameter::BMap:
    return map(op.getB());
  case GemmParameter::DMap:
    return map(op.getD(), schedule.problem.restType != nullptr);
  case GemmParameter::BScale:
    return builder.createOrFold<memref::CastOp>(loc, type, op.getBScale());
  case GemmParameter::BScaleMap:
    return map(op.getBScale());
  case GemmParameter::TilesM:
    if (!schedule.problem.isBatch)
      return ceilDiv(dim(op.getA(), 0), schedule.getCtaRows());
    return arith::MulIOp::create(builder, loc, getBatch(op.getA()),
                                 getArgument(GemmParameter::BatchTilesM));
  case GemmParameter::BatchTilesM: {
    // Whole clusters, so that none reaches into the next product.
    Value tiles = ceilDiv(dim(op.getA(), 0), schedule.getCtaRows());
    if (schedule.cluster.m == 1)
      return tiles;
    return arith::MulIOp::create(builder, loc,
                                 ceilDiv(tiles, schedule.cluster.m),
                                 constant(schedule.cluster.m));
  }
  case GemmParameter::TilesN:
    return ceilDiv(dim(op.getB(), 0), schedule.tileN);
  case GemmParameter::Blocks:
    return ceilDiv(dim(op.getA(), 1), schedule.tileK);
  case GemmParameter::CMap:
    return map(op.getC());
  case GemmParameter::BiasMap:
    return map(op.getBias());
  case GemmParameter::Beta:
    return op.getBeta();
  case GemmParameter::DScale:
    return op.getDScale();
  case GemmParameter::DRest:
    return builder.createOrFold<memref::CastOp>(loc, type, op.getD());
  }
  llvm_unreachable("no other parameter");
}

void LaunchBuilder::launch(gpu::GPUFuncOp kernel) {
  SmallVector<GemmParameter> parameters = schedule.problem.getParameters();
  SmallVector<Value> arguments;
  for (GemmParameter parameter : parameters)
    arguments.push_back(getArgument(parameter));
  auto tiles = [&](GemmParameter axis) {
    return arguments[llvm::find(parameters, axis) - parameters.begin()];
  };
  Value grid =
      getGrid(tiles(GemmParameter::TilesM), tiles(GemmParameter::TilesN));
  Value one = constant(1);
  auto launch = gpu::LaunchFuncOp::create(
      builder, loc, kernel, gpu::KernelDim3{grid, one, one},
      gpu::KernelDim3{constant(32 * schedule.getNumWarps()), one, one},
      /*dynamicSharedMemorySize=*/Value(), arguments);
  // What the operands' types do not say.
  if (schedule.problem.bBlock != GemmSchedule::kScaleBlock)
    launch->setAttr(Fp8Dialect::kProblemOptionsAttrName,
                    builder.getDictionaryAttr(builder.getNamedAttr(
                        op.getBBlockAttrName(),
                        builder.getI64IntegerAttr(schedule.problem.bBlock))));
}

namespace {

/// blockwise_gemm: checks, tensor maps and a launch; and the kernel in a module
/// of its own.
struct StructureBlockwiseGemm : public OpRewritePattern<BlockwiseGemmOp> {
  StructureBlockwiseGemm(MLIRContext *context, SymbolTable &symbols,
                         const chip::Chip &chip)
      : OpRewritePattern(context), symbols(symbols), chip(chip) {}

  LogicalResult matchAndRewrite(BlockwiseGemmOp op,
                                PatternRewriter &rewriter) const override {
    auto function = op->getParentOfType<FunctionOpInterface>();
    if (!function)
      return op.emitOpError()
             << "must be in a function, from which its kernel is launched";
    if (function->getParentOp() != symbols.getOp())
      return op.emitOpError() << "must be in a function of the outermost "
                                 "module, beside which its kernel is put";
    FailureOr<std::unique_ptr<GemmSchedule>> chosen =
        GemmSchedule::choose(op, op.getConfig().value_or(GemmConfig()), chip);
    if (failed(chosen))
      return failure();

    const GemmSchedule &schedule = **chosen;
    LaunchBuilder launch(rewriter, op, schedule);
    launch.checkOperands();
    gpu::GPUFuncOp kernel = createKernel(op, function, schedule, rewriter);
    launch.launch(kernel);
    rewriter.eraseOp(op);
    return success();
  }

private:
  gpu::GPUFuncOp createKernel(BlockwiseGemmOp op, FunctionOpInterface function,
                              const GemmSchedule &schedule,
                              PatternRewriter &rewriter) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(function);
    std::string name = function.getName().str();
    auto module =
        gpu::GPUModuleOp::create(rewriter, op.getLoc(), name + "_kernels");
    // The symbol table may number the module; the kernel takes the number too.
    std::string kernelName = symbols.insert(module).str();
    kernelName.erase(kernelName.find("_kernels", name.size()) + 7, 1);
    return buildStructuredKernel(rewriter, op.getLoc(), module, kernelName,
                                 schedule);
  }

  SymbolTable &symbols;
  const chip::Chip &chip;
};

struct StructureGemmPass
    : public mlir::fp8::impl::Fp8StructureGemmBase<StructureGemmPass> {
  using Fp8StructureGemmBase::Fp8StructureGemmBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<BlockwiseGemmOp> gemms;
    module.walk([&](BlockwiseGemmOp op) { gemms.push_back(op); });
    if (gemms.empty())
      return markAllAnalysesPreserved();
    const chip::Chip *known = chip::lookup(chip);
    if (!known) {
      module.emitError() << "unknown chip '" << chip << "'; known are "
                         << chip::getNames();
      return signalPassFailure();
    }
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    SymbolTable symbols(module);
    RewritePatternSet patterns(&getContext());
    patterns.add<StructureBlockwiseGemm>(&getContext(), symbols, *known);
    walkAndApplyPatterns(module, std::move(patterns));
    // An op that is still there has been explained by an error.
    if (module.walk([](BlockwiseGemmOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
