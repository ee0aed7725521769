// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structured kernel (phase 1) of a blockwise-scaled GEMM.
//
// Three roles run the same loop over output tiles and, inside it, over K
// blocks. The load role fills the input ring with A, B and A's scales; the MMA
// role turns each input stage into a fresh accumulator; the epilogue role adds
// each accumulator, scaled, to the tile that it keeps in registers, and stores
// the tile after the last K block. It reads A's scales in the input ring or,
// where CTAs of a cluster share that, in a ring of the CTA's own. Under cluster
// launch control a fourth role, the scheduler, asks for the next tile.

#include "StructuredKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// Builds the roles of one kernel.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, Location loc, const GemmPlan &plan,
                gpu::GPUFuncOp kernel)
      : builder(builder), loc(loc), plan(plan), kernel(kernel) {}

  void build();

private:
  static constexpr int64_t kLanes = 32;

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

  void buildLoadRole(ValueRange producers);
  void load(Value map, ValueRange coordinates, Value stage, StringRef name,
            std::optional<ClusterAxis> multicast);
  /// The first row of B that this CTA loads for the tile.
  Value getBRow(Value row, Value column);
  void buildMmaRole(ValueRange inits);
  Carried buildMmaLoop(ValueRange inits);
  void buildEpilogueRole(ValueRange inits);
  void buildSchedulerRole(ValueRange ends);
  Carried inLeadingCta(CtaGrouping grouping, ValueRange inits,
                       function_ref<Carried(ValueRange)> body);
  /// The K loop of the epilogue over its warp, its end of the ring of A's
  /// scales, and the sums.
  Carried promoteBlocks(ValueRange inits, Value firstColumn, Value split);
  /// One K block of it.
  Carried promote(ValueRange state, ValueRange bScales);
  /// The one or two B scales of a block as scales of equal parts of the
  /// columns.
  SmallVector<Value> spread(ValueRange scales, Value split);
  /// The B scales of K block `block`, one or two, and the column at which the
  /// second begins.
  SmallVector<Value> loadBScales(Value firstColumn, Value block);
  Value getSplit(Value firstColumn);

  /// Opens a role; the body gets its block arguments and returns what the role
  /// yields.
  void role(StringRef name, int64_t warps, ValueRange inits,
            function_ref<Carried(ValueRange)> body);
  Carried forEachTile(ValueRange inits, TileBody body);
  Carried forEachBlock(ValueRange inits, BlockBody body) {
    return forEach(blocks(), 1, inits, body);
  }
  /// A loop from 0 to `end`.
  Carried forEach(Value end, int64_t step, ValueRange inits, BlockBody body);
  /// What `load` loads if there are K blocks, else zeros.
  SmallVector<Value> loadFirst(function_ref<SmallVector<Value>()> load);
  /// The value that another lane of the warp has.
  Value shuffle(Value value, Value lane);
  /// Gives the op its body: `body` gets the arguments and returns what is
  /// yielded. Returns the op's results.
  Carried fillBody(Operation *op, TypeRange argumentTypes,
                   function_ref<Carried(ValueRange)> body);
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
  auto makeRing = [&](PipelineType ring, int64_t consumers) {
    SmallVector<Type> ends{ProducerType::get(context, ring)};
    ends.append(consumers, ConsumerType::get(context, ring));
    return PipelineOp::create(builder, loc, ends, nullptr, nullptr).getEnds();
  };
  // The epilogue reads A's scales: from the input ring, unless other CTAs take
  // part in that.
  ResultRange input =
      makeRing(plan.getInputRing(), plan.separatesScales() ? 1 : 2);
  SmallVector<Value> producers{input[0]};
  Value scales = input.back();
  if (plan.separatesScales()) {
    ResultRange ring = makeRing(plan.getScaleRing(), 1);
    producers.push_back(ring[0]);
    scales = ring[1];
  }
  OutputPipelineType accumulators = plan.getAccumulatorRing();
  auto output = OutputPipelineOp::create(
      builder, loc, ProducerType::get(context, accumulators),
      ConsumerType::get(context, accumulators), nullptr, nullptr);
  Value queue = StoreQueueOp::create(builder, loc, plan.getStoreQueue());
  // Every role's last end is that of the work queue, if there is one.
  SmallVector<Value> epilogue{output.getConsumer(), scales, queue},
      mma{output.getProducer(), input[1]}, scheduler;
  if (plan.isDynamic()) {
    Type work = WorkQueueType::get(context, GemmPlan::kWorkStages);
    Type reader = ConsumerType::get(context, work);
    auto answers =
        WorkQueueOp::create(builder, loc,
                            TypeRange{ProducerType::get(context, work), reader,
                                      reader, reader, reader});
    auto throttle = makeRing(
        PipelineType::get(context, GemmPlan::kWorkStages, {}, {}, 1), 1);
    producers.push_back(throttle[0]);
    scheduler = {answers.getEnds()[0], throttle[1]};
    ResultRange readers = answers.getEnds().drop_front();
    epilogue.push_back(readers[0]);
    producers.push_back(readers[1]);
    mma.push_back(readers[2]);
    scheduler.push_back(readers[3]);
  }
  buildEpilogueRole(epilogue);
  buildLoadRole(producers);
  buildMmaRole(mma);
  if (plan.isDynamic())
    buildSchedulerRole(scheduler);
  gpu::ReturnOp::create(builder, loc);
}

