// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of wgmma: fences, groups, waits, warpgroups, descriptors. Each
// kernel runs right as it is, and is reported with one thing changed.

#include "ISA/TensorCore/WgmmaKernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

const std::string kFence = "  wgmma.fence.sync.aligned;\n",
                  kCommit = "  wgmma.commit_group.sync.aligned;\n",
                  kWait = "  wgmma.wait_group.sync.aligned 0;\n";

class WgmmaRules : public testing::Test {
protected:
  WgmmaProblem p{16};
  std::vector<float> d;

  Report run(const std::string &text, uint32_t threads = 128) {
    return p.run(d, text, threads);
  }
  void expectRight(const std::string &text) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      p.options.scheduleSeed = seed;
      Report report = run(text);
      EXPECT_TRUE(report.ok()) << "seed " << seed << "\n" << report.str();
    }
  }
  /// Under every schedule: an error of this kind that says this.
  void expectError(const std::string &text, ErrorKind kind,
                   const std::string &part, uint32_t threads = 128) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      p.options.scheduleSeed = seed;
      Report report = run(text, threads);
      EXPECT_TRUE(has(report, kind)) << "seed " << seed << "\n" << report.str();
      EXPECT_THAT(report.str(), HasSubstr(part)) << "seed " << seed;
    }
  }
  /// Fails to decode.
  void expectRefused(const std::string &text, const std::string &part) {
    Report report = run(text);
    EXPECT_TRUE(has(report, ErrorKind::Unsupported));
    EXPECT_THAT(report.str(), HasSubstr(part));
  }
};

} // namespace

TEST_F(WgmmaRules, FenceBetweenOtherInstructionsAndTheFirst) {
  expectRight(p.text());
  expectError(
      replaced(p.text(), kFence, ""), ErrorKind::MissingWgmmaFence,
      "uses register %v0 with no wgmma.fence before it; execute wgmma.fence "
      "first");
  expectError(
      replaced(p.text(), kFence, kFence + "  add.f32 %v3, %v3, %v3;\n"),
      ErrorKind::MissingWgmmaFence,
      "uses register %v3, which another instruction has used since the last "
      "wgmma.fence; execute wgmma.fence between the two");
  p.registerA = true;
  std::string text = p.text();
  expectRight(text);
  expectError(replaced(text, kFence, kFence + "  mov.b32 %a2, %a1;\n"),
              ErrorKind::MissingWgmmaFence, "uses register %a1");
}

TEST_F(WgmmaRules, AMissingFenceIsReportedOnce) {
  std::string series = replaced(p.text(), p.wgmma(), p.wgmma() + p.wgmma());
  expectRight(series);
  for (const std::string &text :
       {replaced(series, kFence, ""),
        replaced(series, kFence, kFence + "  add.f32 %v3, %v3, %v3;\n")}) {
    Report report = run(text);
    EXPECT_EQ(report.errors.size(), 1u) << report.str();
  }
}

TEST_F(WgmmaRules, RegistersBelongToWhatIsInFlight) {
  const char *owns = "still owns it; execute wgmma.commit_group and a "
                     "wgmma.wait_group that covers it between the two";
  expectError(replaced(p.text(), kWait, ""), ErrorKind::RegisterInFlight, owns);
  expectError(replaced(p.text(), kCommit, ""), ErrorKind::RegisterInFlight,
              "register %v0 is read while");
  expectError(replaced(p.text(), "wait_group.sync.aligned 0",
                       "wait_group.sync.aligned 1"),
              ErrorKind::RegisterInFlight, owns);
  expectError(replaced(p.text(), kWait, "  mov.f32 %v5, 0f00000000;\n" + kWait),
              ErrorKind::RegisterInFlight, "register %v5 is written while");
  p.registerA = true;
  expectError(replaced(p.text(), kWait, "  mov.b32 %a0, 0;\n" + kWait),
              ErrorKind::RegisterInFlight, "register %a0 is written while");
}

TEST_F(WgmmaRules, ChainsOfOneShapeNeedNothing) {
  std::string text = p.text();
  expectRight(
      replaced(text, kCommit, p.wgmma() + kCommit + p.wgmma() + kCommit));
  // N 8 has the first registers of N 16, but not its shape.
  p.n = 8;
  std::string other = p.wgmma();
  p.n = 16;
  expectError(replaced(text, kCommit, other + kCommit),
              ErrorKind::RegisterInFlight, "register %v0 is read while");
  expectRight(
      replaced(text, kCommit, kCommit + kWait + kFence + other + kCommit));
}

