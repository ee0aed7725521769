// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of a kernel: its start, its roles, its end.

#include "EventWalker.h"
#include "SlotContents.h"
#include "fp8/Analysis/GridWait.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using Lanes = Doers::Lanes;

static constexpr Doers kAll{};
/// The first thread of the CTA.
static constexpr Doers kFirst{Lanes::Below, 1, 0};

namespace {

class KernelExtractor {
public:
  explicit KernelExtractor(FunctionOpInterface kernel)
      : kernel(kernel), flow(kernel), cluster(getClusterShape(kernel)) {}

  ExtractedEvents extract();

private:
  void add(StringRef kind, Operation *op, Doers doers,
           std::vector<std::pair<std::string, Quantity>> fields,
           EventBlock &out) {
    EventNode node{EventNode::Kind::Event, getSite(result, op)};
    node.event = {kind.str(), doers, std::move(fields)};
    out.push_back(std::move(node));
  }
  void init(Operation *op, int64_t offset, int64_t count, EventBlock &out);
  void initRing(Operation *ring, EventBlock &out);
  void addStart();
  /// Lets the roles that take no registers give some up.
  void dealRegisters();

  FunctionOpInterface kernel;
  HandleFlow flow;
  ClusterShape cluster;
  ExtractedEvents result;
};

} // namespace

void KernelExtractor::init(Operation *op, int64_t offset, int64_t count,
                           EventBlock &out) {
  add("init", op, kFirst, {{"at", {offset}}, {"count", {count}}}, out);
}

void KernelExtractor::initRing(Operation *ring, EventBlock &out) {
  auto plan = getPlan<RingPlanAttr>(ring);
  Type type = cast<RingOpInterface>(ring).getRing();
  int64_t slots = cast<RingTypeInterface>(type).getNumStages(),
          offset = plan.barrierOffset;
  RingBarriers &barriers = result.events.rings.emplace_back();
  barriers = {slots, offset, offset + 8 * slots};
  barriers.name = getRingName(type);
  for (int64_t arrivals : {plan.fullArrivals, plan.emptyArrivals})
    for (int64_t slot = 0; slot < slots; ++slot, offset += 8)
      init(ring, offset, arrivals, out);
  auto output = dyn_cast<OutputPipelineType>(type);
  if (!output)
    return;
  barriers.allocation = plan.namedBarrier;
  barriers.deallocation =
      plan.barrierOffset + KernelPlan::getDeallocBarrierOffset(output);
  init(ring, *barriers.deallocation, plan.deallocArrivals, out);
  result.events.tensorMemory.push_back(
      {plan.barrierOffset + KernelPlan::getTmemAddressOffset(output),
       kNominalColumns});
}

void KernelExtractor::addStart() {
  KernelEvents &events = result.events;
  mlir::Block &entry = kernel.getFunctionBody().front();
  EventBlock &start = events.start;
  for (Operation &op : entry)
    if (isa<RingOpInterface>(op))
      initRing(&op, start);
  for (auto op : entry.getOps<ExchangeOp>()) {
    ExchangeType type = op.getExchange().getType();
    int64_t offset = getPlan<RingPlanAttr>(op).payloadOffset;
    init(op, offset + KernelPlan::getExchangeFullBarrier(type), 1, start);
    init(op, offset + KernelPlan::getExchangeEmptyBarrier(type),
         type.getCtas() * type.getFragment().getWarps(), start);
  }
  add("init fence", kernel, kFirst, {}, start);
  if (events.clusterSize > 1) {
    add("arrive at start", kernel, kAll, {}, start);
    add("wait at start", kernel, kAll, {}, start);
  } else {
    add("sync", kernel, kAll, {{"id", {0}}}, start);
  }
  if (!kernel->hasAttr(Fp8Dialect::kProgrammaticAttrName) ||
      !waitsBeforeRoles(kernel))
    return;
  add("wait for earlier grids", kernel, kAll, {}, start);
}

void KernelExtractor::dealRegisters() {
  auto plan = getPlan<CtaPlanAttr>(kernel);
  if (!plan.idleRegisters)
    return;
  KernelEvents &events = result.events;
  auto deal = [&](StringRef kind, Operation *op, int64_t registers,
                  EventBlock &block) {
    EventBlock dealt;
    add(kind, op, kAll, {{"registers", {registers}}}, dealt);
    block.insert(block.begin(), dealt.begin(), dealt.end());
  };
  deal("give registers", kernel, plan.idleRegisters, events.idle);
  auto roles = kernel.getFunctionBody().front().getOps<RoleOp>();
  for (auto [role, its] : llvm::zip(roles, events.roles)) {
    auto own = getPlan<RolePlanAttr>(role);
    if (own.takes)
      deal("take registers", role, own.registers, its.body);
    else
      deal("give registers", role, plan.idleRegisters, its.body);
  }
}

ExtractedEvents KernelExtractor::extract() {
  KernelEvents &events = result.events;
  events.clusterSize = cluster.getSize();
  events.warps = getPlan<CtaPlanAttr>(kernel).warps;
  addStart();
  auto roles = kernel.getFunctionBody().front().getOps<RoleOp>();
  for (auto [role, wait] : llvm::zip_equal(roles, getGridWaits(kernel)))
    events.roles.push_back(
        EventWalker(result, flow, ClusterRanks(cluster), role, wait).walk());
  dealRegisters();
  // CTAs that divide K wait for one another where they close the exchange.
  if (events.clusterSize > 1 && cluster.k == 1) {
    add("arrive at end", kernel, kAll, {}, events.end);
    add("wait at end", kernel, kAll, {}, events.end);
  }
  return std::move(result);
}

ExtractedEvents mlir::fp8::extractEvents(FunctionOpInterface kernel) {
  return KernelExtractor(kernel).extract();
}
