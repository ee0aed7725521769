// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clusterlaunchcontrol by itself: coordinates, address forms, misuse.

#include "Kernels.h"

#include <gmock/gmock.h>

#include <set>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

/// Counts visits of the blocks of a 3x2x4 grid. Each asks for one more block at
/// a time; %r10 to %r12 hold the block it works for.
const char *const kBody = R"(
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .b128 %q;
  ld.param.u64 %d0, [visits]; mov.u32 %r0, response; mov.u32 %r1, bar;
  mov.u32 %r10, %ctaid.x; mov.u32 %r11, %ctaid.y; mov.u32 %r12, %ctaid.z;
  mov.u32 %r2, 0;
  mbarrier.init.shared::cta.b64 [%r1], 1; fence.mbarrier_init.release.cluster;
VISIT: mad.lo.u32 %r3, %r12, 2, %r11; mad.lo.u32 %r3, %r3, 3, %r10;
  mul.wide.u32 %d1, %r3, 4; add.s64 %d1, %d1, %d0; atom.global.add.u32 %r4, [%d1], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;
  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], %r2; @!%p0 bra WAIT;
  xor.b32 %r2, %r2, 1;
  ld.shared.b128 %q, [%r0];
  fence.proxy.async.shared::cta;
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;
  @!%p1 bra END;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %q;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r11, %q;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r12, %q;
  bra VISIT;
END: ret;
)";

Report runGrid(const std::string &body, std::vector<uint32_t> &visits,
               uint64_t seed = 0) {
  Device device;
  visits.resize(24);
  uint64_t address = *device.allocate("visits", 96);
  LaunchConfig config;
  config.grid = {3, 2, 4};
  Options options;
  options.scheduleSeed = seed;
  Report report = run(device,
                      kernel(".param .u64 visits", body, "sm_100a",
                             ".shared .align 16 .b8 response[32];\n"
                             ".shared .align 8 .b64 bar;\n"),
                      {KernelArgument::value(address)}, config, options);
  device.read(address, visits.data(), 96);
  return report;
}

} // namespace

TEST(ClusterControl, ReachesEveryBlockOfAThreeDimensionalGrid) {
  uint64_t canceled = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    std::vector<uint32_t> visits;
    Report report = runGrid(kBody, visits, seed);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << report.str();
    EXPECT_EQ(visits, std::vector<uint32_t>(24, 1)) << "seed " << seed;
    canceled += report.statistics.canceledClusters;
    EXPECT_EQ(report.statistics.blocks + report.statistics.canceledClusters,
              24u);
  }
  EXPECT_GT(canceled, 0u);
}

TEST(ClusterControl, TakesGenericAddresses) {
  std::string body =
      replaced(kBody, "async.shared::cta.mbarrier", "async.mbarrier");
  body = replaced(body, ".b128 [%r0], [%r1];", ".b128 [%d2], [%d3];");
  body = replaced(body, "mov.u32 %r2, 0;",
                  "mov.u32 %r2, 0; cvt.u64.u32 %d2, %r0; cvta.shared.u64 %d2, "
                  "%d2; cvt.u64.u32 %d3, %r1; cvta.shared.u64 %d3, %d3;");
  std::vector<uint32_t> visits;
  Report report = runGrid(body, visits);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(visits, std::vector<uint32_t>(24, 1));
}

// A request of a grid of one block fails. A thread asks, `observer` waits for
// the answer, and `asker` asks again behind `between`.
static std::set<Rule> rulesOfSecondRequest(const std::string &asker,
                                           const std::string &observer,
                                           const std::string &between) {
  std::set<Rule> rules;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Device device;
    LaunchConfig config;
    config.block = {64, 1, 1};
    Options options;
    options.scheduleSeed = seed;
    Report report = run(device,
                        kernel("", R"(
  .reg .pred %p<8>; .reg .b32 %r<20>;
  mov.u32 %r0, response; mov.u32 %r1, bars; mov.u32 %r9, %tid.x;
  setp.eq.u32 %p0, %r9, 0;
  setp.eq.u32 %p1, %r9, )" + asker + R"(;
  setp.eq.u32 %p2, %r9, )" + observer + R"(;
  add.u32 %r2, %r0, 16; add.u32 %r3, %r1, 8;
  @%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
  @%p0 mbarrier.init.shared::cta.b64 [%r3], 1;
  @%p0 fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;
  @%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];
  @!%p2 bra ASK;
SEE: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra SEE;
ASK:
)" + between + R"(
  @!%p1 bra END;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16;
  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r3];
LAST: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0; @!%p3 bra LAST;
END: bar.sync 0; ret;
)",
                               "sm_100a",
                               ".shared .align 16 .b8 response[32];\n"
                               ".shared .align 8 .b64 bars[2];\n"),
                        {}, config, options);
    for (const auto *list : {&report.errors, &report.warnings})
      for (const SimulationError &e : *list) {
        rules.insert(e.rule);
        EXPECT_EQ(e.severity, infoOf(e.rule).severity);
      }
  }
  return rules;
}

