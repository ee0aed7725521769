// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where undefined bytes have an effect: copies and products.

#include "Memory/UndefinedKernels.h"

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

TEST(UndefinedMemoryUses, CopiesOutOfTheCta) {
  const std::string drain = "@%p0 cp.async.bulk.commit_group;\n"
                            "@%p0 cp.async.bulk.wait_group 0;\n";
  const std::string copies[] = {
      "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r2], 256;\n",
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [target, {0, 0}], "
      "[%r2];\n",
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], "
      "[%r2], 256;\n",
  };
  // 32 lanes write 8 bytes each.
  const std::string fill = R"(
  shl.b32 %r4, %t, 3; add.u32 %r4, %r4, %r2; mov.u64 %d1, 0;
  st.shared.u64 [%r4], %d1; /*spoil*/
  fence.proxy.async; bar.warp.sync -1;
)";
  for (const std::string &copy : copies) {
    SCOPED_TRACE(copy);
    std::string body = fill + "@%p0 " + copy + drain;
    Report right = runFromGlobal(body, true);
    EXPECT_TRUE(right.ok()) << right.str();
    expectOne(
        runFromGlobal(replaced(body, "/*spoil*/",
                               "add.u32 %r41, %r40, 1;\nsetp.eq.u32 %p3, %t, 5;"
                               "@%p3 st.shared.b32 [%r4+4], %r41;"),
                      true),
        ErrorKind::UninitialisedRegister,
        "reads shared memory offset 1068 (s+44), to which undefined data was "
        "stored",
        "register %r40 is read before it is written");
    Report unwritten = runFromGlobal(
        replaced(body, "st.shared.u64 [%r4], %d1;",
                 "setp.ne.u32 %p3, %t, 5; @%p3 st.shared.u64 [%r4], %d1;"),
        true);
    ASSERT_EQ(unwritten.errors.size(), 1u) << unwritten.str();
    EXPECT_THAT(unwritten.errors[0].message,
                HasSubstr("(s+40), which nothing has written in this CTA"));
  }
  // What a reduction finds in global memory is combined.
  std::string reduction =
      fill + "@%p0 " + replaced(copies[2], "[%out]", "[%in]") + drain;
  EXPECT_TRUE(runFromGlobal(reduction, true).ok());
  expectOne(runFromGlobal(reduction, false), ErrorKind::UninitialisedMemory,
            "combines undefined bytes of buffer 'in'", "that nothing has");
  // To shared memory of a CTA of the cluster as well.
  std::string body = fill + kExpect +
                     "add.u32 %r5, %r2, 1024;\n"
                     "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::"
                     "complete_tx::bytes [%r5], [%r2], 256, [%r3];\n" +
                     kWait;
  EXPECT_TRUE(runFromGlobal(body, true).ok());
  expectOne(
      runFromGlobal(replaced(body, "/*spoil*/", "st.shared.b32 [%r4], %r40;"),
                    true),
      ErrorKind::UninitialisedRegister, "(s+0), to which undefined data",
      "%r40");
}

namespace {

const char *const kFree =
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r52, 32;\n";

/// D = A * B of kind::f16 (M 128, N 8, K 16): A in tensor memory, B in shared
/// memory, D accumulated.
std::string product(const std::string &aSource, const std::string &bSource,
                    const std::string &dSource) {
  return R"(
  setp.ge.u32 %p1, %t, 32; setp.eq.u32 %p2, %t, 0; setp.eq.u32 %p3, %t, %t;
  @%p1 bra READ;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
READ: shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;
  mov.u32 %r3, 0x3f803f80; st.shared.u32 [%r1], )" +
         bSource + R"(; fence.proxy.async;
  @%p2 mbarrier.init.shared::cta.b64 [bar], 1;
  @%p2 fence.mbarrier_init.release.cluster;
  bar.sync 0; ld.shared.b32 %r52, [slot];
  shr.u32 %r4, %t, 5; shl.b32 %r4, %r4, 21; add.u32 %r4, %r4, %r52;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r4+8], {%r3, %r3, %r3, %r3, %r3, %r3, %r3, )" +
         aSource + R"(};
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r4], {%r3, %r3, %r3, %r3, %r3, %r3, %r3, )" +
         dSource + R"(};
  tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;
  bar.sync 0; tcgen05.fence::after_thread_sync;
  @!%p2 bra WAIT;
  shr.u32 %r5, %r2, 4; cvt.u64.u32 %d2, %r5; or.b64 %d2, %d2, )" +
         std::to_string(uint64_t(1) << 46 | uint64_t(16) << 32 |
                        uint64_t(8) << 16) +
         ";\n  mov.b32 %r6, " +
         std::to_string(1u << 4 | 1u << 7 | 1u << 10 | 1u << 17 | 8u << 24) +
         R"(;
  tcgen05.mma.cta_group::1.kind::f16 [%r52], [%r52+8], %d2, %r6, %p3;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
