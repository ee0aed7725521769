// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fit of a machine's constants: what was planted in times is found again.
#include "fp8/Tuning/Fit.h"

#include <gtest/gtest.h>

using namespace fp8::tuning;

namespace {

const Machine &h200 = fp8::chip::machines::kH200;

KernelShape makeKernel(int64_t tileM, int64_t tileN, bool isProgrammatic) {
  KernelShape kernel;
  kernel.config.tileM = tileM;
  kernel.config.tileN = tileN;
  kernel.config.stages = 4;
  kernel.config.programmatic = isProgrammatic;
  kernel.warpgroups = tileM == 64 ? 1 : 2;
  kernel.overlaps = tileM == 64 && tileN <= 128;
  return kernel;
}

/// Times of some kernels on some problems, as that machine would take them.
std::vector<Measurement> measure(const Machine &machine) {
  std::vector<Measurement> measured;
  for (int64_t m : {64, 128, 512, 4096})
    for (int64_t n : {2112, 7168, 24576})
      for (int64_t k : {512, 2048, 7168})
        for (int64_t tileM : {64, 128, 256})
          for (int64_t tileN : {32, 64, 128})
            for (bool isProgrammatic : {false, true}) {
              Measurement one{
                  {m, n, k}, makeKernel(tileM, tileN, isProgrammatic), 0};
              one.us = predict(machine, one.problem, one.kernel).total;
              measured.push_back(one);
            }
  return measured;
}

Machine makeOther() {
  Machine machine = h200;
  machine.dramBytesPerNs = 2900;
  machine.launchUs = 3.1;
  machine.promotionCycles = 120;
  machine.sustainedShare = 0.6;
  machine.epilogueCycles = 1500;
  return machine;
}

} // namespace

TEST(Fit, FindsWhatWasPlanted) {
  std::vector<Measurement> measured = measure(makeOther());
  EXPECT_GT(judge(h200, measured).ninetieth, 0.15);
  Fit found = fit(h200, measured);
  EXPECT_LT(found.median, 0.01);
  EXPECT_LT(found.ninetieth, 0.02);
  EXPECT_NEAR(found.machine.dramBytesPerNs, 2900, 60);
  EXPECT_NEAR(found.machine.launchUs, 3.1, 0.1);
}

TEST(Fit, LeavesWhatNoTimeDependsOn) {
  Fit found = fit(h200, measure(makeOther()));
  // No kernel divides K, has its operands swapped, or is in a cluster.
  EXPECT_DOUBLE_EQ(found.machine.exchangeUs, h200.exchangeUs);
  EXPECT_DOUBLE_EQ(found.machine.swappedRowCycles, h200.swappedRowCycles);
  EXPECT_DOUBLE_EQ(found.machine.clusterUs, h200.clusterUs);
  EXPECT_EQ(found.machine.multiprocessors, h200.multiprocessors);
}

TEST(Fit, LeavesWhatIsNotNamed) {
  Machine found =
      fit(h200, measure(makeOther()), {"launchUs", "dramBytesPerNs"}).machine;
  EXPECT_NE(found.launchUs, h200.launchUs);
  EXPECT_NE(found.dramBytesPerNs, h200.dramBytesPerNs);
  for (const fp8::chip::MachineConstant &constant :
       fp8::chip::getMachineConstants()) {
    if (constant.name != std::string("launchUs") &&
        constant.name != std::string("dramBytesPerNs")) {
      EXPECT_EQ(constant.get(found), constant.get(h200)) << constant.name;
    }
  }
}

TEST(Fit, IsNotLedByOutliers) {
  std::vector<Measurement> measured = measure(makeOther());
  for (size_t i = 0; i < measured.size(); i += 20)
    measured[i].us *= 3;
  Fit found = fit(h200, measured);
  EXPECT_LT(found.median, 0.015);
  EXPECT_NEAR(found.machine.dramBytesPerNs, 2900, 100);
}

TEST(Fit, KeepsToTheLimits) {
  std::vector<Measurement> measured = measure(h200);
  for (Measurement &one : measured)
    one.us *= 1e4;
  Machine found = fit(h200, measured).machine;
  for (const fp8::chip::MachineConstant &constant :
       fp8::chip::getMachineConstants()) {
    EXPECT_GE(constant.get(found), constant.least) << constant.name;
    EXPECT_LE(constant.get(found), constant.most) << constant.name;
  }
}

TEST(Machines, AreFoundByName) {
  for (const Machine *machine : fp8::chip::getMachines()) {
    EXPECT_EQ(fp8::chip::lookupMachine(machine->name), machine);
    for (const fp8::chip::MachineConstant &constant :
         fp8::chip::getMachineConstants()) {
      EXPECT_GE(constant.get(*machine), constant.least)
          << machine->name << ": " << constant.name;
      EXPECT_LE(constant.get(*machine), constant.most)
          << machine->name << ": " << constant.name;
    }
  }
  EXPECT_EQ(fp8::chip::lookupMachine("NVIDIA H2000"), nullptr);
}
