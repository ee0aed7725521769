// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined data in memories: loads of what nothing has written, stores of what
// is undefined, and copies from global memory.

#include "Memory/UndefinedKernels.h"

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

Report reportOf(const std::string &body) {
  Report report;
  compute(".local .align 16 .b8 l[64];\n" + body, 32, 256, kMemory, &report);
  return report;
}

const char *const kSwizzledAddresses =
    "shl.b32 %r50, %t, 4; mov.u32 %r51, s; add.u32 %r50, %r50, %r51;\n";
const char *const kAlloc =
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n"
    "bar.warp.sync -1;\nld.shared.b32 %r52, [slot];\n";
const char *const kFree =
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r52, 32;\n";

/// A load that fills %r1 from memory that nothing has written.
struct Origin {
  const char *name;
  std::string load;
  const char *message;
  std::string write; ///< of the right kernel, before the load
  std::string after; ///< at the end
};

const Origin kOrigins[] = {
    {"shared", "ld.shared.u32 %r1, [s+4];",
     "'ld.shared.u32' reads shared memory offset 1028 (s+4), which nothing has "
     "written in this CTA",
     "st.shared.u32 [s+4], 7;", ""},
    {"volatile", "ld.volatile.shared.u32 %r1, [s];",
     "'ld.volatile.shared.u32' reads", "st.shared.u32 [s], 7;", ""},
    {"generic", "mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; ld.b32 %r1, [%d1];",
     "'ld.b32' reads shared memory", "st.shared.u32 [s], 7;", ""},
    {"signed byte", "ld.shared.s8 %r2, [s]; shr.u32 %r1, %r2, 8;",
     "'ld.shared.s8' reads", "st.shared.u8 [s], 7;", ""},
    {"element of a vector", "ld.shared.v2.u32 {%r2, %r1}, [s];",
     "'ld.shared.v2.u32' reads shared memory", "st.shared.u32 [s+4], 7;", ""},
    {"128 bits",
     ".reg .b128 %q; ld.shared.b128 %q, [s];\n"
     "mov.b128 {%d1, %d2}, %q; cvt.u32.u64 %r1, %d2;",
     "'ld.shared.b128' reads", "st.shared.u64 [s+8], 7;", ""},
    {"local", "ld.local.u32 %r1, [l+8];",
     "'ld.local.u32' reads local memory at offset 8, where the thread has not "
     "written",
     "st.local.u32 [l+8], 7;", ""},
    {"generic local",
     "mov.u64 %d1, l; cvta.local.u64 %d1, %d1; ld.u32 %r1, [%d1];",
     "'ld.u32' reads local memory", "st.local.u32 [l], 7;", ""},
    {"matrix",
     std::string(kSwizzledAddresses) +
         "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%r50];",
     "'ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16' reads shared memory "
     "offset 1024",
     std::string(kSwizzledAddresses) +
         "mov.u64 %d1, 7; st.shared.v2.u64 [%r50], {%d1, %d1};\n"
         "bar.warp.sync -1;",
     ""},
    {"tensor memory",
     "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r52+3];\n"
     "tcgen05.wait::ld.sync.aligned;",
     "reads tensor memory lanes 0 to 15, column 3, which nothing has written "
     "since its allocation",
     "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r52+3], {%t};\n"
     "tcgen05.wait::st.sync.aligned;",
     kFree},
};

} // namespace

TEST(UndefinedMemory, LoadsOfWhatNothingHasWritten) {
  for (const Origin &origin : kOrigins) {
    SCOPED_TRACE(origin.name);
    std::string before = origin.after.empty() ? "" : kAlloc;
    std::string load = origin.load + "\n";
    Report unused = reportOf(before + load + origin.after);
    EXPECT_TRUE(unused.ok()) << unused.str();
    Report right =
        reportOf(before + origin.write + "\n" + load + kStore + origin.after);
    EXPECT_TRUE(right.ok()) << right.str();
    expectOne(reportOf(before + load + kStore + origin.after),
              ErrorKind::UninitialisedMemory,
              "'st.global.b32' stores register %r1, which is undefined",
              origin.message);
  }
}