WAIT: bar.warp.sync -1;
L: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0; @!%p4 bra L;
  tcgen05.fence::after_thread_sync;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r4+7];
  tcgen05.wait::ld.sync.aligned; st.global.b32 [%o], %r20;
  tcgen05.fence::before_thread_sync; bar.sync 0; @%p1 bra END;
)" + kFree +
         "END:\n";
}

Report reportOfProduct(const std::string &text) {
  Report report;
  compute(text, 128, 128, kMemory, &report);
  return report;
}

} // namespace

TEST(UndefinedMemoryUses, Branches) {
  const std::string branch = "ld.shared.u32 %r1, [s]; setp.eq.u32 %p1, %r1, 7;"
                             "\n@%p1 bra L;\nL:\n";
  Report report = runFromGlobal(branch, true);
  EXPECT_TRUE(report.ok()) << report.str();
  ASSERT_EQ(report.warnings.size(), 1u) << report.str();
  EXPECT_EQ(infoOf(report.warnings[0].rule).name, "undefined-branch");
  // What follows may still be an error, from the same origin.
  report = runFromGlobal(branch + kStore, true);
  EXPECT_EQ(report.warnings.size(), 1u);
  expectOne(report, ErrorKind::UninitialisedMemory, "'st.global.b32' stores",
            "'ld.shared.u32' reads");
  // Registers that nothing has written are another matter.
  report = runFromGlobal("setp.eq.u32 %p1, %r40, 7;\n@%p1 bra L;\nL:\n", true);
  expectOne(report, ErrorKind::UninitialisedRegister, "'bra' is guarded by",
            "%r40");
  // They are none once they were stored to shared memory.
  const std::string stored = "st.shared.u32 [s], %r40;\n" + branch;
  report = runFromGlobal(stored, true);
  EXPECT_TRUE(report.ok()) << report.str();
  ASSERT_EQ(report.warnings.size(), 1u) << report.str();
  EXPECT_EQ(infoOf(report.warnings[0].rule).name, "undefined-branch");
  expectOne(runFromGlobal(stored + kStore, true),
            ErrorKind::UninitialisedRegister, "'st.global.b32' stores", "%r40");
}

TEST(UndefinedMemoryUses, Products) {
  Report right = reportOfProduct(product("%r3", "%r3", "%r3"));
  EXPECT_TRUE(right.ok()) << right.str();
  const char *undefined = "register %r40 is read before it is written";
  // Operands in shared memory, and what is added to, leave some of D undefined.
  std::string accumulates = product("%r3", "%r3", "%r40");
  for (const std::string &text : {product("%r3", "%r40", "%r3"), accumulates})
    expectOne(reportOfProduct(text), ErrorKind::UninitialisedRegister,
              "'st.global.b32' stores", undefined);
  expectOne(reportOfProduct(product("%r40", "%r3", "%r3")),
            ErrorKind::UninitialisedRegister,
            "reads tensor memory lane 0, column 15, to which undefined data "
            "was stored",
            undefined);
  // Overwritten, it is defined again.
  Report overwritten =
      reportOfProduct(replaced(accumulates, "%p3, %t, %t", "%p3, %t, 1000"));
  EXPECT_TRUE(overwritten.ok()) << overwritten.str();
  // So does what nothing wrote.
  expectOne(reportOfProduct(replaced(product("%r3", "%r3", "%r3"),
                                     "st.shared.u32 [%r1], %r3;", "")),
            ErrorKind::UninitialisedMemory, "'st.global.b32' stores",
            "'tcgen05.mma.cta_group::1.kind::f16' reads shared memory offset "
            "1024 (s+0), which nothing has written in this CTA");
  // Each operand of the instruction must be defined.
  for (auto [from, to] : {std::pair("%d2, %r6, %p3;", "%d2, %r41, %p3;"),
                          std::pair("%d2, %r6, %p3;", "%d3, %r6, %p3;"),
                          std::pair("%d2, %r6, %p3;", "%d2, %r6, %p5;"),
                          std::pair("[%r52], [%r52+8]", "[%r41], [%r52+8]")}) {
    Report report =
        reportOfProduct(replaced(product("%r3", "%r3", "%r3"), from, to));
    ASSERT_FALSE(report.ok()) << to;
    EXPECT_EQ(report.errors[0].kind, ErrorKind::UninitialisedRegister) << to;
    EXPECT_THAT(report.errors[0].message,
                HasSubstr("'tcgen05.mma.cta_group::1.kind::f16'"));
  }
}
