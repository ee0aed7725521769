// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two severities: what is a warning, what stays an error beside it, and that
// neither hides the other or makes follow-on errors.

#include "Machine/ClusterKernels.h"

#include <gmock/gmock.h>

#include <set>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;
using testing::Not;

namespace {

const char *const kVariables = ".shared .align 128 .b8 s[1024];\n"
                               ".shared .align 8 .b64 bar;\n"
                               ".shared .align 16 .b32 slot[4];\n";

/// %p0: thread 0; %p1: warp 1; %r2, %r3: s and bar.
Report reportOf(const std::string &body, Options options = {},
                uint32_t threads = 64) {
  Report report;
  compute("setp.eq.u32 %p0, %t, 0; setp.ge.u32 %p1, %t, 32;\n"
          "mov.u32 %r2, s; mov.u32 %r3, bar;\n" +
              body,
          threads, threads, kVariables, &report, options);
  return report;
}

std::set<std::string> namesOf(const std::vector<SimulationError> &list) {
  std::set<std::string> names;
  for (const SimulationError &e : list)
    names.insert(std::string(infoOf(e.rule).name));
  return names;
}

using Names = std::set<std::string>;

/// The body breaks exactly this rule, in every schedule.
void expectWarning(const std::string &body, const std::string &rule,
                   uint32_t threads = 64) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    Report report = reportOf(body, options, threads);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(namesOf(report.warnings), Names{rule}) << report.str();
    EXPECT_THAT(report.str(), HasSubstr("docs/Warnings.md, " + rule));
    options.strict = true;
    report = reportOf(body, options, threads);
    EXPECT_EQ(namesOf(report.errors), Names{rule}) << report.str();
    EXPECT_TRUE(report.warnings.empty());
    EXPECT_THAT(report.str(), Not(HasSubstr("warning")));
  }
}

void expectError(const std::string &body, ErrorKind kind,
                 uint32_t threads = 64) {
  Report report = reportOf(body, {}, threads);
  EXPECT_EQ(namesOf(report.errors), Names{std::string(errorKindName(kind))})
      << report.str();
}

std::string allocate(const std::string &lanes = "@!%p1 ") {
  return lanes +
         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;"
         "\n";
}
const char *const kReadSlot = "ld.shared.u32 %r4, [slot];\n";
const char *const kFree =
    "@!%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 32;\n";
const char *const kRelaxed =
    "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n";
const char *const kStore =
    "add.u32 %r5, %r4, 0x200000;\n"
    "@%p1 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%t};\n";
const char *const kInitOne = "@%p0 mbarrier.init.shared::cta.b64 [%r3], 1;\n";
const char *const kFence = "@%p0 fence.mbarrier_init.release.cluster;\n";
const char *const kCommit =
    "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
    ".b64 [%r3];\n";
const char *const kWaitHere =
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n"
    "@!%p2 bra W;\n";

} // namespace

TEST(Severity, EveryKindIsARuleAndAnError) {
  for (unsigned n = 0; n <= unsigned(ErrorKind::InvalidOperation); ++n) {
    const RuleInfo &info = infoOf(ruleOf(ErrorKind(n)));
    EXPECT_EQ(info.kind, ErrorKind(n));
    EXPECT_EQ(info.severity, Severity::Error);
    EXPECT_EQ(info.name, errorKindName(ErrorKind(n)));
  }
  EXPECT_EQ(infoOf(Rule::RelaxedFree).kind, ErrorKind::Race);
  EXPECT_EQ(errorKindName(ErrorKind::MemoryInFlight), "memory-in-flight");
}

TEST(Severity, RelaxedClusterBarriersAroundAllocation) {
  std::string drained = std::string("tcgen05.wait::st.sync.aligned;\n");
  // The address, behind a relaxed barrier; then the free.
  expectWarning(allocate() + kRelaxed + kReadSlot + "bar.sync 0;\n" + kFree,
                "relaxed-allocation");
  expectWarning(allocate() + "bar.sync 0;\n" + kReadSlot + kStore + drained +
                    kRelaxed + kFree,
                "relaxed-free");
  // What is not drained is still under way, and other words are data.
  expectError(allocate() + "bar.sync 0;\n" + kReadSlot + kStore + kRelaxed +
                  kFree + drained,
              ErrorKind::MemoryInFlight);
  expectError("@%p0 st.shared.u32 [s], 7;\n" + std::string(kRelaxed) +
                  "@%p1 ld.shared.u32 %r4, [s];\n",
              ErrorKind::Race);
}

