// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The multiply role of a GEMM without tensor memory: its warpgroups multiply
// into registers, add each K block's product, scaled, to the tile that they
// keep there, and store the tile after the last.
//
// Ends: the input rings', the store queue, those that the epilogue load role
// fills; the exchange, if CTAs divide K.

#include "BScales.h"
#include "WarpgroupSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

class MultiplyRole : public KernelBuilder {
public:
  MultiplyRole(const KernelBuilder &base,
               const WarpgroupSchedule &warpgroupSchedule)
      : KernelBuilder(base), warpgroupSchedule(warpgroupSchedule) {}

  void build(ValueRange ends);

private:
  /// The B scales of the `index`th K block of a step.
  using ScalesOf = function_ref<SmallVector<Value>(Value stage, int64_t index)>;

  using StepScalesOf =
      function_ref<SmallVector<Value>(Value stage, Value step, int64_t index)>;

  /// True if a slot is waited for where the one before it has been promoted:
  /// in one stretch with the promotion, in front of which ptxas then asks for
  /// it. That takes another copy of the body for the last slot; a warpgroup
  /// that is alone mostly has one tile, and loses more by fetching that.
  bool waitsAhead() const { return schedule.getEpilogueWarps() > 4; }
  Value acquire(Value end) {
    return AcquireOp::create(builder, loc, end).getStage();
  }
  /// What the loop over steps carries, of ends and sums: beside the sums the
  /// ends or, ahead, the next stages.
  Carried begin(ValueRange state) {
    Carried results(state);
    if (waitsAhead())
      for (Value &end : MutableArrayRef(results).drop_back())
        end = acquire(end);
    return results;
  }
  bool startsFirst() const { return warpgroupSchedule.startsFirst(); }
  /// Stores all tiles, with their sums. `sumsOf` gets the input rings' ends and
  /// sums of nothing, and the tile's column, and gives ends and sums.
  using TileSums = function_ref<Carried(ValueRange state, Value column)>;
  Carried computeTiles(ValueRange ends, TileSums sumsOf);
  /// The K blocks of a tile that has some, over the ends and the sums.
  Carried multiplyTile(ValueRange state, Value column);
  /// Its steps behind those that are done; there is one at least. `ofLanes` are
  /// the B scales of its first blocks, if some are done and they are loaded.
  Carried multiplyRest(ValueRange state, int64_t done, BScales &scales,
                       ValueRange ofLanes);
  /// The same where no ring brings the B scales.
  Carried multiplyGroups(ValueRange state, int64_t done, BScales &scales,
                         ValueRange ofLanes);
  /// True if lanes load the B scales of a tile's columns.
  bool loadsBScales() const {
    return !schedule.bringsBScales() && !schedule.problem.hasColumnScales();
  }
  /// Those of a step, of a slot of each end: the ends, advanced, and the sums.
  Carried multiplyStep(ValueRange state, ScalesOf bScalesOf);
  /// `count` steps, after which comes another if slots are waited for ahead.
  Carried multiplySteps(ValueRange state, Value count, StepScalesOf bScalesOf);
  /// The last step, if it is left; the ends and the sums.
  Carried finish(ValueRange state, ScalesOf bScalesOf) {
    return waitsAhead() ? multiplyStep(state, bScalesOf) : Carried(state);
  }
  /// The steps of a tile's K blocks behind those that are done, without one
  /// that is left to finish.
  Value getNumSteps(int64_t done);
  /// The B scales that the ring brings.
  SmallVector<Value> readScales(Value stage, int64_t index, BScales &scales);

  const WarpgroupSchedule &warpgroupSchedule;
};

} // namespace

void MultiplyRole::build(ValueRange inits) {
  role("multiply", schedule.getEpilogueWarps(), inits, [&](ValueRange ends) {
    auto hasBlocks = [&]() -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                   getNumBlocks(), constant(0));
    };
    if (!startsFirst())
      return computeTiles(ends, [&](ValueRange state, Value column) {
        return ifThen(hasBlocks(), state, [&](ValueRange inner) {
          return multiplyTile(inner, column);
        });
      });
    // Decided once, in front of all tiles.
    return ifThenElse(
        hasBlocks(),
        [&] {
          return computeTiles(ends, [&](ValueRange state, Value column) {
            return multiplyTile(state, column);
          });
        },
        [&] {
          return computeTiles(
              ends, [&](ValueRange state, Value) { return Carried(state); });
        });
  });
}

