// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was derived for a kernel, for people and for programs to read.

#include "fp8/Analysis/KernelReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fp8;

static Type getRingType(Operation *op) {
  return cast<RingOpInterface>(op).getRing();
}

static std::string getRingName(Operation *op) {
  Type ring = getRingType(op);
  if (isa<OutputPipelineType>(ring))
    return "output pipeline";
  if (isa<WorkQueueType>(ring))
    return "work queue";
  std::string name = "pipeline";
  for (StringAttr tile : cast<PipelineType>(ring).getNames())
    name += (name == "pipeline" ? " " : ", ") + tile.str();
  return name == "pipeline" ? "pipeline without tiles" : name;
}

RoleOp KernelReport::getRole(Value end) {
  return cast<RoleOp>(*end.user_begin());
}

/// "role", "role and role".
static std::string getWaiters(const BarrierReport &barrier) {
  return llvm::join(barrier.waiters, " and ");
}

//===----------------------------------------------------------------------===//
// Collection
//===----------------------------------------------------------------------===//

KernelReport::KernelReport(FunctionOpInterface kernel)
    : name(kernel.getName()), cluster(getClusterShape(kernel)),
      cta(getPlan<CtaPlanAttr>(kernel)), growing(getGrowingWarps(kernel)) {
  for (Operation &op : kernel.getFunctionBody().front()) {
    if (auto role = dyn_cast<RoleOp>(op)) {
      auto plan = getPlan<RolePlanAttr>(role);
      roles.push_back(
          {role.getName().str(), {plan.firstWarp, int64_t(role.getWarps())}});
      if (plan.takes)
        takenRegisters = plan.registers;
    }
    if (isa<RingOpInterface>(op))
      addRing(&op);
    if (auto exchange = dyn_cast<ExchangeOp>(op))
      addExchange(exchange);
    if (auto queue = dyn_cast<StoreQueueOp>(op)) {
      StoreQueueType type = queue.getQueue().getType();
      storeQueueBytes += KernelPlan::getQueueBytes(type);
      addQueue(queue);
    }
  }
}

/// How the consumers of a ring hand a slot back.
static StringRef getHandBack(Type ring, bool consumedByMma) {
  if (isa<WorkQueueType>(ring))
    return "one lane of each warp of every CTA, after a proxy fence";
  return consumedByMma
             ? StringRef("tcgen05.commit, when the MMAs that read it are "
                         "complete")
             : StringRef("one lane of each warp, after its reads");
}

static StringRef getFill(Type ring, int64_t bytes) {
  if (isa<OutputPipelineType>(ring))
    return "tcgen05.commit, when its MMAs are complete";
  return bytes ? "one thread, with the announcement of the bytes"
               : "one lane of each warp, after its writes";
}

void KernelReport::addRing(Operation *op) {
  Type ring = getRingType(op);
  int64_t stages = cast<RingTypeInterface>(ring).getNumStages();
  auto counts = getPlan<RingPlanAttr>(op);
  RingReport report{getRingName(op), stages, 0, 0, {}};
  if (auto pipeline = dyn_cast<PipelineType>(ring))
    report.sharedMemoryBytes = KernelPlan::getPayloadBytes(pipeline);
  if (isa<WorkQueueType>(ring))
    report.sharedMemoryBytes = stages * KernelPlan::kAnswerBytes;
  report.tmemColumns = counts.columns;
  tmemColumns += report.tmemColumns;

  BarrierReport full{"full",
                     stages,
                     counts.fullArrivals,
                     0,
                     counts.barrierOffset,
                     "lap n waits for parity n mod 2",
                     {},
                     {}},
      empty{"empty",
            stages,
            counts.emptyArrivals,
            0,
            counts.barrierOffset + 8 * stages,
            "lap n waits for parity (n + 1) mod 2; lap 0 passes",
            {},
            {}};
  full.bytes = isa<WorkQueueType>(ring) ? KernelPlan::kAnswerBytes
                                        : counts.bytes * getCtaGroup(ring);
  int64_t consumerWarps = 0;
  for (Value end : op->getResults())
    if (!cast<EndTypeInterface>(end.getType()).isProducer())
      consumerWarps += getRole(end).getWarps();
  for (OpResult end : op->getResults()) {
    RoleOp role = getRole(end);
    int64_t warps = role.getWarps();
    if (cast<EndTypeInterface>(end.getType()).isProducer()) {
      empty.waiters.push_back(role.getName().str());
      full.arrivers.push_back(
          {role.getName().str(), warps, getFill(ring, full.bytes).str()});
      if (counts.hasElements)
        full.arrivers.push_back({role.getName().str(), warps,
                                 "cp.async.mbarrier.arrive, when the elements "
                                 "that it copied are there"});
    } else {
      full.waiters.push_back(role.getName().str());
      empty.arrivers.push_back(
          {role.getName().str(), warps * counts.emptyArrivals / consumerWarps,
           getHandBack(ring, counts.mmaEnds >> end.getResultNumber() & 1)
               .str()});
    }
  }
  report.barriers = {full, empty};
  if (auto output = dyn_cast<OutputPipelineOp>(op))
    addOutputBarriers(output, report);
  rings.push_back(std::move(report));
}

