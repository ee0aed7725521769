// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The roles where products are computed in the registers of warpgroups: these
// multiply, scale and add up. A load role fills rings with A, B and the scales,
// or two do, if B may be loaded early. Where there is a residual or a bias,
// another role loads it.

#include "KernelBuilder.h"
#include "WarpgroupSchedule.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// Makes the rings and deals their ends to the roles.
class WarpgroupRoles : public KernelBuilder {
public:
  WarpgroupRoles(const KernelBuilder &base,
                 const WarpgroupSchedule &warpgroupSchedule)
      : KernelBuilder(base), warpgroupSchedule(warpgroupSchedule) {}

  void build();

private:
  const WarpgroupSchedule &warpgroupSchedule;
};

} // namespace

void WarpgroupRoles::build() {
  bool loadsBEarly = warpgroupSchedule.loadsBEarly();
  SmallVector<Value> load, loadB, multiply;
  for (int64_t i = 0; i < schedule.inputRings; ++i) {
    ResultRange input =
        makeRing(schedule.getInputRing(), 1, /*producers=*/1 + loadsBEarly);
    load.push_back(input.front());
    if (loadsBEarly)
      loadB.push_back(input[1]);
    multiply.push_back(input.back());
  }
  multiply.push_back(
      StoreQueueOp::create(builder, loc, schedule.getStoreQueue()));
  SmallVector<Value> addends = makeAddendRings(multiply);
  if (schedule.cluster.k > 1)
    multiply.push_back(
        ExchangeOp::create(builder, loc, schedule.getExchange()));
  // First come whole warpgroups.
  buildMultiplyRole(*this, warpgroupSchedule, multiply);
  buildLoadRole(*this, load, loadsBEarly ? Factors::A : Factors::Both);
  if (loadsBEarly)
    buildLoadRole(*this, loadB, Factors::B);
  if (!addends.empty())
    buildEpilogueLoadRole(*this, addends);
}

void WarpgroupSchedule::buildRoles(const KernelBuilder &base) const {
  WarpgroupRoles(base, *this).build();
}
