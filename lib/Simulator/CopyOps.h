// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all bulk copies share: issue, ownership, completion.

#ifndef FP8_LIB_SIMULATOR_COPYOPS_H
#define FP8_LIB_SIMULATOR_COPYOPS_H

#include "Decoder.h"
#include "Machine.h"

#include <functional>

namespace fp8::sim {

/// Issues a copy of `bytes` to shared memory at `target` (and, when multicast,
/// to the same offset in all CTAs of `ctaMask`) that completes on the mbarrier
/// at `barrierAddress`. `read` fills the bytes at completion.
void issueLoad(Warp &warp, const Inst &inst, int lane, uint64_t target,
               uint32_t bytes, uint64_t barrierAddress, uint32_t ctaMask,
               bool multicast, std::function<void(uint8_t *)> read);

/// Issues a copy of `bytes` from shared memory at `source`, as part of the
/// lane's open bulk group.
void issueStore(Warp &warp, const Inst &inst, int lane, uint64_t source,
                uint32_t bytes, std::function<void(const uint8_t *)> write);

/// cp.async.bulk.tensor and cp.async.bulk.prefetch.tensor.
bool decodeBulkTensor(Decoder &decoder, Inst &inst);
/// cp.reduce.async.bulk.
bool decodeReduceBulk(Decoder &decoder, Inst &inst);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_COPYOPS_H
