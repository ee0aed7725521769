// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined data in memories: loads of what nothing has written, stores of what
// is undefined, and the copies and products that such bytes reach.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

const char *const kMemory =
    ".shared .align 1024 .b8 s[4096];\n.shared .align 8 .b64 bar;\n"
    ".shared .align 8 .b32 slot;\n";

Report reportOf(const std::string &body) {
  Report report;
  compute(".local .align 16 .b8 l[64];\n" + body, 32, 256, kMemory, &report);
  return report;
}

/// One error, of `kind`, at what `message` says, from what `origin` says.
void expectOne(const Report &report, ErrorKind kind, const std::string &message,
               const std::string &origin) {
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  const SimulationError &e = report.errors[0];
  EXPECT_EQ(e.kind, kind) << e.str();
  EXPECT_THAT(e.message, HasSubstr(message));
  ASSERT_EQ(e.notes.size(), 1u) << e.str();
  EXPECT_THAT(e.notes[0].message, HasSubstr(origin));
  EXPECT_LE(e.notes[0].where.ptxLine, e.where.ptxLine);
}

const char *const kStore = "\nst.global.b32 [%o], %r1;\n";
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

namespace {

/// Two buffers of 1024 bytes: `in`, of which nothing is written unless
/// `written`, and `out`. %in and %out are their addresses.
Report runFromGlobal(const std::string &body, bool written) {
  Device device;
  uint64_t in = *device.allocate("in", 1024, {false, true}),
           out = *device.allocate("out", 1024);
  if (written)
    device.write(in, std::vector<uint8_t>(1024).data(), 1024);
  TensorMap map;
  map.rank = 2;
  map.dims = {64, 8};
  map.box = {64, 4};
  map.strides = {64};
  map.globalAddress = in;
  TensorMap target = map;
  target.globalAddress = out;
  LaunchConfig config;
  config.block = {32, 1, 1};
  return run(device,
             kernel(".param .u64 in, .param .u64 out, .param .align 64 .b8 "
                    "map[128], .param .align 64 .b8 target[128]",
                    R"(
  .reg .pred %p<9>; .reg .b32 %r<60>, %t; .reg .b64 %d<9>, %in, %out, %o;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4; add.s64 %o, %o, %out;
  setp.eq.u32 %p0, %t, 0; mov.u32 %r2, s; mov.u32 %r3, bar;
  @%p0 mbarrier.init.shared::cta.b64 [bar], 1;
  @%p0 fence.mbarrier_init.release.cluster; bar.warp.sync -1;
)" + body + "\nret;",
                    "sm_100a", kMemory),
             {KernelArgument::value(in), KernelArgument::value(out),
              KernelArgument::tensorMap(map),
              KernelArgument::tensorMap(target)},
             config);
}

const char *const kExpect =
    "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n";
const char *const kWait =
    "L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra L;\n";

} // namespace

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

TEST(UndefinedMemory, CopiesToGlobalMemoryAreUses) {
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

TEST(UndefinedMemory, ProductsAreUses) {
  Report right = reportOfProduct(product("%r3", "%r3", "%r3"));
  EXPECT_TRUE(right.ok()) << right.str();
  const char *undefined = "register %r40 is read before it is written";
  expectOne(reportOfProduct(product("%r3", "%r40", "%r3")),
            ErrorKind::UninitialisedRegister,
            "'tcgen05.mma.cta_group::1.kind::f16' reads shared memory offset "
            "1024 (s+0), to which undefined data was stored",
            undefined);
  expectOne(reportOfProduct(product("%r40", "%r3", "%r3")),
            ErrorKind::UninitialisedRegister,
            "reads tensor memory lane 0, column 15, to which undefined data "
            "was stored",
            undefined);
  std::string accumulates = product("%r3", "%r3", "%r40");
  expectOne(reportOfProduct(accumulates), ErrorKind::UninitialisedRegister,
            "reads tensor memory lane 0, column 7, to which undefined data was "
            "stored",
            undefined);
  // Overwritten, it is defined again.
  Report overwritten =
      reportOfProduct(replaced(accumulates, "%p3, %t, %t", "%p3, %t, 1000"));
  EXPECT_TRUE(overwritten.ok()) << overwritten.str();
  // What nothing wrote stays an error of the product.
  Report unwritten = reportOfProduct(
      replaced(product("%r3", "%r3", "%r3"), "st.shared.u32 [%r1], %r3;", ""));
  ASSERT_FALSE(unwritten.ok());
  EXPECT_THAT(unwritten.errors[0].message,
              HasSubstr("(s+0), which nothing has written in this CTA"));
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
