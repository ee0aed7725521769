// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warpgroups, four warps that do things together: wgmma and setmaxnreg (PTX
// ISA 9.7.15, 9.7.19.5).

#ifndef FP8_LIB_SIMULATOR_MACHINE_WARPGROUP_H
#define FP8_LIB_SIMULATOR_MACHINE_WARPGROUP_H

#include "Machine/UndefinedRegisters.h"
#include "Memory/Async.h"
#include "Memory/Clocks.h"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace fp8::sim {

class Warp;
struct Inst;

constexpr uint32_t kWarpgroup = 4; ///< warps

/// What a warpgroup has begun. Its warps go their own pace, through the same
/// sequence of instructions.
struct Warpgroup {
  struct Step {
    const Inst *inst = nullptr;
    std::array<uint64_t, 3> operands{}; ///< that all warps must agree on
    uint32_t warps = 0;                 ///< that have executed it
    uint32_t first = 0;                 ///< of them, by number in the CTA
    std::vector<SharedAccess> shared;   ///< what it reads
    /// Of each access in `shared` that finds undefined data, why rows of the
    /// operand are undefined, 0 where they are not; else empty.
    std::vector<std::vector<OriginId>> undefinedRows;
    /// Of a sparse wgmma, by thread of the warpgroup.
    std::vector<uint32_t> metadata;
  };
  std::deque<Step> steps; ///< that not all four have executed
  uint32_t stepsDone = 0; ///< by all
  uint32_t complete = 0;  ///< of its wgmma.mma_async, which are in order
  Clock waits;            ///< that come before the issued operations
};

/// A warp's part in the operations of its warpgroup.
struct WgmmaState {
  uint32_t steps = 0;            ///< of its warpgroup that it has executed
  uint32_t issued = 0;           ///< wgmma.mma_async among them
  std::vector<uint32_t> commits; ///< `issued` at each commit_group
  uint32_t fences = 0;
  /// Operations that no wait_group has covered; they own their registers.
  struct Flight {
    const Inst *inst;
    uint32_t number;      ///< `issued`, with it
    uint32_t results;     ///< of its registers, those of D come first
    bool adds;            ///< to D
    unsigned elementBits; ///< of D
    /// Lanes of registers of D that its operands leave undefined.
    struct Undefined {
      uint32_t row, lanes;
      UndefinedBits bits;
    };
    std::vector<Undefined> undefined;

    /// D has been written.
    void land(Warp &warp, const uint32_t *rows) const;
  };
  std::vector<Flight> flights;
  /// By row: 1 + `fences` when an instruction that is no wgmma last used it.
  std::vector<uint32_t> touched;
};

/// What the warps of a warpgroup have to have in common.
enum class Common : uint8_t {
  Place,  ///< the instruction itself, and all operands
  Action, ///< what it does, wherever it is, and the first operand
};
/// Enters `inst` into the sequence of the warp's warpgroup, of which all warps
/// must execute the same. Null after an error.
Warpgroup::Step *joinWarpgroup(Warp &warp, const Inst &inst,
                               const std::array<uint64_t, 3> &operands,
                               Common common = Common::Place);
/// After the step's own work: forgets it when all warps have executed it.
void leaveWarpgroup(Warp &warp);
/// Warps of the warp's warpgroup: 4, or fewer in the last one of a CTA.
uint32_t warpgroupSize(const Warp &warp);

/// The unfinished wgmma that owns the register, or null.
const Inst *wgmmaOwner(const Warp &warp, uint32_t row);
/// `inst`, which is no wgmma, uses registers that wgmma instructions use.
void touchFragments(Warp &warp, const Inst &inst);
/// A warp exits: nothing may be in flight.
void checkWgmmaExit(Warp &warp);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MACHINE_WARPGROUP_H
