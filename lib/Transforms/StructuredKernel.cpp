// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structured kernel (phase 1) of a blockwise-scaled GEMM.
//
// Three roles run the same loop over output tiles and, inside it, over K
// blocks. The load role fills the input ring with A, B and A's scales; the MMA
// role turns each input stage into a fresh accumulator; the epilogue role adds
// each accumulator, scaled, to the tile that it keeps in registers, and stores
// the tile after the last K block. The epilogue takes part in the input ring
// too: it reads A's scales there.

#include "StructuredKernel.h"

#include "fp8/Analysis/KernelPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

//===----------------------------------------------------------------------===//
// GemmPlan
//===----------------------------------------------------------------------===//

TileType GemmPlan::getATile() const {
  MLIRContext *context = outputType.getContext();
  return TileType::get(context, {tileM, tileK}, Float8E4M3FNType::get(context),
                       Swizzle::B128);
}
TileType GemmPlan::getBTile() const {
  MLIRContext *context = outputType.getContext();
  return TileType::get(context, {tileN, tileK}, Float8E4M3FNType::get(context),
                       Swizzle::B128);
}
TileType GemmPlan::getAScaleTile() const {
  MLIRContext *context = outputType.getContext();
  return TileType::get(context, {1, tileM}, Float32Type::get(context),
                       Swizzle::None);
}
TileType GemmPlan::getStoreTile() const {
  // The widest row that the 128-byte swizzle takes and that divides the tile.
  int64_t columns = 128 * 8 / outputType.getIntOrFloatBitWidth();
  while (tileN % columns)
    columns /= 2;
  int64_t rowBytes = columns * outputType.getIntOrFloatBitWidth() / 8;
  Swizzle swizzle = rowBytes == 128  ? Swizzle::B128
                    : rowBytes == 64 ? Swizzle::B64
                                     : Swizzle::B32;
  return TileType::get(outputType.getContext(), {32, columns}, outputType,
                       swizzle);
}
PipelineType GemmPlan::getInputRing() const {
  MLIRContext *context = outputType.getContext();
  SmallVector<StringAttr> names{StringAttr::get(context, "a"),
                                StringAttr::get(context, "b"),
                                StringAttr::get(context, "a_scale")};
  return PipelineType::get(context, stages, names,
                           {getATile(), getBTile(), getAScaleTile()});
}
OutputPipelineType GemmPlan::getAccumulatorRing() const {
  MLIRContext *context = outputType.getContext();
  return OutputPipelineType::get(context, accumulators, {tileM, tileN},
                                 Float32Type::get(context));
}
StoreQueueType GemmPlan::getStoreQueue() const {
  return StoreQueueType::get(outputType.getContext(), kStoreDepth,
                             getStoreTile(), kEpilogueWarps);
}

/// What barriers, the tensor-memory address and alignment gaps take at most.
static constexpr int64_t kSharedMemoryReserve = 2048;

FailureOr<GemmPlan> GemmPlan::choose(Operation *op, GemmConfigAttr config,
                                     Type outputType) {
  GemmPlan plan{128, 128, 128, 1, 1, SchedulerKind::Persistent, outputType};
  if (config)
    plan = {config.getTileM(),     config.getTileN(), config.getTileK(), 1, 1,
            config.getScheduler(), outputType};
  // A tile that starts anywhere must meet at most two blocks of scales.
  int64_t common = std::gcd(plan.tileN, kScaleBlock);
  if (plan.tileN > kScaleBlock + common)
    return op->emitOpError()
           << "tile N of " << plan.tileN
           << " can meet three blocks of B scales, but a tile has two at most: "
              "tile N "
           << "must be at most " << kScaleBlock << " + gcd(tile N, "
           << kScaleBlock << ") = " << kScaleBlock + common;

  if (plan.tileN > kMaxTileN)
    return op->emitOpError()
           << "tile N of " << plan.tileN
           << " leaves an epilogue thread more sums than it has registers; "
              "tile N must be at most "
           << kMaxTileN;

  int64_t perStage = plan.getATile().getSizeInBytes() +
                     plan.getBTile().getSizeInBytes() +
                     plan.getAScaleTile().getSizeInBytes();
  int64_t queue =
      kEpilogueWarps * kStoreDepth * plan.getStoreTile().getSizeInBytes();
  int64_t maxStages =
      (kMaxSharedMemoryBytes - kSharedMemoryReserve - queue) / perStage;
  int64_t maxAccumulators = kTmemColumns / plan.tileN;
  plan.stages = config && config.getStages() ? config.getStages() : maxStages;
  plan.accumulators = config && config.getAccumulators()
                          ? config.getAccumulators()
                          : maxAccumulators;
  if (plan.stages > maxStages)
    return op->emitOpError()
           << plan.stages << " stages of " << perStage
           << " bytes do not fit shared memory; at most " << maxStages << " do";
  if (plan.accumulators > maxAccumulators)
    return op->emitOpError()
           << plan.accumulators << " accumulators of " << plan.tileN
           << " columns do not fit tensor memory; at most " << maxAccumulators
           << " do";
  return plan;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// Builds the roles of one kernel.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, Location loc, const GemmPlan &plan,
                gpu::GPUFuncOp kernel)
      : builder(builder), loc(loc), plan(plan), kernel(kernel) {}

  void build();

