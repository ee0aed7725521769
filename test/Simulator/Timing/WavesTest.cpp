// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CTAs that wait for an SM, and how many passes CTAs make.

#include "Timing/Waves.h"

#include <gtest/gtest.h>

using namespace fp8::sim;

namespace {

/// A trace of a CTA that makes so many passes, and stores as many of the
/// output's bytes.
Trace traceOf(uint32_t passes, uint64_t output, uint64_t stores) {
  Trace trace;
  trace.passes = passes;
  trace.buffer(4096, output);
  trace.buffers[0].stored = stores;
  return trace;
}

TracedLaunch launchOf(uint64_t ctas, uint32_t passes = 1,
                      double ctasOfMost = 0) {
  TracedLaunch launch;
  launch.ctas = ctas;
  launch.passes = passes;
  launch.ctasOfMost = ctasOfMost;
  return launch;
}

TEST(WavesTest, CtasOfOnePassTakeWavesOneAfterAnother) {
  EXPECT_EQ(wavesCycles(launchOf(240), 120, 1, 100, 0), 200);
  EXPECT_EQ(wavesCycles(launchOf(132), 120, 1, 100, 60), 160);
  EXPECT_EQ(wavesCycles(launchOf(252), 120, 1, 100, 60), 260);
}

TEST(WavesTest, ALateCtaStartsBehindOneOfFewerPasses) {
  // Of 120 CTAs that run 40 make two passes, and the others end after one. Then
  // the 12 that are left make theirs, before the 40 end.
  EXPECT_EQ(wavesCycles(launchOf(132, 2, 40), 120, 2, 100, 60), 100);
  // Ten end after one: two of the 12 start behind those of two passes.
  EXPECT_EQ(wavesCycles(launchOf(132, 2, 110), 120, 2, 100, 60), 130);
  // All 120 make two, and some of the 12 as well.
  EXPECT_EQ(wavesCycles(launchOf(132, 2, 125), 120, 2, 100, 60), 160);
}

TEST(WavesTest, ATraceOfFewerPassesStandsForCtasThatMakeAsMany) {
  EXPECT_EQ(wavesCycles(launchOf(132, 3, 40), 120, 2, 100, 60), 160);
  // The one pass that all make is slow, the second of a few is not.
  EXPECT_EQ(wavesCycles(launchOf(132, 2, 12), 120, 1, 100, 20), 120);
  EXPECT_EQ(wavesCycles(launchOf(132, 2, 12), 120, 2, 130, 40), 130);
}

TEST(WavesTest, TheBytesStoredTellHowManyCtasMakeTheLastPass) {
  TracedLaunch launch = launchOf(100);
  // 150 tiles of ten bytes for 100 CTAs, of which the one at 40 makes two
  // passes.
  countPasses(launch, {traceOf(2, 1500, 20), traceOf(2, 1500, 20)});
  EXPECT_EQ(launch.passes, 2u);
  EXPECT_NEAR(launch.ctasOfMost, 50, 1e-9);
  // It makes one: fewer than 40 make two.
  launch = launchOf(100);
  countPasses(launch, {traceOf(2, 1500, 20), traceOf(1, 1500, 10)});
  EXPECT_NEAR(launch.ctasOfMost, 40, 1e-9);
  // A first tile that lies half outside the output stores less.
  launch = launchOf(100);
  countPasses(launch, {traceOf(2, 1500, 15), traceOf(2, 1500, 20)});
  EXPECT_NEAR(launch.ctasOfMost, 50, 1e-9);
}

TEST(WavesTest, ALaunchThatStoresNothingMakesAllItsPasses) {
  TracedLaunch launch = launchOf(100);
  Trace trace;
  trace.passes = 3;
  countPasses(launch, {trace});
  EXPECT_EQ(launch.passes, 3u);
  EXPECT_NEAR(launch.ctasOfMost, 100, 1e-9);
}

} // namespace
