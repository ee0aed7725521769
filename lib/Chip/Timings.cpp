// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of timing constants, with the source of each.

#include "fp8/Chip/Timing.h"

namespace fp8::chip {
namespace {

// Where each comes from. "sheet": NVIDIA's data sheet. "chooser":
// docs/Chooser.md, measured on an H200. "published": microbenchmarks of H100
// and H800 GPUs (docs/Timing.md). "fit": fitted to half of the shapes that
// docs/Timing.md names, from the value in parentheses.
constexpr AheadTiming kHopperAhead = {
    /*launchUs=*/1.13,       // fit
    /*part=*/0.254,          // fit (0.105, chooser)
    /*ofIdle=*/0.544,        // fit (0.6, chooser)
    /*ofAgain=*/0.164,       // fit (0.05, chooser)
    /*enoughIdle=*/0.333,    // fit
    /*ofShared=*/0.25,       // fit
    /*dramBytesPerNs=*/4360, // measured: no kernel of two surveys had more
};

constexpr Timing kH200 = {
    /*name=*/"NVIDIA H200",
    /*multiprocessors=*/132,      // sheet
    /*clusters=*/kHopperClusters, // measured
    /*partitions=*/4,             // sheet
    /*gigahertz=*/1.965,          // chooser
    /*powerShare=*/0.622,         // fit (0.45, assumed)
    /*powerSlope=*/0.441,         // fit (0.5, assumed)
    /*l2Power=*/0.4,              // fit (0.2, assumed)
    /*dramPower=*/0.25,           // fit
    /*coolUs=*/2.18,              // fit (20, assumed)
    /*warmingUs=*/26,             // fit (30, assumed)
    /*launchUs=*/1.98,            // fit (1.3, assumed)
    /*earlyUs=*/0.62,             // fit (0.8, chooser)
    /*clusterUs=*/0.0806,         // fit (0.3, assumed)
    /*signalUs=*/0.16,            // 0.25 of early, an earlier chooser
    /*constantUs=*/0.633,         // fit (1.6 of early, chooser)
    /*constantOfTwoUs=*/0.24,     // fit
    /*ahead=*/kHopperAhead,
    /*issue=*/
    {{
        /*Free*/ {0, 0},
        /*Arithmetic*/ {1, 4},        // sheet: 32 lanes; published
        /*Packed*/ {2, 4},            // published of a B200
        /*Integer*/ {0.749, 4},       // fit (1, sheet); published
        /*Convert*/ {4.67, 6},        // fit (2, sheet: 16 lanes); assumed
        /*Divide*/ {20, 100},         // assumed, a sequence of instructions
        /*Shuffle*/ {2.19, 27},       // fit (2, assumed); published
        /*SharedLoad*/ {2.17, 4.29},  // fit (1, sheet); fit (29, published)
        /*SharedStore*/ {2.21, 30},   // fit (4, sheet: 128 bytes a cycle);
                                      // assumed
        /*GlobalLoad*/ {1, 1940},     // sheet; fit (500, published: 263 to 744)
        /*GlobalStore*/ {4, 4},       // assumed
        /*Synchronise*/ {2.89, 10.4}, // fit (2, assumed; 12, published)
        /*Tensor*/ {3.45, 4},         // fit (4, assumed)
        /*Copy*/ {4, 4},              // assumed
    }},
    /*wakeCycles=*/20.1,          // fit (30; published: 88 for both ways)
    /*arriveCycles=*/8,           // published
    /*remoteCycles=*/318,         // fit (180, published)
    /*spillFree=*/49.3,           // fit
    /*spillCycles=*/3.66,         // fit
    /*l1LatencyCycles=*/40,       // published
    /*copyCycles=*/55.1,          // fit (40; published: 111 with what precedes)
    /*l2LatencyCycles=*/550,      // fit (420; published: 407)
    /*dramLatencyCycles=*/716,    // fit (1100; published: 595 ns)
    /*mapCycles=*/625,            // fit (320, published)
    /*fillCycles=*/0.111,         // fit
    /*fillSharers=*/52,           // fit
    /*fillPower=*/0.795,          // fit (1, assumed)
    /*fillFree=*/11,              // fit
    /*fillCopies=*/9.41,          // fit
    /*fillSpread=*/0.0632,        // fit (1, assumed)
    /*passCycles=*/426,           // fit
    /*idleShare=*/0.071,          // fit (0, assumed)
    /*clusterMisses=*/0.315,      // fit
    /*l2BytesOfOne=*/74.7,        // fit (64, chooser)
    /*l2Bytes=*/4100,             // fit (4550, measured, docs/FirstHour.md)
    /*l2Sharers=*/2.57,           // fit (2, assumed)
    /*dramBytesOfOne=*/900,       // fit (329, chooser)
    /*dramBytes=*/2960,           // fit (2010, chooser)
    /*dramNorm=*/2.25,            // fit (6, chooser)
    /*storeBytesOfOne=*/32,       // measured, docs/FirstHour.md
    /*storeBytes=*/2100,          // measured, an H100, docs/FirstHour.md
    /*storeRowCycles=*/0.0406,    // fit (0.02, measured, docs/Chooser.md)
    /*storeLatencyCycles=*/206,   // fit (600, assumed)
    /*remoteBytes=*/10.8,         // fit (16, assumed)
    /*remoteLatencyCycles=*/52.9, // fit (200; published: 180)
    /*multiplyAdds=*/4096,        // sheet
    /*productCycles=*/1.67,       // fit (1, published)
    /*productLatencyCycles=*/26,  // fit (60; published: 46)
    /*sharedBytes=*/128,          // published
    /*tensorMemory=*/{},
};

// An H200 with another memory and another power limit, fitted to a survey of
// it.
constexpr Timing kH100 = [] {
  Timing timing = kH200;
  timing.name = "NVIDIA H100";
  timing.powerSlope = 0.4;            // fit
  timing.warmingUs = 13;              // fit
  timing.launchUs = 2;                // fit
  timing.dramLatencyCycles = 526;     // fit
  timing.dramBytesOfOne = 515;        // fit
  timing.ahead.dramBytesPerNs = 3060; // measured, the most, A waited for
  // fit (published: 3.02 to 3.17 TB/s to all SMs; with the norm this is 3.09)
  timing.dramBytes = 2230;
  return timing;
}();

// Nothing of it was measured here. "published": microbenchmarks of B200 and,
// where it says so, B300 GPUs (docs/Timing.md has who, and how far they
// differ). "H200": that GPU's constant above.
constexpr Timing kB200 = [] {
  Timing timing = kH200;
  timing.name = "NVIDIA B200";
  timing.multiprocessors = 148;         // published
  timing.clusters = kBlackwellClusters; // published: a B300, of 8
  timing.gigahertz = 1.965;             // published
  timing.powerSlope = 0.37;             // published: 1.58 GHz at full load
  // ptxas 13.0 spills nothing where a thread has 255 registers and needs 445.
  timing.spillFree = 190;
  timing.copyCycles = 48;          // published: a B300; 96 with what precedes
  timing.l2LatencyCycles = 380;    // published: 450 with issue and wait
  timing.dramLatencyCycles = 1050; // published: 1413 with the map's first use
  timing.mapCycles = 360;          // published
  timing.l2BytesOfOne = 122;       // published: 28 KiB in 234 cycles
  timing.l2Bytes = 8650;           // published: a B300, 17 TB/s
  // published: 7.0 to 7.26 TB/s to all SMs, which the norm makes 1.36 times as
  // long if nothing else takes less
  timing.dramBytes =
      148 / (148 * 1.965 / 7100 / 1.36 - 1 / timing.dramBytesOfOne);
  timing.ahead.dramBytesPerNs = 7260; // published: the most
  timing.storeBytesOfOne = 31;        // published: a B300
  timing.storeBytes = 148 * 20;       // published: 52 cycles for a KiB
  timing.storeLatencyCycles = 300;    // assumed; published: 209, alone
  timing.multiplyAdds = 8192;         // published
  timing.productCycles = 0;           // published
  timing.productLatencyCycles = 108;  // published: 136 with commit and wait
  timing.tensorMemory = {
      /*leastRows=*/128,           // published: 64 rows take as long
      /*pairCycles=*/3,            // published: 1 to 3
      /*pairLatencyCycles=*/34,    // published: 170 in place of 136
      /*copyCycles=*/52,           // published: a B300, 32x128b.warpx4
      /*transferBytes=*/53,        // published: a B300; others 42 to 64
      /*transferLatencyCycles=*/8, // published: a B300, x1
      /*allocateCycles=*/240,      // published: a B300
  };
  return timing;
}();

struct Row {
  std::string_view gpu, chip;
  const Timing *timing;
};
/// A chip's first GPU is what it stands for.
constexpr Row kRows[] = {
    {"h200", "sm_90a", &kH200},
    {"h100", "sm_90a", &kH100},
    {"b200", "sm_100a", &kB200},
};

} // namespace

const Timing *lookupTiming(std::string_view chip, std::string_view gpu) {
  for (const Row &row : kRows)
    if (row.chip == chip && (gpu.empty() || row.gpu == gpu))
      return row.timing;
  return nullptr;
}

std::string getTimedGpus() {
  std::string names;
  for (const Row &row : kRows)
    names += (names.empty() ? "" : ", ") + std::string(row.gpu) + " (" +
             std::string(row.chip) + ")";
  return names;
}

} // namespace fp8::chip
