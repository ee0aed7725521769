// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When asynchronous operations complete. A seed gives each engine a habit:
// soon, late, or as late as possible, that is when no warp can go on without
// it.

#include "Memory/Async.h"

#include <algorithm>

using namespace fp8::sim;

namespace {
// "As late as possible" ends after so many steps, for warps that spin on memory
// rather than wait.
constexpr uint64_t kLatest = 1 << 18;
} // namespace

void AsyncQueue::chooseHabits() {
  for (unsigned engine = 0; engine < unsigned(Engine::Wgmma); ++engine)
    habits[engine] = Habit(random.below(5));
  // A chip has either tcgen05 or wgmma.
  habits[unsigned(Engine::Wgmma)] = habits[unsigned(Engine::Mma)];
  lastFirst = random.below(2);
}

uint64_t AsyncQueue::delay(Habit habit) {
  switch (habit) {
  case Habit::Soon:
    return 1 + random.below(16);
  case Habit::Medium:
    return 1 + random.below(400);
  case Habit::Late:
    return 500 + random.below(10000);
  case Habit::AsLateAsPossible:
    return kLatest;
  case Habit::Mixed:
    return delay(Habit(random.below(4)));
  }
  return 1;
}

void DueList::put(size_t slot, AsyncOp *op) {
  slots[slot] = op;
  size_t node = slots.size() + slot;
  tree[node].count = op ? 1 : 0;
  tree[node].due = op ? op->due : ~uint64_t(0);
  while (node /= 2) {
    const Node &low = tree[2 * node], &high = tree[2 * node + 1];
    tree[node] = {low.count + high.count, std::min(low.due, high.due)};
  }
}

/// Closes the gaps, and leaves as many free slots as there are operations.
void DueList::makeRoom() {
  std::vector<AsyncOp *> ops;
  for (AsyncOp *op : slots)
    if (op)
      ops.push_back(op);
  size_t capacity = 16;
  while (capacity < 2 * ops.size() + 1)
    capacity *= 2;
  slots.assign(capacity, nullptr);
  tree.assign(2 * capacity, {});
  end = 0;
  for (AsyncOp *op : ops)
    put(end++, op);
}

void DueList::add(AsyncOp *op) {
  if (end == slots.size())
    makeRoom();
  put(end++, op);
}

AsyncOp *DueList::takeSlot(size_t node) {
  size_t slot = node - slots.size();
  AsyncOp *op = slots[slot];
  put(slot, nullptr);
  return op;
}

AsyncOp *DueList::take(size_t index) {
  size_t node = 1;
  while (node < slots.size()) {
    node *= 2;
    if (index >= tree[node].count)
      index -= tree[node++].count;
  }
  return takeSlot(node);
}

AsyncOp *DueList::takeDue(uint64_t now) {
  if (earliest() > now)
    return nullptr;
  size_t node = 1;
  while (node < slots.size()) {
    node *= 2;
    if (tree[node].due > now)
      ++node;
  }
  return takeSlot(node);
}

void AsyncQueue::add(std::unique_ptr<AsyncOp> op, uint64_t now) {
  op->due = now + delay(habits[unsigned(op->engine)]);
  op->serial = issued++;
  AsyncOp *raw = op.get();
  raw->place = pending.insert(pending.end(), std::move(op));
  if (raw->pipe >= 0) {
    std::deque<AsyncOp *> &pipe = pipes[raw->pipe];
    pipe.push_back(raw);
    if (pipe.size() > 1)
      return;
  }
  eligible.add(raw);
}

std::unique_ptr<AsyncOp> AsyncQueue::release(AsyncOp *op) {
  if (op->pipe >= 0) {
    std::deque<AsyncOp *> &pipe = pipes[op->pipe];
    pipe.pop_front();
    if (pipe.empty())
      pipes.erase(op->pipe);
    else
      eligible.add(pipe.front());
  }
  std::unique_ptr<AsyncOp> taken = std::move(*op->place);
  pending.erase(taken->place);
  return taken;
}

std::unique_ptr<AsyncOp> AsyncQueue::takeDue(uint64_t now) {
  AsyncOp *op = eligible.takeDue(now);
  return op ? release(op) : nullptr;
}

std::unique_ptr<AsyncOp> AsyncQueue::takeAny() {
  size_t count = eligible.size();
  if (!count)
    return nullptr;
  return release(eligible.take(
      lastFirst && random.below(4) ? count - 1 : random.below(count)));
}
