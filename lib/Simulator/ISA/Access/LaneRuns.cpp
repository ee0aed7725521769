// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses of several lanes at once, where all is as it should be.

#include "ISA/Access/LaneRuns.h"

using namespace fp8::sim;

static uint8_t *accessShared(Warp &w, const Inst &i, uint64_t address,
                             uint32_t bytes, bool write) {
  const uint64_t end = (uint64_t(w.cta.rank) + 1) << kSharedRankShift;
  if (address >> kSharedRankShift != w.cta.rank || bytes > end - address)
    return nullptr;
  const uint32_t offset = uint32_t(address) & kSharedOffsetMask;
  SharedMemory &shared = w.cta.shared;
  return shared.accessOrdered(w, i, offset, bytes, write)
             ? shared.data() + offset
             : nullptr;
}

static uint8_t *accessParam(Warp &w, uint64_t offset, uint32_t bytes,
                            bool write) {
  const std::vector<uint8_t> &all = w.machine.parameters;
  if (write || bytes > all.size() || offset > all.size() - bytes)
    return nullptr;
  return const_cast<uint8_t *>(all.data()) + offset; // which is only read
}

uint8_t *fp8::sim::accessRun(Warp &w, const Inst &i, AccessSpace space,
                             const LaneRun &run, uint32_t size,
                             const uint8_t *value) {
  const bool write = value != nullptr;
  uint64_t address = run.address;
  if (address & (size - 1))
    return nullptr;
  if (space == AccessSpace::Generic) {
    space = AccessSpace::Global;
    if (address >= kSharedWindow && genericToShared(address, address))
      space = AccessSpace::Shared;
    else if (address >= kParamWindow)
      return nullptr;
  }
  switch (space) {
  case AccessSpace::Global:
  case AccessSpace::Const:
    return w.machine.accessOrdered(w, i, run.lanes, address, run.bytes, value);
  case AccessSpace::Shared:
  case AccessSpace::SharedCluster:
    return accessShared(w, i, address, run.bytes, write);
  case AccessSpace::Param:
    return accessParam(w, address, run.bytes, write);
  case AccessSpace::Generic:
  case AccessSpace::Local:
    break;
  }
  return nullptr;
}