KernelBuilder::Carried MultiplyRole::computeTiles(ValueRange ends,
                                                  TileSums sumsOf) {
  return forEachTile(
      ends, [&](Value row, Value column, ValueRange carried) -> Carried {
        Value zero = ZeroOp::create(builder, loc, schedule.getFragment());
        Carried inputs(carried.take_front(schedule.inputRings));
        inputs.push_back(zero);
        Carried results = sumsOf(inputs, column);
        Value sums = results.pop_back_val();
        llvm::append_range(results, carried.drop_front(schedule.inputRings));
        buildEpilogueTail(
            *this, sums, row, column,
            MutableArrayRef(results).drop_front(schedule.inputRings));
        return results;
      });
}

KernelBuilder::Carried MultiplyRole::multiplyTile(ValueRange state,
                                                  Value column) {
  if (!startsFirst()) {
    BScales scales(*this, scaled(column, schedule.tileN));
    return multiplyRest(state, /*done=*/0, scales, /*ofLanes=*/{});
  }
  // Made behind the start.
  std::optional<BScales> scales;
  SmallVector<Value> ofLanes;
  Carried first = multiplyStep(begin(state), [&](Value stage, int64_t index) {
    scales.emplace(*this, scaled(column, schedule.tileN));
    if (!loadsBScales())
      return readScales(stage, index, *scales);
    ofLanes = scales->loadGroup(constant(0));
    return scales->get(ofLanes, constant(index));
  });
  Value isMore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt,
                                       getNumBlocks(), constant(1));
  return ifThen(isMore, first, [&](ValueRange inner) {
    return multiplyRest(inner, /*done=*/1, *scales, ofLanes);
  });
}

KernelBuilder::Carried MultiplyRole::multiplyRest(ValueRange state,
                                                  int64_t done, BScales &scales,
                                                  ValueRange ofLanes) {
  if (loadsBScales())
    return multiplyGroups(state, done, scales, ofLanes);
  auto read = [&](Value stage, int64_t index) {
    return readScales(stage, index % schedule.kGroup, scales);
  };
  if (schedule.dividesSteps())
    return forEachStep(state, [&](Value, ValueRange inner) {
      return multiplyStep(inner, read);
    });
  Carried results = multiplySteps(
      begin(state), getNumSteps(done),
      [&](Value stage, Value, int64_t index) { return read(stage, index); });
  return finish(results, read);
}

SmallVector<Value> MultiplyRole::readScales(Value stage, int64_t index,
                                            BScales &scales) {
  if (schedule.problem.hasColumnScales())
    return {};
  Value tile = TileOp::create(
      builder, loc, stage, schedule.getTileName(gemm::Operand::BScale, index));
  SmallVector<Value> ofRows;
  for (int64_t i = 0; i < schedule.getNumBScales(); ++i)
    ofRows.push_back(ReadElementOp::create(builder, loc, tile, i));
  return scales.spread(ofRows);
}

Value MultiplyRole::getNumSteps(int64_t done) {
  // Those with a step behind them are one less where slots are waited for
  // ahead, which have one block each.
  Value others =
      arith::SubIOp::create(builder, loc, getNumBlocks(), constant(1 + done));
  if (waitsAhead())
    return others;
  Value last = arith::DivUIOp::create(builder, loc, others,
                                      constant(schedule.getStep()));
  return arith::AddIOp::create(builder, loc, last, constant(1));
}