void KernelReport::addExchange(ExchangeOp op) {
  ExchangeType type = op.getExchange().getType();
  std::string role = getRole(op.getExchange()).getName().str();
  int64_t bytes = type.getCtas() * KernelPlan::getShareBytes(type),
          offset = getPlan<RingPlanAttr>(op).payloadOffset,
          warps = type.getCtas() * type.getFragment().getWarps();
  BarrierReport full{"full",
                     1,
                     1,
                     bytes,
                     offset + KernelPlan::getExchangeFullBarrier(type),
                     "lap n waits for parity n mod 2",
                     {role},
                     {{role, 1,
                       "one thread, with the announcement of the bytes that "
                       "every CTA sends"}}},
      empty{"empty",
            1,
            warps,
            0,
            offset + KernelPlan::getExchangeEmptyBarrier(type),
            "lap n waits for parity (n + 1) mod 2; lap 0 passes",
            {role},
            {{role, warps,
              "one lane of each warp of every CTA, after its reads"}}};
  rings.push_back({"exchange", 1, bytes, 0, {full, empty}});
}

void KernelReport::addQueue(StoreQueueOp op) {
  StoreQueueType type = op.getQueue().getType();
  int64_t stagers = KernelPlan::getNumStagers(type);
  if (stagers == type.getWarps())
    return; // warps stage by themselves
  std::string role = getRole(op.getQueue()).getName().str();
  BarrierReport meeting{"meeting (named)",
                        stagers,
                        128,
                        0,
                        getPlan<RingPlanAttr>(op).namedBarrier,
                        "one of each warpgroup, before and after it stages",
                        {role},
                        {{role, 128, "by waiting"}}};
  meeting.isNamed = true;
  RingReport report{
      "store queue", type.getDepth(), KernelPlan::getQueueBytes(type), 0, {}};
  report.barriers.push_back(std::move(meeting));
  rings.push_back(std::move(report));
}

