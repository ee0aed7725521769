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
    /*launchUs=*/1.31,       // fit
    /*part=*/0.295,          // fit (0.105, chooser)
    /*ofIdle=*/0.514,        // fit (0.6, chooser)
    /*ofFit=*/0.12,          // fit
    /*ofAgain=*/0.128,       // fit (0.05, chooser)
    /*enoughIdle=*/0.333,    // fit
    /*ofShared=*/0.138,      // fit
    /*ofTensor=*/0.131,      // fit
    /*dramBytesPerNs=*/4360, // measured: no kernel of two surveys had more
};

constexpr Timing kH200 = {
    /*name=*/"NVIDIA H200",
    /*multiprocessors=*/132,      // sheet
    /*clusters=*/kHopperClusters, // measured
    /*partitions=*/4,             // sheet
    /*gigahertz=*/1.965,          // chooser
    /*powerShare=*/0.566,         // fit (0.45, assumed)
    /*powerSlope=*/0.46,          // fit: 0.43; raised for long products
    /*l2Power=*/0.376,            // fit (0.2, assumed)
    /*dramPower=*/0.226,          // fit
    /*idlePower=*/0.505,          // fit
    /*coolUs=*/2.39,              // fit (20, assumed)
    /*warmingUs=*/28,             // fit: 26; with powerSlope
    /*launchUs=*/1.98,            // fit (1.3, assumed)
    /*earlyUs=*/0.634,            // fit (0.8, chooser)
    /*clusterUs=*/0.0489,         // fit (0.3, assumed)
    /*signalUs=*/0.16,            // 0.25 of early, an earlier chooser
    /*constantUs=*/0.889,         // fit (1.6 of early, chooser)
    /*constantOfTwoUs=*/0.27,     // fit
    /*ahead=*/kHopperAhead,
    /*issue=*/
    {{
        /*Free*/ {0, 0},
        /*Arithmetic*/ {1, 4},        // sheet: 32 lanes; published
        /*Packed*/ {2, 4},            // published of a B200
        /*Integer*/ {0.765, 4},       // fit (1, sheet); published
        /*Convert*/ {5.66, 6},        // fit (2, sheet: 16 lanes); assumed
        /*Divide*/ {20, 100},         // assumed, a sequence of instructions
        /*Shuffle*/ {2.26, 27},       // fit (2, assumed); published
        /*SharedLoad*/ {2.17, 3.86},  // fit (1, sheet); fit (29, published)
        /*SharedStore*/ {1.98, 30},   // fit (4, sheet: 128 bytes a cycle);
                                      // assumed
        /*GlobalLoad*/ {1, 1860},     // sheet; fit (500, published: 263 to 744)
        /*GlobalStore*/ {4, 4},       // assumed
        /*Synchronise*/ {2.87, 10.8}, // fit (2, assumed; 12, published)
        /*Tensor*/ {3.54, 4},         // fit (4, assumed)
        /*Copy*/ {4, 4},              // assumed
    }},
    /*wakeCycles=*/20.9,          // fit (30; published: 88 for both ways)
    /*arriveCycles=*/8,           // published
    /*remoteCycles=*/252,         // fit (180, published)
    /*spillFree=*/49.3,           // fit
    /*spillCycles=*/4,            // fit
    /*l1LatencyCycles=*/40,       // published
    /*copyCycles=*/53.3,          // fit (40; published: 111 with what precedes)
    /*l2LatencyCycles=*/609,      // fit (420; published: 407)
    /*dramLatencyCycles=*/694,    // fit (1100; published: 595 ns)
    /*mapCycles=*/683,            // fit (320, published)
    /*fillCycles=*/0.101,         // fit
    /*fillSharers=*/51.1,         // fit
    /*fillStrips=*/0.497,         // fit
    /*fillPower=*/0.79,           // fit (1, assumed)
    /*fillFree=*/10.4,            // fit
    /*fillCopies=*/10.7,          // fit
    /*fillSpread=*/0.0492,        // fit (1, assumed)
    /*passCycles=*/313,           // fit
    /*idleShare=*/0.0679,         // fit (0, assumed)
    /*clusterMisses=*/0.282,      // fit
    /*l2BytesOfOne=*/74.9,        // fit (64, chooser)
    /*l2Bytes=*/5190,             // fit (4550, measured, docs/FirstHour.md)
    /*l2Sharers=*/2.57,           // fit (2, assumed)
    /*dramBytesOfOne=*/824,       // fit (329, chooser)
    /*dramBytes=*/3080,           // fit (2010, chooser)
    /*dramNorm=*/1.89,            // fit (6, chooser)
    /*storeBytesOfOne=*/32,       // measured, docs/FirstHour.md
    /*storeBytes=*/2100,          // measured, an H100, docs/FirstHour.md
    /*storeRowCycles=*/0.0347,    // fit (0.02, measured, docs/Chooser.md)
    /*storeLatencyCycles=*/214,   // fit (600, assumed)
    /*remoteBytes=*/12.4,         // fit (16, assumed)
    /*remoteLatencyCycles=*/62.3, // fit (200; published: 180)
    /*multiplyAdds=*/4096,        // sheet
    /*productCycles=*/1.75,       // fit (1, published)
    /*productLatencyCycles=*/27.1, // fit (60; published: 46)
    /*sharedBytes=*/128,           // published
    /*loadCycles=*/2.02,           // fit
    /*loadedCycles=*/40.1,         // fit (29, published)
    /*scaledCycles=*/2.88,         // fit
    /*tensorMemory=*/{},
};

// An H200 with another memory and another power limit, fitted to a survey of
// it.
constexpr Timing kH100 = [] {
  Timing timing = kH200;
  timing.name = "NVIDIA H100";
  timing.powerSlope = 0.43;           // fit
  timing.warmingUs = 5.64;            // fit
  timing.launchUs = 1.84;             // fit
  timing.dramLatencyCycles = 557;     // fit
  timing.dramBytesOfOne = 372;        // fit
  timing.ahead.dramBytesPerNs = 3060; // measured, the most, A waited for
  // fit (published: 3.02 to 3.17 TB/s to all SMs; with the norm this is 3.02)
  timing.dramBytes = 2320;
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
  // published: 7.0 to 7.26 TB/s to all SMs, which the norm makes 1.44 times as
  // long if nothing else takes less
  timing.dramBytes =
      148 / (148 * 1.965 / 7100 / 1.44 - 1 / timing.dramBytesOfOne);
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
