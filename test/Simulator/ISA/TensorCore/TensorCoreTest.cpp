// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor memory and tcgen05.mma: allocation, shapes of loads and stores,
// layouts of operands.

#include "ISA/TensorCore/TensorCore.h"
#include "Kernels.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

const char *const kShared = ".shared .align 1024 .b8 s[65536];\n.shared .align "
                            "8 .b64 bar;\n.shared .b32 slot;\n";
const char *const kAlloc =
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;\n"
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
    "bar.warp.sync -1;\nld.shared.b32 %r50, [slot];\n";
const char *const kFree =
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r50, 64;\n";

Report reportOf(const std::string &body, uint32_t threads = 32) {
  Report report;
  compute(body, threads, threads, kShared, &report);
  return report;
}

} // namespace

TEST(TensorMemory, StoresAndLoadsInOtherShapes) {
  // Cell (lane, column) gets lane * 100 + column, then is read as 16x256b.
  std::string body = std::string(kAlloc) + "mul.lo.u32 %r0, %t, 100;\n";
  std::string list;
  for (int i = 0; i < 8; ++i) {
    body += "add.u32 %r" + std::to_string(10 + i) + ", %r0, " +
            std::to_string(i) + ";\n";
    list += (i ? ", %r" : "%r") + std::to_string(10 + i);
  }
  body += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r50+8], {" + list +
          "};\ntcgen05.wait::st.sync.aligned;\n";
  body += "add.u32 %r1, %r50, 0x100000;\n";
  body += "tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r20, %r21, %r22, %r23}, "
          "[%r1+8];\n";
  body += "tcgen05.ld.sync.aligned.16x128b.x2.b32 {%r24, %r25, %r26, %r27}, "
          "[%r50+8];\n";
  body += "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r28}, [%r50+8];\n";
  body += "tcgen05.wait::ld.sync.aligned;\n";
  for (int i = 0; i < 9; ++i)
    body += "st.global.b32 [%o+" + std::to_string(i * 128) + "], %r" +
            std::to_string(20 + i) + ";\n";
  auto out = compute(body + kFree, 32, 32 * 9, kShared);
  for (uint32_t t = 0; t < 32; ++t) {
    for (uint32_t n = 0; n < 4; ++n) {
      EXPECT_EQ(out[n * 32 + t],
                (16 + t / 4 + n / 2 * 8) * 100 + t % 4 * 2 + n % 2);
      EXPECT_EQ(out[(4 + n) * 32 + t],
                (t / 4 + n % 2 * 8) * 100 + n / 2 * 4 + t % 4);
    }
    EXPECT_EQ(out[8 * 32 + t], (t / 4 + 8 * (t % 2)) * 100 + t / 2 % 2);
  }
}

TEST(TensorMemory, LoadsOf32LanesFindHalfAnAccumulator) {
  // As with M 64: 16 of the 32 lanes hold something; the others' registers are
  // undefined.
  std::string body = std::string(kAlloc) + R"(
  tcgen05.st.sync.aligned.16x64b.x1.b32 [%r50], {%t};
  tcgen05.wait::st.sync.aligned;
  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r50];
  tcgen05.wait::ld.sync.aligned;
  setp.lt.u32 %p0, %t, 16;
  @%p0 st.global.b32 [%o], %r21;
)" + kFree;
  auto out = compute(body, 32, 32, kShared);
  for (uint32_t t = 0; t < 16;
       ++t) // register 0 of lane l holds row l/4 + l%2*8
    EXPECT_EQ(out[t], t % 8 * 4 + t / 8 + 2);
  EXPECT_THAT(reportOf(replaced(body, "@%p0 st.global", "st.global")).str(),
              HasSubstr("column 0, which nothing has written since its "
                        "allocation"));
}

