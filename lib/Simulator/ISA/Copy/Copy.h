// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all bulk copies share: issue, ownership, completion.

#ifndef FP8_LIB_SIMULATOR_ISA_COPY_COPY_H
#define FP8_LIB_SIMULATOR_ISA_COPY_COPY_H

#include "Machine/Machine.h"
#include "Program/Decoder.h"

#include <functional>

namespace fp8::sim {

/// A copy to shared memory that completes on an mbarrier.
struct BulkLoad {
  uint64_t target = 0; ///< shared::cluster address
  uint32_t bytes = 0;
  uint64_t barrier = 0;   ///< shared::cluster address
  bool multicast = false; ///< to the same offset in all CTAs of `ctaMask`
  uint32_t ctaMask = 0;
  bool pair = false; ///< .cta_group::2: the mbarrier may be the peer CTA's
  Engine engine = Engine::BulkLoad;
  Proxy proxy = Proxy::Async;
  SharedRun source{0, 0, 0, false}; ///< shared memory that it reads, if any
  bool readsGlobal = false;         ///< `read` is given a whole actor
};

/// Issues the copy. `read` fills the bytes at completion, as the actor that it
/// is given.
void issueLoad(Warp &warp, const Inst &inst, int lane, const BulkLoad &load,
               std::function<void(uint8_t *, const GlobalActor &)> read);

/// Issues a copy of `bytes` from shared memory at `source`, as part of the
/// lane's open bulk group. `write` is given its bytes and the actor that writes
/// them; `reduces`: by a reduction, whose accesses are strong.
void issueStore(
    Warp &warp, const Inst &inst, int lane, uint64_t source, uint32_t bytes,
    bool reduces,
    std::function<void(const uint8_t *, const GlobalActor &)> write);

/// cp.async.bulk of all kinds.
bool decodeBulk(Decoder &decoder, Inst &inst);
/// st.async.
bool decodeStoreAsync(Decoder &decoder, Inst &inst);
/// cp.async.bulk.tensor and cp.async.bulk.prefetch.tensor.
bool decodeBulkTensor(Decoder &decoder, Inst &inst);
/// cp.reduce.async.bulk, of tensors from the rank on.
bool decodeReduceBulk(Decoder &decoder, Inst &inst);
bool decodeReduceTensor(Decoder &decoder, Inst &inst);

/// The operation of a reduction, from 1 on; 0 of reduceBytes is a copy.
bool takeReduction(Decoder &decoder, uint32_t &op);
void reduceBytes(ElementType type, unsigned op, uint8_t *target,
                 const uint8_t *source, uint32_t bytes);

/// The addresses and the size of a bulk copy; false after an error.
struct BulkOperands {
  uint64_t target, source;
  uint32_t bytes;
};
bool bulkOperands(Warp &warp, const Inst &inst, int lane, BulkOperands &o);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ISA_COPY_COPY_H
