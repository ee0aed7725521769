// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of slots.

#include "SlotContents.h"

#include "fp8/Analysis/KernelPlan.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;

Type mlir::fp8::getRingOf(Type type) {
  if (auto ready = dyn_cast<ReadyType>(type))
    type = cast<EndTypeInterface>(ready.getEnd()).getStageType();
  auto stage = dyn_cast<StageTypeInterface>(type);
  return stage ? stage.getRing() : Type();
}

std::string mlir::fp8::getRingName(Type type) {
  if (isa<WorkQueueType>(type))
    return "the work queue";
  auto ring = dyn_cast<PipelineType>(type);
  if (!ring)
    return "the ring of accumulators";
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "the ring of ";
  llvm::interleave(
      ring.getNames(), stream,
      [&](StringAttr tile) { stream << '\'' << tile.getValue() << '\''; },
      " and ");
  return ring.getTiles().empty() ? "a ring without tiles" : name;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

ArrayRef<SlotPart> SlotContents::getParts(Type ring) const {
  auto it = parts.find(ring);
  return it == parts.end() ? ArrayRef<SlotPart>() : ArrayRef(it->second);
}

void SlotContents::addParts(Type ring) {
  auto [it, isNew] = parts.try_emplace(ring);
  if (!isNew)
    return;
  if (auto pipeline = dyn_cast<PipelineType>(ring))
    for (StringAttr name : pipeline.getNames())
      it->second.push_back({name.getValue(), std::nullopt});
  else if (isa<OutputPipelineType>(ring))
    it->second.push_back({});
}

std::optional<SlotUse>
SlotContents::getViewed(Value view, std::optional<int64_t> column) const {
  SlotUse use;
  StringRef tile;
  if (auto its = view.getDefiningOp<TileOp>()) {
    use.stage = its.getStage();
    tile = its.getName();
  } else if (auto its = view.getDefiningOp<AccumulatorOp>()) {
    use.stage = its.getStage();
  } else {
    return std::nullopt;
  }
  ArrayRef<SlotPart> all = getParts(getRingOf(use.stage.getType()));
  // An element that nobody copies alone belongs to the rest.
  bool isAlone = llvm::is_contained(all, SlotPart{tile, column});
  for (auto [number, part] : llvm::enumerate(all))
    if (part.tile == tile &&
        (!column || part.column == (isAlone ? column : std::nullopt)))
      use.parts.push_back(number);
  return use;
}

std::optional<SlotUse> SlotContents::getCopied(Operation *op) const {
  SlotUse use;
  StringRef tile;
  std::optional<int64_t> column;
  if (auto load = dyn_cast<TmaLoadOp>(op)) {
    use.stage = load.getStage();
    tile = load.getName();
  } else if (auto copy = dyn_cast<TmaCopyOp>(op)) {
    return getViewed(copy.getTile(), std::nullopt);
  } else if (auto load = dyn_cast<LoadElementOp>(op)) {
    use.stage = load.getStage();
    tile = load.getName();
    column = load.getColumn();
  } else {
    return std::nullopt;
  }
  for (auto [number, part] :
       llvm::enumerate(getParts(getRingOf(use.stage.getType()))))
    if (part.tile == tile && (!column || part.column == column))
      use.parts.push_back(number);
  return use;
}

SmallVector<SlotUse> SlotContents::getRead(Operation *op) const {
  SmallVector<SlotUse> uses;
  auto add = [&](Value view, std::optional<int64_t> column) {
    if (std::optional<SlotUse> use = getViewed(view, column))
      uses.push_back(std::move(*use));
  };
  if (auto mma = dyn_cast<MmaOp>(op)) {
    for (Value tile : mma.getTilesRead())
      add(tile, std::nullopt);
  } else if (auto read = dyn_cast<ReadElementOp>(op)) {
    add(read.getRow(), read.getColumn());
  } else if (auto reader = dyn_cast<ViewReaderOpInterface>(op)) {
    for (Value view : reader.getViewsRead())
      add(view, std::nullopt);
  }
  return uses;
}

std::optional<SlotUse> SlotContents::getAccumulated(MmaOp mma) const {
  return getViewed(mma.getAccumulator(), std::nullopt);
}

std::string SlotContents::getName(Type ring, unsigned number) const {
  SlotPart part = getParts(ring)[number];
  if (part.tile.empty())
    return "an accumulator";
  std::string name = ("tile '" + part.tile + "' of " + getRingName(ring)).str();
  return part.column ? "column " + std::to_string(*part.column) + " of " + name
                     : name;
}

SmallVector<unsigned> SlotContents::getSources(const SlotUse &use, unsigned cta,
                                               bool readsPair) const {
  Type ring = getRingOf(use.stage.getType());
  SmallVector<unsigned> sources;
  bool isMulticast = llvm::any_of(use.parts, [&](unsigned part) {
    return multicast.contains({ring, part});
  });
  bool isOfMma = isa<OutputPipelineType>(ring);
  for (auto [number, its] : llvm::enumerate(classes)) {
    bool isOwn = number == cta,
         isPeer = its.leadsPair != classes[cta].leadsPair;
    bool ofPair = getCtaGroup(ring) == 2;
    // The leading CTA of a pair writes the accumulators of both.
    if (isOfMma && ofPair
            ? (classes[cta].leadsPair ? isOwn : its.leadsPair)
            : isOwn || isMulticast || (readsPair && ofPair && isPeer))
      sources.push_back(number);
  }
  return sources;
}

//===----------------------------------------------------------------------===//
// What the text shows
//===----------------------------------------------------------------------===//

bool SlotContents::isAlwaysWritten(Type ring, unsigned part) const {
  return !doubtful.contains({ring, part});
}

bool SlotContents::isMulticast(Type ring, unsigned part) const {
  return multicast.contains({ring, part});
}

using Stages = SmallVector<std::pair<AcquireOp, const StageUse *>>;

/// The stages of the ring that are filled, by the groups of ends that they come
/// from, with what is done with each.
static llvm::MapVector<unsigned, Stages> getFilled(Operation *maker,
                                                   const HandleFlow &flow) {
  llvm::MapVector<unsigned, Stages> stages;
  for (auto &[number, use] : flow.getStageUses())
    for (AcquireOp acquire : use.acquires) {
      auto type = cast<StageTypeInterface>(acquire.getStage().getType());
      if (cast<EndTypeInterface>(type.getEndType()).isProducer() &&
          llvm::is_contained(flow.getRings(acquire.getStage()), maker))
        stages[flow.getEnd(acquire.getEnd())].push_back({acquire, &use});
    }
  return stages;
}

/// True if CTAs take the op that do not lead.
static bool isInAllCtas(Operation *op) {
  return !op->getParentOfType<LeadingCtaOp>();
}

bool SlotContents::isWrittenOnce(Operation *maker, unsigned part,
                                 const HandleFlow &flow) const {
  unsigned writers = 0;
  for (auto &[end, stages] : getFilled(maker, flow)) {
    unsigned written = 0;
    for (auto [acquire, use] : stages) {
      SmallVector<Operation *> copies(use->copies.begin(), use->copies.end());
      llvm::append_range(copies, use->elementLoads);
      llvm::erase_if(copies, [&](Operation *copy) {
        std::optional<SlotUse> its = getCopied(copy);
        return its && !llvm::is_contained(its->parts, part);
      });
      if (copies.empty())
        continue;
      std::optional<SlotUse> its = getCopied(copies.front());
      if (copies.size() > 1 || use->acquires.size() > 1 || !its ||
          its->stage != acquire.getStage() || !isInAllCtas(acquire) ||
          copies.front()->getBlock() != acquire->getBlock())
        return false;
      ++written;
    }
    if (written && written != stages.size())
      return false;
    writers += written != 0;
  }
  return writers == 1;
}

bool SlotContents::isAccumulatedAtOnce(Operation *maker,
                                       const HandleFlow &flow) const {
  bool isOfPair = getCtaGroup(cast<RingOpInterface>(maker).getRing()) == 2;
  unsigned written = 0;
  for (auto &[end, stages] : getFilled(maker, flow))
    for (auto [acquire, use] : stages) {
      if (use->mmas.empty() || use->acquires.size() > 1)
        return false;
      MmaOp first = use->mmas.front();
      std::optional<SlotUse> its = getAccumulated(first);
      bool overwrites = !first.getAccumulate() ||
                        matchPattern(first.getAccumulate(), m_Zero());
      if (!its || its->stage != acquire.getStage() || !overwrites ||
          first->getBlock() != acquire->getBlock() ||
          !(isOfPair || isInAllCtas(acquire)))
        return false;
      ++written;
    }
  return written != 0;
}

void SlotContents::findWritten(Operation *maker, const HandleFlow &flow) {
  Type ring = cast<RingOpInterface>(maker).getRing();
  for (unsigned part = 0; part < getParts(ring).size(); ++part)
    if (isa<OutputPipelineType>(ring) ? !isAccumulatedAtOnce(maker, flow)
                                      : !isWrittenOnce(maker, part, flow))
      doubtful.insert({ring, part});
}

SlotContents::SlotContents(FunctionOpInterface function, const HandleFlow &flow,
                           ArrayRef<CtaClass> classes)
    : kernel(function), classes(classes) {
  mlir::Block &entry = function.getFunctionBody().front();
  for (auto maker : entry.getOps<RingOpInterface>())
    addParts(maker.getRing());
  kernel->walk([&](LoadElementOp load) {
    SmallVector<SlotPart> &its = parts[getRingOf(load.getStage().getType())];
    SlotPart part{load.getName(), static_cast<int64_t>(load.getColumn())};
    if (!llvm::is_contained(its, part))
      its.push_back(part);
  });
  kernel->walk([&](TmaLoadOp load) {
    if (std::optional<SlotUse> use = getCopied(load);
        use && load.getMulticast())
      for (unsigned part : use->parts)
        multicast.insert({getRingOf(use->stage.getType()), part});
  });
  for (auto maker : entry.getOps<RingOpInterface>())
    findWritten(maker, flow);
}
