// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the records mean that waits leave when they give up, and the stamps of
// profiled kernels: the names behind addresses.

#include "../WaitRecords.h"
#include "RingLowering.h"
#include "Stamps.h"
#include "fp8/Analysis/KernelReport.h"

using namespace mlir;
using namespace mlir::fp8;

/// What warps and barriers are called, for those who read the launch manifest.
static NamedAttrList nameBarriers(FunctionOpInterface kernel) {
  Builder builder(kernel.getContext());
  auto entry = [&](StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  };
  auto text = [&](StringRef value) { return builder.getStringAttr(value); };
  auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };

  KernelReport report(kernel);
  SmallVector<Attribute> roles, barriers;
  for (const RoleReport &role : report.getRoles())
    roles.push_back(builder.getDictionaryAttr(
        {entry("name", text(role.name)),
         entry("first_warp", number(role.warps.first)),
         entry("warps", number(role.warps.count))}));
  for (const RingReport &ring : report.getRings())
    for (const BarrierReport &barrier : ring.barriers) {
      if (barrier.isNamed)
        continue;
      SmallVector<Attribute> arrivals;
      for (const ArrivalReport &arrival : barrier.arrivers)
        arrivals.push_back(
            builder.getDictionaryAttr({entry("role", text(arrival.role)),
                                       entry("count", number(arrival.count)),
                                       entry("how", text(arrival.how))}));
      barriers.push_back(builder.getDictionaryAttr(
          {entry("ring", text(ring.name)), entry("name", text(barrier.name)),
           entry("offset", number(barrier.offset)),
           entry("depth", number(barrier.depth)),
           entry("arrivals", builder.getArrayAttr(arrivals)),
           entry("bytes", number(barrier.bytes))}));
    }
  NamedAttrList names;
  names.set("roles", builder.getArrayAttr(roles));
  names.set("barriers", builder.getArrayAttr(barriers));
  return names;
}

DictionaryAttr mlir::fp8::makeWaitTable(FunctionOpInterface kernel,
                                        int64_t limit) {
  Builder builder(kernel.getContext());
  NamedAttrList table = nameBarriers(kernel);
  table.set("variable", builder.getStringAttr(kWaitRecordsName));
  table.set("limit_ms", builder.getI64IntegerAttr(limit));
  return table.getDictionary(kernel.getContext());
}

DictionaryAttr mlir::fp8::makeProfileTable(FunctionOpInterface kernel,
                                           DictionaryAttr profile) {
  NamedAttrList table = nameBarriers(kernel);
  table.append(profile.begin(), profile.end());
  table.set("variable", StringAttr::get(kernel.getContext(), kStampsName));
  return table.getDictionary(kernel.getContext());
}
