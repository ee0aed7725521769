// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who waits for a phase by its parity must have seen it before the next one
// completes.

#include "Machine/ClusterKernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::AnyOf;
using testing::HasSubstr;

namespace {

/// %p0: the first lane of warp 0, which initialises the mbarriers at s+0 and
/// s+8.
std::string init(unsigned count) {
  std::string n = std::to_string(count);
  return "setp.eq.u32 %p0, %t, 0; mov.u32 %r50, s;\n"
         "@%p0 mbarrier.init.shared::cta.b64 [%r50], " +
         n + ";\n@%p0 mbarrier.init.shared::cta.b64 [%r50+8], " + n +
         ";\n@%p0 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n";
}
std::string wait(const std::string &label, unsigned parity,
                 const std::string &barrier = "%r50") {
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p8, [" + barrier +
         "], " + std::to_string(parity) + ";\n@!%p8 bra " + label + ";\n";
}
const char *const kArrive = "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r50];\n";
const char *const kRelaxedArrive =
    "@%p0 mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%r50];\n";

Report reportOf(const std::string &body, uint64_t seed = 0,
                uint32_t threads = 32, bool strict = true) {
  Options options;
  options.strict = strict;
  options.scheduleSeed = seed;
  Report report;
  compute(body, threads, threads, ".shared .align 16 .b8 s[1024];\n", &report,
          options);
  return report;
}

void expectOk(const std::string &body, uint32_t threads = 32) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Report report = reportOf(body, seed, threads);
    EXPECT_TRUE(report.ok()) << "seed " << seed << "\n" << report.str() << body;
  }
}

} // namespace

TEST(Phase, OneLaneThatSignalsDoesNotKnowOfTheOthersWaits) {
  for (const char *arrive : {kArrive, kRelaxedArrive}) {
    Report report = reportOf(init(1) + kArrive + wait("W", 0) + arrive);
    EXPECT_TRUE(has(report, ErrorKind::MissedPhase)) << report.str();
    EXPECT_THAT(
        report.str(),
        HasSubstr(
            "completes phase 1 of the mbarrier at shared memory offset 1024 "
            "(s+0) while lanes of warp 0 may still wait for phase 0, which has "
            "the same parity as phase 2; arrive only after that wait"));
    EXPECT_THAT(report.str(), HasSubstr("note: lanes of warp 0 waited here"));
    // The lanes of a warp that has not diverged are as far as this one.
    report = reportOf(init(1) + kArrive + wait("W", 0) + arrive, 0, 32, false);
    EXPECT_TRUE(report.ok()) << report.str();
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_EQ(report.warnings[0].rule, Rule::LanesBehindWait);
  }
}

TEST(Phase, WhereLanesMeetTheyKnow) {
  for (const char *meeting :
       {"bar.warp.sync -1;", "elect.sync %r1|%p1, -1;",
        "shfl.sync.idx.b32 %r1, %t, 0, 31, -1;",
        "vote.sync.any.pred %p1, %p0, -1;", "bar.sync 1, 32;"})
    for (const char *arrive : {kArrive, kRelaxedArrive})
      expectOk(init(1) + kArrive + wait("W", 0) + meeting + "\n" + arrive);
  // A meeting before the wait says nothing of it.
  EXPECT_TRUE(has(reportOf(init(1) + kArrive + "bar.warp.sync -1;\n" +
                           wait("W", 0) + kArrive),
                  ErrorKind::MissedPhase));
}

TEST(Phase, LanesThatSignalThemselvesMayComeLate) {
  std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [%r50];\n";
  expectOk(init(32) + arrive + wait("W", 0) + arrive + wait("X", 1));
  // One lane that waits and signals alone.
  expectOk(init(1) + "@!%p0 bra END;\n" + arrive + wait("W", 0) + arrive +
           wait("X", 1) + "END:\n");
}

TEST(Phase, AStateNamesItsPhase) {
  expectOk(init(1) + R"(
  @%p0 mbarrier.arrive.shared::cta.b64 %d0, [%r50];
  @%p0 st.shared.u64 [%r50+64], %d0;
  bar.warp.sync -1;
  ld.shared.u64 %d1, [%r50+64];
W: mbarrier.try_wait.shared::cta.b64 %p8, [%r50], %d1;
  @!%p8 bra W;
)" + kArrive);
}

