// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grid on several threads of the host does what it does on one.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

constexpr uint32_t kCtas = 24, kThreads = 64;
constexpr uint32_t kWords = kCtas * kThreads;

struct Outcome {
  std::vector<uint32_t> words;
  std::string report;
  std::vector<std::string> printed;
  uint64_t instructions, barrierEvents, hash;

  bool operator==(const Outcome &other) const {
    return words == other.words && report == other.report &&
           printed == other.printed && instructions == other.instructions &&
           barrierEvents == other.barrierEvents && hash == other.hash;
  }
};

/// %w: the thread's number in the grid, %o: the address of its word in `out`,
/// %out of the first; %c: of its CTA.
Outcome outcomeOf(const std::string &body, uint64_t seed, unsigned threads,
                  const std::string &variables, unsigned residents) {
  std::string text = kernel(".param .u64 out", R"(
  .reg .pred %p<4>;
  .reg .b32 %r<10>;
  .reg .b64 %d<10>;
  .reg .b64 %out, %o;
  .reg .b32 %t, %c, %w;
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mad.lo.u32 %w, %c, 64, %t;
  mad.wide.u32 %o, %w, 4, %out;
)" + body + "\n  ret;",
                            "sm_100a", variables);
  Device device;
  uint64_t address = *device.allocate("out", kWords * 4);
  LaunchConfig config;
  config.grid = {kCtas, 1, 1};
  config.block = {kThreads, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  options.threads = threads;
  options.residentClusters = residents;
  Outcome outcome;
  options.onPrint = [&](const PrintedText &text) {
    outcome.printed.push_back(text.str());
  };
  Report report =
      run(device, text, {KernelArgument::value(address)}, config, options);
  outcome.words.resize(kWords);
  device.read(address, outcome.words.data(), kWords * 4);
  outcome.report = report.str();
  outcome.instructions = report.statistics.warpInstructions;
  outcome.barrierEvents = report.barrierEventCount;
  outcome.hash = report.barrierEventHash;
  return outcome;
}

/// The outcome on one thread, which that on several must equal.
Outcome expectSame(const std::string &body, uint64_t seed,
                   const std::string &variables = "", unsigned residents = 6) {
  Outcome one = outcomeOf(body, seed, 1, variables, residents);
  for (unsigned threads : {2, 5}) {
    Outcome many = outcomeOf(body, seed, threads, variables, residents);
    EXPECT_EQ(many.report, one.report);
    EXPECT_TRUE(many == one)
        << "seed " << seed << ", " << threads << " threads";
  }
  return one;
}

constexpr uint64_t kSeeds = 8;

} // namespace

TEST(Grid, ClustersThatShareNothing) {
  // Each thread goes round as often as its CTA says, and adds up.
  const std::string body = R"(
  mov.u32 %r0, 0; mul.lo.u32 %r1, %c, 8;
L: st.global.u32 [%o], %r0; bar.sync 0; ld.global.u32 %r0, [%o];
  add.u32 %r0, %r0, %w; setp.eq.u32 %p0, %r1, 0; sub.u32 %r1, %r1, 1;
  @!%p0 bra L;
  st.global.u32 [%o], %r0;
)";
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome = expectSame(body, seed);
    EXPECT_EQ(outcome.report, "");
    for (uint32_t w = 0; w < kWords; ++w)
      ASSERT_EQ(outcome.words[w], w * (w / kThreads * 8 + 1));
  }
}

TEST(Grid, Atomics) {
  // Tickets in the order in which the clusters draw them.
  const std::string body = R"(
  setp.ne.u32 %p0, %t, 0; @%p0 bra END;
  mov.u32 %r1, 0;
L: atom.global.add.u32 %r0, [%out], 1; st.global.u32 [%o+8], %r0;
  add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 20; @%p0 bra L;
END:
)";
  bool differ = false;
  std::vector<uint32_t> first;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome = expectSame(body, seed);
    EXPECT_EQ(outcome.report, "");
    EXPECT_EQ(outcome.words[0], 20 * kCtas);
    differ |= seed && outcome.words != first;
    first = outcome.words;
  }
  EXPECT_TRUE(differ);
}

