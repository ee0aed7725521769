// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a warp does to the events of the trace.

#include "Machine/TimingHooks.h"

#include "Machine/Machine.h"
#include "Program/FlowOrder.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

using namespace fp8::sim;

namespace {
/// Places of barriers that are no mbarriers, behind all shared memory.
constexpr uint64_t kNamedPlaces = uint64_t(1) << 40, kClusterPlace = uint64_t(1)
                                                                     << 41;

bool has(const ast::Instruction &text, std::string_view qualifier) {
  return std::find(text.qualifiers.begin(), text.qualifiers.end(), qualifier) !=
         text.qualifiers.end();
}

/// The immediate that an instruction ends with.
uint32_t lastImmediate(const Inst &inst) {
  return inst.text->operands.empty()
             ? 0
             : uint32_t(inst.text->operands.back().value);
}
} // namespace

TimingHooks::TimingHooks(const Machine &machine, Trace &trace)
    : machine(machine), trace(trace), order(flowOrder(machine.program)) {
  for (const Inst &inst : machine.program.code)
    actions.push_back(inst.text ? actionOf(inst) : nullptr);
  for (const auto &cta : machine.ctas)
    for (const auto &warp : cta->warps)
      trace.warps.push_back({cta->rank, warp->id, {}});
  stores.resize(trace.warps.size());
  lines.resize(machine.ctas.size());
  passes.resize(machine.ctas.size());
}

template <TraceEvent::Kind kind>
void TimingHooks::add(const Warp &warp, const Inst &) {
  TraceEvent event;
  event.kind = kind;
  trace.add(warp.globalIndex, event);
}

/// `source`: the operand that has the address; the offset of a cp.async is left
/// out. Where the address is overwritten, the lines are not known, and count as
/// new.
template <TraceEvent::Kind kind, unsigned source>
void TimingHooks::loadGlobal(const Warp &warp, const Inst &inst) {
  constexpr unsigned kLineBits = 7; // of L1 (CUDA programming guide)
  TraceEvent event;
  event.kind = kind;
  const uint64_t *address = warp.row(inst.s[source]);
  bool overwritten = std::find(inst.d, inst.d + inst.destinations,
                               inst.s[source]) != inst.d + inst.destinations;
  forLanes(warp.executing().mask, [&](int lane) {
    uint64_t line =
        (address[lane] + (source ? 0 : uint64_t(inst.offset))) >> kLineBits;
    event.count += overwritten || lines[warp.cta.rank].insert(line).second;
  });
  trace.add(warp.globalIndex, event);
}

TimingHooks::Action TimingHooks::actionOf(const Inst &inst) {
  const ast::Instruction &text = *inst.text;
  if (text.opcode == "barrier" && has(text, "cluster"))
    return &TimingHooks::meetCluster;
  if ((text.opcode == "bar" && !has(text, "warp")) || text.opcode == "barrier")
    return &TimingHooks::meetNamed;
  if (text.opcode == "griddepcontrol" && has(text, "launch_dependents"))
    return &TimingHooks::add<TraceEvent::Kind::StartNext>;
  if (text.opcode == "griddepcontrol" && has(text, "wait"))
    return &TimingHooks::add<TraceEvent::Kind::GridWait>;
  if (text.opcode == "wgmma" && has(text, "mma_async"))
    return &TimingHooks::startProduct;
  if (text.opcode == "wgmma" && has(text, "wait_group"))
    return &TimingHooks::waitForProducts;
  if (text.opcode == "cp" && has(text, "bulk") && has(text, "wait_group"))
    return &TimingHooks::waitForStores;
  if (text.opcode == "cp" && has(text, "async") && !has(text, "bulk") &&
      (has(text, "ca") || has(text, "cg")))
    return &TimingHooks::loadGlobal<TraceEvent::Kind::AsyncCopy, 1>;
  if (text.opcode == "ld" && has(text, "global"))
    return &TimingHooks::loadGlobal<TraceEvent::Kind::GlobalLoad, 0>;
  return text.opcode == "tcgen05" ? actionOfTensorMemory(inst) : nullptr;
}

