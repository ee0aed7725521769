// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of timing constants, with the source of each.

#include "fp8/Chip/Timing.h"

#include <cstring>

namespace fp8::chip {
namespace {

// Where each comes from. "sheet": NVIDIA's data sheet. "chooser":
// docs/Chooser.md, measured on an H200. "published": microbenchmarks of H100
// and H800 GPUs (docs/Timing.md). "fit": fitted to half of the rows that
// docs/Timing.md names, from the value in parentheses.
constexpr Timing kH200 = {
    /*name=*/"NVIDIA H200",
    /*multiprocessors=*/132,        // sheet
    /*clusterMultiprocessors=*/112, // chooser
    /*partitions=*/4,               // sheet
    /*gigahertz=*/1.965,            // chooser
    /*powerShare=*/0.45,            // assumed
    /*powerSlope=*/0.4,             // fit (0.5, assumed)
    /*launchUs=*/1.6,               // fit (1.3, assumed)
    /*earlyUs=*/1,                  // fit (0.8, chooser)
    /*clusterUs=*/0.3,              // assumed
    /*issue=*/
    {{
        /*Free*/ {0, 0},
        /*Arithmetic*/ {1, 4},   // sheet: 32 lanes; published: 4 cycles
        /*Convert*/ {2.5, 6},    // fit (2, sheet: 16 lanes); assumed
        /*Divide*/ {20, 100},    // assumed, a sequence of instructions
        /*Shuffle*/ {2, 26},     // assumed; published
        /*SharedLoad*/ {1, 23},  // sheet; fit (29, published)
        /*SharedStore*/ {4, 30}, // sheet: 128 bytes a cycle; assumed
        /*GlobalLoad*/ {1, 780}, // sheet; fit (500, published: 263 to 744)
        /*GlobalStore*/ {4, 4},  // assumed
        /*Synchronise*/ {2, 10}, // assumed; fit (12; published: 6 to 8)
        /*Tensor*/ {2.6, 4},     // fit (4, assumed)
        /*Copy*/ {4, 4},         // assumed
    }},
    /*wakeCycles=*/37.5,         // fit (30; published: 88 for both ways)
    /*arriveCycles=*/8,          // published
    /*remoteCycles=*/180,        // published
    /*copyCycles=*/32,           // fit (40; published: 111 with what precedes)
    /*l2LatencyCycles=*/336,     // fit (420; published: 407)
    /*dramLatencyCycles=*/880,   // fit (1100; published: 595 ns)
    /*mapCycles=*/320,           // published
    /*fillCycles=*/0.041,        // fit (0.033, chooser)
    /*l2BytesOfOne=*/64,         // chooser
    /*l2Bytes=*/5910,            // fit (7392, chooser)
    /*dramBytesOfOne=*/42.5,     // fit (34, chooser)
    /*dramBytes=*/2010,          // chooser
    /*storeBytes=*/32,           // assumed
    /*storeLatencyCycles=*/600,  // assumed
    /*remoteBytes=*/16,          // assumed
    /*remoteLatencyCycles=*/200, // published: 180
    /*multiplyAdds=*/4096,       // sheet
    /*operandBytes=*/128,        // published
    /*productCycles=*/1,         // published
    /*productLatencyCycles=*/38, // fit (60; published: 46)
};

struct Row {
  const char *chip;
  const Timing *timing;
};
constexpr Row kRows[] = {{"sm_90a", &kH200}};

} // namespace

const Timing *lookupTiming(const char *name) {
  for (const Row &row : kRows)
    if (!std::strcmp(row.chip, name))
      return row.timing;
  return nullptr;
}

std::string getTimedChips() {
  std::string names;
  for (const Row &row : kRows)
    names += (names.empty() ? "" : ", ") + std::string(row.chip);
  return names;
}

} // namespace fp8::chip
