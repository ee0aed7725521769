// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the roles of a GEMM's structured kernel are built with.

#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fp8;

Value KernelBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value KernelBuilder::scaled(Value tile, int64_t extent) {
  return arith::MulIOp::create(builder, loc, tile, constant(extent));
}

SmallVector<Value> KernelBuilder::place(Value row, Value column) {
  if (batch)
    return {batch, row, column};
  return {row, column};
}

std::pair<Value, Value> KernelBuilder::getFirstScales(gemm::Operand scales,
                                                      Value tile) {
  // A tile begins at a multiple of such a step, of which a tile of scales has
  // some: so the proof sees that the row is in that tile.
  constexpr int64_t kRows = gemm::kMxTileRows;
  int64_t extent = scales == gemm::Operand::AScale ? schedule.getCtaRows()
                                                   : schedule.tileN,
          step = std::gcd(extent, kRows);
  Value first = scaled(tile, extent / step);
  if (step == kRows)
    return {first, Value()};
  Value steps = constant(kRows / step);
  return {arith::DivUIOp::create(builder, loc, first, steps),
          scaled(arith::RemUIOp::create(builder, loc, first, steps), step)};
}

Value KernelBuilder::argument(GemmParameter parameter) {
  SmallVector<GemmParameter> parameters = schedule.getParameters();
  auto *place = llvm::find(parameters, parameter);
  assert(place != parameters.end() && "the problem has no such parameter");
  return kernel.getArgument(place - parameters.begin());
}

/// The number of this CTA among those that divide K, which are a cluster.
static Value getRank(OpBuilder &builder, Location loc) {
  return gpu::ClusterBlockIdOp::create(builder, loc, gpu::Dimension::x);
}

std::pair<Value, Value> KernelBuilder::getBlocks() {
  Value all = argument(GemmExtra::Blocks);
  if (schedule.cluster.k == 1)
    return {constant(0), all};
  Value slots = arith::CeilDivUIOp::create(
      builder, loc, all,
      constant(schedule.getBlockMultiple() * schedule.cluster.k));
  Value share = scaled(slots, schedule.getBlockMultiple());
  Value first = arith::MinUIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, getRank(builder, loc), share), all);
  Value left = arith::SubIOp::create(builder, loc, all, first);
  return {first, arith::MinUIOp::create(builder, loc, share, left)};
}

Value KernelBuilder::getTileRow(Value row) {
  Value m = scaled(row, schedule.getCtaRows());
  if (schedule.edge != Edge::First)
    return m;
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        row, constant(0));
  Value shifted =
      arith::SubIOp::create(builder, loc, m, argument(GemmExtra::Overlap));
  return arith::SelectOp::create(builder, loc, isFirst, constant(0), shifted);
}

Value KernelBuilder::getMapOfTile(gemm::Operand operand, Value m) {
  Value all = argument(operand);
  if (schedule.edge != Edge::First)
    return all;
  Value first = argument(operand == gemm::Operand::C ? GemmExtra::CFirst
                                                     : GemmExtra::DFirst);
  // No tile but the first begins in row 0.
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        m, constant(0));
  return arith::SelectOp::create(builder, loc, isFirst, first, all);
}

std::pair<Value, Value> KernelBuilder::getStoredPlace(Value m, Value column) {
  Value n = scaled(column, schedule.tileN);
  if (schedule.cluster.k == 1)
    return {m, n};
  auto addShare = [&](Value &first, int64_t extent) {
    first = arith::AddIOp::create(builder, loc, first,
                                  scaled(getRank(builder, loc), extent));
  };
  if (schedule.swapsOperands())
    addShare(m, schedule.getStoredRows());
  else
    addShare(n, schedule.getStoredColumns());
  return {m, n};
}

ResultRange KernelBuilder::makeRing(PipelineType ring, int64_t consumers,
                                    int64_t producers) {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> ends(producers, ProducerType::get(context, ring));
  ends.append(consumers, ConsumerType::get(context, ring));
  return PipelineOp::create(builder, loc, ends, nullptr, nullptr).getEnds();
}

SmallVector<Value>
KernelBuilder::makeAddendRings(SmallVectorImpl<Value> &epilogue) {
  SmallVector<Value> producers;
  for (PipelineType type : schedule.getAddendRings()) {
    ResultRange ring = makeRing(type, 1);
    producers.push_back(ring[0]);
    epilogue.push_back(ring[1]);
  }
  return producers;
}