private:
  using Carried = SmallVector<Value>;
  using TileBody =
      function_ref<Carried(Value row, Value column, ValueRange carried)>;
  using BlockBody = function_ref<Carried(Value block, ValueRange carried)>;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value scaled(Value tile, int64_t extent) {
    return arith::MulIOp::create(builder, loc, tile, constant(extent));
  }

  void buildLoadRole(Value producer);
  void buildMmaRole(Value producer, Value input);
  void buildEpilogueRole(Value consumer, Value input, Value queue);
  Value promote(ValueRange stages, Value fragment, ValueRange bScales,
                Value split);
  /// The B scales of K block `block`, one or two, and the column at which the
  /// second begins.
  SmallVector<Value> loadBScales(Value firstColumn, Value block);
  Value getSplit(Value firstColumn);

  /// Opens a role; the body gets its block arguments and returns what the role
  /// yields.
  void role(StringRef name, int64_t warps, ValueRange inits,
            function_ref<Carried(ValueRange)> body);
  Carried forEachTile(ValueRange inits, TileBody body);
  Carried forEachBlock(ValueRange inits, BlockBody body);
  /// Builds a scoped op over `inits`; the body gets its arguments and returns
  /// what the scope yields.
  template <typename ScopeOp>
  Carried scope(ValueRange inits, ArrayRef<Type> argumentTypes,
                ArrayRef<Type> resultTypes,
                function_ref<Carried(ValueRange)> body);
  /// A scope that acquires a stage of each end.
  template <typename ScopeOp>
  Carried stageScope(ValueRange ends, ArrayRef<Type> extraTypes,
                     function_ref<Carried(ValueRange)> body);

  OpBuilder &builder;
  Location loc;
  const GemmPlan &plan;
  gpu::GPUFuncOp kernel;

  Value aMap() { return kernel.getArgument(0); }
  Value aScaleMap() { return kernel.getArgument(1); }
  Value bMap() { return kernel.getArgument(2); }
  Value dMap() { return kernel.getArgument(3); }
  Value bScale() { return kernel.getArgument(4); }
  Value tilesM() { return kernel.getArgument(5); }
  Value tilesN() { return kernel.getArgument(6); }
  Value blocks() { return kernel.getArgument(7); }
};

} // namespace

void KernelBuilder::build() {
  MLIRContext *context = builder.getContext();
  PipelineType ring = plan.getInputRing();
  Type producer = ProducerType::get(context, ring),
       consumer = ConsumerType::get(context, ring);
  auto input = PipelineOp::create(
      builder, loc, TypeRange{producer, consumer, consumer}, nullptr, nullptr);
  OutputPipelineType accumulators = plan.getAccumulatorRing();
  auto output = OutputPipelineOp::create(
      builder, loc, ProducerType::get(context, accumulators),
      ConsumerType::get(context, accumulators), nullptr, nullptr);
  Value queue = StoreQueueOp::create(builder, loc, plan.getStoreQueue());
  buildEpilogueRole(output.getConsumer(), input.getEnds()[2], queue);
  buildLoadRole(input.getEnds()[0]);
  buildMmaRole(output.getProducer(), input.getEnds()[1]);
  gpu::ReturnOp::create(builder, loc);
}

