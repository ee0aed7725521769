// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of each GPU. docs/Chooser.md says how they were found.
#include "fp8/Chip/Machine.h"

using fp8::chip::Machine;

const Machine fp8::chip::h200 = {
    /*name=*/"NVIDIA H200",
    /*multiprocessors=*/132,
    /*gigahertz=*/1.965,
    /*multiplyAddsPerCycle=*/4096,
    /*mmaRows=*/64,
    /*sustainedShare=*/0.75,
    /*l2PowerCycles=*/0.002,
    /*productCycles=*/160,
    /*overlappedProductCycles=*/40,
    /*promotionCycles=*/95,
    /*scalePartCycles=*/20,
    /*l1BytesPerCycle=*/64,
    /*l2BytesPerCycle=*/132 * 64,
    /*dramBytesPerNs=*/3950,
    /*dramBytesPerNsOfOne=*/60,
    /*loadLatencyNs=*/700,
    /*fillPs=*/17,
    /*launchUs=*/2.4,
    /*clusterUs=*/0.5,
    /*exchangeUs=*/0.5,
    /*earlyUs=*/0.8,
    /*earlyIdleShare=*/0.07,
    /*earlyTogetherShare=*/0.2,
    /*clusterMultiprocessors=*/112,
    /*epilogueCycles=*/1000,
    /*epilogueColumnCycles=*/5};

const Machine fp8::chip::b200 = {
    /*name=*/"NVIDIA B200",
    /*multiprocessors=*/148,
    /*gigahertz=*/1.85,
    /*multiplyAddsPerCycle=*/8192,
    /*mmaRows=*/128,
    /*sustainedShare=*/0.75,
    /*l2PowerCycles=*/0.002,
    /*productCycles=*/160,
    /*overlappedProductCycles=*/40,
    /*promotionCycles=*/28,
    /*scalePartCycles=*/4,
    /*l1BytesPerCycle=*/64,
    /*l2BytesPerCycle=*/148 * 64,
    /*dramBytesPerNs=*/6600,
    /*dramBytesPerNsOfOne=*/90,
    /*loadLatencyNs=*/800,
    /*fillPs=*/17,
    /*launchUs=*/2.4,
    /*clusterUs=*/0.5,
    /*exchangeUs=*/0.5,
    /*earlyUs=*/0.8,
    /*earlyIdleShare=*/0.07,
    /*earlyTogetherShare=*/0.2,
    /*clusterMultiprocessors=*/148,
    /*epilogueCycles=*/1000,
    /*epilogueColumnCycles=*/5};