TEST(Grid, AFlagHandsOver) {
  // Each cluster waits for the one before it, which has its word ready then.
  const std::string body = R"(
  setp.ne.u32 %p0, %t, 0; @%p0 bra END;
  mov.u32 %r0, 0; setp.eq.u32 %p0, %c, 0; @%p0 bra FIRST;
W: ld.acquire.gpu.global.u32 %r1, [%o+-252]; setp.eq.u32 %p0, %r1, 0; @%p0 bra W;
  ld.global.u32 %r0, [%o+-256];
FIRST: add.u32 %r0, %r0, 3; st.global.u32 [%o], %r0;
  st.release.gpu.global.u32 [%o+4], 1;
END:
)";
  for (uint64_t seed = 0; seed < kSeeds; seed += 2) { // in order
    Outcome outcome = expectSame(body, seed);
    EXPECT_EQ(outcome.report, "");
    EXPECT_EQ(outcome.words[kWords - kThreads], 3 * kCtas);
  }
}

TEST(Grid, ClustersPollWhatOneThatHasNotStartedWrites) {
  // Each waits for the last CTA, which begins with some work. The seed says how
  // many start, and which; no schedule takes 50 times as long as another.
  const std::string body = R"(
  setp.eq.u32 %p0, %c, 7; @%p0 bra LAST;
W: ld.acquire.gpu.global.u32 %r1, [%out]; setp.eq.u32 %p0, %r1, 0; @%p0 bra W;
  bra END;
LAST: setp.ne.u32 %p0, %t, 0; @%p0 bra END; mov.u32 %r0, 0;
L: add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 20000; @%p0 bra L;
  st.release.gpu.global.u32 [%out], %r0;
END:
)";
  const std::string sleeps =
      replaced(body, "W: ld", "W: nanosleep.u32 100; ld");
  for (const std::string &text : {body, sleeps}) {
    uint64_t least = ~uint64_t(0), most = 0;
    for (uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
      Outcome outcome = expectSame(text, seed, "", 0);
      EXPECT_EQ(outcome.report, "");
      EXPECT_EQ(outcome.words[0], 20000u);
      least = std::min(least, outcome.instructions);
      most = std::max(most, outcome.instructions);
    }
    EXPECT_LT(most, 50 * least);
  }
}

TEST(Grid, ARaceBetweenClusters) {
  // Who wins depends on the order of the clusters in a round.
  const std::string race = "mov.u32 %r0, %c; mul.wide.u32 %d0, %t, 4; "
                           "add.s64 %d0, %d0, %out; st.global.u32 [%d0], %r0;";
  bool raced = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    raced |= expectSame(race, seed).report.find("[race]") != std::string::npos;
  EXPECT_TRUE(raced);
}

TEST(Grid, TheSameValueInOnePlace) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome =
        expectSame("mul.wide.u32 %d0, %t, 4; add.s64 %d0, %d0, %out; "
                   "st.global.u32 [%d0], %t; ld.global.u32 %r0, [%d0];",
                   seed);
    EXPECT_EQ(outcome.words[5], 5u);
  }
}

TEST(Grid, WordsOfClustersSideBySide) {
  // Sixteen bytes that four clusters share, and no byte that two do.
  Outcome outcome =
      expectSame("setp.ne.u32 %p0, %t, 0; mul.wide.u32 %d0, %c, 4; "
                 "add.s64 %d0, %d0, %out; @!%p0 st.global.u32 [%d0], %c;",
                 3);
  EXPECT_EQ(outcome.report, "");
  for (uint32_t c = 0; c < kCtas; ++c)
    EXPECT_EQ(outcome.words[c], c);
}

TEST(Grid, ErrorsAndPrintedText) {
  const std::string variables =
      ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
      ".global .align 1 .b8 text[4] = {104, 105, 10, 0};\n";
  const std::string print = R"(
  setp.ne.u32 %p0, %t, 0; @%p0 bra END;
  mov.u64 %d0, text; cvta.global.u64 %d0, %d0; mov.u64 %d1, 0;
  { .param .b64 f; .param .b64 a; .param .b32 r;
    st.param.b64 [f], %d0; st.param.b64 [a], %d1;
    call.uni (r), vprintf, (f, a); }
END:
)";
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_EQ(expectSame(print, seed, variables).printed.size(), kCtas);
    // The run is repeated, but says nothing twice.
    Outcome races =
        expectSame(print + "st.global.u32 [%out], %c;", seed, variables);
    EXPECT_LE(races.printed.size(), kCtas);
    Outcome outside = expectSame("add.u32 %r0, %w, 0; setp.gt.u32 %p0, %c, 9; "
                                 "@%p0 st.global.u32 [%o+100000], %r0;",
                                 seed);
    EXPECT_THAT(outside.report, HasSubstr("[out-of-bounds]"));
  }
}

TEST(Grid, ADeadlock) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    EXPECT_THAT(
        expectSame("setp.eq.u32 %p0, %c, 0; @!%p0 bar.sync 0, 96;", seed)
            .report,
        HasSubstr("[deadlock]"));
}