TimingHooks::Action TimingHooks::actionOfTensorMemory(const Inst &inst) {
  using Kind = TraceEvent::Kind;
  constexpr std::pair<std::string_view, Action> kActions[] = {
      {"ld", &TimingHooks::transfer},
      {"st", &TimingHooks::transfer},
      {"cp", &TimingHooks::copyToTensorMemory},
      {"wait::ld", &TimingHooks::add<Kind::TransferWait>},
      {"wait::st", &TimingHooks::add<Kind::TransferWait>},
      {"alloc", &TimingHooks::add<Kind::Allocate>},
      {"dealloc", &TimingHooks::add<Kind::Allocate>},
  };
  for (const auto &[qualifier, action] : kActions)
    if (has(*inst.text, qualifier))
      return action;
  return nullptr;
}

void TimingHooks::executed(const Warp &warp, const Inst &inst) {
  if (Action action = actions[inst.index])
    (this->*action)(warp, inst);
  trace.addInstruction(warp.globalIndex, inst.index);
}

uint32_t TimingHooks::phaseOf(const Mbarrier &barrier, uint32_t time) {
  return trace.phase(uint64_t(barrier.cta->rank) << 32 | barrier.offset, time);
}

uint32_t TimingHooks::bufferAt(uint64_t address) {
  const Buffer *buffer = machine.findBuffer(address);
  return buffer ? trace.buffer(buffer->address, buffer->size)
                : trace.buffer(address, 0);
}

void TimingHooks::waited(const Warp &warp, const Mbarrier &barrier) {
  // Nobody arrives in the phase before the first.
  if (!barrier.phase)
    return;
  TraceEvent event;
  event.kind = TraceEvent::Kind::Wait;
  event.phase = phaseOf(barrier, barrier.time() - 1);
  trace.add(warp.globalIndex, event);
}

void TimingHooks::arrived(const Warp &warp, const Mbarrier &barrier) {
  TraceEvent event;
  event.kind = TraceEvent::Kind::Arrive;
  event.isRemote = barrier.cta != &warp.cta;
  event.phase = phaseOf(barrier, barrier.time());
  trace.add(warp.globalIndex, event);
}

/// A tile's copies go along the rows of its operands. A copy from an earlier
/// column than the one before it, of the same buffer, begins a pass.
uint32_t TimingHooks::passOf(uint32_t cta, uint32_t buffer, int32_t column) {
  Passes &of = passes[cta];
  auto [at, isNew] = of.buffers.try_emplace(buffer, 0, column);
  auto &[pass, before] = at->second;
  pass += column < before;
  before = column;
  return of.last = std::max(of.last, pass);
}

void TimingHooks::copied(const Warp &warp, const Mbarrier &barrier,
                         const Copy &copy) {
  TraceEvent event;
  event.kind = copy.address ? TraceEvent::Kind::Load : TraceEvent::Kind::Remote;
  event.phase = phaseOf(barrier, barrier.time());
  event.bytes = copy.bytes / copy.targets;
  event.inside = copy.inside / copy.targets;
  event.beyond = uint16_t(copy.rowsBeyond);
  event.strips = uint16_t(std::min<uint32_t>(copy.strips, UINT16_MAX));
  event.isPart = copy.isPart;
  if (copy.address) {
    event.buffer = bufferAt(copy.address);
    Trace::Buffer &buffer = trace.buffers[event.buffer];
    if (!buffer.loaded)
      buffer.first = copy.begin;
    buffer.rounds += warp.cta.rank == 0 && copy.begin == buffer.first;
    buffer.loaded += event.inside;
    event.pass = passOf(warp.cta.rank, event.buffer, copy.column);
    if (warp.cta.rank == 0)
      trace.passes = std::max(trace.passes, event.pass + 1);
  }
  trace.add(warp.globalIndex, event);
}

void TimingHooks::stored(const Warp &warp, int lane, uint64_t address,
                         uint32_t bytes, uint32_t rows) {
  TraceEvent event;
  event.kind = TraceEvent::Kind::Store;
  event.buffer = bufferAt(address);
  event.bytes = bytes;
  event.count = rows;
  trace.buffers[event.buffer].stored += bytes;
  trace.add(warp.globalIndex, event);
  stores[warp.globalIndex].push_back(warp.bulk[size_t(lane)].open);
}

