// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of tensor memory, of stores through a queue, and of shares.

#include "EventWalker.h"
#include "fp8/IR/RegisterLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fp8;
using Lanes = ::fp8::proof::Doers::Lanes;
using Unit = RegisterLayout::Unit;

static constexpr EventWalker::Doers kAll{};
static constexpr EventWalker::Doers kElected{Lanes::Elected};

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

void EventWalker::createMmaWarp(Operation *op, Block &out) {
  auto create = cast<CreateMmaWarpOp>(op);
  Place place = getPlace(op, create.getEnd());
  OutputPipelineType ring = create.getWarp().getType().getRing();
  auto plan = getPlan<RingPlanAttr>(op);
  int64_t word =
      place.plan.barrierOffset + KernelPlan::getTmemAddressOffset(ring);
  bool ofPair = place.ctaGroup == 2;
  add(ofPair ? "allocate for pair" : "allocate", op, kAll,
      {{"to", {word}}, {"columns", {plan.columns}}}, out);
  if (plan.allocatesAlone)
    add(ofPair ? "relinquish for pair" : "relinquish", op, kAll, {}, out);
  add("named arrive", op, kAll,
      {{"id", getSingle(place, place.plan.namedBarrier)},
       {"threads", {plan.handoffThreads}}},
      out);
}

void EventWalker::releaseMmaWarp(Operation *op, Block &out) {
  auto release = cast<ReleaseMmaWarpOp>(op);
  Place place = getPlace(op, release.getWarp());
  OutputPipelineType ring = release.getWarp().getType().getRing();
  add("wait", op, kAll,
      {{"at", getSingle(place, place.plan.barrierOffset +
                                   KernelPlan::getDeallocBarrierOffset(ring))},
       {"parity", {0}}},
      out);
  add(place.ctaGroup == 2 ? "free for pair" : "free", op, kAll,
      {{"from", {kNominalColumns}},
       {"columns", {getPlan<RingPlanAttr>(op).columns}}},
      out);
}

void EventWalker::waitTensorMemory(Operation *op, Block &out) {
  Place place = getPlace(op, cast<WaitTmemOp>(op).getEnd());
  add("named sync", op, kAll,
      {{"id", getSingle(place, place.plan.namedBarrier)},
       {"threads", {getPlan<RingPlanAttr>(op).handoffThreads}}},
      out);
}

void EventWalker::releaseEpilogueWarp(Operation *op, Block &out) {
  auto release = cast<ReleaseEpilogueWarpOp>(op);
  Place place = getPlace(op, release.getWarp());
  OutputPipelineType ring = release.getWarp().getType().getRing();
  Quantity at = getSingle(place, place.plan.barrierOffset +
                                     KernelPlan::getDeallocBarrierOffset(ring));
  add("arrive", op, kElected, {{"at", at}}, out);
  if (place.ctaGroup == 2)
    add("arrive remotely", op, kElected,
        {{"at", at}, {"cta", byRank(ClusterRanks::getPeer)}}, out);
}

/// The columns of one load: narrow loads where registers are scarce.
static int64_t getLoadColumns(int64_t columns) {
  int64_t load = columns > 64 && columns <= 160 ? 16 : 32;
  return std::min(load, columns & -columns);
}