TEST_F(WgmmaRules, SharedMemoryIsReadByTheAsyncProxy) {
  expectError(replaced(p.text(), "  fence.proxy.async.shared::cta;\n", ""),
              ErrorKind::MissingProxyFence, "'wgmma.mma_async");
  // One message for each of the four warps that write without a fence.
  std::string series = p.text();
  for (int n = 0; n < 7; ++n)
    series = replaced(series, kCommit, p.wgmma() + kCommit);
  series = replaced(series, "  fence.proxy.async.shared::cta;\n", "");
  Report unfenced = run(series);
  EXPECT_LE(unfenced.errors.size(), 4u) << unfenced.str();
  // Until a wait the operands are its own.
  std::string lone =
      "  setp.eq.u32 %p0, %t, 0;\n  @%p0 st.shared.b32 [s], 7;\n";
  std::string text = replaced(p.text(), kWait, lone + kWait);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    p.options.scheduleSeed = seed;
    Report report = run(text);
    EXPECT_TRUE(has(report, ErrorKind::MemoryInFlight) ||
                has(report, ErrorKind::Race))
        << report.str();
  }
  expectRight(replaced(p.text(), kWait, kWait + lone));
}

TEST_F(WgmmaRules, WhatIsCompleteIsNotKnownWithoutAWait) {
  // The second operation is over when the store comes, but nothing says so.
  std::string late = R"(
  mov.b32 %r14, 0;
DELAY:
  nanosleep.u32 100;
  add.u32 %r14, %r14, 1;
  setp.lt.u32 %p3, %r14, 6000;
  @%p3 bra DELAY;
  wgmma.wait_group.sync.aligned 1; // the first
  setp.eq.u32 %p0, %t, 0;
  @%p0 st.shared.b32 [s], 7;
)";
  std::string text =
      replaced(p.text(), kCommit, kCommit + p.wgmma() + kCommit + late);
  expectError(text, ErrorKind::Race, "'wgmma.mma_async");
  expectRight(replaced(text, "wait_group.sync.aligned 1; // the first",
                       "wait_group.sync.aligned 0;"));
}

TEST_F(WgmmaRules, NothingIsInFlightAtTheEnd) {
  std::string text = p.text();
  text = text.substr(0, text.find(kWait)) + "  ret;\n}\n";
  expectError(text, ErrorKind::WorkInFlight,
              "execute wgmma.commit_group and wgmma.wait_group 0 first");
}

TEST_F(WgmmaRules, FourWarpsDoTheSame) {
  std::string warp = "  shr.u32 %r8, %t, 5;\n  setp.eq.u32 %p2, %r8, 3;\n"
                     "  cvt.u64.u32 %d6, %r8;\n";
  expectError(
      replaced(p.text(), kFence, warp + "  add.s64 %db, %db, %d6;\n" + kFence),
      ErrorKind::InvalidOperation,
      "the four warps of a warpgroup must give the same descriptors and the "
      "same scale-d");
  expectError(
      replaced(p.text(), kFence,
               "  cvt.u64.u32 %d6, %t;\n  add.s64 %da, %da, %d6;\n" + kFence),
      ErrorKind::InvalidOperation,
      "needs the same descriptor of A in all lanes");
  expectError(replaced(p.text(), kFence,
                       warp + "  @%p2 wgmma.fence.sync.aligned;\n" + kFence),
              ErrorKind::InvalidOperation,
              "must execute the same wgmma and setmaxnreg instructions");
  // One that stays away: the others wait for the product, or nobody does.
  std::string text =
      replaced(p.text(), kFence, warp + "  @%p2 bra END;\n" + kFence);
  text = replaced(text, "  ret;", "END:\n  ret;");
  expectError(text, ErrorKind::Deadlock,
              "waits for wgmma: 3 of the 4 warps of the warpgroup have "
              "executed 'wgmma.fence.sync.aligned'");
  text = text.substr(0, text.find(p.wgmma())) + "END:\n  ret;\n}\n";
  expectError(text, ErrorKind::InvalidOperation,
              "only 3 of the warps of a warpgroup have executed "
              "'wgmma.fence.sync.aligned'; all four must execute it");
  expectError(p.text(), ErrorKind::InvalidOperation,
              "launch blocks of a multiple of 128 threads", 96);
}

TEST_F(WgmmaRules, Descriptors) {
  std::string plain = std::to_string(p.descriptor(64, false));
  auto with = [&](uint64_t bits) {
    return replaced(p.text(), plain,
                    std::to_string(p.descriptor(64, false) | bits));
  };
  expectError(with(uint64_t(1) << 46), ErrorKind::BadDescriptor,
              "the descriptor of tcgen05.mma has another format");
  expectError(with(uint64_t(1) << 49), ErrorKind::BadDescriptor,
              "the base offset is not zero");
  // 9216 bytes from 8 rows to the next.
  expectError(with(uint64_t(512) << 32), ErrorKind::UninitialisedMemory,
              "which nothing has written");
}