TEST(Phase, AnotherWarpMustHandItBack) {
  std::string consumer = "setp.ge.u32 %p1, %t, 32; setp.eq.u32 %p2, %t, 32;\n"
                         "@%p1 bra CONSUMER;\n" +
                         std::string(kArrive);
  std::string back =
      "bra END;\nCONSUMER:\n" + wait("C", 0) +
      "bar.warp.sync -1;\n"
      "@%p2 mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%r50+8];\n" +
      "END:\n";
  expectOk(init(1) + consumer + wait("P", 0, "%r50+8") + "bar.warp.sync -1;\n" +
               kArrive + back,
           64);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Report report = reportOf(init(1) + consumer + kArrive + back, seed, 64);
    EXPECT_TRUE(has(report, ErrorKind::MissedPhase) ||
                has(report, ErrorKind::Deadlock))
        << "seed " << seed << "\n"
        << report.str();
  }
}

TEST(Phase, WarpsThatWaitBesideTheOneThatSignalsMayMissIt) {
  // Both warps wait, and a lane of warp 1 signals. The lanes beside it are a
  // warning, warp 0 is an error.
  const std::string body = init(1) + kArrive + wait("W", 0) +
                           "setp.eq.u32 %p2, %t, 32;\n"
                           "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r50];\n";
  size_t missed = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Report report = reportOf(body, seed, 64, /*strict=*/false);
    for (const SimulationError &e : report.errors) {
      missed += e.kind == ErrorKind::MissedPhase;
      EXPECT_THAT(e.kind, AnyOf(ErrorKind::MissedPhase, ErrorKind::Deadlock))
          << report.str();
    }
    for (const SimulationError &e : report.warnings)
      EXPECT_EQ(e.rule, Rule::LanesBehindWait) << report.str();
  }
  EXPECT_GT(missed, 4u);
}

TEST(Phase, LanesOfALoaderMeetBehindItsWaits) {
  // All lanes wait for the slot, and one of them fills it. The others may lag
  // behind, and find the slot empty for the second time or not at all.
  auto kernel = [](const std::string &meeting) {
    std::string load = R"(
  setp.ge.u32 %p1, %t, 32; setp.eq.u32 %p2, %t, 32;
  add.u32 %r1, %r50, 128; add.u32 %r2, %r50, 64;
  @%p0 st.shared.v2.u64 [%r50+64], {1, 2}; @%p0 fence.proxy.async;
  @%p1 bra CONSUMER;
)",
                consume = "bra END;\nCONSUMER:\n";
    for (unsigned turn = 0; turn < 3; ++turn) {
      std::string n = std::to_string(turn);
      load += wait("P" + n, ~turn & 1, "%r50+8") + meeting + R"(
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r50], 16;
  @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r50];
)";
      consume += wait("C" + n, turn & 1) +
                 "bar.warp.sync -1;\n"
                 "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r50+8];\n";
    }
    return init(1) + load + consume + "END: bar.sync 0;\n";
  };
  expectOk(kernel("bar.warp.sync -1;\n"), 64);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Report report = reportOf(kernel(""), seed, 64);
    ASSERT_TRUE(has(report, ErrorKind::MissedPhase)) << report.str();
    EXPECT_THAT(report.str(),
                HasSubstr("completes phase 0 of the mbarrier at shared memory "
                          "offset 1032 (s+8) while lanes of warp 0 may still "
                          "wait for the phase before phase 0"));
  }
}

TEST(Phase, BytesComeAfterWhatTheirIssuerWaitedFor) {
  // They are announced before the consumer is known to have seen the phase
  // before, and copied after.
  expectOk(init(1) + R"(
  setp.ge.u32 %p1, %t, 32; setp.eq.u32 %p2, %t, 32; @%p1 bra CONSUMER;
  @!%p0 bra END;
  st.shared.u64 [%r50+64], 1; fence.proxy.async;
  mbarrier.arrive.shared::cta.b64 _, [%r50];
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r50], 16;
)" + wait("P", 0, "%r50+8") +
               R"(
  add.u32 %r1, %r50, 128; add.u32 %r2, %r50, 64; st.shared.u64 [%r50+72], 2;
  fence.proxy.async;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r50];
)" + wait("Q", 1) +
               "bra END;\nCONSUMER:\n" + wait("C", 0) +
               "bar.warp.sync -1;\n"
               "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r50+8];\nEND:\n",
           64);
}

