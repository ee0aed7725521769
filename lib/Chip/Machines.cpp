// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of machines and of their constants.
#include "fp8/Chip/Machine.h"

#include <algorithm>

namespace fp8::chip {

// Fitted to benchmark/results/survey: docs/Chooser.md says how.
constexpr Machine machines::kH200 = {
    /*name=*/"NVIDIA H200",
    /*multiprocessors=*/132,
    /*gigahertz=*/1.965,
    /*multiplyAddsPerCycle=*/4096,
    /*mmaRows=*/64,
    /*sustainedShare=*/0.8327,
    /*l2PowerCycles=*/0.001782,
    /*scaledShare=*/0,
    /*betweenTilesCycles=*/0,
    /*productCycles=*/111.6,
    /*overlappedProductCycles=*/33.35,
    /*promotionCycles=*/92.85,
    /*scalePartCycles=*/26.65,
    /*firstScalesCycles=*/327.4,
    /*transferBytesPerCycle=*/0,
    /*swappedRowCycles=*/3.025,
    /*overlappedSwappedRowCycles=*/2.013,
    /*l1BytesPerCycle=*/64.73,
    /*l2BytesPerCycle=*/7539,
    /*dramBytesPerNs=*/4977,
    /*dramBytesPerNsOfOne=*/247.8,
    /*loadLatencyNs=*/691.5,
    /*sharedLatencyNs=*/0,
    /*fillPs=*/48.14,
    /*fillWaitPs=*/16.85,
    /*launchUs=*/2.644,
    /*clusterUs=*/0.2309,
    /*exchangeUs=*/0.2353,
    /*exchangePs=*/265.7,
    /*dividedTogetherShare=*/0.3165,
    /*earlyUs=*/0.5574,
    /*clusters=*/kHopperClusters,
    /*epilogueCycles=*/531.8,
    /*epilogueColumnCycles=*/4.538,
    /*storePs=*/6.947};

// SXM5. Fitted to benchmark/results/survey, too.
constexpr Machine machines::kH100 = {
    /*name=*/"NVIDIA H100 80GB HBM3",
    /*multiprocessors=*/132,
    /*gigahertz=*/1.965,
    /*multiplyAddsPerCycle=*/4096,
    /*mmaRows=*/64,
    /*sustainedShare=*/0.8274,
    /*l2PowerCycles=*/0.002159,
    /*scaledShare=*/0,
    /*betweenTilesCycles=*/0,
    /*productCycles=*/122.9,
    /*overlappedProductCycles=*/32.4,
    /*promotionCycles=*/69.32,
    /*scalePartCycles=*/22.63,
    /*firstScalesCycles=*/302,
    /*transferBytesPerCycle=*/0,
    /*swappedRowCycles=*/4.052,
    /*overlappedSwappedRowCycles=*/2.047,
    /*l1BytesPerCycle=*/66.45,
    /*l2BytesPerCycle=*/7541,
    /*dramBytesPerNs=*/3529,
    /*dramBytesPerNsOfOne=*/200,
    /*loadLatencyNs=*/752.5,
    /*sharedLatencyNs=*/0,
    /*fillPs=*/55.91,
    /*fillWaitPs=*/17.96,
    /*launchUs=*/2.81,
    /*clusterUs=*/0.2229,
    /*exchangeUs=*/0.2298,
    /*exchangePs=*/254.2,
    /*dividedTogetherShare=*/0.443,
    /*earlyUs=*/0.7055,
    /*clusters=*/kHopperClusters,
    /*epilogueCycles=*/603.3,
    /*epilogueColumnCycles=*/4.978,
    /*storePs=*/5.874};

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
    /*clusters=*/kBlackwellClusters,
    /*epilogueCycles=*/507.6,
    /*epilogueColumnCycles=*/1.218,
    /*storePs=*/6.568};

/// What all multiprocessors draw from memory, in bytes a nanosecond.
static constexpr double getDramBytesPerNsOfAll(const Machine &machine) {
  return 1 / (1 / machine.dramBytesPerNs +
              1 / (machine.dramBytesPerNsOfOne * machine.multiprocessors));
}

// Jetson T5000: multiprocessors, clock and 273 GB/s are from its data sheet. Of
// the bandwidth a kernel gets what it gets of the H200's 4800 GB/s; one
// multiprocessor gets what one of the H200 does. The rest is the B200's.
constexpr Machine machines::kThor = [] {
  Machine machine = machines::kB200;
  machine.name = "NVIDIA Jetson T5000";
  machine.multiprocessors = 20;
  machine.gigahertz = 1.575;
  machine.l2BytesPerCycle = 20 * 64;
  machine.dramBytesPerNsOfOne = machines::kH200.dramBytesPerNsOfOne;
  double ofAll = 273 * getDramBytesPerNsOfAll(machines::kH200) / 4800;
  machine.dramBytesPerNs =
      1 /
      (1 / ofAll - 1 / (machine.dramBytesPerNsOfOne * machine.multiprocessors));
  // As many as its SMs hold, since nothing is known of its GPCs.
  for (size_t i = 0; i < ClusterRoom::kSizes.size(); ++i)
    machine.clusters.counts[i] =
        machine.multiprocessors / ClusterRoom::kSizes[i];
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

/// The clusters of so many CTAs.
template <int64_t size>
constexpr MachineConstant makeClusters(const char *name) {
  constexpr size_t place = [] {
    size_t place = 0;
    while (ClusterRoom::kSizes[place] != size)
      ++place;
    return place;
  }();
  return {name,
          1,
          4096,
          false,
          [](const Machine &machine) {
            return double(machine.clusters.counts[place]);
          },
          [](Machine &machine, double value) {
            machine.clusters.counts[place] = value;
          }};
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
    makeClusters<3>("clustersOf3"),
    makeClusters<4>("clustersOf4"),
    makeClusters<5>("clustersOf5"),
    makeClusters<6>("clustersOf6"),
    makeClusters<7>("clustersOf7"),
    makeClusters<8>("clustersOf8"),
    makeClusters<16>("clustersOf16"),
    CONSTANT(epilogueCycles,             0,     1e5,  true),
    CONSTANT(epilogueColumnCycles,       0,     1e3,  true),
    CONSTANT(storePs,                    0,     1e3,  true),
};
#undef CONSTANT
// clang-format on

Table<MachineConstant> getMachineConstants() { return kConstants; }

} // namespace fp8::chip