void KernelBuilder::buildLoadRole(Value producer) {
  role("load", 1, producer, [&](ValueRange ends) {
    return forEachTile(ends, [&](Value row, Value column, ValueRange carried) {
      Value m = scaled(row, plan.tileM), n = scaled(column, plan.tileN);
      return forEachBlock(carried, [&](Value block, ValueRange inner) {
        Value k = scaled(block, plan.tileK);
        return stageScope<ProduceOp>(
            inner, {}, [&](ValueRange stages) -> Carried {
              TmaLoadOp::create(builder, loc, aMap(), ValueRange{m, k},
                                stages[0], "a");
              TmaLoadOp::create(builder, loc, bMap(), ValueRange{n, k},
                                stages[0], "b");
              TmaLoadOp::create(builder, loc, aScaleMap(), ValueRange{block, m},
                                stages[0], "a_scale");
              return {};
            });
      });
    });
  });
}

void KernelBuilder::buildMmaRole(Value producer, Value input) {
  role("mma", 1, {producer, input}, [&](ValueRange ends) {
    Type warpType =
        MmaWarpType::get(builder.getContext(), plan.getAccumulatorRing());
    return scope<MmaWarpOp>(
        ends[0], warpType, ends[1].getType(), [&](ValueRange warp) {
          return forEachTile(
              {warp[0], ends[1]}, [&](Value, Value, ValueRange carried) {
                return forEachBlock(carried, [&](Value, ValueRange inner) {
                  return stageScope<PerKStageOp>(
                      inner, {}, [&](ValueRange stages) -> Carried {
                        Value accumulator =
                            AccumulatorOp::create(builder, loc, stages[0]);
                        Value a = TileOp::create(builder, loc, stages[1], "a");
                        Value b = TileOp::create(builder, loc, stages[1], "b");
                        MmaOp::create(builder, loc, accumulator, a, b,
                                      /*accumulate=*/Value());
                        return {};
                      });
                });
              });
        });
  });
}

void KernelBuilder::buildEpilogueRole(Value consumer, Value input,
                                      Value queue) {
  MLIRContext *context = builder.getContext();
  auto fragmentType =
      FragmentType::get(context, {plan.tileM, plan.tileN},
                        Float32Type::get(context), GemmPlan::kEpilogueWarps);
  role("epilogue", GemmPlan::kEpilogueWarps, {consumer, input, queue},
       [&](ValueRange ends) {
         Type warpType =
             EpilogueWarpType::get(context, plan.getAccumulatorRing());
         return scope<EpilogueWarpOp>(
             ends[0], warpType, {ends[1].getType(), ends[2].getType()},
             [&](ValueRange warp) {
               return forEachTile(
                   {warp[0], ends[1], ends[2]},
                   [&](Value row, Value column, ValueRange carried) -> Carried {
                     Value m = scaled(row, plan.tileM),
                           n = scaled(column, plan.tileN);
                     Value split = getSplit(n);
                     Value zero = ZeroOp::create(builder, loc, fragmentType);
                     Carried inner = forEachBlock(
                         {carried[0], carried[1], zero},
                         [&](Value block, ValueRange state) {
                           SmallVector<Value> bScales = loadBScales(n, block);
                           return stageScope<PerKStageOp>(
                               state.take_front(2), fragmentType,
                               [&](ValueRange stages) -> Carried {
                                 return {
                                     promote(stages, state[2], bScales, split)};
                               });
                         });
                     Value next = StoreOp::create(
                         builder, loc, carried[2].getType(), inner[2], dMap(),
                         carried[2], ValueRange{m, n});
                     return {inner[0], inner[1], next};
                   });
             });
       });
}

Value KernelBuilder::promote(ValueRange stages, Value fragment,
                             ValueRange bScales, Value split) {
  Value partial = AccumulatorOp::create(builder, loc, stages[0]);
  Value aScales = TileOp::create(builder, loc, stages[1], "a_scale");
  return PromoteOp::create(builder, loc, fragment.getType(), fragment, partial,
                           aScales, bScales, split);
}

Value KernelBuilder::getSplit(Value firstColumn) {
  if (!plan.straddlesScales())
    return {};
  Value within = arith::RemUIOp::create(builder, loc, firstColumn,
                                        constant(GemmPlan::kScaleBlock));
  return arith::SubIOp::create(builder, loc, constant(GemmPlan::kScaleBlock),
                               within);
}