TEST(Severity, UnfencedInitOfTheCtasOwnBarrier) {
  expectWarning(std::string(kInitOne) + "bar.sync 0;\n" + kCommit + kWaitHere,
                "unfenced-init");
  // Nothing at all stands between the two.
  expectError(std::string(kInitOne) + kCommit + "bar.sync 0;\n" + kWaitHere,
              ErrorKind::MissingProxyFence);
}

TEST(Severity, UnfencedInitOfAnotherCtasBarrier) {
  std::string body = "mbarrier.init.shared::cta.b64 [%r3], 1;\n";
  std::string use = std::string(kSync) + R"(
  mapa.shared::cluster.u32 %r4, %r3, %r1;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r2], 16, [%r4];
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16;
)" + kWait + kSync;
  std::string fill = "st.shared.v2.u64 [%r2], {1, 2}; fence.proxy.async;\n"
                     "add.u32 %r6, %r2, 64;\n"
                     "mapa.shared::cluster.u32 %r5, %r6, %r1;\n";
  std::vector<uint32_t> out;
  Report fenced = runPair(fill + kInit + use, out);
  EXPECT_TRUE(fenced.ok()) << fenced.str();
  // A barrier that orders memory makes it visible to the other CTA, too.
  Report report = runPair(fill + body + use, out);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(namesOf(report.warnings), Names{"unfenced-init"}) << report.str();
  report = runPair(fill + body + "fence.proxy.async;\n" +
                       replaced(use, "barrier.cluster.arrive.release.aligned",
                                "barrier.cluster.arrive.relaxed.aligned"),
                   out);
  EXPECT_EQ(namesOf(report.errors), Names{"race"}) << report.str();
}

TEST(Severity, OneLaneHandsOverWhatTheWarpHasAllocated) {
  const std::string init = std::string(kInitOne) + kFence + "bar.sync 0;\n";
  const std::string arrive =
      std::string("@%p0 mbarrier.arrive.shared::cta.b64 _, [%r3];\n") +
      kWaitHere + kReadSlot + "bar.sync 0;\n";
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    Report report = reportOf(init + allocate() + arrive + kFree, options);
    EXPECT_TRUE(report.ok() && report.warnings.empty()) << report.str();
  }
  // The lanes of a store write each for itself.
  expectError(init + "@!%p1 st.shared.u32 [slot], %t;\n" + arrive,
              ErrorKind::Race);
}

TEST(Severity, TheAddressThatAllocWrote) {
  auto overwrite = [](const std::string &first, const std::string &word) {
    return std::string("@%p0 st.shared.v2.u64 [s], {1, 2};\n"
                       "@%p0 fence.proxy.async;\n") +
           kInitOne + kFence + first + "bar.sync 0;\nld.shared.u32 %r4, [" +
           word + "];\nbar.sync 0;\nmov.u32 %r6, " + word + R"(;
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16;
  @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r2], 16, [%r3];
)" + kWaitHere;
  };
  expectWarning(overwrite(allocate(), "slot") + kFree, "allocated-address");
  expectError(overwrite("@%p0 st.shared.u32 [s+64], 7;\n", "s+64"),
              ErrorKind::MissingProxyFence);
}

TEST(Severity, LanesThatReadBehindTheLaneThatArrives) {
  // Warp 0 reads s, and one of its lanes says so; warp 1 has s overwritten.
  auto body = [](const std::string &meet) {
    return std::string("@%p0 st.shared.v2.u64 [s], {1, 2};\n"
                       "@%p0 st.shared.v2.u64 [s+16], {3, 4};\n") +
           kInitOne + "add.u32 %r7, %r2, 128; add.u32 %r6, %r2, 16;\n" +
           "@%p0 mbarrier.init.shared::cta.b64 [%r7], 1;\n" + kFence +
           "fence.proxy.async;\nbar.sync 0;\n@!%p1 bra OTHER;\n" + kWaitHere +
           R"(
  setp.eq.u32 %p3, %t, 32;
  @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 16;
  @%p3 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2], [%r6], 16, [%r7];
V: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r7], 0; @!%p2 bra V;
  bra END;
