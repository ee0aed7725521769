// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that copy tensors, between their text and their effect.

#ifndef FP8_LIB_SIMULATOR_ISA_COPY_TENSORCOPY_H
#define FP8_LIB_SIMULATOR_ISA_COPY_TENSORCOPY_H

#include "ISA/Copy/Copy.h"
#include "ISA/Copy/Tma.h"

namespace fp8::sim {

/// Payload of copies of tensors. Sources: 0 shared address, 1 map, 2 mbarrier
/// of loads, then the CTA mask if multicast. List: coordinates, then offsets.
struct TensorCopy {
  uint64_t mapOffset; ///< with the window of the map's state space
  uint64_t barrierOffset;
  uint8_t rank;
  uint8_t offsets; ///< of pixels, that are given
  BoxMode mode;
  bool pair; ///< of loads: .cta_group::2
  Reduction reduction;

  unsigned coordinates() const {
    return mode == BoxMode::Rows ? 1 + kGatheredRows : rank;
  }
};

/// Handlers of loads, of stores and reductions, and of prefetches.
Flow loadTensor(Warp &warp, const Inst &inst, uint32_t mask);
Flow storeTensor(Warp &warp, const Inst &inst, uint32_t mask);
Flow prefetchTensor(Warp &warp, const Inst &inst, uint32_t mask);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_COPY_TENSORCOPY_H
