// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared memory of one CTA: bytes, the last write and read of each, and
// which asynchronous operations own them.

#ifndef FP8_LIB_SIMULATOR_MEMORY_SHAREDMEMORY_H
#define FP8_LIB_SIMULATOR_MEMORY_SHAREDMEMORY_H

#include "Memory/AccessShadow.h"
#include "Memory/Async.h"
#include "Memory/Clocks.h"
#include "Memory/ReadMarks.h"
#include "Memory/Undefined.h"
#include "fp8/Simulator/Report.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fp8::sim {

class ClusterContext;
class WarpOrder;
struct Inst;

/// How an asynchronous operation accesses shared memory.
enum class Proxy : uint8_t {
  Generic, ///< cp.async, which needs no proxy fence
  Async,   ///< reads need a fence after generic writes, and writes one after
           ///< all generic accesses: on an H200, a copy overtakes loads whose
           ///< thread has arrived on the mbarrier that it was waiting for
};

class SharedMemory {
public:
  /// `rank`: of its CTA.
  SharedMemory(ClusterContext &context, uint32_t rank, uint32_t size);

  uint32_t size() const { return uint32_t(bytes.size()); }
  uint8_t *data() { return bytes.data(); }

  /// What a read finds.
  enum class Found : uint8_t {
    Nothing, ///< after an error: the bytes are unusable (out of bounds only)
    Defined,
    Undefined, ///< findUndefined says which bytes are
  };
  /// Generic-proxy accesses by one lane. A write is false where a read finds
  /// nothing.
  Found checkRead(WarpOrder &warp, const Inst &inst, int lane, uint64_t offset,
                  uint32_t count);
  bool checkWrite(WarpOrder &warp, const Inst &inst, int lane, uint64_t offset,
                  uint32_t count, const uint8_t *value);

  /// Weak accesses by several lanes at once: records them where all is as it
  /// should be, and they read nothing undefined. Else nothing changes, and it
  /// is false.
  bool accessOrdered(WarpOrder &warp, const Inst &inst, uint32_t offset,
                     uint32_t count, bool write);

  /// An asynchronous operation of `warp` is about to be issued that reads or
  /// writes this run: bounds, ownership, happens-before and proxy fences. `tag`
  /// is what the access is recorded as. `pipe`: operations of the same pipe are
  /// ordered. `undefined` becomes true where the operation finds undefined
  /// data; if it is null, that is an error.
  bool checkAsync(WarpOrder &warp, const Inst &inst, int lane,
                  const SharedRun &run, AccessTag tag, int64_t pipe,
                  Proxy proxy, bool *undefined = nullptr) {
    Obstacle met =
        findObstacle(warp, inst, lane, run.begin, run.size, run.write, pipe);
    InOrder good;
    if (met != Obstacle::Bounds)
      checkParts(warp, inst, lane, run, tag, proxy, met, good, undefined);
    return met != Obstacle::Bounds;
  }
  /// The same of all runs, up to the first that is wrong or that stops the
  /// machine.
  bool checkAsync(WarpOrder &warp, const Inst &inst, int lane,
                  const Footprint &footprint, AccessTag tag, int64_t pipe,
                  Proxy proxy, bool *undefined = nullptr);
  /// The operation owns the bytes from its issue to its completion.
  void own(const Footprint &footprint, const AsyncOp &op);
  void disown(const Footprint &footprint, const AsyncOp &op);

  /// mbarrier objects: ordinary accesses to them are errors.
  /// `init`: what initialised the mbarrier at `offset`; null: it is no more.
  void markBarrier(uint32_t offset, const Inst *init);