KernelBuilder::Carried
KernelBuilder::inLeadingCta(CtaGrouping grouping, ValueRange inits,
                            function_ref<Carried(ValueRange)> body) {
  auto leading = LeadingCtaOp::create(
      builder, loc, inits.getTypes(),
      CtaGroupingAttr::get(builder.getContext(), grouping), inits);
  return fillBody(leading, inits.getTypes(), body);
}

void KernelBuilder::buildSchedulerRole(ValueRange ends) {
  role("scheduler", 1, ends, [&](ValueRange inits) {
    return forEachTile(inits, [&](Value, Value, ValueRange carried) {
      // Of each cluster one CTA asks, once the load role has begun the tile
      // before.
      return inLeadingCta(
          CtaGrouping::Cluster, carried, [&](ValueRange inner) -> Carried {
            auto none = [](ValueRange) { return Carried(); };
            Carried throttle = stageScope<ConsumeOp>(inner[1], {}, none);
            Carried queue = stageScope<ProduceOp>(
                inner[0], {}, [&](ValueRange stages) -> Carried {
                  RequestWorkOp::create(builder, loc, stages[0]);
                  return {};
                });
            return {queue[0], throttle[0]};
          });
    });
  });
}

void KernelBuilder::load(Value map, ValueRange coordinates, Value stage,
                         StringRef name, std::optional<ClusterAxis> multicast) {
  auto axis = multicast ? ClusterAxisAttr::get(builder.getContext(), *multicast)
                        : ClusterAxisAttr();
  TmaLoadOp::create(builder, loc, map, coordinates, stage,
                    builder.getStringAttr(name), axis);
}

Value KernelBuilder::getBRow(Value row, Value column) {
  Value first = scaled(column, plan.tileN);
  if (plan.ctaGroup == 1)
    return first;
  // The CTAs of a pair are neighbours along M and hold half of B's rows each.
  Value half = arith::RemUIOp::create(builder, loc, row, constant(2));
  return arith::AddIOp::create(builder, loc, first,
                               scaled(half, plan.getCtaColumns()));
}