TEST_F(WgmmaRules, AnUndefinedRowOfAIsOneOfD) {
  // Rows 56 to 63 of A are left out: they are those of the last warp's second
  // half.
  const std::string store = "  st.shared.v4.b32 [%r2]",
                    place = "  add.s64 %d4, %d4, %out;\n";
  std::string text =
      replaced(p.text(), store,
               "  sub.u32 %r13, %r0, 7168;\n  setp.ge.u32 %p3, %r13, 1024;\n"
               "  @%p3 " +
                   store.substr(2));
  expectError(text, ErrorKind::UninitialisedMemory,
              "which nothing has written");
  std::string others =
      replaced(text, place, place + "  setp.lt.u32 %p3, %t, 96;\n");
  for (uint32_t i : {2, 3, 6, 7}) {
    std::string line = "st.global.f32 [%d4+" +
                       std::to_string(i / 4 * 32 + i % 2 * 4 + p.n * 32) + "]";
    others = replaced(others, "  " + line, "  @%p3 " + line);
  }
  expectRight(others);
  // What is added to stays undefined, in the same rows.
  std::string again = kFence + p.wgmma() + kCommit + kWait;
  expectRight(replaced(others, kWait, kWait + again));
  expectRight(replaced(others, kCommit, p.wgmma() + kCommit));
  expectError(replaced(text, kWait, kWait + again),
              ErrorKind::UninitialisedMemory, "which nothing has written");
}

TEST_F(WgmmaRules, AnUndefinedRowOfBIsAColumnOfD) {
  // Row 5 of B is left out. D has halves, columns 4 and 5 in one register.
  const std::string store = "  st.shared.v4.b32 [%r2]",
                    place = "  add.s64 %d4, %d4, %out;\n",
                    mma = replaced(replaced(p.wgmma(), ".f32.", ".f16."),
                                   p.list(), "{%h0, %h1, %h2, %h3}"),
                    again = kFence + mma + kCommit + kWait;
  std::string text =
      replaced(p.text(), store,
               "  sub.u32 %r13, %r0, 8832;\n  setp.ge.u32 %p3, %r13, 128;\n"
               "  @%p3 " +
                   store.substr(2));
  std::string clear = ".reg .b32 %h<4>;\n  .reg .b16 %q<2>;\n";
  for (const char *h : {"%h0", "%h1", "%h2", "%h3"})
    clear += std::string("  mov.b32 ") + h + ", 0;\n";
  text = replaced(text, kFence + p.wgmma(), clear + kFence + mma);
  auto storing = [&](const std::string &guard, const char *half) {
    return replaced(text, place,
                    place +
                        "  mov.b32 {%q0, %q1}, %h0;\n  and.b32 %r14, %t, 3;\n"
                        "  setp.ne.u32 %p3, %r14, 2;\n  " +
                        guard + "st.global.b16 [%d4], " + half + ";\n");
  };
  auto expect = [&](auto change) {
    expectRight(change(storing("", "%q0")));
    expectRight(change(storing("@%p3 ", "%q1")));
    expectError(change(storing("", "%q1")), ErrorKind::UninitialisedMemory,
                "which nothing has written");
  };
  expect([](const std::string &same) { return same; });
  // What is added to stays undefined, in the same column.
  expect([&](const std::string &its) {
    return replaced(its, kWait, kWait + again);
  });
}

TEST_F(WgmmaRules, OperandsMustBeDefined) {
  auto with = [&](const std::string &from, const std::string &to,
                  const std::string &message) {
    expectError(replaced(p.text(), from, to), ErrorKind::UninitialisedRegister,
                message);
  };
  with("or.b64 %da, %d1, %d2", "or.b64 %da, %d1, %d19", "needs register %da");
  with("%db, %p1,", "%db, %p3,", "depends on predicate %p3");
  with("mov.f32 %v1, 0f3F000000;", "", "needs register %v1");
  with("{%r4, %r5, %r6, %r7}, [%d0]", "{%r4, %r5, %r6, %r19}, [%d0]",
       "stores register %v0, which is undefined");
  p.registerA = true;
  std::string text = p.text();
  size_t load = text.find("ld.global.b32 %a1");
  ASSERT_NE(load, std::string::npos);
  text.erase(load, text.find('\n', load) - load);
  expectError(text, ErrorKind::UninitialisedRegister, "needs register %a1");
}

TEST_F(WgmmaRules, WhatIsRefused) {
  expectRefused(replaced(p.text(), "sm_90a", "sm_100a"),
                "is for .target sm_90a only");
  expectRefused(
      replaced(p.text(), "m64n16k32", "m64n16k16"),
      "with .e4m3 it must be .m64nNk32 with N a multiple of 8 from 8 to 256");
  expectRefused(replaced(p.text(), ".f32.e4m3", ".s32.e4m3"),
                "cannot add up products of .e4m3 in .s32");
  expectRefused(replaced(p.text(), "e4m3.e4m3", "e4m3.bf16"),
                "cannot multiply .e4m3 by .bf16");
  expectRefused(
      replaced(p.text(), "1, 1;\n  wgmma.commit", "2, 1;\n  wgmma.commit"),
      "takes 1 or -1 as imm-scale-a and imm-scale-b");
  WgmmaProblem half(8, "bf16", "bf16");
  Report report =
      half.run(d, replaced(half.text(), "1, 1, 0, 0", "1, 1, 0, 2"));
  EXPECT_THAT(report.str(), HasSubstr("takes 0 or 1 as imm-trans-a"));
}