SmallVector<Value> KernelBuilder::loadBScales(Value firstColumn, Value block) {
  Value row = arith::DivUIOp::create(builder, loc, firstColumn,
                                     constant(GemmPlan::kScaleBlock));
  SmallVector<Value> scales{
      memref::LoadOp::create(builder, loc, bScale(), ValueRange{row, block})};
  if (!plan.straddlesScales())
    return scales;
  // The second block may lie past the last row, where no column is stored: read
  // the last row instead.
  Value rows = memref::DimOp::create(builder, loc, bScale(), constant(0));
  Value last = arith::SubIOp::create(builder, loc, rows, constant(1));
  Value next = arith::AddIOp::create(builder, loc, row, constant(1));
  Value second = arith::MinUIOp::create(builder, loc, next, last);
  scales.push_back(memref::LoadOp::create(builder, loc, bScale(),
                                          ValueRange{second, block}));
  return scales;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void KernelBuilder::role(StringRef name, int64_t warps, ValueRange inits,
                         function_ref<Carried(ValueRange)> body) {
  auto op = RoleOp::create(builder, loc, name, warps, inits);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody(), {}, inits.getTypes(),
                                     SmallVector<Location>(inits.size(), loc));
  Carried ends = body(block->getArguments());
  YieldOp::create(builder, loc, ends);
}

KernelBuilder::Carried KernelBuilder::forEachTile(ValueRange inits,
                                                  TileBody body) {
  auto op = ForEachTileOp::create(
      builder, loc, inits.getTypes(),
      SchedulerKindAttr::get(builder.getContext(), plan.scheduler), tilesM(),
      tilesN(), inits);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types{builder.getIndexType(), builder.getIndexType()};
  llvm::append_range(types, inits.getTypes());
  Block *block = builder.createBlock(&op.getBody(), {}, types,
                                     SmallVector<Location>(types.size(), loc));
  Carried carried = body(block->getArgument(0), block->getArgument(1),
                         block->getArguments().drop_front(2));
  YieldOp::create(builder, loc, carried);
  return Carried(op.getResults());
}

KernelBuilder::Carried KernelBuilder::forEachBlock(ValueRange inits,
                                                   BlockBody body) {
  auto loop = scf::ForOp::create(
      builder, loc, constant(0), blocks(), constant(1), inits,
      [&](OpBuilder &inner, Location, Value block, ValueRange carried) {
        OpBuilder::InsertionGuard guard(builder);
        builder.restoreInsertionPoint(inner.saveInsertionPoint());
        scf::YieldOp::create(builder, loc, body(block, carried));
      });
  return Carried(loop.getResults());
}

template <typename ScopeOp>
KernelBuilder::Carried
KernelBuilder::scope(ValueRange inits, ArrayRef<Type> argumentTypes,
                     ArrayRef<Type> resultTypes,
                     function_ref<Carried(ValueRange)> body) {
  auto op = ScopeOp::create(builder, loc, resultTypes, inits);
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&op.getBody(), {}, argumentTypes,
                          SmallVector<Location>(argumentTypes.size(), loc));
  Carried yielded = body(block->getArguments());
  YieldOp::create(builder, loc, yielded);
  return Carried(op.getResults());
}

template <typename ScopeOp>
KernelBuilder::Carried
KernelBuilder::stageScope(ValueRange ends, ArrayRef<Type> extraTypes,
                          function_ref<Carried(ValueRange)> body) {
  SmallVector<Type> stageTypes, resultTypes(ends.getTypes());
  for (Type end : ends.getTypes())
    stageTypes.push_back(cast<EndTypeInterface>(end).getStageType());
  llvm::append_range(resultTypes, extraTypes);
  return scope<ScopeOp>(ends, stageTypes, resultTypes, body);
}

gpu::GPUFuncOp fp8::buildStructuredKernel(OpBuilder &builder, Location loc,
                                          gpu::GPUModuleOp module,
                                          StringRef name, const GemmPlan &plan,
                                          MemRefType bScaleType) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  Type index = builder.getIndexType();
  auto map = [](TileType tile) {
    return TensorMapType::get(tile.getContext(), tile);
  };
  FunctionType type = builder.getFunctionType(
      {map(plan.getATile()), map(plan.getAScaleTile()), map(plan.getBTile()),
       map(plan.getStoreTile()), bScaleType, index, index, index},
      {});
  auto kernel = gpu::GPUFuncOp::create(builder, loc, name, type);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(Fp8Dialect::kLinearAttrName, builder.getUnitAttr());
  builder.setInsertionPointToStart(&kernel.getBody().front());
  KernelBuilder(builder, loc, plan, kernel).build();
  return kernel;
}