TEST(UndefinedMemory, HoldsWhatWasStored) {
  // %r40 is undefined; it goes through memory to %r1.
  const std::string throughTensor =
      std::string(kAlloc) +
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r52], {%r40};\n"
      "tcgen05.wait::st.sync.aligned;\n/*again*/\n"
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r52];\n"
      "tcgen05.wait::ld.sync.aligned;\n";
  struct {
    const char *name;
    std::string body, again, after;
  } cases[] = {
      {"shared",
       "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s+64], %r40;\n"
       "bar.warp.sync -1; /*again*/ bar.warp.sync -1;\n"
       "ld.shared.u32 %r1, [s+64];",
       "@%p0 st.shared.u32 [s+64], 1;", ""},
      {"local", "st.local.u32 [l], %r40; /*again*/ ld.local.u32 %r1, [l];",
       "st.local.u32 [l], 1;", ""},
      {"matrix",
       std::string(kSwizzledAddresses) +
           "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r50], {%r40};\n"
           "bar.warp.sync -1; /*again*/ bar.warp.sync -1;\n"
           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r50];",
       "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r50], {%t};", ""},
      {"tensor memory", throughTensor,
       "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r52], {%t};\n"
       "tcgen05.wait::st.sync.aligned;",
       kFree},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(c.name);
    std::string body = c.body + kStore + c.after;
    Report unused = reportOf(c.body + "\n" + c.after);
    EXPECT_TRUE(unused.ok()) << unused.str();
    expectOne(reportOf(body), ErrorKind::UninitialisedRegister,
              "'st.global.b32' stores register %r1",
              "register %r40 is read before it is written");
    Report again = reportOf(replaced(body, "/*again*/", c.again));
    EXPECT_TRUE(again.ok()) << again.str();
  }
}

TEST(UndefinedMemory, GoesByBytes) {
  // Of a word of shared memory the lower half is defined.
  std::string body = "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], %r40;\n"
                     "@%p0 st.shared.u16 [s], 5; bar.warp.sync -1;\n";
  Report report = reportOf(body + "ld.shared.u16 %r1, [s];" + kStore);
  EXPECT_TRUE(report.ok()) << report.str();
  report = reportOf(body + "ld.shared.u32 %r2, [s]; and.b32 %r1, %r2, 0xffff;" +
                    kStore);
  EXPECT_TRUE(report.ok()) << report.str();
  report = reportOf(body + "ld.shared.u16 %r1, [s+2];" + kStore);
  EXPECT_TRUE(has(report, ErrorKind::UninitialisedRegister)) << report.str();
}

TEST(UndefinedMemory, GoesByElementsThroughMatrices) {
  // Of 8 rows of 16 bytes, element 4 of row 1 is not written.
  std::string body = std::string(kSwizzledAddresses) + R"(
  mov.u64 %d1, 7; setp.ne.u32 %p0, %t, 1;
  st.shared.u64 [%r50], %d1; @%p0 st.shared.u16 [%r50+8], 7;
  st.shared.u16 [%r50+10], 7; st.shared.u32 [%r50+12], 7; bar.warp.sync -1;
  ldmatrix.sync.aligned.m8n8.x1/*trans*/.shared.b16 {%r2}, [%r50];
)";
  struct {
    const char *transposed;
    int lane;
    const char *defined, *undefined;
  } cases[] = {
      {"", 6, "shr.u32 %r1, %r2, 16;", "and.b32 %r1, %r2, 0xffff;"},
      {".trans", 16, "and.b32 %r1, %r2, 0xffff;", "shr.u32 %r1, %r2, 16;"}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.transposed);
    std::string load = replaced(body, "/*trans*/", c.transposed);
    Report report = reportOf(load + c.defined + kStore);
    EXPECT_TRUE(report.ok()) << report.str();
    report = reportOf(load + c.undefined + kStore);
    ASSERT_EQ(report.errors.size(), 1u) << report.str();
    EXPECT_EQ(report.errors[0].lane, c.lane);
    // Stored again, it lies where it was.
    std::string again = load + replaced("stmatrix.sync.aligned.m8n8.x1/*trans*/"
                                        ".shared.b16 [%r50+1024], {%r2};\n"
                                        "bar.warp.sync -1;\n",
                                        "/*trans*/", c.transposed);
    report = reportOf(again + "ld.shared.u16 %r1, [s+1042];" + kStore);
    EXPECT_TRUE(report.ok()) << report.str();
    report = reportOf(again + "ld.shared.u16 %r1, [s+1048];" + kStore);
    EXPECT_FALSE(report.ok());
  }
}

