// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that arrive at a barrier by one instruction, or each by its own.

#include "BarrierKernels.h"

#include <algorithm>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

/// Each lane of warp 0 executes `arrive` by itself, behind a store of them all,
/// and executes `then`. Behind `wait` warp 1 loads what was stored.
std::string lanesOneByOne(const std::string &arrive, const std::string &then,
                          const std::string &wait, unsigned count) {
  std::string body = init(count) + R"(
  and.b32 %r4, %t, 31; shl.b32 %r1, %r4, 2; add.u32 %r1, %r1, %r50;
  setp.ge.u32 %p1, %t, 32; @%p1 bra CONSUMER;
  st.shared.u32 [%r1+64], %t;
)";
  // Places of their own keep the lanes apart.
  for (unsigned lane = 0; lane < 32; ++lane)
    body += "setp.eq.u32 %p2, %r4, " + std::to_string(lane) + "; @%p2 bra L" +
            std::to_string(lane) + ";\n";
  for (unsigned lane = 0; lane < 32; ++lane)
    body += "L" + std::to_string(lane) + ": " + arrive + "\nbra JOIN;\n";
  return body + "JOIN: " + then + "\nbra END;\nCONSUMER: " + wait +
         "\nld.shared.u32 %r0, [%r1+64]; st.global.u32 [%o], %r0;\nEND:";
}

} // namespace

TEST(Mbarrier, LanesThatArriveOneByOneHandOnWhatTheyDidTogether) {
  const struct {
    std::string arrive;
    unsigned count;
  } forms[] = {
      {"mbarrier.arrive.shared::cta.b64 %d0, [%r50];", 32},
      {"mbarrier.arrive.shared::cta.b64 %d0, [%r50], 2;", 64},
      {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r50];", 32},
      {"mbarrier.arrive_drop.shared::cta.b64 %d0, [%r50];", 32},
      {"mbarrier.arrive.noComplete.shared::cta.b64 %d0, [%r50], 1;\n"
       "mbarrier.arrive.shared::cta.b64 %d0, [%r50];",
       64},
      {"mbarrier.arrive.expect_tx.shared::cta.b64 %d0, [%r50], 4;\n"
       "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r50], 4;",
       32},
      {"fence.acq_rel.cta; mbarrier.arrive.relaxed.cta.shared::cta.b64 _, "
       "[%r50];",
       32},
  };
  for (const auto &form : forms) {
    const std::string body =
        lanesOneByOne(form.arrive, wait("V", 0), wait("W", 0), form.count);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Options options;
      options.scheduleSeed = seed;
      Report report;
      auto out = compute(body, 64, 64, kShared, &report, options);
      EXPECT_TRUE(report.ok()) << form.arrive << report.str();
      EXPECT_EQ(out[37], 5u) << form.arrive;
    }
  }
  // A lane that has not arrived keeps what it did to itself.
  const std::string all =
      lanesOneByOne(forms[0].arrive, wait("V", 0), wait("W", 0), 31);
  EXPECT_TRUE(
      has(reportOf(replaced(all, "L31: " + forms[0].arrive, "L31:"), 64),
          ErrorKind::Race));
}

TEST(Mbarrier, LanesThatArriveOneByOneHandOnTheirWaits) {
  // Twice each way: warp 0 waits as a whole, and each lane hands back alone.
  const std::string back = "mbarrier.arrive.shared::cta.b64 %d0, [%r50+8];";
  std::string body =
      replaced(lanesOneByOne(back, "", "", 1), "bar.sync 0;",
               "@%p0 mbarrier.init.shared::cta.b64 [%r50+8], 32; bar.sync 0;");
  body = replaced(body, "st.shared.u32 [%r1+64], %t;",
                  "mov.b32 %r7, 0;\nAGAIN: W: mbarrier.try_wait.parity."
                  "shared::cta.b64 %p8, [%r50], %r7; @!%p8 bra W;");
  body = replaced(body, "JOIN: ",
                  "JOIN: xor.b32 %r7, %r7, 1; setp.ne.u32 %p3, %r7, 0;\n"
                  "@%p3 bra AGAIN;");
  body = replaced(body, "CONSUMER: ", R"(CONSUMER: mov.b32 %r7, 0;
MORE: setp.ne.u32 %p4, %r4, 0; @%p4 bra OTHERS;
  mbarrier.arrive.shared::cta.b64 _, [%r50];
OTHERS: bar.warp.sync -1;
V: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r50+8], %r7; @!%p8 bra V;
  bar.warp.sync -1; xor.b32 %r7, %r7, 1; setp.ne.u32 %p3, %r7, 0;
  @%p3 bra MORE; bra END;)");
  Options options;
  options.strict = true;
  for (options.scheduleSeed = 0; options.scheduleSeed < 4;
       ++options.scheduleSeed)
    EXPECT_EQ(reportOf(body, 64, options).str(), "");
}

TEST(NamedBarrier, LanesThatArriveOneByOneHandOnWhatTheyDidTogether) {
  // Neither wait, so that the lanes do not meet there.
  EXPECT_EQ(
      reportOf(lanesOneByOne("barrier.cta.arrive 3, 64;", "bar.warp.sync -1;",
                             "barrier.cta.sync 3, 64;", 1),
               64)
          .str(),
      "");
  EXPECT_EQ(reportOf(lanesOneByOne("barrier.cluster.arrive.release;",
                                   "barrier.cluster.wait.acquire;",
                                   "barrier.cluster.arrive.release;\n"
                                   "barrier.cluster.wait.acquire;",
                                   1),
                     64)
                .str(),
            "");
}

TEST(Mbarrier, EachLaneOfAnInstructionArrives) {
  // 32 lanes announce and bring 4 bytes each, and each gets its own state.
  auto out = compute(init(32) + R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 %d0, [%r50], 4;
  mbarrier.pending_count.b64 %r1, %d0; st.global.u32 [%o], %r1;
  mbarrier.test_wait.shared::cta.b64 %p1, [%r50], %d0; @%p1 trap;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r50], 4;
)" + wait("W", 0),
                     32, 32, kShared);
  std::sort(out.begin(), out.end());
  for (uint32_t n = 0; n < 32; ++n)
    EXPECT_EQ(out[n], n + 1);
}

TEST(Mbarrier, ALaneDoesNotHandOnWhatLanesDidThatHaveExited) {
  // All lanes store; all but one exit, and that one arrives.
  auto body = [](const std::string &meet) {
    return init(1) + R"(
  and.b32 %r4, %t, 31; shl.b32 %r1, %r4, 2; add.u32 %r1, %r1, %r50;
  setp.ge.u32 %p1, %t, 32; @%p1 bra CONSUMER;
  st.shared.u32 [%r1+64], %t;
)" + meet + R"(
  setp.ne.u32 %p2, %r4, 0; @%p2 exit;
  mbarrier.arrive.shared::cta.b64 %d0, [%r50]; exit;
CONSUMER:
)" + wait("W", 0) +
           "ld.shared.u32 %r0, [%r1+64]; st.global.u32 [%o], %r0;";
  };
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    EXPECT_EQ(reportOf(body("bar.warp.sync -1;"), 64, options).str(), "");
    EXPECT_TRUE(has(reportOf(body(""), 64, options), ErrorKind::Race));
  }
}
