// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The multiply role of a GEMM without tensor memory: its warpgroups multiply
// into registers, add each K block's product, scaled, to the tile that they
// keep there, and store the tile after the last.
//
// Ends: the input ring's, the store queue, those that the epilogue load role
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
  /// The B scales of the `index`th K block of a slot.
  using ScalesOf = function_ref<SmallVector<Value>(Value stage, int64_t index)>;

  using SlotScalesOf =
      function_ref<SmallVector<Value>(Value stage, Value slot, int64_t index)>;

  /// True if a slot is waited for where the one before it has been promoted:
  /// in one stretch with the promotion, in front of which ptxas then asks for
  /// it. That takes another copy of the body for the last slot; a warpgroup
  /// that is alone mostly has one tile, and loses more by fetching that.
  bool waitsAhead() const { return schedule.getEpilogueWarps() > 4; }
  /// What the loop over slots carries: the end or, ahead, the next stage.
  Value begin(Value end) {
    return waitsAhead() ? AcquireOp::create(builder, loc, end).getStage() : end;
  }
  /// The K blocks of a tile that has some, over the end and the sums.
  Carried multiplyTile(Value end, Value sums, Value firstColumn);
  /// The same where no ring brings the B scales.
  Carried multiplyGroups(Value end, Value sums, BScales scales);
  /// Those of a slot: the end, advanced, and the sums.
  Carried multiplySlot(Value stage, Value sums, ScalesOf bScalesOf);
  /// `count` slots, after which comes another if slots are waited for ahead.
  Carried multiplySlots(ValueRange state, Value count, SlotScalesOf bScalesOf);
  /// The last slot, if it is left; the end and the sums.
  Carried finish(ValueRange state, ScalesOf bScalesOf) {
    return waitsAhead() ? multiplySlot(state[0], state[1], bScalesOf)
                        : Carried(state);
  }
  /// The slots of a tile's K blocks, without one that is left to finish.
  Value getNumSlots();
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
          Carried results =
              ifThen(hasBlocks, {carried[0], zero}, [&](ValueRange state) {
                return multiplyTile(state[0], state[1],
                                    scaled(column, schedule.tileN));
              });
          Value sums = results.pop_back_val(), exchange;
          llvm::append_range(results, carried.drop_front());
          if (schedule.cluster.k > 1) {
            auto reduce = ReduceScatterOp::create(builder, loc, sums,
                                                  results.pop_back_val());
            sums = reduce.getShare();
            exchange = reduce.getNext();
          }
          Value first = getTileRow(row);
          auto [m, n] = getStoredPlace(first, column);
          Value map = getMapOfTile(gemm::Operand::D, first);
          buildEpilogueTail(*this, sums, map, place(m, n),
                            MutableArrayRef(results).drop_front());
          if (exchange)
            results.push_back(exchange);
          return results;
        });
  });
}

KernelBuilder::Carried MultiplyRole::multiplyTile(Value end, Value sums,
                                                  Value firstColumn) {
  BScales scales(*this, firstColumn);
  if (!schedule.bringsBScales() && !schedule.problem.hasColumnScales())
    return multiplyGroups(end, sums, scales);
  Carried state = multiplySlots({begin(end), sums}, getNumSlots(),
                                [&](Value stage, Value, int64_t index) {
                                  return readScales(stage, index, scales);
                                });
  return finish(state, [&](Value stage, int64_t index) {
    return readScales(stage, index, scales);
  });
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

Value MultiplyRole::getNumSlots() {
  Value lastBlock =
      arith::SubIOp::create(builder, loc, getNumBlocks(), constant(1));
  Value last = arith::DivUIOp::create(builder, loc, lastBlock,
                                      constant(schedule.kGroup));
  return waitsAhead()
             ? last
             : Value(arith::AddIOp::create(builder, loc, last, constant(1)));
}

KernelBuilder::Carried MultiplyRole::multiplyGroups(Value end, Value sums,
                                                    BScales scales) {
  // A slot that is left to finish is one more of the rest.
  int64_t size = schedule.getScaleGroup() / schedule.kGroup;
  Value slots = getNumSlots();
  Value rest = arith::RemUIOp::create(builder, loc, slots, constant(size)),
        whole = arith::SubIOp::create(builder, loc, slots, rest);
  auto blockOf = [&](Value slot, int64_t index) -> Value {
    Value block = scaled(slot, schedule.kGroup);
    return index ? arith::AddIOp::create(builder, loc, block, constant(index))
                 : block;
  };
  auto multiply = [&](ValueRange state, Value count) {
    ValueRange ofLanes = state.drop_front(2);
    return multiplySlots(state.take_front(2), count,
                         [&](Value, Value slot, int64_t index) {
                           return scales.get(ofLanes, blockOf(slot, index));
                         });
  };
  // Loaded while the first slot is waited for.
  SmallVector<Value> first = scales.loadGroup(constant(0));
  Carried carried{begin(end), sums};
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
  SmallVector<Value> ofLanes(llvm::drop_begin(carried, 2));
  return finish(multiply(carried, rest), [&](Value, int64_t index) {
    return scales.get(ofLanes, blockOf(rest, index));
  });
}

KernelBuilder::Carried MultiplyRole::multiplySlots(ValueRange state,
                                                   Value count,
                                                   SlotScalesOf bScalesOf) {
  return forEach(
      constant(0), count, 1, state,
      [&](Value slot, ValueRange inner) -> Carried {
        Value stage =
            waitsAhead() ? inner[0] : AcquireOp::create(builder, loc, inner[0]);
        Carried results =
            multiplySlot(stage, inner[1], [&](Value of, int64_t index) {
              return bScalesOf(of, slot, index);
            });
        results[0] = begin(results[0]);
        return results;
      });
}

KernelBuilder::Carried MultiplyRole::multiplySlot(Value stage, Value sums,
                                                  ScalesOf bScalesOf) {
  FragmentType fragment = schedule.getFragment();
  Type pendingType =
      PendingType::get(builder.getContext(), warpgroupSchedule.getProduct());
  int64_t parts = fragment.getNumParts(), count = parts * schedule.kGroup;
  SmallVector<SmallVector<Value>> bScales;
  for (int64_t i = 0; i < schedule.kGroup; ++i)
    bScales.push_back(bScalesOf(stage, i));
  auto tile = [&](gemm::Operand operand, int64_t product) -> Value {
    return TileOp::create(builder, loc, stage,
                          schedule.getTileName(operand, product / parts));
  };
  // Parts of a block, one block after another.
  SmallVector<Value> aScales, bRows;
  auto start = [&](int64_t product) -> Value {
    Value a = tile(gemm::Operand::A, product),
          b = tile(gemm::Operand::B, product);
    aScales.push_back(tile(gemm::Operand::AScale, product));
    bRows.push_back(schedule.problem.hasColumnScales()
                        ? tile(gemm::Operand::BScale, product)
                        : Value());
    return WarpgroupMmaOp::create(builder, loc, pendingType, a, b,
                                  /*accumulator=*/Value(), product % parts);
  };
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
    pending = next;
  }
  return {ReleaseOp::create(builder, loc, stage), sums};
}

void mlir::fp8::buildMultiplyRole(const KernelBuilder &base,
                                  const WarpgroupSchedule &schedule,
                                  ValueRange ends) {
  MultiplyRole(base, schedule).build(ends);
}
