// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous operations: from issue to completion they own what they write
// and what they read.

#ifndef FP8_LIB_SIMULATOR_ASYNC_H
#define FP8_LIB_SIMULATOR_ASYNC_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

class Warp;
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

struct SharedRun {
  uint32_t cta; ///< rank in the cluster
  uint32_t begin;
  uint32_t size;
  bool write;
};

/// Columns [column, column + count) of the 16-lane units in `units` (one bit a
/// unit) of one CTA's tensor memory.
struct TensorRegion {
  uint8_t units;
  uint16_t column;
  uint16_t count;
  bool write;
  uint32_t cta; ///< rank in the cluster
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
  const Inst *inst = nullptr;
  Warp *issuer = nullptr;
  int lane = 0;
  Engine engine = Engine::BulkLoad;
  uint64_t due = 0;
  /// Operations of one pipe complete in the order of issue; -1: on its own.
  int64_t pipe = -1;
  std::vector<SharedRun> shared;
  std::vector<TensorRegion> tensor;
  int32_t signals = -1; ///< rank of the CTA whose mbarrier it arrives at
  std::function<void()> complete;
};

/// Pending operations and when they complete.
class AsyncQueue {
public:
  AsyncQueue(uint64_t seed) : random(seed ^ 0xa5a5a5a5) { chooseHabits(); }

  bool empty() const { return pending.empty(); }
  uint64_t nextDue() const { return earliest; }
  void add(std::unique_ptr<AsyncOp> op, uint64_t now);
  /// Takes an operation that is due, or null.
  std::unique_ptr<AsyncOp> takeDue(uint64_t now);
  /// Takes any operation that may complete next.
  std::unique_ptr<AsyncOp> takeAny();
  const std::vector<std::unique_ptr<AsyncOp>> &operations() const {
    return pending;
  }
  /// Forgets everything, at the end of a cluster.
  void clear();

private:
  Random random;
  std::vector<std::unique_ptr<AsyncOp>> pending;
  std::vector<AsyncOp *> eligible;
  std::unordered_map<int64_t, std::deque<AsyncOp *>> pipes;
  uint64_t earliest = ~uint64_t(0);
  enum class Habit : uint8_t { Soon, Medium, Late, AsLateAsPossible, Mixed };
  Habit habits[kEngines];
  bool lastFirst = false;

  void chooseHabits();
  uint64_t delay(Habit habit);
  std::unique_ptr<AsyncOp> take(size_t eligibleIndex);
  void refresh();
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ASYNC_H