  // Undefined data (SharedUndefined.cpp).
  /// Adds those of the bytes that are undefined to `part`. `inst` is the origin
  /// of those that nothing has written.
  void findUndefined(const Inst &inst, uint32_t offset, uint32_t count,
                     UndefinedPart &part);
  /// The latest write of the byte, or none.
  AccessTag lastWrite(uint32_t offset);
  /// Of the bytes that were just written from `offset` on, `part` is undefined.
  void markUndefined(uint32_t offset, const UndefinedPart &part);
  void markUndefined(uint32_t offset, OriginId origin) {
    undefined.mark(offset, origin);
  }
  /// Where undefined data has an effect: says so of the byte.
  void reportUndefined(WarpOrder &warp, const Inst &inst, int lane,
                       uint32_t offset);

private:
  ClusterContext &context;
  const uint32_t rank;
  std::vector<uint8_t> bytes;
  AccessShadow shadow;
  UndefinedPlaces undefined; ///< bytes; what nothing has written as well
  /// The live mbarriers by offset, and what initialised them.
  std::unordered_map<uint32_t, const Inst *> barriers;
  /// An operation in flight that has these granules of a block.
  struct Owner {
    const AsyncOp *op;
    uint64_t granules;
  };
  struct Block {
    uint64_t barriers = 0; ///< granules with live mbarriers
    std::vector<Owner> readers, writers;

    /// Whether an access to one of the granules may meet any of them.
    bool isBusy(uint64_t granules, bool write) const;
  };
  std::vector<Block> blocks;
  ReadMarks readMarks;

  /// Of the operations in flight that may not share the bytes with such an
  /// access, the first that was issued; null when there is none.
  const AsyncOp *conflicting(uint32_t offset, uint32_t count, bool write,
                             int64_t pipe) const;
  bool inBounds(WarpOrder &warp, const Inst &inst, int lane, uint64_t offset,
                uint64_t count);
  bool anyBusy(uint32_t offset, uint32_t count, bool write) const;
  /// Whether the footprint lies in the memory, and meets neither operations in
  /// flight nor mbarriers nor undefined data.
  bool isClear(const Footprint &footprint) const;
  bool checkBusy(WarpOrder &warp, const Inst &inst, int lane, uint32_t offset,
                 uint32_t count, bool write, int64_t pipe);
  /// What an access meets before its order is looked at, and reports: bounds
  /// that it exceeds, or bytes that are in use.
  enum class Obstacle { None, Bounds, InUse };
  Obstacle findObstacle(WarpOrder &warp, const Inst &inst, int lane,
                        uint64_t offset, uint32_t count, bool write,
                        int64_t pipe);
  /// Accesses that an asynchronous operation is known to come after.
  struct InOrder {
    AccessTag write, read, otherRead;
  };
  /// What remains of checkAsync().
  void checkParts(WarpOrder &warp, const Inst &inst, int lane,
                  const SharedRun &run, AccessTag tag, Proxy proxy,
                  Obstacle met, InOrder &good, bool *finds);
  bool ordered(const WarpOrder &warp, AccessTag tag) const;
  /// Whether an access of `warp` is no race with that one: it comes after, or
  /// the two are morally strong.
  bool mayMeet(const WarpOrder &warp, const Inst &inst, AccessTag tag) const;
  /// What has read a part and races with a write of `warp`; none if nothing
  /// has.
  AccessTag unorderedRead(const WarpOrder &warp, const Inst &inst,
                          const Accesses &part) const;
  /// What has written a part and races with an access of `warp`; none if
  /// nothing has. `writes`: the access is a write.
  AccessTag unorderedWrite(const WarpOrder &warp, const Inst &inst,
                           const Accesses &part, bool writes) const;
  /// Returns whether it is an error.
  bool reportRace(Rule rule, WarpOrder &warp, const Inst &inst, int lane,
                  uint32_t offset, AccessTag other, bool otherWrites,
                  bool writes);
  Rule raceOfRead(const WarpOrder &warp, AccessTag written) const;
  bool checkWriteBefore(WarpOrder &warp, const Inst &inst, int lane,
                        uint32_t offset, const Accesses &part, bool isWrite,
                        Proxy proxy);
  bool checkReadsBefore(WarpOrder &warp, const Inst &inst, int lane,
                        uint32_t offset, const Accesses &part, Proxy proxy);
  bool fenced(WarpOrder &warp, const Inst &inst, int lane, uint32_t offset,
              AccessTag earlier, bool earlierWrites, bool writes);
};

/// Where in shared memory a copy's bytes land.
struct SharedPlace {
  SharedMemory &memory;
  uint32_t offset;

  uint8_t *data() const { return memory.data() + offset; }
  SharedPlace operator+(uint32_t bytes) const {
    return {memory, offset + bytes};
  }
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_MEMORY_SHAREDMEMORY_H