OTHER: ld.shared.u32 %r4, [s]; fence.proxy.async;
)" + meet + "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r3];\nEND:\n";
  };
  Report met = reportOf(body("bar.warp.sync -1;\n"));
  EXPECT_TRUE(met.ok() && met.warnings.empty()) << met.str();
  expectWarning(body(""), "lanes-behind-arrival");
  // A copy overtakes loads that nothing has held up.
  const std::string unfenced =
      replaced(body(""), "[s]; fence.proxy.async;", "[s];");
  expectError(unfenced, ErrorKind::MissingProxyFence);
}

TEST(Severity, StoresOfTensorMemoryThatNothingWaitsFor) {
  // Warp 0 stores its lanes; warp 4, which has the same lanes, loads them.
  auto body = [](const std::string &wait, const std::string &behind) {
    return allocate() + "bar.sync 0;\n" + kReadSlot + R"(
  setp.lt.u32 %p3, %t, 32; setp.ge.u32 %p4, %t, 128;
  add.u32 %r5, %t, 1000;
  @%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r5};
)" + wait + R"(
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
)" + behind +
           R"(
  @%p4 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r4];
  tcgen05.wait::ld.sync.aligned;
  @%p4 st.global.u32 [%o+-512], %r6;
  tcgen05.wait::st.sync.aligned;
  bar.sync 0;
)" + kFree;
  };
  const std::string wait = "tcgen05.wait::st.sync.aligned;\n";
  expectWarning(body("", ""), "transfer-order", 160);
  Report report = reportOf(body(wait, ""), {}, 160);
  EXPECT_TRUE(report.ok() && report.warnings.empty()) << report.str();
  // In the order of issue, whenever they complete.
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    std::vector<uint32_t> out = compute(
        "setp.eq.u32 %p0, %t, 0; setp.ge.u32 %p1, %t, 32;\n" + body("", ""),
        160, 160, kVariables, &report, options);
    for (uint32_t lane = 0; lane < 32; ++lane)
      EXPECT_EQ(out[lane], 1000 + lane) << "seed " << seed;
  }
  expectWarning(
      body("", "@%p4 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r5};\n"),
      "transfer-order", 160);
  // With no barrier between the two there is no order.
  expectError(allocate() + "bar.sync 0;\n" + kReadSlot + R"(
  setp.lt.u32 %p3, %t, 32; setp.ge.u32 %p4, %t, 128;
  @%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%t};
  @%p4 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%t};
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
)" + kFree,
              ErrorKind::Race, 160);
}

TEST(Severity, ReadsThatTmaMayOvertake) {
  // Warp 0 reads s and arrives; then warp 1 has s overwritten.
  auto body = [](const std::string &before, const std::string &between) {
    return std::string("@%p0 st.shared.v2.u64 [s], {1, 2};\n"
                       "@%p0 st.shared.v2.u64 [s+16], {3, 4};\n") +
           kInitOne + "add.u32 %r7, %r2, 128; add.u32 %r6, %r2, 16;\n" +
           "@%p0 mbarrier.init.shared::cta.b64 [%r7], 1;\n"
           "@%p0 mbarrier.init.shared::cta.b64 [%r7+8], 1;\n" +
           kFence +
           "fence.proxy.async;\nbar.sync 0;\n"
           "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r7+8];\n"
           "@!%p1 bra OTHER;\n" +
           kWaitHere + R"(
  setp.eq.u32 %p3, %t, 32;
  @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 16;
  @%p3 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2], [%r6], 16, [%r7];
V: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r7], 0; @!%p2 bra V;
  bra END;
OTHER: )" + before +
           "ld.shared.u32 %r4, [s];\n" + between +
           "bar.warp.sync -1;\n"
           "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r3];\nEND:\n";
  };
  const std::string wait =
      "U: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r7+8], 0;\n"
      "@!%p2 bra U;\n";
  Report fenced = reportOf(body("", "fence.proxy.async;\n"));
  EXPECT_TRUE(fenced.ok() && fenced.warnings.empty()) << fenced.str();
  expectWarning(body("", wait), "read-before-wait");
  // A wait before the read, none at all, and arithmetic, which a compiler
  // moves behind the arrival.
  for (auto &[before, between] : {std::pair<std::string, std::string>{wait, ""},
                                  {"", ""},
                                  {"", "add.u32 %r5, %r4, 1;\n"}})
    expectError(body(before, between), ErrorKind::MissingProxyFence);
}

