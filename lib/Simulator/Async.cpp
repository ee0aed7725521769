// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When asynchronous operations complete. A seed gives each engine a habit:
// soon, late, or as late as possible, that is when no warp can go on without
// it.

#include "Async.h"

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

void AsyncQueue::add(std::unique_ptr<AsyncOp> op, uint64_t now) {
  op->due = now + delay(habits[unsigned(op->engine)]);
  AsyncOp *raw = op.get();
  pending.push_back(std::move(op));
  if (raw->pipe >= 0) {
    std::deque<AsyncOp *> &pipe = pipes[raw->pipe];
    pipe.push_back(raw);
    if (pipe.size() > 1)
      return;
  }
  eligible.push_back(raw);
  earliest = std::min(earliest, raw->due);
}

void AsyncQueue::refresh() {
  earliest = ~uint64_t(0);
  for (const AsyncOp *op : eligible)
    earliest = std::min(earliest, op->due);
}

std::unique_ptr<AsyncOp> AsyncQueue::take(size_t eligibleIndex) {
  AsyncOp *op = eligible[eligibleIndex];
  eligible.erase(eligible.begin() + int64_t(eligibleIndex));
  if (op->pipe >= 0) {
    std::deque<AsyncOp *> &pipe = pipes[op->pipe];
    pipe.pop_front();
    if (pipe.empty())
      pipes.erase(op->pipe);
    else
      eligible.push_back(pipe.front());
  }
  refresh();
  auto it = std::find_if(pending.begin(), pending.end(),
                         [&](const auto &p) { return p.get() == op; });
  std::unique_ptr<AsyncOp> taken = std::move(*it);
  pending.erase(it);
  return taken;
}

std::unique_ptr<AsyncOp> AsyncQueue::takeDue(uint64_t now) {
  if (earliest > now)
    return nullptr;
  for (size_t i = 0; i < eligible.size(); ++i)
    if (eligible[i]->due <= now)
      return take(i);
  return nullptr;
}

std::unique_ptr<AsyncOp> AsyncQueue::takeAny() {
  if (eligible.empty())
    return nullptr;
  return take(lastFirst && random.below(4) ? eligible.size() - 1
                                           : random.below(eligible.size()));
}

void AsyncQueue::clear() {
  pending.clear();
  eligible.clear();
  pipes.clear();
  earliest = ~uint64_t(0);
}
