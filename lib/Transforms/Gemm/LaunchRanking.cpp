// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which launches of a configuration are ranked, and how fast they are.

#include "LaunchRanking.h"
#include "GemmSchedule.h"

using namespace mlir;
using namespace mlir::fp8;

double mlir::fp8::getMeanTime(double us, double aloneUs) {
  constexpr double kAlone = 1.0 / 3;
  return us + kAlone * (aloneUs - us);
}

static double getMean(const tuning::Prediction &time,
                      const tuning::Predictions &times) {
  return getMeanTime(time.total, times.serial.total);
}

void mlir::fp8::rankLaunches(const GemmConfig &config,
                             const tuning::KernelModel &model,
                             const tuning::Predictions &times,
                             LaunchChoice launch,
                             SmallVectorImpl<RankedConfig> &ranked) {
  auto add = [&](const tuning::Prediction &time, bool programmatic,
                 bool signalsAtWait) {
    ranked.push_back({config, time, times.serial.total,
                      getMean(time, times), &model.getKernel()});
    GemmConfig &added = ranked.back().config;
    added.programmatic = programmatic;
    added.signalsAtWait = signalsAtWait;
    // Without a band such a kernel runs its tiles in the same order, and B's
    // first copy waits for no division.
    if (signalsAtWait && added.band == GemmSchedule::kOneBand)
      added.band = 0;
  };
  bool mayBeEarly = model.getKernel().warpgroups != 0;
  switch (launch) {
  case LaunchChoice::Serial:
    return add(times.serial, false, false);
  case LaunchChoice::Programmatic:
    add(times.programmatic, true, false);
    if (mayBeEarly)
      add(times.early, true, true);
    return;
  case LaunchChoice::Fastest:
    bool early = mayBeEarly && times.early.total < times.programmatic.total;
    const tuning::Prediction &overlapped =
        early ? times.early : times.programmatic;
    if (overlapped.total < times.serial.total)
      return add(overlapped, true, early);
    return add(times.serial, false, false);
  }
}

double mlir::fp8::getBestMean(const tuning::KernelModel &model,
                              const tuning::Predictions &times,
                              LaunchChoice launch) {
  double programmatic = getMean(times.programmatic, times),
         serial = times.serial.total;
  if (model.getKernel().warpgroups != 0)
    programmatic = std::min(programmatic, getMean(times.early, times));
  switch (launch) {
  case LaunchChoice::Serial:
    return serial;
  case LaunchChoice::Programmatic:
    return programmatic;
  case LaunchChoice::Fastest:
    return std::min(programmatic, serial);
  }
  llvm_unreachable("no other launch");
}