/// One lane issues a warp's stores.
void TimingHooks::waitForStores(const Warp &warp, const Inst &inst) {
  uint32_t open = 0;
  for (const CopyGroups &groups : warp.bulk)
    open = std::max(open, groups.open);
  const std::vector<uint32_t> &mine = stores[warp.globalIndex];
  TraceEvent event;
  event.kind = TraceEvent::Kind::StoreWait;
  event.readOnly = has(*inst.text, "read");
  uint32_t pending = lastImmediate(inst);
  event.count =
      uint32_t(std::count_if(mine.begin(), mine.end(), [&](uint32_t group) {
        return group < open && open - group > pending;
      }));
  trace.add(warp.globalIndex, event);
}

void TimingHooks::meetNamed(const Warp &warp, const Inst &inst) {
  const LaneGroup &group = warp.executing();
  TraceEvent event;
  event.kind = TraceEvent::Kind::Arrive;
  event.phase = trace.phase(
      kNamedPlaces | uint64_t(warp.cta.rank) << 8 | group.id, group.ticket);
  trace.add(warp.globalIndex, event);
  if (has(*inst.text, "arrive"))
    return;
  event.kind = TraceEvent::Kind::Wait;
  trace.add(warp.globalIndex, event);
}

void TimingHooks::meetCluster(const Warp &warp, const Inst &inst) {
  TraceEvent event;
  event.kind = has(*inst.text, "arrive") ? TraceEvent::Kind::Arrive
                                         : TraceEvent::Kind::Wait;
  event.isRemote = true;
  const int lane = __builtin_ctz(warp.executing().mask);
  event.phase = trace.phase(kClusterPlace, warp.clusterTickets[size_t(lane)]);
  trace.meets = true;
  trace.add(warp.globalIndex, event);
}

void TimingHooks::startProduct(const Warp &warp, const Inst &inst) {
  TraceEvent event;
  event.kind = TraceEvent::Kind::Mma;
  event.count = warp.wgmma.issued;
  event.rows = 64;
  for (const std::string &qualifier : inst.text->qualifiers)
    if (qualifier.rfind("m64n", 0) == 0)
      event.columns = uint16_t(std::atoi(qualifier.c_str() + 4));
  // A in registers takes no shared memory.
  bool fromRegisters =
      inst.text->operands.size() > 1 &&
      inst.text->operands[1].kind == ast::Operand::Kind::Vector;
  event.bytes = 32u * (event.columns + (fromRegisters ? 0u : event.rows));
  trace.add(warp.globalIndex, event);
}

void TimingHooks::waitForProducts(const Warp &warp, const Inst &inst) {
  const std::vector<uint32_t> &commits = warp.wgmma.commits;
  size_t pending = lastImmediate(inst);
  TraceEvent event;
  event.kind = TraceEvent::Kind::MmaWait;
  event.count =
      commits.size() > pending ? commits[commits.size() - 1 - pending] : 0;
  trace.add(warp.globalIndex, event);
}

void TimingHooks::multiplied(const Warp &warp, const Product &product) {
  TraceEvent event;
  event.kind = TraceEvent::Kind::TensorMma;
  event.rows = uint16_t(product.rows);
  event.columns = uint16_t(product.columns);
  event.bytes = product.bytes;
  event.pair = product.pair;
  trace.add(warp.globalIndex, event);
}

size_t TimingHooks::committed(const Warp &warp, const Mbarrier &barrier) {
  TraceEvent event;
  event.kind = TraceEvent::Kind::Commit;
  event.phase = TraceEvent::kNoPhase;
  event.isRemote = barrier.cta != &warp.cta;
  trace.add(warp.globalIndex, event);
  return trace.events.size() - 1;
}

void TimingHooks::landed(size_t ticket, const Mbarrier &barrier) {
  trace.events[ticket].phase = phaseOf(barrier, barrier.time());
}

void TimingHooks::transfer(const Warp &warp, const Inst &inst) {
  TraceEvent event;
  event.kind = TraceEvent::Kind::Transfer;
  event.bytes = 32u * sizeof(uint32_t) * inst.listCount;
  trace.add(warp.globalIndex, event);
}

void TimingHooks::copyToTensorMemory(const Warp &warp, const Inst &inst) {
  TraceEvent event;
  event.kind = TraceEvent::Kind::TensorCopy;
  event.pair = has(*inst.text, "cta_group::2");
  trace.add(warp.globalIndex, event);
}
