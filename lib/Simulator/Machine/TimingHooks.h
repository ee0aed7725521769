// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces a cluster for the timing model (Options::timing). A machine that is
// not traced has none.

#ifndef FP8_LIB_SIMULATOR_MACHINE_TIMINGHOOKS_H
#define FP8_LIB_SIMULATOR_MACHINE_TIMINGHOOKS_H

#include "Machine/Mbarrier.h"
#include "Timing/Trace.h"

#include <functional>
#include <vector>

namespace fp8::sim {

class Machine;

class TimingHooks {
public:
  TimingHooks(const Machine &machine, Trace &trace);

  /// After an instruction has taken effect.
  void executed(const Warp &warp, const Inst &inst);
  void waited(const Warp &warp, const Mbarrier &barrier);
  /// Of the warp itself, or of what it has issued before.
  void arrived(const Warp &warp, const Mbarrier &barrier);
  /// A copy to shared memory.
  struct Copy {
    uint64_t address; ///< in the global memory that it reads; 0: none
    uint32_t bytes;
    uint32_t inside;      ///< of them, in the tensor
    uint32_t rowsBeyond;  ///< of the box, not in the tensor
    uint32_t targets = 1; ///< CTAs that share what is read
  };
  void copied(const Warp &warp, const Mbarrier &barrier, const Copy &copy);
  /// `bytes`: that lie in the tensor.
  void stored(const Warp &warp, int lane, uint64_t address, uint32_t bytes);

private:
  using Action = void (TimingHooks::*)(const Warp &, const Inst &);
  const Machine &machine;
  Trace &trace;
  std::vector<Action> actions; ///< by instruction; null: none
  /// By warp: the bulk group of each of its stores.
  std::vector<std::vector<uint32_t>> stores;

  static Action actionOf(const Inst &inst);
  void meetNamed(const Warp &warp, const Inst &inst);
  void meetCluster(const Warp &warp, const Inst &inst);
  void startProduct(const Warp &warp, const Inst &inst);
  void waitForProducts(const Warp &warp, const Inst &inst);
  void waitForStores(const Warp &warp, const Inst &inst);
  uint32_t phaseOf(const Mbarrier &barrier, uint32_t time);
  uint32_t bufferAt(uint64_t address);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_TIMINGHOOKS_H
