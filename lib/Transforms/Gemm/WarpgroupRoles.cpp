// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The roles where products are computed in the registers of warpgroups: these
// multiply, scale and add up. A load role fills rings with A, B and the scales.
// If these may be loaded early, one role loads A and one B, and another waits
// for the kernels in front. Where there is a residual or a bias, a role of its
// own loads it.

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
  bool loadsEarly = warpgroupSchedule.loadsEarly();
  SmallVector<Value> load, loadB, multiply;
  for (int64_t i = 0; i < schedule.inputRings; ++i) {
    ResultRange input =
        makeRing(schedule.getInputRing(), 1, /*producers=*/1 + loadsEarly);
    load.push_back(input.front());
    if (loadsEarly)
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
  buildLoadRole(*this, load, loadsEarly ? Factors::A : Factors::Both);
  if (loadsEarly)
    buildLoadRole(*this, loadB, Factors::B);
  if (!addends.empty())
    buildEpilogueLoadRole(*this, addends);
  // Those that load early do not wait, and those that multiply wait late.
  if (warpgroupSchedule.multipliesEarly())
    role("signal", 1, {}, [](ValueRange) { return Carried(); });
}

void WarpgroupSchedule::buildRoles(const KernelBuilder &base) const {
  WarpgroupRoles(base, *this).build();
}
