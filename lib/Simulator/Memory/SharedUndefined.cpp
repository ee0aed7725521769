// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined bytes of shared memory: those that nothing has written, and those
// to which undefined data was stored.

#include "Memory/ClusterContext.h"
#include "Memory/SharedMemory.h"

using namespace fp8::sim;

static std::string describeUnwritten(const ClusterContext &context,
                                     const Inst &inst, uint32_t offset) {
  return "'" + ClusterContext::mnemonic(&inst) + "' reads " +
         context.sharedName(offset) + ", which nothing has written in this CTA";
}

void SharedMemory::findUndefined(const Inst &inst, uint32_t offset,
                                 uint32_t count, UndefinedPart &part) {
  const bool anyStored = undefined.find(offset, count);
  auto add = [&](uint32_t at, OriginId origin) {
    if (origin)
      part.add(at - offset, context.origins.throughMemory(origin));
  };
  shadow.eachPart(
      offset, count, AccessShadow::kGranule,
      [&](uint32_t begin, uint32_t size, const Accesses &its) {
        if (its.write.none()) {
          OriginId origin = context.origins.add(
              ErrorKind::UninitialisedMemory, inst, Origins::kMemory,
              [&] { return describeUnwritten(context, inst, begin); });
          for (uint32_t at = begin; at < begin + size; ++at)
            add(at, origin);
          return;
        }
        for (uint32_t at = begin; anyStored && at < begin + size; ++at)
          add(at, undefined.at(at));
      });
}

void SharedMemory::markUndefined(uint32_t offset, const UndefinedPart &part) {
  for (uint32_t byte = 0; byte < part.origins.size(); ++byte)
    if (part.bytes >> byte & 1)
      undefined.mark(offset + byte, part.origins[byte]);
}

void SharedMemory::reportUndefined(WarpOrder &warp, const Inst &inst, int lane,
                                   uint32_t offset) {
  if (OriginId origin = undefined.at(offset))
    context.reportUndefined(origin,
                            "'" + ClusterContext::mnemonic(&inst) + "' reads " +
                                context.sharedName(offset) +
                                ", to which undefined data was stored",
                            &warp, &inst, lane);
  else
    context.error(ErrorKind::UninitialisedMemory,
                  describeUnwritten(context, inst, offset), &warp, &inst, lane);
}