void KernelBuilder::buildLoadRole(ValueRange producers) {
  using Axis = std::optional<ClusterAxis>;
  Axis aAxis = plan.multicastsA() ? Axis(ClusterAxis::N) : std::nullopt,
       bAxis = plan.multicastsB() ? Axis(ClusterAxis::M) : std::nullopt;
  role("load", 1, producers, [&](ValueRange ends) {
    return forEachTile(ends, [&](Value row, Value column, ValueRange carried) {
      Value m = scaled(row, plan.getCtaRows()), n = getBRow(row, column);
      Carried throttle;
      if (plan.isDynamic()) {
        // Lets the scheduler ask for the next tile.
        throttle = inLeadingCta(
            CtaGrouping::Cluster, carried.back(), [&](ValueRange inner) {
              return stageScope<ProduceOp>(
                  inner, {}, [](ValueRange) { return Carried(); });
            });
        carried = carried.drop_back();
      }
      Carried next = forEachBlock(carried, [&](Value block, ValueRange inner) {
        Value k = scaled(block, plan.tileK);
        auto loadScales = [&](Value stage) {
          load(aScaleMap(), {block, m}, stage, "a_scale", std::nullopt);
        };
        Carried next = stageScope<ProduceOp>(
            inner[0], {}, [&](ValueRange stages) -> Carried {
              load(aMap(), {m, k}, stages[0], "a", aAxis);
              load(bMap(), {n, k}, stages[0], "b", bAxis);
              if (!plan.separatesScales())
                loadScales(stages[0]);
              return {};
            });
        if (plan.separatesScales())
          next.append(stageScope<ProduceOp>(inner[1], {},
                                            [&](ValueRange stages) -> Carried {
                                              loadScales(stages[0]);
                                              return {};
                                            }));
        return next;
      });
      next.append(throttle);
      return next;
    });
  });
}

void KernelBuilder::buildMmaRole(ValueRange inits) {
  Type warpType =
      MmaWarpType::get(builder.getContext(), plan.getAccumulatorRing());
  auto forTile = [&](Value, Value, ValueRange carried) {
    if (plan.ctaGroup == 1)
      return buildMmaLoop(carried);
    return inLeadingCta(CtaGrouping::Pair, carried,
                        [&](ValueRange inner) { return buildMmaLoop(inner); });
  };
  role("mma", 1, inits, [&](ValueRange ends) {
    SmallVector<Type> others(ends.drop_front().getTypes());
    return scope<MmaWarpOp>(ends[0], warpType, others, [&](ValueRange warp) {
      SmallVector<Value> handles(ends);
      handles[0] = warp[0];
      return forEachTile(handles, forTile);
    });
  });
}

KernelBuilder::Carried KernelBuilder::buildMmaLoop(ValueRange inits) {
  return forEachBlock(inits, [&](Value, ValueRange inner) {
    return stageScope<PerKStageOp>(
        inner, {}, [&](ValueRange stages) -> Carried {
          Value accumulator = AccumulatorOp::create(builder, loc, stages[0]);
          Value a = TileOp::create(builder, loc, stages[1], "a");
          Value b = TileOp::create(builder, loc, stages[1], "b");
          MmaOp::create(builder, loc, accumulator, a, b,
                        /*accumulate=*/Value());
          return {};
        });
  });
}

void KernelBuilder::buildEpilogueRole(ValueRange inits) {
  FragmentType fragmentType = plan.getFragment();
  role("epilogue", GemmPlan::kEpilogueWarps, inits, [&](ValueRange ends) {
    Type warpType =
        EpilogueWarpType::get(builder.getContext(), plan.getAccumulatorRing());
    return scope<EpilogueWarpOp>(
        ends[0], warpType, SmallVector<Type>(ends.drop_front().getTypes()),
        [&](ValueRange warp) {
          SmallVector<Value> handles(ends);
          handles[0] = warp[0];
          return forEachTile(
              handles,
              [&](Value row, Value column, ValueRange carried) -> Carried {
                Value m = scaled(row, plan.getCtaRows()),
                      n = scaled(column, plan.tileN);
                Value split = getSplit(n);
                Value zero = ZeroOp::create(builder, loc, fragmentType);
                Carried inner =
                    promoteBlocks({carried[0], carried[1], zero}, n, split);
                Value next = StoreOp::create(builder, loc, carried[2].getType(),
                                             inner[2], dMap(), carried[2],
                                             ValueRange{m, n});
                return {inner[0], inner[1], next};
              });
        });
  });
}