TEST(TensorMemory, LoadsTwoHalvesFrom16Lanes) {
  // Threads 0 to 15 load lanes 0 to 15, threads 16 to 31 the same lanes four
  // columns further; cell (lane, column) holds lane * 100 + column.
  std::string body = std::string(kAlloc) + "mul.lo.u32 %r0, %t, 100;\n";
  std::string list;
  for (int i = 0; i < 8; ++i) {
    body += "add.u32 %r" + std::to_string(10 + i) + ", %r0, " +
            std::to_string(i) + ";\n";
    list += (i ? ", %r" : "%r") + std::to_string(10 + i);
  }
  body += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r50], {" + list +
          "};\ntcgen05.wait::st.sync.aligned;\n"
          "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r20, %r21}, [%r50], 4;\n"
          "tcgen05.wait::ld.sync.aligned;\nst.global.b32 [%o], %r20;\n"
          "st.global.b32 [%o+128], %r21;\n";
  auto out = compute(body + kFree, 32, 64, kShared);
  for (uint32_t t = 0; t < 32; ++t)
    for (uint32_t n = 0; n < 2; ++n)
      EXPECT_EQ(out[n * 32 + t], t % 16 * 100 + n + (t < 16 ? 0 : 4));
}

TEST(TensorMemory, AReadWaitsForTheLoad) {
  // PTX ISA 9.7.16.6.4.5: a true dependency is kept without a wait.
  auto body = [](const std::string &between) {
    return std::string(kAlloc) + R"(
  mul.lo.u32 %r0, %t, 3; add.u32 %r1, %t, 500;
  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r50], {%r0, %r1};
  tcgen05.wait::st.sync.aligned;
  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r50];
)" + between +
           "  tcgen05.wait::ld.sync.aligned;\n  st.global.b32 [%o], %r22;\n" +
           kFree;
  };
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    options.strict = false;
    // One of the two registers; and a predicate that depends on it.
    for (const char *read :
         {"mov.b32 %r22, %r20;\n",
          "setp.ne.u32 %p1, %r20, 0; selp.u32 %r22, %r20, 0, %p1;\n"}) {
      auto out = compute(body(read), 32, 32, kShared, nullptr, options);
      for (uint32_t t = 0; t < 32; ++t)
        EXPECT_EQ(out[t], t * 3) << "seed " << seed;
      // By the letter nothing but tcgen05.wait::ld says that it has landed.
      Options letter = options;
      letter.strict = true;
      Report report;
      compute(body(read), 32, 32, kShared, &report, letter);
      EXPECT_TRUE(has(report, ErrorKind::RegisterInFlight)) << report.str();
      EXPECT_THAT(report.str(), HasSubstr("register %r20 is read while"));
    }
    // What is overwritten before the wait may still land; by the letter even
    // if it was read.
    for (const char *write : {"mov.b32 %r20, 7; mov.b32 %r22, 1;\n",
                              "mov.b32 %r22, %r20; mov.b32 %r20, 7;\n"}) {
      Report report;
      compute(body(write), 32, 32, kShared, &report, options);
      bool read = std::string(write).find("%r20;") != std::string::npos;
      EXPECT_EQ(has(report, ErrorKind::RegisterInFlight), !read)
          << report.str();
      EXPECT_EQ(report.warnings.size(), size_t(read));
      EXPECT_THAT(report.str(), HasSubstr("register %r20 is written while"));
    }
  }
}

TEST(TensorMemory, TheWarpSaysWhichLanes) {
  // Both warps name lane 0, and each uses its own quarter.
  std::string body = R"(
  setp.ge.u32 %p1, %t, 32; @%p1 bra READ;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
READ: bar.sync 0; ld.shared.b32 %r50, [slot];
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r50], {%t};
  tcgen05.wait::st.sync.aligned;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r50];
  tcgen05.wait::ld.sync.aligned;
  st.global.b32 [%o], %r20;
  bar.sync 0; @%p1 bra END;
)" + std::string(kFree) +
                     "END:\n";
  Report report;
  auto out = compute(body, 64, 64, kShared, &report);
  EXPECT_TRUE(report.ok()) << report.str();
  for (uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], t);
  ASSERT_EQ(report.warnings.size(), 2u) << report.str();
  EXPECT_EQ(report.warnings[0].rule, Rule::TensorLanes);
  EXPECT_THAT(report.warnings[0].message,
              HasSubstr("of warp 1 accesses tensor memory lanes from 0; warp 1 "
                        "may access lanes 32 to 63"));
  // 32 lanes from the 16th of a quarter leave it.
  report =
      reportOf(replaced(body, "x1.b32 [%r50]", "x1.b32 [%r50+1048576]"), 64);
  EXPECT_TRUE(has(report, ErrorKind::OutOfBounds)) << report.str();
}