void KernelBuilder::role(StringRef name, int64_t warps, ValueRange inits,
                         Body body) {
  fillBody(RoleOp::create(builder, loc, name, warps, inits), inits.getTypes(),
           body);
}

void KernelBuilder::mmaRole(ValueRange inits, TileBody body) {
  Type warpType =
      MmaWarpType::get(builder.getContext(), getOutputRing(inits[0]));
  auto forTile = [&](Value row, Value column, ValueRange carried) {
    if (schedule.ctaGroup == 1)
      return body(row, column, carried);
    return inLeadingCta(CtaGrouping::Pair, carried, [&](ValueRange inner) {
      return body(row, column, inner);
    });
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

KernelBuilder::Carried KernelBuilder::forEachTile(ValueRange inits,
                                                  TileBody body) {
  Value work;
  SmallVector<Type> results;
  if (schedule.isDynamic()) {
    work = inits.back();
    inits = inits.drop_back();
    results.push_back(work.getType());
  }
  llvm::append_range(results, inits.getTypes());
  IntegerAttr band =
      schedule.band ? builder.getI64IntegerAttr(schedule.band) : IntegerAttr();
  auto op = ForEachTileOp::create(
      builder, loc, results,
      SchedulerKindAttr::get(builder.getContext(), schedule.scheduler), band,
      band && schedule.hasBandsOfColumns() ? builder.getUnitAttr() : UnitAttr(),
      argument(GemmExtra::TilesM), argument(GemmExtra::TilesN), work, inits);
  SmallVector<Type> types(2, builder.getIndexType());
  llvm::append_range(types, inits.getTypes());
  fillBody(op, types, [&](ValueRange arguments) {
    Value row = arguments[0];
    if (schedule.problem.isBatch) {
      // The grids of the products lie one below the other, each a whole number
      // of clusters high.
      Value rows = argument(GemmExtra::BatchTilesM);
      batch = arith::DivUIOp::create(builder, loc, row, rows);
      row = arith::RemUIOp::create(builder, loc, row, rows);
    }
    return body(row, arguments[1], arguments.drop_front(2));
  });
  Carried carried(op.getCarriedResults());
  if (work)
    carried.push_back(op.getResults().front());
  return carried;
}

KernelBuilder::Carried KernelBuilder::forEach(Value begin, Value end,
                                              int64_t step, ValueRange inits,
                                              BlockBody body) {
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, constant(step), inits,
      [&](OpBuilder &inner, Location, Value block, ValueRange carried) {
        OpBuilder::InsertionGuard guard(builder);
        builder.restoreInsertionPoint(inner.saveInsertionPoint());
        scf::YieldOp::create(builder, loc, body(block, carried));
      });
  return Carried(loop.getResults());
}

KernelBuilder::Carried KernelBuilder::forEachBlock(ValueRange inits,
                                                   BlockBody body) {
  return forEach(constant(0), getNumBlocks(), 1, inits, body);
}

KernelBuilder::Carried KernelBuilder::forEachStep(ValueRange inits,
                                                  BlockBody body) {
  int64_t rings = schedule.inputRings, step = schedule.getStep();
  if (!schedule.dividesSteps())
    return forEach(constant(0), getNumBlocks(), step, inits, body);
  assert(llvm::isPowerOf2_64(rings) && schedule.kGroup == 1);
  auto takeSlots = [&](Value block, int64_t first, int64_t count,
                       ValueRange state) {
    Carried taken(state.slice(first, count));
    llvm::append_range(taken, state.drop_front(rings));
    Carried results(state), given = body(block, taken);
    llvm::copy(ArrayRef(given).take_front(count), results.begin() + first);
    llvm::copy(ArrayRef(given).drop_front(count), results.begin() + rings);
    return results;
  };
  // A block in the first ring if the lowest bit of their number is set, one in
  // each of the next two if the next bit is. They come first, while the rings
  // are still empty.
  auto takeRest = [&](Value rest, ValueRange state) {
    Carried results(state);
    Value before = constant(0);
    for (int64_t count = 1; count < rings; count *= 2) {
      Value through =
                arith::RemUIOp::create(builder, loc, rest, constant(2 * count)),
            isTaken =
                arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                      through, constant(count));
      results = ifThen(isTaken, results, [&](ValueRange inner) {
        return takeSlots(before, count - 1, count, inner);
      });
      before = through;
    }
    return results;
  };
  Value blocks = getNumBlocks(),
        rest = arith::RemUIOp::create(builder, loc, blocks, constant(step)),
        hasRest = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        rest, constant(0));
  Carried carried = ifThen(
      hasRest, inits, [&](ValueRange state) { return takeRest(rest, state); });
  return forEach(rest, blocks, step, carried,
                 [&](Value block, ValueRange state) {
                   return takeSlots(block, 0, rings, state);
                 });
}

