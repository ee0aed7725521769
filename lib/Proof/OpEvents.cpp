// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of ops on slots and tiles. What each must become follows from what
// the op means (docs/Semantics.md) and from its plan.

#include "EventWalker.h"

#include "Expressions.h"
#include "fp8/IR/LinearUse.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;
using Lanes = ::fp8::proof::Doers::Lanes;

/// The size of an mbarrier object in bytes (PTX ISA, mbarrier).
static constexpr int64_t kBarrierBytes = 8;

static constexpr EventWalker::Doers kAll{};
static constexpr EventWalker::Doers kElected{Lanes::Elected};

static EventWalker::Doers below(int64_t lanes) { return {Lanes::Below, lanes}; }

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

unsigned EventWalker::getCursor(unsigned end, Value handle) {
  auto [entry, isNew] = cursors.try_emplace(end, result.cursors.size());
  if (isNew) {
    auto maker = cast<RingOpInterface>(flow.getRings(handle).front());
    auto ring = cast<RingTypeInterface>(maker.getRing());
    result.cursors.push_back({ring.getNumStages()});
  }
  return entry->second;
}

EventWalker::Place EventWalker::getPlace(Operation *op, Value handle) {
  Place place;
  place.maker = flow.getRings(handle).front();
  place.ring = cast<RingOpInterface>(place.maker).getRing();
  place.slots = cast<RingTypeInterface>(place.ring).getNumStages();
  place.ctaGroup = getCtaGroup(place.ring);
  place.plan = getPlan<RingPlanAttr>(place.maker);
  place.cursor = getCursor(flow.getEnd(handle), handle);
  place.variable = getVariable(handle);
  if (place.variable)
    obstruct(op, "its end may be one of several", /*isExchange=*/true);
  return place;
}

EventWalker::Quantity EventWalker::getSingle(const Place &place,
                                             int64_t offset) const {
  Quantity quantity{offset};
  quantity.variable = place.variable;
  return quantity;
}

EventWalker::Quantity EventWalker::getFull(const Place &place) const {
  Quantity at = getSingle(place, place.plan.barrierOffset);
  at.cursor = place.cursor;
  at.stride = kBarrierBytes;
  return at;
}

EventWalker::Quantity EventWalker::getEmpty(const Place &place) const {
  Quantity at = getFull(place);
  at.constant += kBarrierBytes * place.slots;
  return at;
}

EventWalker::Quantity EventWalker::getTile(const Place &place,
                                           StringRef name) const {
  auto ring = cast<PipelineType>(place.ring);
  return {place.plan.payloadOffset + KernelPlan::getTileOffset(ring, name),
          place.cursor, KernelPlan::getTileStride(ring.getTile(name))};
}

std::optional<EventWalker::Quantity> EventWalker::getView(Operation *op,
                                                          Value view) {
  auto tile = view.getDefiningOp<TileOp>();
  if (!tile)
    return std::nullopt;
  return getTile(getPlace(op, tile.getStage()), tile.getName());
}

EventWalker::Quantity
EventWalker::byRank(function_ref<int64_t(int64_t)> function) const {
  Quantity quantity;
  quantity.byRank = ranks.map(function);
  return quantity;
}

//===----------------------------------------------------------------------===//
// Taking slots
//===----------------------------------------------------------------------===//

void EventWalker::wait(Operation *op, Value end, StringRef kind, Block &out) {
  Place place = getPlace(op, end);
  bool fills = getEndOf(end.getType()).isProducer();
  // A producer's first lap finds its slots free: the phase before the first
  // one has the other parity (PTX ISA, mbarrier.try_wait).
  Quantity parity{fills, place.cursor};
  parity.isParity = true;
  add(kind, op, kAll,
      {{"at", fills ? getEmpty(place) : getFull(place)}, {"parity", parity}},
      out);
}