TEST(Phase, OtherCtasHandItBackToo) {
  std::string again = std::string(kInit) + kSync + kArriveAtPeer;
  std::string second =
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\n";
  std::string odd = "mapa.shared::cluster.u32 %r4, %r3, %r1;\n";
  auto waitFor = [](const char *label, const char *parity) {
    return std::string(label) +
           ": mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r3], " + parity +
           "; @!%p0 bra " + label + ";\n";
  };
  for (uint64_t seed = 0; seed < 10; ++seed) {
    // Each arrives twice, and knows only that the other has arrived once.
    std::vector<uint32_t> out;
    Report report =
        runPair(again + waitFor("A", "0") + second + kSync, out, seed);
    EXPECT_TRUE(has(report, ErrorKind::MissedPhase) ||
                has(report, ErrorKind::Deadlock))
        << report.str();
    // In turn.
    report = runPair(std::string(kInit) + kSync + odd +
                         "setp.eq.u32 %p1, %r0, 0; @!%p1 bra ODD;\n" + second +
                         waitFor("A", "0") + second + waitFor("B", "1") +
                         "bra END;\nODD:\n" + waitFor("C", "0") + second +
                         waitFor("D", "1") + second + "END:\n" + kSync,
                     out, seed);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(Phase, CommitsOfOneThreadMayChangePlaces) {
  // Two commits to one mbarrier, whose phases nobody waits for in between; what
  // comes last is waited for.
  auto commit = [](const char *who, const char *barrier) {
    return std::string(who) +
           " tcgen05.commit.cta_group::1.mbarrier::arrive::one"
           ".shared::cluster.b64 [" +
           barrier + "];\n";
  };
  const std::string setUp = init(1) + R"(
  @%p0 mbarrier.init.shared::cta.b64 [%r50+64], 2;
  @%p0 fence.mbarrier_init.release.cluster;
  setp.eq.u32 %p2, %t, 32; add.u32 %r51, %r50, 64;
  bar.sync 0;
)";
  const std::string last =
      commit("@%p0", "%r51") + commit("@%p2", "%r51") + wait("LAST", 0, "%r51");
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Report report =
        reportOf(setUp + commit("@%p2", "%r50") + commit("@%p2", "%r50") + last,
                 seed, 64, /*strict=*/false);
    EXPECT_TRUE(report.ok() && report.warnings.empty()) << report.str();
    report =
        reportOf(setUp + commit("@%p0", "%r50") + commit("@%p2", "%r50") + last,
                 seed, 64, /*strict=*/false);
    EXPECT_TRUE(has(report, ErrorKind::EarlyArrival)) << report.str();
  }
}

TEST(Phase, ASignalComesAfterThePhaseBefore) {
  std::string body = init(1) + "setp.eq.u32 %p2, %t, 32;\n" + kArrive;
  std::string second = "@%p2 mbarrier.arrive.shared::cta.b64 _, [%r50];\n";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Report report = reportOf(body + second, seed, 64);
    EXPECT_TRUE(has(report, ErrorKind::EarlyArrival)) << report.str();
    EXPECT_THAT(report.str(),
                HasSubstr("signals phase 1 of the mbarrier at shared memory "
                          "offset 1024 (s+0), possibly before phase 0 has "
                          "completed; first wait for phase 0"));
  }
  // After a wait; after one who has waited; after the arrival itself.
  expectOk(body + "@!%p2 bra END;\n" + wait("W", 0) + second + "END:\n", 64);
  expectOk(body + "@!%p0 bra S;\n" + wait("W", 0) + "S: bar.sync 0;\n" + second,
           64);
  expectOk(body + "bar.sync 0;\n" + second, 64);
}

TEST(Phase, BytesComeAfterThePhaseBefore) {
  std::string body = init(1) + R"(
  setp.eq.u32 %p2, %t, 32; add.u32 %r1, %r50, 128; add.u32 %r2, %r50, 64;
  @%p2 st.shared.v2.u64 [%r50+64], {1, 2}; @%p2 fence.proxy.async;
  @%p0 mbarrier.arrive.shared::cta.b64 _, [%r50];
)";
  std::string copy = R"(
  @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r50], 16;
  @%p2 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 16, [%r50];
  @!%p2 bra END;
)" + wait("Q", 1) + "END:\n";
  for (uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_FALSE(reportOf(body + copy, seed, 64).ok());
  expectOk(body + "bar.sync 0;\n" + copy, 64);
}