KernelBuilder::Carried MultiplyRole::multiplyGroups(ValueRange state,
                                                    int64_t done,
                                                    BScales &scales,
                                                    ValueRange ofLanes) {
  // A step that is left to finish is one more of the rest.
  int64_t size = schedule.getScaleGroup() / schedule.getStep();
  Value steps = getNumSteps(done);
  Value rest = arith::RemUIOp::create(builder, loc, steps, constant(size)),
        whole = arith::SubIOp::create(builder, loc, steps, rest);
  // Of those of a group's lanes; `done` more than the steps in the group.
  auto blockOf = [&](Value step, int64_t index) -> Value {
    Value block = scaled(step, schedule.getStep());
    index += done;
    return index ? arith::AddIOp::create(builder, loc, block, constant(index))
                 : block;
  };
  size_t own = state.size();
  auto multiply = [&](ValueRange carried, Value count) {
    ValueRange loaded = carried.drop_front(own);
    return multiplySteps(carried.take_front(own), count,
                         [&](Value, Value step, int64_t index) {
                           return scales.get(loaded, blockOf(step, index));
                         });
  };
  // Loaded while the first slot is waited for.
  SmallVector<Value> first(ofLanes);
  if (!done)
    first = scales.loadGroup(constant(0));
  Carried carried = begin(state);
  llvm::append_range(carried, first);
  carried = forEach(constant(0), whole, size, carried,
                    [&](Value group, ValueRange inner) -> Carried {
                      Value next = arith::AddIOp::create(builder, loc, group,
                                                         constant(size));
                      SmallVector<Value> loaded =
                          scales.loadGroup(scaled(next, schedule.getStep()));
                      Carried results = multiply(inner, constant(size));
                      llvm::append_range(results, loaded);
                      return results;
                    });
  SmallVector<Value> last(llvm::drop_begin(carried, own));
  return finish(multiply(carried, rest), [&](Value, int64_t index) {
    return scales.get(last, blockOf(rest, index));
  });
}

KernelBuilder::Carried MultiplyRole::multiplySteps(ValueRange state,
                                                   Value count,
                                                   StepScalesOf bScalesOf) {
  return forEach(constant(0), count, 1, state,
                 [&](Value step, ValueRange inner) -> Carried {
                   return begin(
                       multiplyStep(inner, [&](Value stage, int64_t index) {
                         return bScalesOf(stage, step, index);
                       }));
                 });
}

KernelBuilder::Carried MultiplyRole::multiplyStep(ValueRange state,
                                                  ScalesOf bScalesOf) {
  FragmentType fragment = schedule.getFragment();
  Type pendingType =
      PendingType::get(builder.getContext(), warpgroupSchedule.getProduct());
  int64_t parts = fragment.getNumParts(), rings = state.size() - 1,
          count = parts * schedule.kGroup * rings;
  Value sums = state.back();
  // Parts of a block, one block after another.
  int64_t perSlot = parts * schedule.kGroup;
  SmallVector<Value> stages, aScales, bRows;
  SmallVector<SmallVector<Value>> bScales;
  auto tile = [&](gemm::Operand operand, int64_t product) -> Value {
    return TileOp::create(
        builder, loc, stages.back(),
        schedule.getTileName(operand, product % perSlot / parts));
  };
  auto getScales = [&] {
    for (int64_t i = 0; i < schedule.kGroup; ++i)
      bScales.push_back(bScalesOf(stages.back(), bScales.size()));
  };
  auto start = [&](int64_t product) -> Value {
    bool takesSlot = product % perSlot == 0;
    if (takesSlot) {
      Value slot = state[product / perSlot];
      stages.push_back(waitsAhead() ? slot : acquire(slot));
      if (!startsFirst())
        getScales();
    }
    Value a = tile(gemm::Operand::A, product),
          b = tile(gemm::Operand::B, product);
    aScales.push_back(tile(gemm::Operand::AScale, product));
    bRows.push_back(schedule.problem.hasColumnScales()
                        ? tile(gemm::Operand::BScale, product)
                        : Value());
    Value pending =
        WarpgroupMmaOp::create(builder, loc, pendingType, a, b,
                               /*accumulator=*/Value(), product % parts);
    if (takesSlot && startsFirst())
      getScales();
    return pending;
  };
  Carried results;
  Value pending = start(0), next;
  for (int64_t product = 0; product < count; ++product) {
    bool hasNext = product + 1 < count;
    if (hasNext && warpgroupSchedule.holdsTwoProducts())
      next = start(product + 1);
    Value computed = WaitMmaOp::create(builder, loc, pending);
    sums = PromoteOp::create(builder, loc, fragment, sums, computed,
                             aScales[product], /*block=*/Value(),
                             bScales[product / parts], bRows[product],
                             product % parts);
    if (hasNext && !warpgroupSchedule.holdsTwoProducts())
      next = start(product + 1);
    if (product % perSlot == perSlot - 1)
      results.push_back(
          ReleaseOp::create(builder, loc, stages[product / perSlot]));
    pending = next;
  }
  results.push_back(sums);
  return results;
}

void mlir::fp8::buildMultiplyRole(const KernelBuilder &base,
                                  const WarpgroupSchedule &schedule,
                                  ValueRange ends) {
  MultiplyRole(base, schedule).build(ends);
}