void EventWalker::acquire(Operation *op, Block &out) {
  auto acquire = cast<AcquireOp>(op);
  Value end = acquire.getEnd();
  Type stage = acquire.getStage().getType();
  auto plan = getPlan<StagePlanAttr>(op);
  if (!isa<ReadyType>(end.getType()))
    wait(op, end, "wait", out);
  if (isa<MmaWarpType, EpilogueWarpType>(getEndOf(end.getType())))
    add("tensor fence after", op, kAll, {}, out);
  // What one lane starts may hand the slot over before other lanes have seen
  // it: they meet.
  bool engineSignals = isa<ProducerStageType, MmaStageType>(stage) ||
                       (plan.usedByMma && !plan.usedByThreads);
  if (engineSignals && !plan.converged)
    add("warp sync", op, kAll, {}, out);
  if (!plan.bytesAtAcquire)
    return;
  // The leading CTA of a pair counts the bytes of both.
  Place place = getPlace(op, end);
  Block expect;
  add("arrive expecting", op, kElected,
      {{"at", getFull(place)}, {"bytes", {place.ctaGroup * plan.bytes}}},
      expect);
  if (place.ctaGroup == 2)
    addRanks(
        op, [](int64_t rank) { return rank % 2 == 0; }, std::move(expect), out);
  else
    llvm::append_range(out, expect);
}

//===----------------------------------------------------------------------===//
// Handing slots over
//===----------------------------------------------------------------------===//

void EventWalker::commit(Operation *op, Value stage, const Place &place,
                         Block &out) {
  auto plan = getPlan<StagePlanAttr>(op);
  if (plan.usedByThreads)
    add("warp sync", op, kAll, {}, out);
  bool fills = isa<MmaStageType>(stage.getType());
  Fields fields{{"at", fills ? getFull(place) : getEmpty(place)}};
  bool visits = !ranks.getVisitors(0, plan).empty() || place.ctaGroup == 2;
  if (visits)
    fields.push_back({"mask", byRank([&](int64_t rank) {
                        return ranks.getReleaseMask(rank, plan, place.ctaGroup);
                      })});
  StringRef kind = !visits               ? "commit"
                   : place.ctaGroup == 2 ? "commit of pair to several"
                                         : "commit to several";
  add(kind, op, kElected, std::move(fields), out);
}

void EventWalker::arrive(Operation *op, Value stage, const Place &place,
                         Block &out) {
  auto plan = getPlan<StagePlanAttr>(op);
  Type type = stage.getType();
  bool isAccumulator = isa<EpilogueStageType>(type),
       isAnswer = isa<WorkQueueType>(place.ring);
  if (isAccumulator)
    add("tensor fence before", op, kAll, {}, out);
  if (isAnswer)
    add("proxy fence", op, kAll, {}, out);
  if (!plan.converged)
    add("warp sync", op, kAll, {}, out);
  bool fills = isa<ProducerStageType>(type);
  Quantity at = fills ? getFull(place) : getEmpty(place);
  if (isa<ConsumerStageType>(type) && !ranks.getVisitors(0, plan).empty()) {
    Quantity cta;
    for (int64_t rank = 0; rank < ranks.getSize(); ++rank) {
      SmallVector<int64_t> visitors = ranks.getVisitors(rank, plan);
      cta.byLane.emplace_back(visitors.begin(), visitors.end());
    }
    add("arrive remotely", op, below(cta.byLane.front().size()),
        {{"at", at}, {"cta", cta}}, out);
    return;
  }
  // The MMA warp of a pair waits in its leading CTA, the scheduler in that of
  // the cluster.
  if (isAccumulator && place.ctaGroup == 2)
    add("arrive remotely", op, kElected,
        {{"at", at}, {"cta", byRank(ClusterRanks::getPairLeader)}}, out);
  else if (isAnswer && ranks.getSize() > 1)
    add("arrive remotely", op, kElected, {{"at", at}, {"cta", {0}}}, out);
  else
    add("arrive", op, kElected, {{"at", at}}, out);
}

void EventWalker::handOver(Operation *op, Value stage, Block &out) {
  Place place = getPlace(op, stage);
  auto plan = getPlan<StagePlanAttr>(op);
  Type type = stage.getType();
  bool fills = isa<ProducerStageType>(type);
  if (fills && plan.hasElements)
    add("arrive after copies", op, kElected, {{"at", getFull(place)}}, out);
  bool isSignalled =
      fills && (plan.bytesAtAcquire || isa<WorkQueueType>(place.ring));
  if (isa<MmaStageType>(type) ||
      (isa<ConsumerStageType>(type) && plan.usedByMma))
    commit(op, stage, place, out);
  else if (!isSignalled)
    arrive(op, stage, place, out);
  // A signalled stage is stepped over by itself.
  if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<SignalledType>))
    advance(op, place, out);
}

