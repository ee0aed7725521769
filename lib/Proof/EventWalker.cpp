// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of a role: control flow. Conditions are left open, and so are trip
// counts that are no constants.

#include "EventWalker.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;

unsigned mlir::fp8::getSite(ExtractedEvents &kernel, Operation *op) {
  std::vector<std::string> &sites = kernel.events.sites;
  if (!kernel.ops.empty() && kernel.ops.back() == op)
    return sites.size() - 1;
  std::string text;
  llvm::raw_string_ostream stream(text);
  Location loc = op->getLoc();
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    stream << place.getFilename().getValue() << ':' << place.getLine() << ':'
           << place.getColumn() << ": ";
  stream << op->getName();
  sites.push_back(llvm::json::fixUTF8(text)); // names are any bytes
  kernel.ops.push_back(op);
  return sites.size() - 1;
}

void EventWalker::obstruct(Operation *op, const Twine &reason,
                           bool isExchange) {
  if (kernel.obstacle && (isExchange || !kernel.isExchange))
    return;
  kernel.obstacle = op;
  kernel.reason = reason.str();
  kernel.isExchange = isExchange;
}

void EventWalker::add(StringRef kind, Operation *op, Doers doers, Fields fields,
                      Block &out) {
  Node node{Node::Kind::Event, getSite(kernel, op)};
  node.event = {kind.str(), doers, std::move(fields)};
  out.push_back(std::move(node));
}

void EventWalker::advance(Operation *op, const Place &place, Block &out) {
  Node node{Node::Kind::Advance, getSite(kernel, op)};
  node.cursor = place.cursor;
  node.variable = place.variable;
  out.push_back(std::move(node));
}

void EventWalker::addRanks(Operation *op, function_ref<bool(int64_t)> isIn,
                           Block body, Block &out) {
  Node node{Node::Kind::Ranks, getSite(kernel, op)};
  for (int64_t rank = 0; rank < ranks.getSize(); ++rank)
    if (isIn(rank))
      node.ranks.push_back(rank);
  node.arms.push_back(std::move(body));
  out.push_back(std::move(node));
}

/// The trips of a loop with constant bounds.
static std::optional<int64_t> getTrips(scf::ForOp loop) {
  APInt lower, upper, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return std::nullopt;
  int64_t extent = upper.getSExtValue() - lower.getSExtValue(),
          by = step.getSExtValue();
  return by <= 0 || extent <= 0 ? 0 : (extent + by - 1) / by;
}

void EventWalker::walkRegions(Operation *op, Node::Kind kind, Block &out) {
  Node node{kind, getSite(kernel, op)};
  bool hasEvents = false;
  for (Region &region : op->getRegions()) {
    node.arms.emplace_back();
    if (region.empty())
      continue;
    if (region.hasOneBlock())
      walk(region.front(), node.arms.back());
    else
      walkBlocks(op, region, node.arms.back());
    hasEvents |= !node.arms.back().empty();
  }
  if (!hasEvents)
    return;
  // The default of a switch is its first region.
  if (isa<scf::IndexSwitchOp>(op))
    std::rotate(node.arms.begin(), node.arms.begin() + 1, node.arms.end());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    node.trips = getTrips(loop);
  if (kind == Node::Kind::Choice && isa<scf::ExecuteRegionOp>(op))
    llvm::append_range(out, node.arms.front());
  else
    out.push_back(std::move(node));
}

void EventWalker::walkWhile(Operation *op, Block &out) {
  auto loop = cast<scf::WhileOp>(op);
  Block before, turn;
  walk(*loop.getBeforeBody(), before);
  walk(*loop.getAfterBody(), turn);
  addLoop(op, std::move(before), std::move(turn), out);
}

void EventWalker::addLoop(Operation *op, Block before, Block turn, Block &out) {
  if (before.empty() && turn.empty())
    return;
  llvm::append_range(turn, before);
  llvm::append_range(out, before);
  Node node{Node::Kind::Repeat, getSite(kernel, op)};
  node.arms.push_back(std::move(turn));
  out.push_back(std::move(node));
}

void EventWalker::walkLeading(Operation *op, Block &out) {
  auto leading = cast<LeadingCtaOp>(op);
  Block body;
  if (leading.getBody().hasOneBlock())
    walk(leading.getBody().front(), body);
  else
    walkBlocks(op, leading.getBody(), body);
  if (body.empty())
    return;
  bool ofPair = leading.getGrouping() == CtaGrouping::Pair;
  addRanks(
      op, [&](int64_t rank) { return ofPair ? rank % 2 == 0 : rank == 0; },
      std::move(body), out);
}

void EventWalker::addGridEvent(StringRef kind, Operation *op, bool isSometimes,
                               Block &out) {
  Block event;
  add(kind, op, Doers{}, {}, event);
  if (!isSometimes) {
    llvm::append_range(out, event);
    return;
  }
  Node node{Node::Kind::Choice, getSite(kernel, op)};
  node.arms = {std::move(event), Block()};
  out.push_back(std::move(node));
}

void EventWalker::walk(Operation *op, Block &out) {
  for (GridWait::Place place : gridWait.places)
    if (op == place.before)
      addGridEvent("wait for earlier grids", role,
                   /*isSometimes=*/bool(place.unless), out);
  // In a loop over tiles in the last trip alone.
  if (op == gridWait.startsNext)
    addGridEvent("start next grid", op, /*isSometimes=*/bool(gridWait.tiles),
                 out);
  forward(op, out);
  llvm::TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>([&](auto) { walkRegions(op, Node::Kind::Repeat, out); })
      .Case<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(
          [&](auto) { walkRegions(op, Node::Kind::Choice, out); })
      .Case<scf::WhileOp>([&](auto) { walkWhile(op, out); })
      .Case<LeadingCtaOp>([&](auto) { walkLeading(op, out); })
      .Default([&](Operation *) { walkStep(op, out); });
}

void EventWalker::walk(mlir::Block &block, Block &out) {
  for (Operation &op : block)
    walk(&op, out);
}

RoleEvents EventWalker::walk() {
  auto plan = getPlan<RolePlanAttr>(role);
  result.name = llvm::json::fixUTF8(role.getName());
  result.firstWarp = plan.firstWarp;
  result.warps = role.getWarps();
  findExchanged();
  if (role.getBody().hasOneBlock())
    walk(role.getBody().front(), result.body);
  else
    walkBlocks(role, role.getBody(), result.body);
  return std::move(result);
}