KernelBuilder::Carried
KernelBuilder::promoteBlocks(ValueRange inits, Value firstColumn, Value split) {
  // A lane loads the B scales of one K block in 32, a group ahead; each block's
  // are then a shuffle away, where a load would take four instructions of
  // addressing.
  Value lane = gpu::LaneIdOp::create(builder, loc, nullptr);
  Value last = arith::SubIOp::create(builder, loc, blocks(), constant(1));
  auto loadGroup = [&](Value group) {
    Value block = arith::AddIOp::create(builder, loc, group, lane);
    return loadBScales(firstColumn,
                       arith::MinUIOp::create(builder, loc, block, last));
  };
  SmallVector<Value> carried(inits);
  llvm::append_range(carried,
                     loadFirst([&] { return loadGroup(constant(0)); }));
  Value width = constant(kLanes);
  Carried results =
      forEach(blocks(), kLanes, carried, [&](Value group, ValueRange state) {
        Value nextGroup = arith::AddIOp::create(builder, loc, group, width);
        SmallVector<Value> next = loadGroup(nextGroup);
        Value left = arith::SubIOp::create(builder, loc, blocks(), group);
        Value count = arith::MinUIOp::create(builder, loc, left, width);
        Carried inner = forEach(count, 1, state.take_front(3),
                                [&](Value block, ValueRange sums) {
                                  SmallVector<Value> scales;
                                  for (Value scale : state.drop_front(3))
                                    scales.push_back(shuffle(scale, block));
                                  return promote(sums, spread(scales, split));
                                });
        llvm::append_range(inner, next);
        return inner;
      });
  results.truncate(inits.size());
  return results;
}

Value KernelBuilder::shuffle(Value value, Value lane) {
  Type i32 = builder.getI32Type();
  Value from = arith::IndexCastUIOp::create(builder, loc, i32, lane);
  Value width = arith::ConstantOp::create(builder, loc,
                                          builder.getI32IntegerAttr(kLanes));
  return gpu::ShuffleOp::create(builder, loc, value, from, width,
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

SmallVector<Value>
KernelBuilder::loadFirst(function_ref<SmallVector<Value>()> load) {
  Value hasBlocks = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ne, blocks(), constant(0));
  auto branch = [&](auto values) {
    return [=, this](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(builder);
      builder.restoreInsertionPoint(inner.saveInsertionPoint());
      scf::YieldOp::create(builder, loc, values());
    };
  };
  return SmallVector<Value>(
      scf::IfOp::create(builder, loc, hasBlocks, branch(load), branch([&] {
                          Value none = arith::ConstantOp::create(
                              builder, loc, builder.getF32FloatAttr(0));
                          return SmallVector<Value>(
                              plan.straddlesScales() ? 2 : 1, none);
                        }))
          .getResults());
}

SmallVector<Value> KernelBuilder::spread(ValueRange scales, Value split) {
  if (scales.size() == 1)
    return scales;
  int64_t part = std::gcd(plan.tileN, GemmPlan::kScaleBlock);
  SmallVector<Value> result;
  for (int64_t column = 0; column < plan.tileN; column += part) {
    Value isFirst = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, constant(column), split);
    result.push_back(
        arith::SelectOp::create(builder, loc, isFirst, scales[0], scales[1]));
  }
  return result;
}