void EventWalker::close(Operation *op, Value end, Block &out) {
  Type type = end.getType();
  if (isa<StoreQueueType>(type))
    return add("wait for stores", op, kElected, {{"pending", {0}}}, out);
  if (auto exchange = dyn_cast<ExchangeType>(type))
    return waitUntilRead(op, end, out);
  auto ring = dyn_cast<EndTypeInterface>(type);
  if (!ring || !ring.isProducer())
    return;
  auto pipeline = dyn_cast<PipelineType>(Type(ring.getRing()));
  if (pipeline && pipeline.getTiles().empty())
    return;
  Place place = getPlace(op, end);
  for (int64_t slot = 0; slot < place.slots; ++slot) {
    wait(op, end, "wait", out);
    out.back().event.drains = true;
    advance(op, place, out);
  }
}

//===----------------------------------------------------------------------===//
// Filling slots
//===----------------------------------------------------------------------===//

void EventWalker::copy(Operation *op, const Place &place, StringRef name,
                       std::optional<ClusterAxis> multicast, Block &out) {
  Quantity tile = getTile(place, name);
  TileType filled = cast<PipelineType>(place.ring).getTile(name);
  auto sharersOf = [&](int64_t rank) {
    return ranks.getSharers(rank, *multicast, place.ctaGroup);
  };
  Fields fields{{"at", getFull(place)}};
  int64_t bytes = filled.getSizeInBytes();
  std::string kind = "copy";
  if (place.ctaGroup == 2) {
    kind += " of pair";
    fields.push_back({"cta", byRank(ClusterRanks::getPairLeader)});
  }
  if (multicast && sharersOf(0).size() > 1) {
    kind += " to several";
    bytes = filled.getRows() / sharersOf(0).size() * filled.getRowBytes();
    tile.byRank = ranks.map([&](int64_t rank) {
      SmallVector<int64_t> sharers = sharersOf(rank);
      return bytes * (llvm::find(sharers, rank) - sharers.begin());
    });
    fields.push_back({"mask", byRank([&](int64_t rank) {
                        int64_t mask = 0;
                        for (int64_t sharer : sharersOf(rank))
                          mask |= int64_t(1) << sharer;
                        return mask;
                      })});
  }
  fields.push_back({"to", tile});
  add(kind, op, kElected, std::move(fields), out);
  out.back().event.brings = bytes;
}

/// The number that an argument of a kernel has among the parameters of its PTX:
/// a memref becomes a descriptor of two pointers, an offset, its extents and
/// its strides (MLIR's conversion of memrefs).
static unsigned getParameter(BlockArgument argument) {
  unsigned number = 0;
  for (BlockArgument other :
       argument.getOwner()->getArguments().take_front(argument.getArgNumber()))
    if (auto memref = dyn_cast<MemRefType>(other.getType()))
      number += 3 + 2 * memref.getRank();
    else
      ++number;
  return number;
}

void EventWalker::load(Operation *op, Block &out) {
  auto filling = cast<TileCopyOpInterface>(op);
  Place place = getPlace(op, filling.getFilledStage());
  auto load = dyn_cast<TmaLoadOp>(op);
  auto copies = dyn_cast<TmaCopyOp>(op);
  if (!load && !copies)
    return obstruct(op, "the comparison does not know what it becomes");
  StringRef name = load ? load.getName()
                        : copies.getTile().getDefiningOp<TileOp>().getName();
  Quantity bytes{cast<PipelineType>(place.ring).getTile(name).getSizeInBytes()};
  if (BlockArgument launched = filling.getLaunchBytes())
    bytes.parameter = getParameter(launched);
  if (!getPlan<StagePlanAttr>(op).bytesAtAcquire)
    add("expect", op, kElected, {{"at", getFull(place)}, {"bytes", bytes}},
        out);
  copy(op, place, name, load ? load.getMulticast() : std::nullopt, out);
  // One of several maps is not told from another.
  auto map = dyn_cast<BlockArgument>(
      getOutside(load ? load.getMap() : copies.getMap()));
  if (map && isa<FunctionOpInterface>(map.getOwner()->getParentOp())) {
    Quantity of;
    of.parameter = getParameter(map);
    out.back().event.fields.push_back({"map", of});
  }
  out.back().event.bringsParameter = bytes.parameter;
}

void EventWalker::loadElement(Operation *op, Block &out) {
  auto load = cast<LoadElementOp>(op);
  Place place = getPlace(op, load.getStage());
  Quantity to = getTile(place, load.getName());
  TileType tile = cast<PipelineType>(place.ring).getTile(load.getName());
  to.constant += load.getColumn() * tile.getRowBytes() / tile.getColumns();
  add("copy element", op, kElected, {{"to", to}}, out);
}

