// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the warps of one cluster did, in the order of each: instructions, and
// the events by which warps and engines wait for each other. Replay gives them
// times.

#ifndef FP8_LIB_SIMULATOR_TIMING_TRACE_H
#define FP8_LIB_SIMULATOR_TIMING_TRACE_H

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

struct TraceEvent {
  enum class Kind : uint8_t {
    Arrive,    ///< at `phase`
    Wait,      ///< until all of `phase` have arrived
    Load,      ///< of `bytes` of `buffer`; arrives at `phase`
    Remote,    ///< `bytes` for shared memory; arrives at `phase`
    Store,     ///< of `bytes` to `buffer`, in `count` rows
    StoreWait, ///< until `count` stores of the warp have ended, or have read
    Mma,       ///< of a warpgroup, the warp's `count`-th
    MmaWait,   ///< until `count` of the warp's products have ended
    /// By threads, cp.async and ld; `count` lines that the CTA had not touched.
    AsyncCopy,
    GlobalLoad,
    TensorMma,    ///< of one thread, into tensor memory
    TensorCopy,   ///< to tensor memory
    Commit,       ///< arrives at `phase` behind what the warp's thread started
    Transfer,     ///< of `bytes` between tensor memory and registers
    TransferWait, ///< until the warp's transfers have ended
    Allocate,     ///< tensor memory, or free it
    StartNext,    ///< let the dependent kernel start
    GridWait,     ///< until the preceding kernel has ended
  };
  static constexpr uint32_t kNoPhase = ~uint32_t(0);
  Kind kind = Kind::Arrive;
  bool readOnly = false; ///< of StoreWait
  bool isRemote = false; ///< of Arrive, Commit: at another CTA's barrier
  bool pair = false;     ///< of TensorMma, TensorCopy: both CTAs' engines
  /// Of Load: a further CTA's part of a multicast copy, which the TMA processes
  /// once.
  bool isPart = false;
  uint16_t beyond = 0; ///< of Load: rows of the box outside the tensor
  /// Of Mma, TensorMma: of the product that one SM's tensor cores make, 32
  /// bytes deep.
  uint16_t rows = 0, columns = 0;
  /// Of Load: boxes that the tensor's rows fill. Of the CTAs of a launch the
  /// same part loads each.
  uint16_t strips = 1;
  uint32_t phase = 0; ///< of Commit kNoPhase: it never arrives
  uint32_t buffer = 0;
  /// Of Mma, TensorMma: that one SM's shared memory reads.
  uint32_t bytes = 0;
  uint32_t inside = 0; ///< of Load: bytes that lie in the buffer
  uint32_t pass = 0;   ///< of Load: of its CTA over the operands, from 0
  uint32_t count = 0;
};

class Trace {
public:
  struct Warp {
    uint32_t cta = 0, id = 0; ///< rank, and number in the CTA
    /// Indices of instructions, and of events with kEvent.
    std::vector<uint32_t> steps;
  };
  static constexpr uint32_t kEvent = uint32_t(1) << 31;

  struct Buffer {
    uint64_t address = 0;
    uint64_t bytes = 0;              ///< that it has
    uint64_t loaded = 0, stored = 0; ///< by the cluster
    uint64_t first = 0;              ///< box that it loads
    uint32_t rounds = 0;             ///< how often the first CTA loads that box
  };

  std::vector<Warp> warps;
  std::vector<TraceEvent> events;
  std::vector<Buffer> buffers;
  uint32_t phases = 0; ///< that `events` name
  /// Of the first CTA over its operands: one a tile, if tiles are deeper than
  /// the boxes that are copied.
  uint32_t passes = 1;
  /// Its CTAs meet at a cluster barrier, as those that share anything must
  /// before they end. Others are in a cluster for their place alone, which
  /// costs nothing.
  bool meets = false;

  void addInstruction(uint32_t warp, uint32_t inst) {
    warps[warp].steps.push_back(inst);
  }
  void add(uint32_t warp, const TraceEvent &event) {
    warps[warp].steps.push_back(uint32_t(events.size()) | kEvent);
    events.push_back(event);
  }
  /// The number of the `index`-th phase of what lies at `place`; a place is a
  /// barrier of any kind.
  uint32_t phase(uint64_t place, uint64_t index) {
    auto [at, isNew] = numbers[place].try_emplace(index, phases);
    phases += isNew;
    return at->second;
  }
  /// The number of the buffer at `address`, which has `bytes` bytes.
  uint32_t buffer(uint64_t address, uint64_t bytes) {
    auto [at, isNew] = places.try_emplace(address, uint32_t(buffers.size()));
    if (isNew)
      buffers.push_back({address, bytes});
    return at->second;
  }

private:
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, uint32_t>> numbers;
  std::unordered_map<uint64_t, uint32_t> places;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_TRACE_H