void EventWalker::readAccumulator(Operation *op, Value accumulator,
                                  FragmentType fragment, Block &out) {
  RegisterLayout layout(fragment);
  // The axis of the fragment that the columns of tensor memory are.
  RegisterLayout::Axis along = layout.getPairAxis();
  Quantity from = getAccumulator(op, accumulator);
  // Warp w of a warpgroup reads lanes 32 w and up; the lane is in the upper
  // half of an address (PTX ISA, tcgen05 access restrictions). Warpgroups
  // divide the columns.
  from.warpStride = int64_t(32) << 16;
  from.warpValues = 4;
  for (const RegisterLayout::Digit &digit : layout.getDigits())
    if (digit.unit == Unit::Warpgroup && digit.axis == along)
      from.groupStride = digit.stride;
  // The lanes of a half read columns that lie so far behind the others'.
  int64_t distance = 0;
  if (fragment.getLayout() == FragmentLayout::LaneHalves)
    for (const RegisterLayout::Digit &digit : layout.getDigits())
      if (digit.unit == Unit::Lane && digit.axis == RegisterLayout::Column)
        distance = digit.stride;
  // Matrices are of 16 lanes.
  int64_t columns = layout.getNumRegisters(), halves = 1;
  constexpr int64_t kLanes = 16;
  StringRef kind = fragment.getLayout() == FragmentLayout::LaneHalves
                       ? "tensor load of halves"
                       : "tensor load";
  if (!layout.isOneRow()) {
    kind = "tensor load of matrices";
    columns = fragment.getShape()[along];
    halves =
        layout.getRun(RegisterLayout::getOther(along), Unit::Lane) / kLanes;
  }
  int64_t load = getLoadColumns(columns);
  for (int64_t half = 0; half < halves; ++half)
    for (int64_t column = 0; column < columns; column += load) {
      Quantity its = from;
      its.constant += column + ((half * kLanes) << 16);
      Fields fields{{"from", its}};
      if (distance > 0)
        fields.push_back({"half", {distance}});
      add(kind, op, kAll, std::move(fields), out);
    }
  add("tensor wait", op, kAll, {}, out);
}