TEST(ClusterControl, NoThreadOfTheCtaAsksBehindAFailure) {
  const std::set<Rule> error{ruleOf(ErrorKind::InvalidOperation)};
  // The thread itself, another lane, another warp.
  EXPECT_EQ(rulesOfSecondRequest("0", "0", ""), error);
  EXPECT_EQ(rulesOfSecondRequest("1", "0", "bar.warp.sync -1;"), error);
  EXPECT_EQ(rulesOfSecondRequest("32", "0", "bar.sync 0;"), error);
  // Nothing orders the two.
  EXPECT_EQ(rulesOfSecondRequest("32", "0", ""),
            std::set<Rule>{Rule::UnorderedRequest});
}

TEST(ClusterControl, Misuse) {
  std::vector<uint32_t> visits;
  auto text = [&](const std::string &from, const std::string &to) {
    return runGrid(replaced(kBody, from, to), visits).str();
  };
  EXPECT_THAT(text(".b128 [%r0], [%r1];", ".b128 [%r0+8], [%r1];"),
              HasSubstr("not a multiple of 16"));
  EXPECT_THAT(text("@!%p1 bra END;", ""),
              HasSubstr("test query_cancel.is_canceled first"));
  EXPECT_THAT(text("@!%p0 bra WAIT;", ""),
              HasSubstr("which an unfinished 'clusterlaunchcontrol"));
  EXPECT_THAT(text("ld.shared.b128 %q, [%r0];", "mov.b128 %q, {%d0, %d0};"),
              HasSubstr("did not write"));
  EXPECT_THAT(text("_, [%r1], 16;", "_, [%r1], 32;"),
              HasSubstr("16 bytes pending"));
  EXPECT_THAT(text("fence.proxy.async.shared::cta;", ""),
              HasSubstr("execute fence.proxy.async after the read"));
  EXPECT_THAT(text("@!%p1 bra END;", "@!%p1 bra VISIT;"),
              HasSubstr("stop at the first"));
}

// Thread 32 of CTA 1 reads a word and tells CTA 0, which then asks for a
// cluster. Thread 0 of CTA 1 waits for the response, and for `also`, and writes
// the word.
static Report overwritten(const std::string &reader, const std::string &also,
                          uint64_t seed) {
  const std::string sync = "barrier.cluster.arrive.aligned; "
                           "barrier.cluster.wait.aligned;\n";
  Device device;
  LaunchConfig config;
  config.grid = config.cluster = {2, 1, 1};
  config.block = {64, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  return run(device,
             kernel("",
                    R"(
  .reg .pred %p<8>; .reg .b32 %r<20>;
  mov.u32 %r0, response; mov.u32 %r1, bars; mov.u32 %r9, %tid.x; mov.u32 %r8, %cluster_ctarank;
  add.u32 %r2, %r1, 8; add.u32 %r3, %r1, 16;
  setp.ne.u32 %p0, %r9, 0; @%p0 bra START;
  mbarrier.init.shared::cta.b64 [%r1], 1; mbarrier.init.shared::cta.b64 [%r2], 1;
  mbarrier.init.shared::cta.b64 [%r3], 1; fence.mbarrier_init.release.cluster;
  st.shared.u32 [word], 5;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
START:
)" + sync + R"(
  setp.eq.u32 %p1, %r8, 0; @%p1 bra ASK;
  setp.eq.u32 %p2, %r9, 0; @%p2 bra WRITE;
  setp.ne.u32 %p3, %r9, 32; @%p3 bra END;
  ld.shared.u32 %r4, [word];
)" + reader + R"(
  mapa.shared::cluster.u32 %r5, %r1, 0;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
  bra END;
ASK: @%p0 bra END;
L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [%r1], 0; @!%p4 bra L;
  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%r0], [%r2];
M: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r2], 0; @!%p4 bra M;
  bra END;
WRITE: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [%r2], 0; @!%p4 bra WRITE;
)" + also + "st.shared.u32 [word], 7;\nEND:\n" +
                        sync + "ret;",
                    "sm_100a",
                    ".shared .align 16 .b8 response[16];\n"
                    ".shared .align 8 .b64 bars[3];\n.shared .b32 word;\n"),
             {}, config, options);
}

// The response orders its own bytes and nothing that its requester knew (PTX
// ISA 8.9.1.1).
TEST(ClusterControl, TheResponseDoesNotBringWhatItsRequesterKnew) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Report report = overwritten("", "", seed);
    EXPECT_TRUE(has(report, ErrorKind::Race)) << report.str();
    report = overwritten("mbarrier.arrive.shared::cta.b64 _, [%r3];",
                         "N: mbarrier.try_wait.parity.shared::cta.b64 %p4, "
                         "[%r3], 0; @!%p4 bra N;\n",
                         seed);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}
