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
  /// What the loop over steps carries beside the sums: the ends or, ahead, the
  /// next stages.
  Carried begin(ValueRange ends) {
    return waitsAhead() ? llvm::map_to_vector(
                              ends, [&](Value end) { return acquire(end); })
                        : Carried(ends);
  }
  /// The K blocks of a tile that has some, over the ends and the sums.
  Carried multiplyTile(ValueRange ends, Value sums, Value firstColumn);
  /// The same where no ring brings the B scales.
  Carried multiplyGroups(ValueRange ends, Value sums, BScales scales);
  /// Those of a step, of a slot of each ring: the ends, advanced, and the sums.
  Carried multiplyStep(ValueRange state, ScalesOf bScalesOf);
  /// `count` steps, after which comes another if slots are waited for ahead.
  Carried multiplySteps(ValueRange state, Value count, StepScalesOf bScalesOf);
  /// The last step, if it is left; the ends and the sums.
  Carried finish(ValueRange state, ScalesOf bScalesOf) {
    return waitsAhead() ? multiplyStep(state, bScalesOf) : Carried(state);
  }
  /// The steps of a tile's K blocks, without one that is left to finish.
  Value getNumSteps();
  /// The B scales that the ring brings.
  SmallVector<Value> readScales(Value stage, int64_t index, BScales &scales);

  const WarpgroupSchedule &warpgroupSchedule;
};

} // namespace

void MultiplyRole::build(ValueRange inits) {
  role("multiply", schedule.getEpilogueWarps(), inits, [&](ValueRange ends) {
    return forEachTile(
        ends, [&](Value row, Value column, ValueRange carried) -> Carried {
          Value zero = ZeroOp::create(builder, loc, schedule.getFragment());
          Value hasBlocks =
              arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                    getNumBlocks(), constant(0));
          Carried inputs(carried.take_front(schedule.inputRings));
          inputs.push_back(zero);
          Carried results = ifThen(hasBlocks, inputs, [&](ValueRange state) {
            return multiplyTile(state.drop_back(), state.back(),
                                scaled(column, schedule.tileN));
          });
          Value sums = results.pop_back_val(), exchange;
          llvm::append_range(results, carried.drop_front(schedule.inputRings));
          if (schedule.cluster.k > 1) {
            auto reduce = ReduceScatterOp::create(builder, loc, sums,
                                                  results.pop_back_val());
            sums = reduce.getShare();
            exchange = reduce.getNext();
          }
          Value first = getTileRow(row);
          auto [m, n] = getStoredPlace(first, column);
          Value map = getMapOfTile(gemm::Operand::D, first);
          buildEpilogueTail(
              *this, sums, map, place(m, n),
              MutableArrayRef(results).drop_front(schedule.inputRings));
          if (exchange)
            results.push_back(exchange);
          return results;
        });
  });
}

KernelBuilder::Carried MultiplyRole::multiplyTile(ValueRange ends, Value sums,
                                                  Value firstColumn) {
  BScales scales(*this, firstColumn);
  if (!schedule.bringsBScales() && !schedule.problem.hasColumnScales())
    return multiplyGroups(ends, sums, scales);
  auto scalesOf = [&](Value stage, int64_t index) {
    return readScales(stage, index % schedule.kGroup, scales);
  };
  Carried state = begin(ends);
  state.push_back(sums);
  state = multiplySteps(state, getNumSteps(),
                        [&](Value stage, Value, int64_t index) {
                          return scalesOf(stage, index);
                        });
  return finish(state, scalesOf);
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

Value MultiplyRole::getNumSteps() {
  Value lastBlock =
      arith::SubIOp::create(builder, loc, getNumBlocks(), constant(1));
  Value last = arith::DivUIOp::create(builder, loc, lastBlock,
                                      constant(schedule.getStep()));
  return waitsAhead()
             ? last
             : Value(arith::AddIOp::create(builder, loc, last, constant(1)));
}

KernelBuilder::Carried MultiplyRole::multiplyGroups(ValueRange ends, Value sums,
                                                    BScales scales) {
  // A step that is left to finish is one more of the rest.
  int64_t size = schedule.getScaleGroup() / schedule.getStep();
  Value steps = getNumSteps();
  Value rest = arith::RemUIOp::create(builder, loc, steps, constant(size)),
        whole = arith::SubIOp::create(builder, loc, steps, rest);
  auto blockOf = [&](Value step, int64_t index) -> Value {
    Value block = scaled(step, schedule.getStep());
    return index ? arith::AddIOp::create(builder, loc, block, constant(index))
                 : block;
  };
  size_t own = ends.size() + 1; // and the sums
  auto multiply = [&](ValueRange state, Value count) {
    ValueRange ofLanes = state.drop_front(own);
    return multiplySteps(state.take_front(own), count,
                         [&](Value, Value step, int64_t index) {
                           return scales.get(ofLanes, blockOf(step, index));
                         });
  };
  // Loaded while the first slot is waited for.
  SmallVector<Value> first = scales.loadGroup(constant(0));
  Carried carried = begin(ends);
  carried.push_back(sums);
  llvm::append_range(carried, first);
  carried =
      forEach(constant(0), whole, size, carried,
              [&](Value group, ValueRange state) -> Carried {
                Value next =
                    arith::AddIOp::create(builder, loc, group, constant(size));
                SmallVector<Value> loaded = scales.loadGroup(blockOf(next, 0));
                Carried results = multiply(state, constant(size));
                llvm::append_range(results, loaded);
                return results;
              });
  SmallVector<Value> ofLanes(llvm::drop_begin(carried, own));
  return finish(multiply(carried, rest), [&](Value, int64_t index) {
    return scales.get(ofLanes, blockOf(rest, index));
  });
}

KernelBuilder::Carried MultiplyRole::multiplySteps(ValueRange state,
                                                   Value count,
                                                   StepScalesOf bScalesOf) {
  return forEach(constant(0), count, 1, state,
                 [&](Value step, ValueRange inner) -> Carried {
                   Carried results =
                       multiplyStep(inner, [&](Value stage, int64_t index) {
                         return bScalesOf(stage, step, index);
                       });
                   Value sums = results.pop_back_val();
                   results = begin(results);
                   results.push_back(sums);
                   return results;
                 });
}

KernelBuilder::Carried MultiplyRole::multiplyStep(ValueRange state,
                                                  ScalesOf bScalesOf) {
  FragmentType fragment = schedule.getFragment();
  Type pendingType =
      PendingType::get(builder.getContext(), warpgroupSchedule.getProduct());
  int64_t parts = fragment.getNumParts(), count = parts * schedule.getStep();
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
  auto start = [&](int64_t product) -> Value {
    if (product % perSlot == 0) {
      Value slot = state[product / perSlot];
      stages.push_back(waitsAhead() ? slot : acquire(slot));
      for (int64_t i = 0; i < schedule.kGroup; ++i)
        bScales.push_back(bScalesOf(stages.back(), bScales.size()));
    }
    Value a = tile(gemm::Operand::A, product),
          b = tile(gemm::Operand::B, product);
    aScales.push_back(tile(gemm::Operand::AScale, product));
    bRows.push_back(schedule.problem.hasColumnScales()
                        ? tile(gemm::Operand::BScale, product)
                        : Value());
    return WarpgroupMmaOp::create(builder, loc, pendingType, a, b,
                                  /*accumulator=*/Value(), product % parts);
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