TEST(TensorMemory, AllocationRules) {
  EXPECT_THAT(
      reportOf(replaced(std::string(kAlloc), "], 64", "], 48") + kFree).str(),
      HasSubstr(
          "asks for 48 columns; the rule is a power of two from 32 to 512"));
  EXPECT_THAT(reportOf(std::string(kAlloc) + kAlloc).str(),
              HasSubstr("follows tcgen05.relinquish_alloc_permit"));
  EXPECT_THAT(
      reportOf(kAlloc).str(),
      HasSubstr("the CTA ends with tensor memory columns 0 to 63 allocated"));
  EXPECT_THAT(reportOf(std::string(kAlloc) + kFree + kFree).str(),
              HasSubstr("which no tcgen05.alloc"));
  EXPECT_THAT(
      reportOf(std::string(kAlloc) +
               "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r50+64];\n")
          .str(),
      HasSubstr("columns 64 to 64, which lie outside the CTA's allocations"));
  EXPECT_THAT(
      reportOf(
          std::string(kAlloc) +
          "add.u32 %r1, %r50, 0x200000;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 "
          "{%r0}, [%r1];\n")
          .str(),
      HasSubstr("warp 0 may access lanes 0 to 31"));
}

TEST(TensorMemory, AllocationWaitsForColumns) {
  std::string body = R"(
  setp.ge.u32 %p0, %t, 32; @%p0 bra SECOND;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512; bar.arrive 1, 64;
  bar.warp.sync -1; ld.shared.b32 %r0, [slot];
  /*free*/
  bra END;
SECOND: bar.sync 1, 64;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 256;
  bar.warp.sync -1; ld.shared.b32 %r0, [s];
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 256;
END:)";
  Report report = reportOf(
      replaced(body, "/*free*/",
               "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 512;"),
      64);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_THAT(
      reportOf(body, 64).str(),
      HasSubstr("waits in tcgen05.alloc for free tensor memory columns"));
}

namespace {

/// D (M x N) of kind::f16 from A and B that threads lay out in shared memory by
/// `address`, an independent statement of the canonical layouts: element (row,
/// k) of a 2-byte operand.
struct Layout {
  const char *name;
  uint64_t code; ///< descriptor bits 61-63
  bool mnMajor;
  uint32_t leading, stride;
};

uint32_t elementAddress(const Layout &l, uint32_t row, uint32_t k) {
  // In tiles: `span` bytes in a line, 8 lines a tile.
  uint32_t span = l.code == 2 ? 128 : l.code == 4 ? 64 : l.code == 6 ? 32 : 16;
  uint32_t along = (l.mnMajor ? row : k) * 2, across = l.mnMajor ? k : row;
  uint32_t alongStep = l.mnMajor && l.code == 0 ? l.stride : l.leading;
  uint32_t acrossStep = l.mnMajor && l.code == 0 ? l.leading : l.stride;
  uint32_t at = along / span * alongStep + across / 8 * acrossStep +
                across % 8 * span + along % span;
  uint32_t line = at / 128 % 8;
  uint32_t chunks = span / 16;
  return chunks == 1 ? at : at ^ (line % chunks) << 4;
}

} // namespace

TEST(TensorCore, NGoesInStepsOf8ForOneCta) {
  for (uint32_t m : {64u, 128u})
    for (uint32_t n : {0u, 8u, 24u, 256u, 264u}) {
      MmaShape shape;
      uint32_t bits = 1u << 4 | 1u << 7 | 1u << 10 | n / 8 << 17 | m / 16 << 24;
      EXPECT_EQ(decodeInstructionDescriptor(bits, MmaKind::F16, false, shape)
                    .has_value(),
                n < 8 || n > 256)
          << m << " " << n;
    }
}

