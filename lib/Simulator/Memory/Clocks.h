// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks: which agents know of which accesses. Agents are warps, in
// several roles, and mbarriers. A warp has one clock for all its lanes. A lane
// that acts alone does not know what the others have done since they last met.

#ifndef FP8_LIB_SIMULATOR_MEMORY_CLOCKS_H
#define FP8_LIB_SIMULATOR_MEMORY_CLOCKS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fp8::sim {

/// The roles of a warp that accesses are ordered by. Each is an agent of its
/// own.
enum class Role : uint8_t {
  Generic,          ///< ordinary loads and stores, of several lanes at once
  OneLane,          ///< and those of an instruction that one lane executes
  CopyAsync,        ///< cp.async
  BulkRead,         ///< shared memory read by its bulk stores
  BulkWrite,        ///< and global memory written by them
  Mma,              ///< tcgen05.mma (and wgmma)
  TensorLoad,       ///< tcgen05.ld, waited for and fenced
  TensorStore,      ///< tcgen05.st, waited for and fenced
  TensorLoadWaited, ///< tcgen05.ld, waited for
  TensorStoreWaited,
  TensorLoadIssued, ///< tcgen05.ld, issued
  TensorStoreIssued,
  TensorLoadRead, ///< tcgen05.ld, of which every register has been read
};
constexpr unsigned kRoles = 13;

class Clock {
public:
  uint32_t get(uint32_t agent) const {
    return agent < times.size() ? times[agent] : 0;
  }
  void raise(uint32_t agent, uint32_t time) {
    if (agent >= times.size())
      times.resize(agent + 1);
    if (times[agent] < time)
      times[agent] = time;
  }
  void lower(uint32_t agent, uint32_t time) {
    if (agent < times.size() && times[agent] > time)
      times[agent] = time;
  }
  /// Of what this has, only what the other has as well.
  void limit(const Clock &other) {
    for (uint32_t i = 0; i < times.size(); ++i)
      times[i] = times[i] < other.get(i) ? times[i] : other.get(i);
  }
  bool covers(const Clock &other) const {
    for (uint32_t i = 0; i < other.times.size(); ++i)
      if (get(i) < other.times[i])
        return false;
    return true;
  }
  void join(const Clock &other) {
    if (times.size() < other.times.size())
      times.resize(other.times.size());
    uint32_t *mine = times.data();
    const uint32_t *theirs = other.times.data();
    for (std::size_t i = 0, n = other.times.size(); i < n; ++i)
      mine[i] = mine[i] < theirs[i] ? theirs[i] : mine[i];
  }

private:
  std::vector<uint32_t> times;
};

/// What synchronisation carries from thread to thread.
struct SyncClocks {
  Clock all;   ///< accesses that happen before
  Clock proxy; ///< of these, what fence.proxy.async has made visible to the
               ///< async proxy in shared memory
  Clock globalProxy; ///< and in global memory
  Clock tensor; ///< of these, tcgen05 accesses that tcgen05.fence orders before
                ///< later tcgen05 operations

  /// What is over by now, known even where memory is not ordered (relaxed
  /// arrivals and waits): a CTA may end when it is.
  Clock reached;

  /// What relaxed arrivals came after: over in time, but not ordered in memory.
  Clock relaxed;

  /// Waits for phases of mbarriers that are over (Warp::waitAgent). Whatever a
  /// thread does after such a wait comes after it, ordered or not.
  Clock waits;

  /// What is over, and no order of memory.
  void joinTime(const SyncClocks &other) {
    reached.join(other.reached);
    relaxed.join(other.relaxed);
    waits.join(other.waits);
  }
  void join(const SyncClocks &other) {
    joinTime(other);
    all.join(other.all);
    proxy.join(other.proxy);
    globalProxy.join(other.globalProxy);
    tensor.join(other.tensor);
  }
};

/// One access, packed: agent, the agent's time, the instruction, and whether it
/// is strong (PTX ISA 8.3).
class AccessTag {
public:
  AccessTag() = default;
  AccessTag(uint32_t agent, uint32_t time, uint32_t instruction,
            bool strong = false)
      : bits(uint64_t(agent) << 50 | uint64_t(time & 0x3ffffff) << 24 |
             uint64_t(strong) << 23 | (instruction & 0x7fffff)) {}
  bool none() const { return bits == 0; }
  uint32_t agent() const { return uint32_t(bits >> 50); }
  uint32_t time() const { return uint32_t(bits >> 24) & 0x3ffffff; }
  uint32_t instruction() const { return uint32_t(bits) & 0x7fffff; }
  bool strong() const { return bits >> 23 & 1; }
  bool operator==(AccessTag other) const { return bits == other.bits; }
  bool operator!=(AccessTag other) const { return bits != other.bits; }

private:
  uint64_t bits = 0;
};
constexpr uint32_t kMaxAgents = 1 << 14;

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_CLOCKS_H