KernelBuilder::Carried KernelBuilder::promote(ValueRange state,
                                              ValueRange bScales) {
  // A's scales come first: they are there long before the accumulator is, so
  // that the wait for it hides their load.
  Type end = state[0].getType(), fragment = state[2].getType();
  Carried results = stageScope<ConsumeOp>(
      state[1], {end, fragment}, [&](ValueRange input) -> Carried {
        Value aScales = TileOp::create(builder, loc, input[0], "a_scale");
        return stageScope<PerKStageOp>(
            state[0], fragment, [&](ValueRange stages) -> Carried {
              Value partial = AccumulatorOp::create(builder, loc, stages[0]);
              return {PromoteOp::create(builder, loc, fragment, state[2],
                                        partial, aScales, bScales,
                                        /*b_row=*/Value())};
            });
      });
  return {results[1], results[0], results[2]};
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
  // Blocks past the last row belong to columns that are not stored, the second
  // of a tile or all of a tile that fills a cluster up: read the last row
  // instead.
  auto load = [&](Value at, bool mayExceed) -> Value {
    if (mayExceed) {
      Value rows = memref::DimOp::create(builder, loc, bScale(), constant(0));
      Value last = arith::SubIOp::create(builder, loc, rows, constant(1));
      at = arith::MinUIOp::create(builder, loc, at, last);
    }
    return memref::LoadOp::create(builder, loc, bScale(),
                                  ValueRange{at, block});
  };
  SmallVector<Value> scales{load(row, plan.cluster.n > 1)};
  if (plan.straddlesScales())
    scales.push_back(
        load(arith::AddIOp::create(builder, loc, row, constant(1)), true));
  return scales;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void KernelBuilder::role(StringRef name, int64_t warps, ValueRange inits,
                         function_ref<Carried(ValueRange)> body) {
  fillBody(RoleOp::create(builder, loc, name, warps, inits), inits.getTypes(),
           body);
}

KernelBuilder::Carried KernelBuilder::forEachTile(ValueRange inits,
                                                  TileBody body) {
  Value work;
  SmallVector<Type> results;
  if (plan.isDynamic()) {
    work = inits.back();
    inits = inits.drop_back();
    results.push_back(work.getType());
  }
  llvm::append_range(results, inits.getTypes());
  IntegerAttr band = plan.scheduler == SchedulerKind::OneTile
                         ? IntegerAttr()
                         : builder.getI64IntegerAttr(GemmPlan::kBand);
  auto op = ForEachTileOp::create(
      builder, loc, results,
      SchedulerKindAttr::get(builder.getContext(), plan.scheduler), band,
      tilesM(), tilesN(), work, inits);
  SmallVector<Type> types(2, builder.getIndexType());
  llvm::append_range(types, inits.getTypes());
  fillBody(op, types, [&](ValueRange arguments) {
    return body(arguments[0], arguments[1], arguments.drop_front(2));
  });
  Carried carried(op.getCarriedResults());
  if (work)
    carried.push_back(op.getResults().front());
  return carried;
}

KernelBuilder::Carried KernelBuilder::forEach(Value end, int64_t step,
                                              ValueRange inits,
                                              BlockBody body) {
  auto loop = scf::ForOp::create(
      builder, loc, constant(0), end, constant(step), inits,
      [&](OpBuilder &inner, Location, Value block, ValueRange carried) {
        OpBuilder::InsertionGuard guard(builder);
        builder.restoreInsertionPoint(inner.saveInsertionPoint());
        scf::YieldOp::create(builder, loc, body(block, carried));
      });
  return Carried(loop.getResults());
}

KernelBuilder::Carried
KernelBuilder::fillBody(Operation *op, TypeRange argumentTypes,
                        function_ref<Carried(ValueRange)> body) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&op->getRegion(0), {}, argumentTypes,
                          SmallVector<Location>(argumentTypes.size(), loc));
  Carried yielded = body(block->getArguments());
  YieldOp::create(builder, loc, yielded);
  return Carried(op->getResults());
}

template <typename ScopeOp>
KernelBuilder::Carried
KernelBuilder::scope(ValueRange inits, ArrayRef<Type> argumentTypes,
                     ArrayRef<Type> resultTypes,
                     function_ref<Carried(ValueRange)> body) {
  return fillBody(ScopeOp::create(builder, loc, resultTypes, inits),
                  argumentTypes, body);
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
      {map(plan.getABox()), map(plan.getAScaleTile()), map(plan.getBBox()),
       map(plan.getStoreTile()), bScaleType, index, index, index},
      {});
  auto kernel = gpu::GPUFuncOp::create(builder, loc, name, type);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(Fp8Dialect::kLinearAttrName, builder.getUnitAttr());
  if (plan.cluster.getSize() > 1)
    kernel->setAttr(
        Fp8Dialect::kClusterAttrName,
        builder.getDenseI64ArrayAttr({plan.cluster.m, plan.cluster.n}));
  builder.setInsertionPointToStart(&kernel.getBody().front());
  KernelBuilder(builder, loc, plan, kernel).build();
  return kernel;
}