TEST(Severity, LoadsOfTensorMemoryThatOnlyReadsHaveWaitedFor) {
  // Warp 1 loads two registers; warp 0 frees the columns.
  auto body = [](const std::string &reads) {
    return allocate() + "bar.sync 0;\n" + kReadSlot + R"(
  add.u32 %r5, %r4, 0x200000;
  @%p1 tcgen05.st.sync.aligned.32x32b.x2.b32 [%r5], {%t, %t};
  tcgen05.wait::st.sync.aligned;
  @%p1 tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r6, %r7}, [%r5];
)" + reads +
           "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n" + kFree;
  };
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    // What has been read may be overwritten.
    Report report = reportOf(
        body("@%p1 add.u32 %r6, %r6, %r7;\n@%p1 mov.u32 %r7, 1;\n"), options);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(namesOf(report.warnings),
              (Names{"overwritten-load", "register-order"}));
    report = reportOf(body("@%p1 mov.u32 %r8, %r6;\n"), options);
    EXPECT_EQ(namesOf(report.errors), Names{"race"}) << report.str();
    report = reportOf(body("@%p1 mov.u32 %r8, %r6;\n@%p1 mov.u32 %r7, 1;\n"),
                      options);
    EXPECT_THAT(namesOf(report.errors),
                testing::Contains("register-in-flight"));
  }
}

TEST(Severity, StoresThatAreOverWhenALoadBehindThemIs) {
  // Warp 1 stores, warp 5 loads what it stored, warp 0 frees the columns.
  auto body = [](const std::string &load) {
    return allocate() + "bar.sync 0;\n" + kReadSlot + R"(
  add.u32 %r5, %r4, 0x200000;
  setp.lt.u32 %p3, %t, 64; and.pred %p3, %p3, %p1; setp.ge.u32 %p4, %t, 160;
  @%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%t};
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
)" + load +
           R"(
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
)" + kFree;
  };
  const std::string load =
      "@%p4 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r5];\n";
  Report report =
      reportOf(body(load + "tcgen05.wait::ld.sync.aligned;\n"), {}, 192);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(namesOf(report.warnings), Names{"transfer-order"});
  // The warning of the load, and that of the free.
  EXPECT_EQ(report.warnings.size(), 2u) << report.str();
  for (const std::string &unwaited : {std::string(), load}) {
    report = reportOf(body(unwaited), {}, 192);
    EXPECT_FALSE(report.ok());
  }
}

TEST(Severity, ArrivalsThatChangePlaces) {
  // Two warps arrive at two barriers, and wait at the first only.
  auto body = [](const std::string &arrive, const std::string &wait = "%r2") {
    std::string all = R"(
  @%p0 mbarrier.init.shared::cta.b64 [%r2], 2;
  @%p0 mbarrier.init.shared::cta.b64 [%r2+8], 2;
  bar.sync 0;
  and.b32 %r6, %t, 31; setp.lt.u32 %p3, %r6, 2;
  setp.eq.u32 %p4, %r6, 0; setp.eq.u32 %p5, %r6, 1;
  shl.b32 %r7, %r6, 3; add.u32 %r7, %r7, %r2; add.u32 %r8, %r2, 8;
)";
    for (const char *phase : {"0", "1"})
      all += arrive + "bar.warp.sync -1;\n" + "L" + phase +
             ": mbarrier.try_wait.parity.shared::cta.b64 %p2, [" + wait +
             "], " + phase + ";\n@!%p2 bra L" + phase + ";\n";
    return all + "bar.sync 0;\n";
  };
  const std::string together =
      "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r7];\n";
  expectWarning(body(together), "swapped-arrival");
  // What a warp does between its two arrivals is not known to be over.
  const std::string apart = "@%p4 mbarrier.arrive.shared::cta.b64 _, [%r2];\n"
                            "@%p4 mbarrier.arrive.shared::cta.b64 _, [%r8];\n";
  Report report = reportOf(body(apart));
  EXPECT_EQ(namesOf(report.errors), Names{"early-arrival"}) << report.str();
  report = reportOf(body(apart, "%r8"));
  EXPECT_TRUE(report.ok()) << report.str();
}