namespace {

/// D = A * B with all elements 1 (bf16), N 8, K 16; A from column 40 on, where
/// tcgen05.st puts it. `wait`: what follows that.
std::string multiplyFromTensorMemory(const std::string &wait) {
  return R"(
  setp.ge.u32 %p1, %t, 32; setp.eq.u32 %p2, %t, 0; setp.ne.u32 %p3, %t, %t;
  @%p1 bra READ;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
READ: shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;
  mov.u32 %r3, 0x3f803f80; st.shared.u32 [%r1], %r3; fence.proxy.async;
  @%p2 mbarrier.init.shared::cta.b64 [bar], 1; @%p2 fence.mbarrier_init.release.cluster;
  bar.sync 0; ld.shared.b32 %r50, [slot];
  shr.u32 %r4, %t, 5; shl.b32 %r4, %r4, 21; add.u32 %r4, %r4, %r50;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r4+40], {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3};
)" + wait +
         R"( tcgen05.fence::before_thread_sync;
  bar.sync 0; tcgen05.fence::after_thread_sync;
  @!%p2 bra WAIT;
  shr.u32 %r5, %r2, 4; cvt.u64.u32 %d2, %r5; or.b64 %d2, %d2, )" +
         std::to_string(uint64_t(1) << 46 | uint64_t(16) << 32 |
                        uint64_t(8) << 16) +
         R"(;
  mov.b32 %r6, )" +
         std::to_string(1u << 4 | 1u << 7 | 1u << 10 | 1u << 17 | 8u << 24) +
         R"(;
  tcgen05.mma.cta_group::1.kind::f16 [%r50], [%r50+40], %d2, %r6, %p3;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
WAIT: bar.warp.sync -1;
L: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0; @!%p4 bra L;
  tcgen05.fence::after_thread_sync;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r4+7];
  tcgen05.wait::ld.sync.aligned; st.global.b32 [%o], %r20;
  bar.sync 0; @%p1 bra END;
)" + kFree +
         "END:\n";
}
const char *const kWaitForStores = "tcgen05.wait::st.sync.aligned;";

} // namespace

TEST(TensorCore, AInTensorMemoryHasAnOffset) {
  auto out =
      compute(multiplyFromTensorMemory(kWaitForStores), 128, 128, kShared);
  for (uint32_t t = 0; t < 128; ++t)
    EXPECT_EQ(out[t], 0x41800000u); // 16
}

TEST(TensorCore, AnMmaDoesNotWaitForStores) {
  // It is no transfer, whose order with a store would be that of issue.
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    Report report;
    compute(multiplyFromTensorMemory(""), 128, 128, kShared, &report, options);
    EXPECT_TRUE(has(report, ErrorKind::Race) ||
                has(report, ErrorKind::MemoryInFlight))
        << report.str();
  }
}

TEST(TensorCore, OperandLayouts) {
  const Layout layouts[] = {
      {"K-major, no swizzle", 0, false, 2048, 128},
      {"K-major, 32 bytes", 6, false, 16, 256},
      {"K-major, 64 bytes", 4, false, 16, 512},
      {"K-major, 128 bytes", 2, false, 16, 1024},
      {"MN-major, 128 bytes", 2, true, 2048, 1024},
      {"MN-major, 64 bytes", 4, true, 1024, 512},
      {"MN-major, 32 bytes", 6, true, 512, 256},
      {"MN-major, no swizzle", 0, true, 128, 256},
  };
  for (const Layout &layout : layouts)
    for (uint32_t m : {64u, 128u}) {
      constexpr uint32_t n = 32, k = 16, bOffset = 32768;
      Device device;
      std::vector<uint8_t> image(65536);
      auto value = [](uint32_t which, uint32_t row, uint32_t col) {
        return float(int(row * 7 + col * 3 + which) % 5 - 2);
      };
      auto put = [&](uint32_t base, uint32_t which, uint32_t rows) {
        for (uint32_t r = 0; r < rows; ++r)
          for (uint32_t c = 0; c < k; ++c) {
            float v = value(which, r, c);
            uint32_t word;
            std::memcpy(&word, &v, 4);
            uint16_t bf16 = uint16_t(word >> 16);
            std::memcpy(&image[base + elementAddress(layout, r, c)], &bf16, 2);
          }
      };
      put(0, 0, m);
      put(bOffset, 1, n);
      uint64_t in = *device.allocate("in", image.size()),
               out = *device.allocate("out", m * n * 4);
      device.write(in, image.data(), image.size());
      uint64_t descriptor = layout.code << 61 | uint64_t(1) << 46 |
                            uint64_t(layout.stride / 16) << 32 |
                            uint64_t(layout.leading / 16) << 16;
      uint32_t idesc =
          1u << 4 | 1u << 7 | 1u << 10 | uint32_t(layout.mnMajor) << 15 |
          uint32_t(layout.mnMajor) << 16 | n / 8 << 17 | m / 16 << 24;
      std::string list;
      for (int i = 0; i < 32; ++i)
        list += (i ? ", %v" : "%v") + std::to_string(i);
      std::string body =
          R"(
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b32 %v<32>;
  ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0;
  mov.u32 %r5, s;
  @%p0 bra COPIED;
  mbarrier.init.shared.b64 [bar], 1; mbarrier.init.shared.b64 [bar+8], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 65536;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d0], 65536, [bar];
COPIED: bar.sync 0;
L0: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra L0;
  shr.u32 %r1, %r0, 5; setp.ne.u32 %p2, %r1, 0; @%p2 bra ALLOCATED;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
ALLOCATED: bar.sync 0;
  ld.shared.b32 %r2, [slot];
  @%p0 bra ISSUED;
  shr.u32 %r6, %r5, 4; cvt.u64.u32 %d2, %r6; or.b64 %d2, %d2, )" +
          std::to_string(descriptor) + "; add.s64 %d3, %d2, " +
          std::to_string(bOffset / 16) + "; mov.b32 %r7, " +
          std::to_string(idesc) + R"(;
  setp.ne.b32 %p3, %r0, %r0;
  tcgen05.mma.cta_group::1.kind::f16 [%r2], %d2, %d3, %r7, %p3;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+8];
