// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all bulk copies share: issue, ownership, completion.

#ifndef FP8_LIB_SIMULATOR_ISA_COPY_COPY_H
#define FP8_LIB_SIMULATOR_ISA_COPY_COPY_H

#include "Machine/Machine.h"
#include "Program/Decoder.h"

#include <functional>

namespace fp8::sim {

enum class Reduction : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Payload of cp.async.bulk and cp.reduce.async.bulk. Sources: 0 target, 1
/// source, 2 bytes, then of loads 3 the mbarrier and 4 the CTA mask, and of
/// stores 3 the mask of bytes.
struct BulkCopy {
  uint64_t sourceOffset;
  uint64_t barrierOffset;
  ElementType type;    ///< of a reduction
  Reduction reduction; ///< None: a copy
};

/// Payload of waits for groups of copies.
struct GroupWait {
  uint64_t pending; ///< groups that may stay so
  bool all;         ///< .wait_all, which covers what is not committed too
  bool readOnly;    ///< .read
};

/// The part of a box that lies in its tensor.
struct BoxInside {
  uint64_t begin = 0; ///< where in the tensor; other boxes have other values
  uint32_t bytes = 0;
  uint32_t rows = 1;       ///< of a matrix, that do
  uint32_t rowsBeyond = 0; ///< and that do not
  uint32_t strips = 1;     ///< boxes that the rows of the tensor fill
  int32_t column = 0;      ///< its first, in the tensor
};

/// What a store writes: an address in the buffer, how many bytes of it, and in
/// how many rows.
struct StoreTarget {
  uint64_t address;
  uint32_t bytes;
  uint32_t rows = 1;
};

/// A copy to shared memory that completes on an mbarrier.
struct BulkLoad {
  uint64_t target = 0;    ///< shared::cluster address
  uint32_t bytes = 0;     ///< of shared memory that it owns
  uint32_t padding = 0;   ///< of them that the mbarrier does not count
  uint64_t barrier = 0;   ///< shared::cluster address
  bool multicast = false; ///< to the same offset in all CTAs of `ctaMask`
  uint32_t ctaMask = 0;
  bool pair = false; ///< .cta_group::2: the mbarrier may be the peer CTA's
  Engine engine = Engine::BulkLoad;
  Proxy proxy = Proxy::Async;
  SharedRun source{0, 0, false}; ///< shared memory that it reads, if any
  uint32_t sourceCta = 0;        ///< whose shared memory that is
  bool readsGlobal = false;      ///< `read` is given a whole actor
  BoxInside inside;
  uint64_t global = 0;   ///< an address in the buffer that it reads, if it does
  bool combines = false; ///< SharedRun::combines, of its writes
};

/// Issues the copy. `read` fills the bytes at completion, as the actor that it
/// is given.
using BulkRead = std::function<void(const SharedPlace &, const GlobalActor &)>;
void issueLoad(Warp &warp, const Inst &inst, int lane, const BulkLoad &load,
               BulkRead read);

/// Is shown `bytes` of a store's source from `offset` on.
using SourceVisitor = std::function<void(uint32_t offset, uint32_t bytes)>;

/// Issues a copy of `bytes` from shared memory at `source`, as part of the
/// lane's open bulk group. `write` is given its bytes and the actor that writes
/// them; `reduces`: by a reduction, whose accesses are strong. Undefined bytes
/// are an error if `writes` shows a run of bytes of the source with them: those
/// that are written.
void issueStore(
    Warp &warp, const Inst &inst, int lane, uint64_t source, uint32_t bytes,
    const StoreTarget &target, bool reduces,
    const std::function<void(const SourceVisitor &visit)> &writes,
    std::function<void(const uint8_t *, const GlobalActor &)> write);

/// cp.async.bulk of all kinds.
bool decodeBulk(Decoder &decoder, Inst &inst);
/// st.async and red.async with an mbarrier.
bool decodeStoreAsync(Decoder &decoder, Inst &inst);
bool decodeReduceAsync(Decoder &decoder, Inst &inst);
/// cp.async.bulk.tensor and cp.async.bulk.prefetch.tensor.
bool decodeBulkTensor(Decoder &decoder, Inst &inst);
/// cp.reduce.async.bulk, of tensors from the rank on.
bool decodeReduceBulk(Decoder &decoder, Inst &inst);
bool decodeReduceTensor(Decoder &decoder, Inst &inst);

bool takeReduction(Decoder &decoder, Reduction &reduction);
/// An operation and its type, of those that combine in shared memory.
bool takeSharedReduction(Decoder &decoder, Reduction &reduction,
                         ElementType &type);
/// Combines `bytes` bytes at `target` with those at `source`; without a
/// reduction, copies them.
void reduceBytes(ElementType type, Reduction reduction, uint8_t *target,
                 const uint8_t *source, uint32_t bytes);

/// From shared to global memory, as BulkCopy says.
Flow bulkStore(Warp &warp, const Inst &inst, uint32_t mask);
/// From shared memory of this CTA to that of another.
Flow bulkShared(Warp &warp, const Inst &inst, uint32_t mask);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_COPY_COPY_H
