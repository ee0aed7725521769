// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of machines and of their constants.
#include "fp8/Chip/Machine.h"

#include <algorithm>

namespace fp8::chip {

// Fitted to a search of 2026-11-22, from the H100's: docs/Chooser.md says how.
constexpr Machine machines::kH200 = {
    /*name=*/"NVIDIA H200",
    /*multiprocessors=*/132,
    /*gigahertz=*/1.965,
    /*multiplyAddsPerCycle=*/4096,
    /*mmaRows=*/64,
    /*sustainedShare=*/0.7726,
    /*l2PowerCycles=*/0.00219,
    /*scaledShare=*/0,
    /*betweenTilesCycles=*/0,
    /*productCycles=*/121.6,
    /*overlappedProductCycles=*/31.83,
    /*promotionCycles=*/62.13,
    /*scalePartCycles=*/30.43,
    /*firstScalesCycles=*/300,
    /*transferBytesPerCycle=*/0,
    /*swappedRowCycles=*/4.506,
    /*overlappedSwappedRowCycles=*/1.992,
    /*l1BytesPerCycle=*/69.24,
    /*l2BytesPerCycle=*/7677,
    /*dramBytesPerNs=*/4567,
    /*dramBytesPerNsOfOne=*/646.1,
    /*loadLatencyNs=*/910.4,
    /*sharedLatencyNs=*/0,
    /*fillPs=*/52.29,
    /*fillWaitPs=*/15,
    /*launchUs=*/2.839,
    /*clusterUs=*/0.2441,
    /*exchangeUs=*/0.2502,
    /*exchangePs=*/256,
    /*dividedTogetherShare=*/0.431,
    /*earlyUs=*/0.66,
    /*clusterMultiprocessors=*/112,
    /*largeClusterMultiprocessors=*/112,
    /*epilogueCycles=*/632.5,
    /*epilogueColumnCycles=*/5.112,
    /*storePs=*/4.705};

// SXM5. Fitted to benchmark/results/survey.
constexpr Machine machines::kH100 = {
    /*name=*/"NVIDIA H100 80GB HBM3",
    /*multiprocessors=*/132,
    /*gigahertz=*/1.965,
    /*multiplyAddsPerCycle=*/4096,
    /*mmaRows=*/64,
    /*sustainedShare=*/0.7502,
    /*l2PowerCycles=*/0.002118,
    /*scaledShare=*/0,
    /*betweenTilesCycles=*/0,
    /*productCycles=*/126,
    /*overlappedProductCycles=*/34.66,
    /*promotionCycles=*/72.4,
    /*scalePartCycles=*/26.78,
    /*firstScalesCycles=*/300,
    /*transferBytesPerCycle=*/0,
    /*swappedRowCycles=*/4.506,
    /*overlappedSwappedRowCycles=*/2.267,
    /*l1BytesPerCycle=*/71.22,
    /*l2BytesPerCycle=*/7122,
    /*dramBytesPerNs=*/3081,
    /*dramBytesPerNsOfOne=*/502.6,
    /*loadLatencyNs=*/839.4,
    /*sharedLatencyNs=*/0,
    /*fillPs=*/57.87,
    /*fillWaitPs=*/15,
    /*launchUs=*/2.624,
    /*clusterUs=*/0.2467,
    /*exchangeUs=*/0.2528,
    /*exchangePs=*/227.8,
    /*dividedTogetherShare=*/0.3736,
    /*earlyUs=*/0.65,
    /*clusterMultiprocessors=*/112,
    /*largeClusterMultiprocessors=*/112,
    /*epilogueCycles=*/645.8,
    /*epilogueColumnCycles=*/4.996,
    /*storePs=*/5.457};

// Nothing was measured here. SMs, clock and multiply-adds are from a data
// sheet. The others are fitted to what the timing model predicts of 1,333
// kernels with scales of f32 and 1,294 of MXFP8, from published constants
// (docs/Chooser.md). Of what tells no two
// kernels apart they keep what an H200 was first taken to have.
constexpr Machine machines::kB200 = {
    /*name=*/"NVIDIA B200",
    /*multiprocessors=*/148,
    /*gigahertz=*/1.85,
    /*multiplyAddsPerCycle=*/8192,
    /*mmaRows=*/128,
    /*sustainedShare=*/1.093,
    /*l2PowerCycles=*/0.002744,
    /*scaledShare=*/1.015,
    /*betweenTilesCycles=*/367.2,
    /*productCycles=*/160,
    /*overlappedProductCycles=*/40,
    /*promotionCycles=*/17.37,
    /*scalePartCycles=*/6.451,
    /*firstScalesCycles=*/842,
    /*transferBytesPerCycle=*/227.4,
    /*swappedRowCycles=*/0,
    /*overlappedSwappedRowCycles=*/0,
    /*l1BytesPerCycle=*/157.6,
    /*l2BytesPerCycle=*/12320,
    /*dramBytesPerNs=*/7796,
    /*dramBytesPerNsOfOne=*/577.9,
    /*loadLatencyNs=*/740.1,
    /*sharedLatencyNs=*/278.7,
    /*fillPs=*/23.53,
    /*fillWaitPs=*/6.688,
    /*launchUs=*/3.037,
    /*clusterUs=*/0.3252,
    /*exchangeUs=*/0.1807,
    /*exchangePs=*/239,
    /*dividedTogetherShare=*/0.2712,
    /*earlyUs=*/0.752,
    /*clusterMultiprocessors=*/148,
    /*largeClusterMultiprocessors=*/120, // of a B300: docs/Timing.md
    /*epilogueCycles=*/507.6,
    /*epilogueColumnCycles=*/1.218,
    /*storePs=*/6.568};

// Jetson T5000: multiprocessors, clock and 273 GB/s are from its data sheet. Of
// the bandwidth a kernel gets what it gets of the H200's 4800 GB/s; one
// multiprocessor gets what one of the H200 does. The rest is the B200's.
constexpr Machine machines::kThor = [] {
  Machine machine = machines::kB200;
  machine.name = "NVIDIA Jetson T5000";
  machine.multiprocessors = 20;
  machine.gigahertz = 1.575;
  machine.l2BytesPerCycle = 20 * 64;
  machine.dramBytesPerNs = 273 * machines::kH200.dramBytesPerNs / 4800;
  machine.dramBytesPerNsOfOne = machines::kH200.dramBytesPerNsOfOne;
  machine.clusterMultiprocessors = machine.largeClusterMultiprocessors = 20;
  return machine;
}();

static const Machine *const kMachines[] = {&machines::kH200, &machines::kH100,
                                           &machines::kB200, &machines::kThor};

Table<const Machine *> getMachines() { return kMachines; }

const Machine *lookupMachine(std::string_view name) {
  auto *found = std::find_if(
      std::begin(kMachines), std::end(kMachines),
      [&](const Machine *machine) { return machine->name == name; });
  return found == std::end(kMachines) ? nullptr : *found;
}

namespace {

template <auto member>
constexpr MachineConstant makeConstant(const char *name, double least,
                                       double most, bool isFitted) {
  return {name,
          least,
          most,
          isFitted,
          [](const Machine &machine) { return double(machine.*member); },
          [](Machine &machine, double value) { machine.*member = value; }};
}

} // namespace

// clang-format off
#define CONSTANT(name, least, most, isFitted) makeConstant<&Machine::name>(#name, least, most, isFitted)
// The limits are far from any GPU's; beyond them a file is no measurement.
static constexpr MachineConstant kConstants[] = {
    //       name                        least  most  fitted
    CONSTANT(multiprocessors,            1,     4096, false),
    CONSTANT(gigahertz,                  0.1,   10,   false),
    CONSTANT(multiplyAddsPerCycle,       64,    1e6,  false),
    CONSTANT(mmaRows,                    1,     256,  false),
    CONSTANT(sustainedShare,             0.05,  1.2,  true),
    CONSTANT(l2PowerCycles,              0,     1,    true),
    CONSTANT(scaledShare,                0,     2,    true),
    CONSTANT(betweenTilesCycles,         0,     1e5,  true),
    CONSTANT(productCycles,              1,     5e3,  true),
    CONSTANT(overlappedProductCycles,    1,     5e3,  true),
    CONSTANT(promotionCycles,            1,     5e3,  true),
    CONSTANT(scalePartCycles,            0,     5e3,  true),
    CONSTANT(firstScalesCycles,          0,     1e4,  true),
    CONSTANT(transferBytesPerCycle,      0,     1e5,  true),
    CONSTANT(swappedRowCycles,           0,     500,  true),
    CONSTANT(overlappedSwappedRowCycles, 0,     500,  true),
    CONSTANT(l1BytesPerCycle,            4,     4096, true),
    CONSTANT(l2BytesPerCycle,            100,   1e6,  true),
    CONSTANT(dramBytesPerNs,             10,    1e5,  true),
    CONSTANT(dramBytesPerNsOfOne,        1,     1e4,  true),
    CONSTANT(loadLatencyNs,              50,    1e4,  true),
    CONSTANT(sharedLatencyNs,            0,     1e4,  true),
    CONSTANT(fillPs,                     0,     1e3,  true),
    CONSTANT(fillWaitPs,                 0,     1e3,  true),
    CONSTANT(launchUs,                   0.1,   50,   true),
    CONSTANT(clusterUs,                  0,     50,   true),
    CONSTANT(exchangeUs,                 0,     50,   true),
    CONSTANT(exchangePs,                 0,     1e4,  true),
    CONSTANT(dividedTogetherShare,       0,     2,    true),
    CONSTANT(earlyUs,                    0,     50,   true),
    CONSTANT(clusterMultiprocessors,     1,     4096, false),
    CONSTANT(largeClusterMultiprocessors, 1,    4096, false),
    CONSTANT(epilogueCycles,             0,     1e5,  true),
    CONSTANT(epilogueColumnCycles,       0,     1e3,  true),
    CONSTANT(storePs,                    0,     1e3,  true),
};
#undef CONSTANT
// clang-format on

Table<MachineConstant> getMachineConstants() { return kConstants; }

} // namespace fp8::chip