ISSUED: bar.warp.sync -1;
L1: mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], 0; @!%p1 bra L1;
  tcgen05.fence::after_thread_sync;
  shl.b32 %r8, %r1, 21; add.u32 %r9, %r2, %r8;
)" +
          (m == 128
               ? "  tcgen05.ld.sync.aligned.32x32b.x32.b32 {" + list +
                     "}, [%r9];\n"
               : "  tcgen05.ld.sync.aligned.16x256b.x4.b32 "
                 "{%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7,%v8,%v9,%v10,%v11,%v12,%v13,"
                 "%v14,%v15}, [%r9];\n") +
          "  tcgen05.wait::ld.sync.aligned;\n";
      if (m == 128) {
        body += "  mul.wide.u32 %d4, %r0, 128; add.s64 %d4, %d4, %d1;\n";
        for (int i = 0; i < 32; ++i)
          body += "  st.global.b32 [%d4+" + std::to_string(i * 4) + "], %v" +
                  std::to_string(i) + ";\n";
      } else {
        // 16x256b: lane t/4 (+8), columns 8 * (i/4) + 2 * (t%4) + i%2.
        body += "  and.b32 %r10, %r0, 31; shr.u32 %r11, %r10, 2; and.b32 %r12, "
                "%r10, 3; shl.b32 %r13, %r1, 4;\n"
                "  add.u32 %r11, %r11, %r13; mul.lo.u32 %r11, %r11, 128; "
                "mad.lo.u32 %r11, %r12, 8, %r11;\n"
                "  cvt.u64.u32 %d4, %r11; add.s64 %d4, %d4, %d1;\n";
        for (int i = 0; i < 16; ++i)
          body += "  st.global.b32 [%d4+" +
                  std::to_string(i / 4 * 32 + i / 2 % 2 * 8 * 128 + i % 2 * 4) +
                  "], %v" + std::to_string(i) + ";\n";
      }
      body +=
          "  bar.sync 0; @%p2 bra END;\n  "
          "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;\nEND: ret;\n";
      std::string variables = ".shared .align 1024 .b8 s[65536];\n.shared "
                              ".align 8 .b64 bar[2];\n.shared .b32 slot;\n";
      LaunchConfig config;
      config.block = {128, 1, 1};
      Report report = run(
          device,
          kernel(".param .u64 in, .param .u64 out", body, "sm_100a", variables),
          {KernelArgument::value(in), KernelArgument::value(out)}, config);
      ASSERT_TRUE(report.ok()) << layout.name << " M " << m << "\n"
                               << report.str();
      std::vector<float> d(m * n);
      device.read(out, d.data(), d.size() * 4);
      for (uint32_t r = 0; r < m; ++r)
        for (uint32_t c = 0; c < n; ++c) {
          float sum = 0;
          for (uint32_t x = 0; x < k; ++x)
            sum += value(0, r, x) * value(1, c, x);
          ASSERT_EQ(d[r * n + c], sum)
              << layout.name << " M " << m << " at " << r << "," << c;
        }
    }
}