void EventWalker::addRow(Operation *op, Block &out) {
  RegisterLayout layout(cast<AddRowOp>(op).getFragment().getType());
  if (!layout.isOneRow())
    return;
  // The lanes meet between batches of columns.
  constexpr int64_t kColumns = 32;
  for (int64_t at = kColumns; at < layout.getNumRegisters(); at += kColumns)
    add("warp sync", op, kAll, {}, out);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

RingPlan EventWalker::getQueue(Operation *op, Value queue,
                               ::fp8::proof::Cursor counts, unsigned &cursor) {
  unsigned end = flow.getEnd(queue);
  auto [entry, isNew] = cursors.try_emplace(end, result.cursors.size());
  if (isNew)
    result.cursors.push_back(counts);
  cursor = entry->second;
  Operation *maker = nullptr;
  for (Operation &other : *role->getBlock())
    if (isa<StoreQueueOp, ExchangeOp>(other) &&
        flow.getEnd(other.getResult(0)) == end) {
      if (maker)
        obstruct(op, "its queue may be one of several");
      maker = &other;
    }
  if (maker)
    return getPlan<RingPlanAttr>(maker);
  obstruct(op, "its queue is not made in this kernel");
  return {};
}

void EventWalker::store(Operation *op, Block &out) {
  auto store = cast<StoreOp>(op);
  StoreQueueType queue = store.getQueue().getType();
  TileType tile = queue.getTile();
  RegisterLayout layout(store.getFragment().getType());
  bool byWarpgroup = layout.getStager() == Unit::Warp;
  int64_t threads = byWarpgroup ? 128 : 32, boxes = 1, depth = queue.getDepth(),
          batch = byWarpgroup ? std::max<int64_t>(depth / 2, 1) : 1,
          stride = KernelPlan::getSlotStride(queue);
  for (const RegisterLayout::Digit &digit : layout.getDigits())
    if (digit.unit == Unit::Lane && digit.axis == RegisterLayout::Column &&
        digit.stride >= tile.getColumns())
      boxes = digit.extent;
  int64_t slots = layout.getNumRegisters() * threads /
                  (boxes * tile.getRows() * tile.getColumns());
  unsigned cursor;
  RingPlan plan = getQueue(op, store.getQueue(), {depth, batch}, cursor);

  // One thread of the warp or the warpgroup issues the copies.
  Doers one{Lanes::Elected, 0, byWarpgroup ? 4 : 1};
  auto meet = [&] {
    if (!byWarpgroup)
      return add("warp sync", op, kAll, {}, out);
    Quantity id{getPlan<RingPlanAttr>(op).namedBarrier};
    id.groupStride = 1;
    add("named sync", op, kAll, {{"id", id}, {"threads", {128}}}, out);
  };
  Quantity from{plan.payloadOffset, cursor, stride};
  if (byWarpgroup)
    from.groupStride = depth * stride;
  else
    from.warpStride = depth * stride, from.warpValues = role.getWarps();
  // No copy reads a slot on the first lap of the queue.
  int64_t free = getPlan<RingPlanAttr>(op).unused ? depth / batch * batch : 0;
  for (int64_t first = 0; first < slots; first += batch) {
    if (first >= free) {
      add("wait for reads of stores", op, one,
          {{"pending", {depth / batch - 1}}}, out);
      meet();
    }
    add("proxy fence", op, kAll, {}, out);
    meet();
    for (int64_t i = 0; i < std::min(batch, slots - first); ++i)
      for (int64_t box = 0; box < boxes; ++box) {
        Quantity start = from;
        start.constant += i * stride + box * tile.getSizeInBytes();
        add("store", op, one, {{"from", start}}, out);
      }
    add("commit stores", op, one, {}, out);
    Node node{Node::Kind::Advance, getSite(kernel, op)};
    node.cursor = cursor;
    out.push_back(std::move(node));
  }
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

void EventWalker::waitUntilRead(Operation *op, Value exchange, Block &out) {
  auto type = cast<ExchangeType>(exchange.getType());
  unsigned cursor;
  RingPlan plan = getQueue(op, exchange, {1}, cursor);
  Quantity parity{1, cursor};
  parity.isParity = true;
  add("wait for cluster", op, kAll,
      {{"at", {plan.payloadOffset + KernelPlan::getExchangeEmptyBarrier(type)}},
       {"parity", parity}},
      out);
}

void EventWalker::reduceScatter(Operation *op, Block &out) {
  auto reduce = cast<ReduceScatterOp>(op);
  ExchangeType type = reduce.getExchange().getType();
  unsigned cursor;
  RingPlan plan = getQueue(op, reduce.getExchange(), {1}, cursor);
  int64_t ctas = type.getCtas(), bytes = KernelPlan::getShareBytes(type),
          threads = 32 * type.getFragment().getWarps();
  constexpr int64_t kChunk = 16;
  Quantity full{plan.payloadOffset + KernelPlan::getExchangeFullBarrier(type)},
      empty{plan.payloadOffset + KernelPlan::getExchangeEmptyBarrier(type)},
      parity{0, cursor};
  parity.isParity = true;
  add("arrive expecting", op, {Lanes::Elected, 0, role.getWarps()},
      {{"at", full}, {"bytes", {ctas * bytes}}}, out);
  waitUntilRead(op, reduce.getExchange(), out);
  for (int64_t cta = 0; cta < ctas; ++cta)
    for (int64_t chunk = 0; chunk < bytes / (threads * kChunk); ++chunk) {
      add("send", op, kAll, {{"at", full}, {"cta", {cta}}}, out);
      out.back().event.brings = kChunk;
    }
  add("wait for cluster", op, kAll, {{"at", full}, {"parity", parity}}, out);
  add("warp sync", op, kAll, {}, out);
  Quantity cta;
  for (int64_t rank = 0; rank < ranks.getSize(); ++rank) {
    cta.byLane.emplace_back();
    for (int64_t lane = 0; lane < ctas; ++lane)
      cta.byLane.back().push_back(lane);
  }
  add("arrive remotely", op, {Lanes::Below, ctas},
      {{"at", empty}, {"cta", cta}}, out);
  Node node{Node::Kind::Advance, getSite(kernel, op)};
  node.cursor = cursor;
  out.push_back(std::move(node));
}
