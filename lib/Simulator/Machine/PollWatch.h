// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that poll memory for a value that nobody will store.

#ifndef FP8_LIB_SIMULATOR_MACHINE_POLLWATCH_H
#define FP8_LIB_SIMULATOR_MACHINE_POLLWATCH_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace fp8::sim {

class Warp;
struct Inst;

/// A load or an atomic operation that a warp executes in a loop.
struct Poll {
  const Inst *inst = nullptr;
  bool isShared = false;
  uint64_t address = 0; ///< in global memory, or in shared::cluster
  uint32_t bytes = 0;
};

/// Watches the warps of a cluster while nothing changes: no store, no arrival,
/// no time that is read. A warp that then comes back to a state in which it was
/// before, with all of its lanes that can go on, does so for ever.
class PollWatch {
public:
  bool isOn() const { return on; }
  /// Begins anew, for so many warps.
  void begin(size_t warps);
  void end() { on = false; }
  /// The warp is about to go on.
  void look(Warp &warp);
  /// Whether the warp repeats itself, or cannot go on.
  bool repeats(const Warp &warp) const;
  void note(const Warp &warp, const Poll &poll);
  /// What the warp has polled since the watch began.
  std::vector<Poll> polls(const Warp &warp) const;

private:
  struct Mark {
    bool isSet = false, repeated = false;
    uint64_t place = 0, state = 0;
  };
  bool on = false;
  std::vector<Mark> marks; ///< by warp in the cluster
  /// By warp and instruction.
  std::map<std::pair<uint32_t, uint32_t>, Poll> noted;
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_POLLWATCH_H