void KernelReport::addOutputBarriers(OutputPipelineOp op, RingReport &report) {
  auto ring = cast<OutputPipelineType>(getRingType(op));
  auto output = getPlan<RingPlanAttr>(op);
  std::string mma = getRole(op.getProducer()).getName().str(),
              epilogue = getRole(op.getConsumer()).getName().str();
  report.barriers.push_back(
      {"deallocation",
       1,
       output.deallocArrivals,
       0,
       output.barrierOffset + KernelPlan::getDeallocBarrierOffset(ring),
       "used once, parity 0",
       {mma},
       {{epilogue, output.deallocArrivals,
         "one lane of each warp, when its handle is released"}}});
  int64_t mmaThreads = 32 * getRole(op.getProducer()).getWarps();
  report.barriers.push_back(
      {"hand-off (named)",
       1,
       output.handoffThreads,
       0,
       output.namedBarrier,
       "used once",
       {epilogue},
       {{mma, mmaThreads, "after the allocation"},
        {epilogue, output.handoffThreads - mmaThreads, "by waiting"}},
       /*isNamed=*/true});
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

void KernelReport::print(raw_ostream &os) const {
  os << "kernel " << name << ": " << 32 * cta.warps << " threads";
  if (cluster.k > 1)
    os << ", clusters of " << cluster.k << " CTAs that divide K";
  else if (cluster.getSize() > 1)
    os << ", clusters of " << cluster.m << " x " << cluster.n << " CTAs";
  os << "\n";
  for (const RoleReport &role : roles) {
    os << "  role " << role.name << ": warp";
    if (role.warps.count > 1)
      os << "s " << role.warps.first << " to "
         << role.warps.first + role.warps.count - 1;
    else
      os << ' ' << role.warps.first;
    os << "\n";
  }
  for (const RingReport &ring : rings) {
    os << "  " << ring.name << ": " << ring.stages << " stages";
    if (ring.sharedMemoryBytes)
      os << ", " << ring.sharedMemoryBytes << " bytes of shared memory";
    if (ring.tmemColumns)
      os << ", " << ring.tmemColumns << " columns of tensor memory";
    os << "\n";
    for (const BarrierReport &barrier : ring.barriers) {
      os << llvm::formatv("    {0} x{1} at {2}: {3} arrivals", barrier.name,
                          barrier.depth, barrier.offset, barrier.arrivals);
      if (barrier.bytes)
        os << " and " << barrier.bytes << " bytes";
      os << "; " << getWaiters(barrier)
         << (barrier.waiters.size() > 1 ? " wait" : " waits") << "; "
         << barrier.phase << "\n";
      for (const ArrivalReport &arrival : barrier.arrivers)
        os << "      " << arrival.role << " arrives " << arrival.count << "x, "
           << arrival.how << "\n";
    }
  }
  os << llvm::formatv("  shared memory: {0} of {1} bytes, {2} of them to stage "
                      "stores\n",
                      cta.sharedMemory, chip::getMostSharedMemory(),
                      storeQueueBytes);
  os << llvm::formatv("  tensor memory: {0} of {1} columns\n", tmemColumns,
                      chip::getMostTensorMemoryColumns());
  os << llvm::formatv("  registers: at most {0} a thread", getMaxRegisters());
  for (auto [i, range] : llvm::enumerate(growing))
    os << (i ? " and " : " in warps ") << range.first << " to "
       << range.first + range.count - 1;
  if (!growing.empty())
    os << ", " << cta.idleRegisters << " in the others";
  os << "\n";
}

/// A name, which in MLIR is any bytes, as text.
static std::string toText(StringRef name) { return llvm::json::fixUTF8(name); }

static llvm::json::Object toJSON(const BarrierReport &barrier) {
  llvm::json::Array arrivers;
  for (const ArrivalReport &arrival : barrier.arrivers)
    arrivers.push_back(llvm::json::Object{{"role", toText(arrival.role)},
                                          {"count", arrival.count},
                                          {"how", arrival.how}});
  return llvm::json::Object{{"name", barrier.name},
                            {"depth", barrier.depth},
                            {"arrivals", barrier.arrivals},
                            {"bytes", barrier.bytes},
                            {"offset", barrier.offset},
                            {"phase", barrier.phase},
                            {"waits", toText(getWaiters(barrier))},
                            {"arrives", std::move(arrivers)}};
}

llvm::json::Value KernelReport::toJSON() const {
  llvm::json::Array roleArray, ringArray;
  for (const RoleReport &role : roles)
    roleArray.push_back(llvm::json::Object{{"name", toText(role.name)},
                                           {"first_warp", role.warps.first},
                                           {"warps", role.warps.count}});
  for (const RingReport &ring : rings) {
    llvm::json::Array barriers;
    for (const BarrierReport &barrier : ring.barriers)
      barriers.push_back(::toJSON(barrier));
    ringArray.push_back(
        llvm::json::Object{{"name", toText(ring.name)},
                           {"stages", ring.stages},
                           {"shared_memory_bytes", ring.sharedMemoryBytes},
                           {"tmem_columns", ring.tmemColumns},
                           {"barriers", std::move(barriers)}});
  }
  int64_t others = growing.empty() ? cta.registers : cta.idleRegisters;
  return llvm::json::Object{
      {"kernel", toText(name)},
      {"threads", 32 * cta.warps},
      {"cluster", llvm::json::Array{cluster.m, cluster.n}},
      {"split_k", cluster.k},
      {"roles", std::move(roleArray)},
      {"rings", std::move(ringArray)},
      {"shared_memory_bytes", cta.sharedMemory},
      {"store_queue_bytes", storeQueueBytes},
      {"tmem_columns", tmemColumns},
      {"max_registers_per_thread", getMaxRegisters()},
      {"registers", llvm::json::Object{{"entry", cta.registers},
                                       {"multiply", getMaxRegisters()},
                                       {"others", others}}}};
}