TEST(Severity, GenericAddressesOfSharedMemory) {
  const std::string generic = "mov.u32 %r5, slot; cvt.u64.u32 %d0, %r5;\n"
                              "cvta.shared.u64 %d1, %d0;\n";
  const std::string alloc =
      "@!%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%d1], "
      "32;\n";
  const std::string rest = "bar.sync 0;\n" + std::string(kReadSlot) + kFree;
  expectWarning(generic + alloc + rest, "generic-address");
  expectError("mov.u64 %d1, %out;\n" + alloc, ErrorKind::OutOfBounds);
}

TEST(Severity, WarningsNeitherStopNorCount) {
  std::string warns =
      std::string(kInitOne) + "bar.sync 0;\n" + kCommit + kWaitHere;
  std::string fails = "ld.shared.u32 %r10, [s+512];\n"
                      "st.global.u32 [%o], %r10;\n";
  for (const std::string &body : {warns + fails, fails + warns}) {
    Report report = reportOf(body);
    EXPECT_EQ(namesOf(report.errors), Names{"uninitialised-memory"});
    EXPECT_EQ(namesOf(report.warnings), Names{"unfenced-init"});
  }
  Options options;
  options.maxErrors = 1;
  Report report = reportOf(warns + fails, options);
  EXPECT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.statistics.blocks, 0u); // stopped at the error
  report = reportOf(warns, options);
  EXPECT_EQ(report.statistics.blocks, 1u);
  options.strict = true;
  EXPECT_EQ(reportOf(warns, options).statistics.blocks, 0u);
}

TEST(Severity, OneWarningARuleAndInstruction) {
  std::string body = std::string(kInitOne) + "bar.sync 0;\n";
  std::string commit = kCommit;
  Report report =
      reportOf("mov.u32 %r9, 0;\n" + replaced(body, "1;", "3;") +
               "L:" + commit + "add.u32 %r9, %r9, 1;\n" +
               "setp.lt.u32 %p3, %r9, 2; @%p3 bra L;\n" + commit + kWaitHere);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(report.warnings.size(), 2u) << report.str();
}

TEST(Severity, AnErrorHasNoFollowOnErrors) {
  // The copy overwrites what a store without a proxy fence wrote; who waits
  // for it finds bytes that were written.
  Report report =
      reportOf("@%p0 st.shared.v2.u64 [s], {1, 2}; @%p0 fence.proxy.async;\n"
               "@%p0 st.shared.v2.u64 [s+64], {1, 2};\n" +
               std::string(kInitOne) + kFence + R"(bar.sync 0;
  add.u32 %r6, %r2, 64; add.u32 %r7, %r2, 72;
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 32;
  @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r2], 32, [%r3];
)" + kWaitHere +
               "ld.shared.v2.u64 {%d5, %d6}, [s+80];\n");
  EXPECT_THAT(namesOf(report.errors), Not(testing::Contains("race")));
  // Of the 32 bytes that the copy reads 16 were never written: that is all.
  EXPECT_EQ(namesOf(report.errors),
            (Names{"missing-proxy-fence", "uninitialised-memory"}))
      << report.str();
  EXPECT_EQ(report.errors.size(), 2u) << report.str();

  // Columns that were freed with an error are free.
  report =
      reportOf(allocate() + "bar.sync 0;\n" + kReadSlot + kStore +
               "bar.sync 0;\n" + kFree + "tcgen05.wait::st.sync.aligned;\n");
  EXPECT_EQ(namesOf(report.errors), Names{"memory-in-flight"}) << report.str();
}

TEST(Severity, WhatIsUnknownComesFirstAndOnceEach) {
  // The launch passes too few arguments, and is told of later.
  Device device;
  Report report = run(device,
                      kernel(".param .u64 out", ".reg .b32 %r<3>;\n"
                                                "frobnicate.b32 %r1, %r2;\n"
                                                "add.u32 %r1, 1, 2;\n"
                                                "frobnicate.b32 %r2, %r1;\n"
                                                "mingle.u32 %r2, %r1, 3;\n"
                                                "ret;"),
                      {});
  ASSERT_EQ(report.errors.size(), 2u) << report.str();
  for (const SimulationError &e : report.errors)
    EXPECT_EQ(e.kind, ErrorKind::Unsupported);
  EXPECT_THAT(report.errors[0].message, HasSubstr("'frobnicate.b32'"));
  EXPECT_THAT(report.errors[0].message, HasSubstr("(2 instructions)"));
  EXPECT_THAT(report.errors[1].message, HasSubstr("'mingle.u32'"));
  EXPECT_THAT(report.errors[1].message, Not(HasSubstr("instructions)")));
}
