// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous operations: from issue to completion they own what they write
// and what they read.

#ifndef FP8_LIB_SIMULATOR_MEMORY_ASYNC_H
#define FP8_LIB_SIMULATOR_MEMORY_ASYNC_H

#include "Memory/Clocks.h"
#include "Memory/Footprint.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

class WarpOrder;
struct Inst;

/// A small, fast, seeded generator (splitmix64).
class Random {
public:
  explicit Random(uint64_t seed)
      : state(seed * 0x9e3779b97f4a7c15u + 0x1234567) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t bound) { return bound ? next() % bound : 0; }

private:
  uint64_t state;
};

/// Columns [column, column + count) of the 16-lane units in `units` (one bit a
/// unit) of one CTA's tensor memory.
struct TensorRegion {
  uint8_t units;
  uint16_t column;
  uint16_t count;
  bool write;
  uint32_t cta;       ///< rank in the cluster
  bool needed = true; ///< of a read: undefined cells are an error
  /// A sum is read and written: cells to which undefined data was written stay
  /// so.
  bool adds = false;
};

/// What kind of engine runs it; the seed gives each its own habits.
enum class Engine : uint8_t {
  BulkLoad,
  BulkStore,
  CopyAsync,
  Mma,
  TensorLoad,
  Arrival,
  ClusterControl,
  RemoteStore,
  Wgmma
};
constexpr unsigned kEngines = 9;

struct AsyncOp {
  AsyncOp() = default;
  AsyncOp(const Inst &inst, const WarpOrder &issuer, int lane, Engine engine)
      : inst(&inst), issuer(&issuer), lane(lane), engine(engine) {}

  const Inst *inst = nullptr;
  const WarpOrder *issuer = nullptr;
  int lane = 0;
  Engine engine = Engine::BulkLoad;
  uint64_t due = 0;
  uint64_t serial = 0; ///< by order of issue
  /// Operations of one pipe complete in the order of issue; -1: on its own.
  int64_t pipe = -1;
  std::vector<SharedAccess> shared;
  std::vector<TensorRegion> tensor;
  AccessTag tag; ///< of tcgen05.ld and st: what the access is recorded as
  /// Completes while no other cluster runs: it combines with global memory.
  bool exclusive = false;
  int32_t signals = -1; ///< rank of the CTA whose mbarrier it arrives at
  std::function<void()> complete;
  std::list<std::unique_ptr<AsyncOp>>::iterator place; ///< in the queue
};

/// Operations in the order in which they were added, and when they are due.
/// Every function takes time logarithmic in their number.
class DueList {
public:
  size_t size() const { return tree.empty() ? 0 : tree[1].count; }
  uint64_t earliest() const {
    return tree.empty() ? ~uint64_t(0) : tree[1].due;
  }
  void add(AsyncOp *op);
  /// Takes the `index`-th of them out; less than size().
  AsyncOp *take(size_t index);
  /// Takes out the first that is due at `now`; null when there is none.
  AsyncOp *takeDue(uint64_t now);

private:
  /// A binary tree over `slots`, whose leaves begin at slots.size(): how many
  /// operations lie below a node, and when the earliest of them is due.
  struct Node {
    uint32_t count = 0;
    uint64_t due = ~uint64_t(0);
  };
  std::vector<Node> tree;
  std::vector<AsyncOp *> slots; ///< null where one was taken out
  size_t end = 0;               ///< the first slot that was never used

  void put(size_t slot, AsyncOp *op);
  AsyncOp *takeSlot(size_t node);
  void makeRoom();
};

/// Pending operations and when they complete.
class AsyncQueue {
public:
  AsyncQueue(uint64_t seed) : random(seed ^ 0xa5a5a5a5) { chooseHabits(); }

  void add(std::unique_ptr<AsyncOp> op, uint64_t now);
  /// Takes an operation that is due, or null.
  std::unique_ptr<AsyncOp> takeDue(uint64_t now);
  /// Takes any operation that may complete next.
  std::unique_ptr<AsyncOp> takeAny();
  /// In the order of issue.
  const std::list<std::unique_ptr<AsyncOp>> &operations() const {
    return pending;
  }

private:
  Random random;
  std::list<std::unique_ptr<AsyncOp>> pending;
  uint64_t issued = 0;
  DueList eligible; ///< the first of each pipe, and all without a pipe
  std::unordered_map<int64_t, std::deque<AsyncOp *>> pipes;
  enum class Habit : uint8_t { Soon, Medium, Late, AsLateAsPossible, Mixed };
  Habit habits[kEngines];
  bool lastFirst = false;

  void chooseHabits();
  uint64_t delay(Habit habit);
  /// What has been taken out of `eligible` leaves the queue.
  std::unique_ptr<AsyncOp> release(AsyncOp *op);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_ASYNC_H