void EventWalker::requestWork(Operation *op, Block &out) {
  Place place = getPlace(op, cast<RequestWorkOp>(op).getStage());
  Quantity to{place.plan.payloadOffset, place.cursor, KernelPlan::kAnswerBytes};
  Quantity bytes{KernelPlan::kAnswerBytes};
  int64_t size = ranks.getSize();
  if (size == 1) {
    add("arrive expecting", op, kElected,
        {{"at", getFull(place)}, {"bytes", bytes}}, out);
  } else {
    // Each CTA is told by a lane of its own.
    Quantity cta;
    for (int64_t rank = 0; rank < size; ++rank) {
      cta.byLane.emplace_back();
      for (int64_t lane = 0; lane < size; ++lane)
        cta.byLane.back().push_back(lane);
    }
    add("arrive expecting remotely", op, below(size),
        {{"at", getFull(place)}, {"cta", cta}, {"bytes", bytes}}, out);
  }
  add(size == 1 ? "request" : "request for all", op, kElected,
      {{"to", to}, {"at", getFull(place)}}, out);
  out.back().event.brings = KernelPlan::kAnswerBytes;
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

void EventWalker::walkStep(Operation *op, Block &out) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<AcquireOp>([&](auto) { acquire(op, out); })
      .Case([&](WaitOp its) {
        Block waits;
        wait(op, its.getEnd(), "wait", waits);
        if (!its.getDone())
          return (void)llvm::append_range(out, waits);
        Node node{Node::Kind::Choice, getSite(kernel, op)},
            skip{Node::Kind::Skip, getSite(kernel, op)};
        skip.event = waits.front().event;
        node.arms = {std::move(waits), {std::move(skip)}};
        out.push_back(std::move(node));
      })
      .Case([&](TryWaitOp its) {
        // A test that fails is no event.
        Node node{Node::Kind::Choice, getSite(kernel, op)};
        node.arms.resize(2);
        wait(op, its.getEnd(), "test", node.arms[0]);
        out.push_back(std::move(node));
      })
      .Case([&](StepOp its) {
        advance(op, getPlace(op, its.getSignalled()), out);
      })
      .Case([&](CloseOp its) { close(op, its.getEnd(), out); })
      .Case<TileCopyOpInterface>([&](auto) { load(op, out); })
      .Case<LoadElementOp>([&](auto) { loadElement(op, out); })
      .Case<RequestWorkOp>([&](auto) { requestWork(op, out); })
      .Case<MmaOp>([&](auto) { multiply(op, out); })
      .Case<WarpgroupMmaOp>([&](auto) { multiplyInRegisters(op, out); })
      .Case([&](WaitMmaOp) {
        add("product wait", op, kAll,
            {{"pending", {getPlan<WaitPlanAttr>(op).behind}}}, out);
      })
      .Case([&](PromoteOp its) {
        if (isa<TmemType>(its.getPartial().getType()))
          readAccumulator(op, its.getPartial(), its.getFragment().getType(),
                          out);
      })
      .Case([&](ReadOp its) {
        readAccumulator(op, its.getAccumulator(), its.getFragment().getType(),
                        out);
      })
      .Case<AddRowOp>([&](auto) { addRow(op, out); })
      .Case<FenceAsyncProxyOp>(
          [&](auto) { add("proxy fence", op, kAll, {}, out); })
      .Case<CreateMmaWarpOp>([&](auto) { createMmaWarp(op, out); })
      .Case<ReleaseMmaWarpOp>([&](auto) { releaseMmaWarp(op, out); })
      .Case<WaitTmemOp>([&](auto) { waitTensorMemory(op, out); })
      .Case<ReleaseEpilogueWarpOp>([&](auto) { releaseEpilogueWarp(op, out); })
      .Case<StoreOp>([&](auto) { store(op, out); })
      .Case<ReduceScatterOp>([&](auto) { reduceScatter(op, out); })
      .Default([&](Operation *) {
        if (Value stage = getHandedOver(op))
          return handOver(op, stage, out);
        if (mayWaitForSlot(op))
          obstruct(op, "the comparison does not know what '" +
                           op->getName().getStringRef() + "' becomes");
        bool handles = llvm::any_of(op->getRegions(), [](Region &region) {
          return region
              .walk([](Operation *inner) {
                return isa<HandleOpInterface, RoleWorkOpInterface>(inner)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
        });
        if (handles)
          obstruct(op, "the comparison does not follow what is in it");
      });
}