KernelBuilder::Carried KernelBuilder::forEachGroup(ValueRange inits,
                                                   GroupBody body) {
  Value blocks = getNumBlocks(), size = constant(schedule.getScaleGroup());
  if (!schedule.hasWholeGroups())
    return forEach(constant(0), blocks, schedule.getScaleGroup(), inits,
                   [&](Value first, ValueRange state) {
                     Value left =
                         arith::SubIOp::create(builder, loc, blocks, first);
                     Value count =
                         arith::MinUIOp::create(builder, loc, left, size);
                     return body(first, count, state);
                   });
  Value rest = arith::RemUIOp::create(builder, loc, blocks, size);
  Value hasRest = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        rest, constant(0));
  Carried carried = ifThen(hasRest, inits, [&](ValueRange state) {
    return body(constant(0), rest, state);
  });
  return forEach(
      rest, blocks, schedule.getScaleGroup(), carried,
      [&](Value first, ValueRange state) { return body(first, size, state); });
}

KernelBuilder::Carried KernelBuilder::ifThen(Value condition, ValueRange inits,
                                             Body body) {
  return ifThenElse(
      condition, [&] { return body(inits); }, [&] { return Carried(inits); });
}

KernelBuilder::Carried
KernelBuilder::ifThenElse(Value condition, function_ref<Carried()> body,
                          function_ref<Carried()> otherwise) {
  auto branch = [&](function_ref<Carried()> values) {
    return [=, this](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(builder);
      builder.restoreInsertionPoint(inner.saveInsertionPoint());
      scf::YieldOp::create(builder, loc, values());
    };
  };
  return Carried(scf::IfOp::create(builder, loc, condition, branch(body),
                                   branch(otherwise))
                     .getResults());
}

KernelBuilder::Carried
KernelBuilder::inLeadingCta(CtaGrouping grouping, ValueRange inits, Body body) {
  auto leading = LeadingCtaOp::create(
      builder, loc, inits.getTypes(),
      CtaGroupingAttr::get(builder.getContext(), grouping), inits);
  return fillBody(leading, inits.getTypes(), body);
}

Value KernelBuilder::loadNumber(gemm::Operand operand) {
  if (!schedule.problem.has(operand))
    return {};
  Value zero = constant(0);
  return memref::LoadOp::create(builder, loc, argument(operand),
                                ValueRange{zero, zero});
}

KernelBuilder::Carried KernelBuilder::unlessZero(Value factor, ValueRange inits,
                                                 Body body) {
  if (!factor)
    return body(inits);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  // Unordered: NaN is no 0.
  Value isNonZero = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::UNE, factor, zero);
  auto arm = [&](auto getValues) {
    return [&, getValues](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(builder);
      builder.restoreInsertionPoint(inner.saveInsertionPoint());
      scf::YieldOp::create(builder, loc, getValues());
    };
  };
  auto branch = scf::IfOp::create(builder, loc, isNonZero,
                                  arm([&] { return body(inits); }),
                                  arm([&] { return Carried(inits); }));
  return Carried(branch.getResults());
}

KernelBuilder::Carried
KernelBuilder::fillBody(Operation *op, TypeRange argumentTypes, Body body) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&op->getRegion(0), {}, argumentTypes,
                          SmallVector<Location>(argumentTypes.size(), loc));
  Carried yielded = body(block->getArguments());
  YieldOp::create(builder, loc, yielded);
  return Carried(op->getResults());
}

SmallVector<Type> KernelBuilder::getStageTypes(ValueRange ends) {
  SmallVector<Type> types;
  for (Type end : ends.getTypes())
    types.push_back(cast<EndTypeInterface>(end).getStageType());
  return types;
}
