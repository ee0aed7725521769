// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces a cluster for the timing model (Options::timing). A machine that is
// not traced has none.

#ifndef FP8_LIB_SIMULATOR_MACHINE_TIMINGHOOKS_H
#define FP8_LIB_SIMULATOR_MACHINE_TIMINGHOOKS_H

#include "Machine/Mbarrier.h"
#include "Timing/Trace.h"

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace fp8::sim {

class Machine;

class TimingHooks {
public:
  TimingHooks(const Machine &machine, Trace &trace);

  /// Where an instruction is in the control flow (flowOrder).
  uint32_t placeOf(uint32_t inst) const { return order[inst]; }
  /// After an instruction has taken effect.
  void executed(const Warp &warp, const Inst &inst);
  void waited(const Warp &warp, const Mbarrier &barrier);
  void arrived(const Warp &warp, const Mbarrier &barrier);
  /// A copy to shared memory.
  struct Copy {
    uint64_t address; ///< in the global memory that it reads; 0: none
    uint32_t bytes;
    uint32_t inside;      ///< of them, in the tensor
    uint32_t rowsBeyond;  ///< of the box, not in the tensor
    uint64_t begin;       ///< where in the tensor; other boxes have others
    int32_t column;       ///< where the box begins in a row
    uint32_t strips;      ///< boxes that the tensor's rows fill
    uint32_t targets = 1; ///< CTAs that share what is read
    bool isPart = false;  ///< for another than the first of them
  };
  void copied(const Warp &warp, const Mbarrier &barrier, const Copy &copy);
  /// What tcgen05.mma multiplies, of one CTA: rows of A, columns, and the bytes
  /// of operands in its shared memory.
  struct Product {
    uint32_t rows, columns, bytes;
    bool pair;
  };
  void multiplied(const Warp &warp, const Product &product);
  /// An arrival behind what the warp has started; its ticket for `landed`.
  size_t committed(const Warp &warp, const Mbarrier &barrier);
  void landed(size_t ticket, const Mbarrier &barrier);
  /// `bytes`, `rows`: that lie in the tensor.
  void stored(const Warp &warp, int lane, uint64_t address, uint32_t bytes,
              uint32_t rows);

private:
  using Action = void (TimingHooks::*)(const Warp &, const Inst &);
  const Machine &machine;
  Trace &trace;
  std::vector<Action> actions; ///< by instruction; null: none
  const std::vector<uint32_t> order;
  /// By warp: the bulk group of each of its stores.
  std::vector<std::vector<uint32_t>> stores;
  /// By CTA: the lines of global memory that its threads have loaded from.
  std::vector<std::unordered_set<uint64_t>> lines;
  /// By CTA: the passes that it has begun, less one, and the column that it
  /// loaded last, by buffer.
  struct Passes {
    uint32_t last = 0;
    std::unordered_map<uint32_t, std::pair<uint32_t, int32_t>> buffers;
  };
  std::vector<Passes> passes;

  static Action actionOf(const Inst &inst);
  static Action actionOfTensorMemory(const Inst &inst);
  void meetNamed(const Warp &warp, const Inst &inst);
  void meetCluster(const Warp &warp, const Inst &inst);
  void startProduct(const Warp &warp, const Inst &inst);
  void waitForProducts(const Warp &warp, const Inst &inst);
  void waitForStores(const Warp &warp, const Inst &inst);
  /// A load by threads, of what operand `source` points to.
  template <TraceEvent::Kind kind, unsigned source>
  void loadGlobal(const Warp &warp, const Inst &inst);
  void transfer(const Warp &warp, const Inst &inst);
  void copyToTensorMemory(const Warp &warp, const Inst &inst);
  /// An event that has nothing but its kind.
  template <TraceEvent::Kind kind>
  void add(const Warp &warp, const Inst &inst);
  uint32_t phaseOf(const Mbarrier &barrier, uint32_t time);
  uint32_t bufferAt(uint64_t address);
  uint32_t passOf(uint32_t cta, uint32_t buffer, int32_t column);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_TIMINGHOOKS_H
