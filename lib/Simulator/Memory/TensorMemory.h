// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor memory of one SM: 128 lanes x 512 columns of 32 bits (PTX
// ISA 9.7.16.1), its allocation, and the accesses and the owner of each
// part.
// Accesses are tracked in units of 16 lanes x 1 column, which all tcgen05
// shapes cover whole.

#ifndef FP8_LIB_SIMULATOR_MEMORY_TENSORMEMORY_H
#define FP8_LIB_SIMULATOR_MEMORY_TENSORMEMORY_H

#include "Memory/Async.h"
#include "Memory/Clocks.h"
#include "Memory/Undefined.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fp8::sim {

class ClusterContext;
class WarpOrder;
struct TensorIssue;

constexpr uint32_t kTensorLanes = 128;
constexpr uint32_t kTensorColumns = 512;
constexpr uint32_t kTensorUnits = kTensorLanes / 16;

class TensorMemory {
public:
  /// `rank`: of its CTA.
  TensorMemory(ClusterContext &context, uint32_t rank);

  uint32_t &cell(uint32_t lane, uint32_t column) {
    return cells[lane * kPitch + column];
  }
  uint32_t *lane(uint32_t lane) { return &cells[lane * kPitch]; }

  /// First column of `count` that are free, here and in `other`; or -1.
  int firstFree(uint32_t count, const TensorMemory *other) const;
  void take(uint32_t column, uint32_t count, const Inst &inst);
  /// An allocation that is not free yet.
  struct Allocation {
    uint32_t column;
    uint32_t count;
    const Inst *inst;
    AccessTag peer;  ///< of a pair's: the odd CTA took it here
    AccessTag freed; ///< of a pair's: the other CTA has freed its part here
  };
  /// That of `count` columns from `column` on; null if there is none.
  Allocation *allocationAt(uint32_t column, uint32_t count);
  /// Of an allocation.
  void release(uint32_t column, uint32_t count);
  /// The CTA's first tcgen05.relinquish_alloc_permit; null: none yet.
  const Inst *relinquished = nullptr;
  const std::vector<Allocation> &allocations() const { return live; }
  /// Before `warp` allocates: reports allocations of the CTA that are smaller,
  /// or larger and not ordered before this one. Sizes may not increase (PTX
  /// ISA 9.7.16.7).
  void checkSize(WarpOrder &warp, const Inst &inst, uint32_t count);

  /// Bounds (lanes, columns, allocation), initialisation, ownership,
  /// happens-before. `pipe`: AsyncOp's; -1: of tcgen05.ld and st.
  bool check(WarpOrder &warp, const Inst &inst, const TensorRegion &region,
             AccessTag tag, int64_t pipe);
  /// Before `warp` frees these columns, for its own CTA or the other one of its
  /// pair: reports what may still use them.
  void checkFree(WarpOrder &warp, const Inst &inst, uint32_t column,
                 uint32_t count);
  bool inAllocation(uint32_t column, uint32_t count) const;
  /// An allocation with one of these columns, of which the other CTA of the
  /// pair has freed its part; null if there is none.
  const Allocation *freedByPeer(uint32_t column, uint32_t count) const;
  /// Whether no cell of the region is undefined.
  bool isDefined(const TensorRegion &region) const;
  /// Why a cell is undefined that `inst` reads; 0 if it is not.
  OriginId undefinedAt(const Inst &inst, uint32_t lane, uint32_t column);
  /// The region was written; of what was not defined then, markUndefined tells.
  void markInitialised(const TensorRegion &region);
  void markUndefined(uint32_t lane, uint32_t column, OriginId origin) {
    undefined.mark(lane * kTensorColumns + column, origin);
  }
  void own(const TensorRegion &region, int change);
  bool anyBusy(uint32_t column, uint32_t count) const;

  /// Cells from a lane to the next. They lie in different sets of the host's
  /// caches.
  static constexpr uint32_t kPitch = kTensorColumns + 16;

private:
  ClusterContext &context;
  const uint32_t rank;
  std::vector<uint32_t> cells;
  std::vector<AccessTag> writes; ///< [unit][column]
  std::vector<AccessTag> reads;
  std::vector<uint8_t> initialised;
  UndefinedPlaces undefined; ///< cells; what nothing has written as well
  std::vector<uint16_t> busy;
  std::vector<Allocation> live;
  /// By agent: the smallest and the largest of its allocations so far.
  struct Sizes {
    uint32_t least, most;
    AccessTag smallest, largest;
  };
  std::map<uint32_t, Sizes> sizes;

  static std::string cellName(uint32_t unit, uint32_t column);
  static std::string describeUnwritten(const Inst &inst, uint32_t unit,
                                       uint32_t column);
  void checkPeersFree(const WarpOrder &warp, const Inst &inst,
                      const TensorRegion &region);
  bool isBehindLoadOf(const WarpOrder &warp, uint32_t unit, uint32_t column,
                      AccessTag store) const;
  bool checkOrder(WarpOrder &warp, const Inst &inst, AccessTag earlier,
                  bool earlierWrites, bool writes, uint32_t unit,
                  uint32_t column, const TensorIssue *issue);
  /// Whether nothing has written to that cell, and nothing is writing to it.
  bool isUnwritten(uint32_t unit, uint32_t column) const {
    size_t at = unit * kTensorColumns + column;
    return !initialised[at] && !busy[at];
  }
  /// The first of the region's cells to which undefined data was written:
  /// reports it, and is false then.
  bool checkStored(WarpOrder &warp, const Inst &inst,
                   const TensorRegion &region);
  bool checkBusy(WarpOrder &warp, const Inst &inst, const TensorRegion &region,
                 int64_t pipe);
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_TENSORMEMORY_H