TEST(UndefinedMemory, GoesByLanesInTensorMemory) {
  // Lanes 3 and 4 store what is undefined.
  std::string body = std::string(kAlloc) + R"(
  setp.eq.u32 %p0, %t, 3; setp.eq.or.u32 %p0, %t, 4, %p0;
  @!%p0 mov.u32 %r40, %t;
  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r52], {%t, %r40};
  tcgen05.wait::st.sync.aligned;
  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r1}, [%r52];
  tcgen05.wait::ld.sync.aligned;
  st.global.b32 [%o+128], %r2;
)";
  Report report = reportOf(body + "@!%p0" + kStore + kFree);
  EXPECT_TRUE(report.ok()) << report.str();
  report = reportOf(body + kStore + kFree);
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_EQ(report.errors[0].lane, 3);
}

TEST(UndefinedMemory, AtomicsCombineWhatIsThere) {
  for (const char *op :
       {"atom.shared.add.u32 %r1, [s], 1;", "red.shared.add.u32 [s], 1;",
        "red.shared.add.noftz.bf16x2 [s], %t;"}) {
    SCOPED_TRACE(op);
    Report report = reportOf(op);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.errors[0].kind, ErrorKind::UninitialisedMemory);
    EXPECT_THAT(report.errors[0].message,
                HasSubstr("(s+0), which nothing has written"));
    report =
        reportOf(std::string("st.shared.u32 [s], 1; bar.warp.sync -1; ") + op);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(UndefinedMemory, ComesFromGlobalMemory) {
  const std::pair<std::string, const char *> loads[] = {
      {"ld.global.u32 %r1, [%in+16];",
       "'ld.global.u32' reads bytes of buffer 'in' at offset 16 that nothing "
       "has written"},
      {"ld.u32 %r1, [%in];", "'ld.u32' reads bytes of buffer 'in' at offset 0"},
      {"@%p0 cp.async.ca.shared.global [%r2], [%in], 16; cp.async.wait_all;\n"
       "bar.warp.sync -1; ld.shared.u32 %r1, [%r2+4];",
       "'cp.async.ca.shared.global' reads bytes of buffer 'in'"},
      {std::string(kExpect) +
           "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
           "bytes [%r2], [%in], 256, [%r3];\n" +
           kWait + "ld.shared.u32 %r1, [%r2+4];",
       "'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes' "
       "reads bytes of buffer 'in'"},
      {std::string(kExpect) +
           "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
           "complete_tx::bytes [%r2], [map, {0, 0}], [%r3];\n" +
           kWait + "ld.shared.u32 %r1, [%r2+64];",
       "reads bytes of buffer 'in'"},
  };
  for (const auto &[load, message] : loads) {
    SCOPED_TRACE(load);
    Report unused = runFromGlobal(load, false);
    EXPECT_TRUE(unused.ok()) << unused.str();
    Report right = runFromGlobal(load + kStore, true);
    EXPECT_TRUE(right.ok()) << right.str();
    expectOne(runFromGlobal(load + kStore, false),
              ErrorKind::UninitialisedMemory,
              "'st.global.b32' stores register %r1", message);
  }
  for (const char *op :
       {"atom.global.add.u32 %r1, [%in], 1;", "red.global.add.u32 [%in], 1;",
        "red.global.add.noftz.bf16x2 [%in], %t;"}) {
    SCOPED_TRACE(op);
    EXPECT_TRUE(runFromGlobal(op, true).ok());
    expectOne(runFromGlobal(op, false), ErrorKind::UninitialisedMemory,
              "combines undefined bytes of buffer 'in'", "that nothing has");
  }
}
