// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores and atomics in every space, and what they must not do.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {
std::string errorsOf(const std::string &body, uint32_t threads = 32,
                     const std::string &variables = "") {
  Report report;
  compute(body, threads, threads, variables, &report);
  return report.str();
}
const char *const kShared = ".shared .align 16 .b8 s[1024];\n";
} // namespace

TEST(Memory, SharedBetweenWarps) {
  auto out = compute(R"(
  mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2;
  st.shared.u32 [%r3], %t;
  bar.sync 0;
  xor.b32 %r4, %t, 63; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r1;
  ld.shared.u32 %r0, [%r4];
  st.global.u32 [%o], %r0;)",
                     64, 64, kShared);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i ^ 63);
}

TEST(Memory, VectorsAndNarrowTypes) {
  auto out = compute(R"(
  mov.u32 %r1, s;
  st.shared.v4.b32 [%r1], {0x04030201, 0x88070605, 3, 4};
  ld.shared.u8 %r2, [%r1+2]; ld.shared.s8 %r3, [%r1+7]; ld.shared.b64 %d0, [%r1+8];
  ld.shared.v2.b16 {%h0, %h1}, [%r1+4]; cvt.u32.u16 %r4, %h1;
  shr.u64 %d0, %d0, 32; cvt.u32.u64 %r5, %d0;
  st.global.v4.u32 [%out], {%r2, %r3, %r4, %r5};)",
                     1, 4, kShared);
  EXPECT_EQ(out, (std::vector<uint32_t>{3, 0xffffff88u, 0x8807u, 4}));
}

TEST(Memory, AsynchronousWritesToGlobalMemory) {
  auto out = compute(R"(
  setp.ne.u32 %p0, %t, 0;
  @!%p0 st.async.mmio.release.gpu.global.b32 [%out], 5;
  bar.sync 0;
  red.async.release.global.gpu.add.u32 [%out], 2;
  bar.sync 0;
  @!%p0 red.async.mmio.release.sys.global.add.u32 [%out], 100;)",
                     64, 1);
  EXPECT_EQ(out[0], 5u + 2 * 64 + 100);
}

TEST(Memory, WhatIsReservedForCooperativeGroups) {
  // Zeros first; without the register it is out of bounds.
  auto out = compute(R"(
  mov.u32 %r1, %reserved_smem_offset_1;
  atom.shared.add.u32 %r2, [%r1+284], 1;
  bar.sync 0; ld.shared.u32 %r0, [%r1+284];
  st.global.u32 [%o], %r0;)",
                     64, 64);
  EXPECT_EQ(out, std::vector<uint32_t>(64, 64));
  EXPECT_THAT(errorsOf("ld.shared.u32 %r0, [1020];"),
              HasSubstr("at offset 1020, outside the CTA's 0 bytes"));
}

TEST(Memory, LanesThatFollowEachOtherOrReadTheSame) {
  auto out = compute(R"(
  mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2;
  neg.s32 %r4, %t; st.shared.u32 [%r3], %r4;
  bar.warp.sync -1;
  and.b32 %r5, %t, 3; setp.eq.u32 %p0, %r5, 1; setp.lt.u32 %p1, %t, 16;
  mov.u32 %r0, 1000;
  @%p1 ld.shared.s16 %r0, [%r3];
  @!%p1 ld.shared.u32 %r0, [%r1+28];
  @%p0 ld.shared.u8 %r0, [%r3];
  shl.b32 %r6, %t, 3; cvt.u64.u32 %d0, %r6; add.s64 %d0, %d0, %out;
  st.global.v2.u32 [%d0], {%t, %r0};)",
                     32, 64, kShared);
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t negative = 0u - i;
    EXPECT_EQ(out[2 * i], i);
    EXPECT_EQ(out[2 * i + 1], i % 4 == 1 ? negative & 255
                              : i < 16   ? negative
                                         : 0u - 7);
  }
}

TEST(Memory, OneOfTheLanesThatFollowEachOtherIsWrong) {
  Report report;
  auto out = compute("st.global.u32 [%o+4], %t;", 32, 32, "", &report);
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_EQ(report.errors[0].lane, 31);
  for (uint32_t i = 1; i < 32; ++i)
    EXPECT_EQ(out[i], i - 1);
  // Two warps overlap from the middle of the first on.
  compute(R"(
  mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2;
  setp.gt.u32 %p0, %t, 31; @%p0 sub.u32 %r3, %r3, 64;
  st.shared.u32 [%r3], %t;)",
          64, 64, kShared, &report);
  ASSERT_EQ(report.errors.size(), 1u) << report.str();
  EXPECT_EQ(report.errors[0].lane, report.errors[0].warp ? 0 : 16);
  EXPECT_THAT(report.str(), HasSubstr("(s+64)"));
}

TEST(Memory, GenericAddressesReachEverySpace) {
  auto out = compute(
      R"(
  .local .align 8 .b8 depot[16];
  mov.u64 %d0, s; cvta.shared.u64 %d1, %d0; st.b32 [%d1+4], 11; ld.shared.b32 %r0, [s+4];
  mov.u64 %d2, depot; cvta.local.u64 %d3, %d2; st.b32 [%d3], 22; ld.local.b32 %r1, [depot];
  mov.u64 %d4, c; cvta.const.u64 %d5, %d4; ld.b32 %r2, [%d5]; ld.const.b32 %r3, [c+4];
  mov.u64 %d6, out; cvta.param.u64 %d7, %d6; ld.b64 %d8, [%d7];
  isspacep.shared %p0, %d1; isspacep.global %p1, %d1; selp.b32 %r4, 1, 0, %p0; selp.b32 %r5, 1, 0, %p1;
  st.global.v4.u32 [%d8], {%r0, %r1, %r2, %r3}; st.global.v2.u32 [%d8+16], {%r4, %r5};)",
      1, 6, std::string(kShared) + ".const .align 4 .u32 c[2] = {33, 44};\n");
  EXPECT_EQ(out, (std::vector<uint32_t>{11, 22, 33, 44, 1, 0}));
}

TEST(Memory, Atomics) {
  auto out = compute(R"(
  setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0; @%p0 st.shared.u32 [s+4], 1000; bar.sync 0;
  atom.shared.add.u32 %r0, [s], 2; atom.shared.min.u32 %r1, [s+4], %t;
  red.global.add.u32 [%out+4], %t; red.global.max.u32 [%out+8], %t;
  bar.sync 0;
  @%p0 ld.shared.u32 %r2, [s]; @%p0 st.global.u32 [%out], %r2;
  atom.global.cas.b32 %r3, [%out+12], 0, 5;)",
                     64, 4, kShared);
  EXPECT_EQ(out, (std::vector<uint32_t>{128, 2016, 63, 5}));
}

TEST(Memory, OutOfBoundsNamesTheBuffer) {
  EXPECT_THAT(errorsOf("st.global.u32 [%o+4], 1;"),
              HasSubstr("outside every buffer; the nearest is 'out' of 128 "
                        "bytes, at offset 128 from its start"));
  EXPECT_THAT(errorsOf("ld.shared.u32 %r0, [s+1024];", 32, kShared),
              HasSubstr("[out-of-bounds]"));
  EXPECT_THAT(
      errorsOf("mov.u32 %r1, 0; ld.shared.u32 %r0, [%r1];", 32, kShared),
      HasSubstr("[out-of-bounds]"));
  EXPECT_THAT(errorsOf("ld.global.u32 %r0, [%o+2];"),
              HasSubstr("not a multiple of the 4 bytes accessed"));
}

TEST(Memory, OutsideEveryBufferSaysWhatIsThere) {
  Device device;
  EXPECT_EQ(device.describeOutside(Device::kFirstAddress),
            "outside every buffer");
  uint64_t old = *device.allocate("old", 64), kept = *device.allocate("a", 64);
  device.allocate("$str$3", 4);
  device.allocate("__unnamed_1", 4);
  ASSERT_TRUE(device.release(old));
  EXPECT_EQ(device.describeOutside(old + 63),
            "in 'old' of 64 bytes, which has been freed; free it after its "
            "last use");
  // The strings of printf are no places that a program means.
  EXPECT_THAT(device.describeOutside(kept + (8 << 20)),
              HasSubstr("the nearest is 'a' of 64 bytes, at offset 8388608"));
  EXPECT_THAT(device.describeOutside(old + 64),
              HasSubstr("the nearest is 'a' of 64 bytes, "));
  EXPECT_THAT(device.describeOutside(8), HasSubstr("near a null pointer"));
  EXPECT_THAT(device.describeOutside(0x7fff12345678),
              HasSubstr("outside the device's memory, perhaps in the host's"));
  EXPECT_THAT(errorsOf("mov.u64 %o, 16; st.global.u32 [%o], 1;"),
              HasSubstr("at address 16, at or near a null pointer"));
}

TEST(Memory, ReadOnlyAndUninitialisedBuffers) {
  std::string text = kernel(".param .u64 a, .param .u64 b", R"(
  .reg .b64 %a, %b; .reg .b32 %r;
  ld.param.u64 %a, [a]; ld.param.u64 %b, [b];
  ld.global.u32 %r, [%b]; st.global.u32 [%a], %r; ret;)");
  Device device;
  uint64_t a = *device.allocate("a", 16, {true, false}),
           b = *device.allocate("b", 16, {false, true});
  Report report =
      run(device, text, {KernelArgument::value(a), KernelArgument::value(b)});
  EXPECT_TRUE(has(report, ErrorKind::UninitialisedMemory));
  EXPECT_THAT(report.str(), HasSubstr("in buffer 'a', which is read-only"));
}

TEST(Memory, RacesBetweenWarps) {
  std::string body = R"(
  setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 32;
  @%p0 st.shared.u32 [s], 5;
  /*sync*/
  @%p1 ld.shared.u32 %r0, [s]; @%p1 st.global.u32 [%out], %r0;)";
  Report report;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    compute(body, 64, 64, kShared, &report, options);
    EXPECT_TRUE(has(report, ErrorKind::Race) ||
                has(report, ErrorKind::UninitialisedMemory))
        << report.str();
  }
  auto out =
      compute(replaced(body, "/*sync*/", "bar.sync 0;"), 64, 64, kShared);
  EXPECT_EQ(out[0], 5u);
}

TEST(Memory, AWriteAfterAnUnorderedReadIsARace) {
  std::string body = R"(
  setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 32;
  @%p0 st.shared.u32 [s], 5;
  bar.sync 0;
  @%p1 ld.shared.u32 %r0, [s];
  /*sync*/
  @%p0 st.shared.u32 [s], 6;)";
  Report report;
  compute(body, 64, 64, kShared, &report);
  EXPECT_TRUE(has(report, ErrorKind::Race));
  compute(replaced(body, "/*sync*/", "bar.sync 0;"), 64, 64, kShared);
}

TEST(Memory, AWriteMustFollowEveryReader) {
  // Warps 0 and 1 read, and warp 2 waits for warp 1 only.
  std::string body = R"(
  setp.eq.u32 %p0, %t, 64; shr.u32 %r1, %t, 5; setp.eq.u32 %p1, %r1, 0;
  @%p0 st.shared.u32 [s], 5;
  bar.sync 0;
  @%p0 bra write;
  setp.gt.u32 %p2, %t, 64; @%p2 bra write;
  ld.shared.u32 %r0, [s]; st.global.u32 [%o], %r0;
  /*first*/ @%p1 bra done;
write:
  bar.sync 1, /*threads*/64;
  @%p0 st.shared.u32 [s], 6;
done:)";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Report report;
    Options options;
    options.scheduleSeed = seed;
    compute(body, 96, 96, kShared, &report, options);
    EXPECT_TRUE(has(report, ErrorKind::Race)) << "seed " << seed;
  }
  compute(replaced(replaced(body, "@%p1 bra done;", ""), "/*threads*/64", "96"),
          96, 96, kShared);
}

TEST(Memory, SharedMemoryEndsAtItsLastByte) {
  std::string body = ".shared .b8 last[3]; st.shared.u8 [last+2], %t;";
  compute(body, 1, 1, kShared);
  Report report;
  compute(replaced(body, "last+2", "last+3"), 1, 1, kShared, &report);
  EXPECT_TRUE(has(report, ErrorKind::OutOfBounds)) << report.str();
}

TEST(Memory, AtomicsRaceWithWeakAccesses) {
  // All warps add, and lane 0 reads or has accessed before, in any order.
  const std::pair<const char *, const char *> cases[] = {
      {"", "@%p0 ld.shared.u32 %r0, [s];"},
      {"@%p0 ld.shared.u32 %r0, [s];", ""},
      {"@%p0 st.shared.u32 [s], 7;", ""},
      {"@%p0 ld.shared.u32 %r0, [s]; @%p0 ld.volatile.shared.u32 %r1, [s];",
       ""},
      {"@%p0 ld.volatile.shared.u32 %r1, [s]; @%p0 ld.shared.u32 %r0, [s];",
       ""}};
  for (const auto &[before, after] : cases) {
    std::string body = R"(
  setp.eq.u32 %p0, %t, 0;
  @%p0 st.shared.u32 [s], 0; bar.sync 0;
  /*before*/
  atom.shared.add.u32 %r1, [s], 1;
  /*sync*/
  /*after*/)";
    body = replaced(replaced(body, "/*before*/", before), "/*after*/", after);
    for (uint64_t seed = 0; seed < 8; ++seed) {
      Options options;
      options.scheduleSeed = seed;
      Report report;
      compute(body, 96, 96, kShared, &report, options);
      EXPECT_TRUE(has(report, ErrorKind::Race)) << body << "seed " << seed;
    }
  }
  // A barrier, or strong accesses alone.
  for (const char *body :
       {"setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0; bar.sync 0; "
        "atom.shared.add.u32 %r1, [s], 1; bar.sync 0; ld.shared.u32 %r0, [s]; "
        "st.global.u32 [%o], %r0;",
        "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0; bar.sync 0; "
        "atom.shared.add.u32 %r1, [s], 1; ld.volatile.shared.u32 %r0, [s]; "
        "atom.shared.add.u32 %r1, [s], 1; bar.sync 0; ld.shared.u32 %r0, [s]; "
        "st.global.u32 [%o], %r0;"})
    compute(body, 96, 96, kShared);
}

TEST(Memory, AnAtomicHidesNoOther) {
  // Warps 0 and 1 add. Warp 2 meets warp 1 alone, and writes.
  std::string body = R"(
  setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0; bar.sync 0;
  shr.u32 %r2, %t, 5; setp.lt.u32 %p1, %r2, 2; setp.ge.u32 %p2, %r2, 1;
  setp.eq.u32 %p0, %t, 64;
  @%p1 atom.shared.add.u32 %r1, [s], 1;
  /*all*/ @%p2 bar.sync 1, 64;
  @%p0 st.shared.u32 [s], 7;)";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    Report report;
    compute(body, 96, 96, kShared, &report, options);
    EXPECT_TRUE(has(report, ErrorKind::Race)) << "seed " << seed;
  }
  compute(replaced(body, "/*all*/ @%p2 bar.sync 1, 64;", "bar.sync 1, 96;"), 96,
          96, kShared);
}

TEST(Memory, TheLastToArriveResetsACounter) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    Report report;
    compute(R"(
  setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0; bar.sync 0;
  and.b32 %r2, %t, 31; setp.eq.u32 %p1, %r2, 0; mov.u32 %r1, 0;
  @%p1 atom.shared.add.u32 %r1, [s], 1;
  setp.eq.u32 %p2, %r1, 2;
  @%p2 st.shared.u32 [s], 0;)",
            96, 96, kShared, &report, options);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(Memory, ACopyOverwritesWhatWasPolled) {
  compute(R"(
  setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0; @%p0 st.global.u32 [%out], 9;
  bar.sync 0; ld.volatile.shared.u32 %r0, [s];
  bar.sync 0; @%p0 st.volatile.shared.u32 [s], 5;
  bar.sync 0; @%p0 cp.async.ca.shared.global [s], [%out], 4; cp.async.wait_all;
  bar.sync 0; ld.shared.u32 %r0, [s]; st.global.u32 [%o], %r0;)",
          96, 96, kShared);
}

TEST(Memory, OneLaneDoesNotKnowOfTheOthers) {
  // Lane 0 of warp 0 signals for its warp, and warp 1 overwrites what it read.
  std::string body = R"(
  .shared .align 8 .b64 bar;
  setp.eq.u32 %p0, %t, 0; setp.lt.u32 %p1, %t, 32; shl.b32 %r1, %t, 2;
  mov.u32 %r2, s; add.u32 %r2, %r2, %r1;
  @%p0 mbarrier.init.shared.b64 [bar], 1;
  @%p1 st.shared.u32 [%r2], %t;
  bar.sync 0;
  @!%p1 bra writer;
  xor.b32 %r3, %r1, 124; mov.u32 %r4, s; add.u32 %r4, %r4, %r3;
  ld.shared.u32 %r0, [%r4]; st.global.u32 [%o], %r0;
  /*sync*/
  @%p0 mbarrier.arrive.shared.b64 _, [bar];
  bra.uni end;
writer:
  mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
  @!%p2 bra writer;
  st.shared.u32 [%r2+-128], 7;
end:)";
  Report report;
  compute(body, 64, 64, kShared, &report);
  EXPECT_TRUE(has(report, ErrorKind::Race)) << report.str();
  compute(replaced(body, "/*sync*/", "bar.warp.sync -1;"), 64, 64, kShared);
}

TEST(Memory, AFlagOrdersWhatCameBeforeIt) {
  std::string body = R"(
  setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 32;
  @%p0 st.shared.u32 [s+4], 0; bar.sync 0;
  @!%p0 bra READER;
  st.shared.u32 [s], 5; membar.cta; st.volatile.shared.u32 [s+4], 1;
READER: @!%p1 bra END;
SPIN: ld.volatile.shared.u32 %r1, [s+4]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN;
  fence.acq_rel.cta; ld.shared.u32 %r0, [s]; st.global.u32 [%out], %r0;
END:)";
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Options options;
    options.scheduleSeed = seed;
    Report report;
    auto out = compute(body, 64, 64, kShared, &report, options);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(out[0], 5u);
    // Volatile is relaxed: it orders nothing by itself.
    for (const char *fence : {"membar.cta;", "fence.acq_rel.cta;"}) {
      Report without;
      compute(replaced(body, fence, ""), 64, 64, kShared, &without, options);
      EXPECT_TRUE(has(without, ErrorKind::Race)) << fence << without.str();
    }
  }
}

TEST(Memory, MatrixLoadAndStore) {
  auto out = compute(R"(
  mov.u32 %r1, s; shl.b32 %r2, %t, 4; add.u32 %r2, %r2, %r1;
  shl.b32 %r3, %t, 17; or.b32 %r3, %r3, %t;
  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r3};
  ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%r2];
  st.global.u32 [%o], %r0;)",
                     32, 32, kShared);
  // Element (r, c) of the tile came from lane 4r + c/2: its lane number, or
  // twice it for odd c.
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t half = 0; half < 2; ++half) {
      uint32_t r = lane % 4 * 2 + half, c = lane / 4, source = 4 * r + c / 2;
      EXPECT_EQ(out[lane] >> (16 * half) & 0xffff, c % 2 ? source * 2 : source);
    }
}

namespace {
/// Byte (row, b) of shared memory holds 16 * row + b; each lane gives the
/// address of the row of its number.
const std::string kRows = R"(
  mov.u32 %r2, s; and.b32 %r0, %t, 15; mul.lo.u32 %r0, %r0, 16;
  mad.lo.u32 %r3, %t, 16, %r2;
  mul.lo.u32 %r1, %r0, 0x01010101; add.u32 %r1, %r1, 0x03020100;
  st.shared.b32 [%r3], %r1; add.u32 %r1, %r1, 0x04040404;
  st.shared.b32 [%r3+4], %r1; add.u32 %r1, %r1, 0x04040404;
  st.shared.b32 [%r3+8], %r1; add.u32 %r1, %r1, 0x04040404;
  st.shared.b32 [%r3+12], %r1; bar.sync 0;
)";
} // namespace

TEST(Memory, LoadsMatricesOfBytes) {
  auto out = compute(kRows + R"(
  ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r4, %r5, %r6, %r7}, [%r3];
  mul.wide.u32 %d0, %t, 12; add.u64 %o, %o, %d0;
  st.global.v4.b32 [%o], {%r4, %r5, %r6, %r7};)",
                     32, 128, kShared);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t r = 0; r < 4; ++r)
      for (uint32_t j = 0; j < 4; ++j) // both tiles have rows 0 to 15
        EXPECT_EQ(out[lane * 4 + r] >> (8 * j) & 0xff,
                  16 * (lane % 4 * 4 + j) + lane / 4 + r % 2 * 8);
}

TEST(Memory, UnpacksNarrowElements) {
  const std::pair<const char *, uint32_t> forms[] = {{"b4x16_p64", 4},
                                                     {"b6x16_p32", 6}};
  for (auto [form, bits] : forms) {
    auto out = compute(kRows + "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16." +
                           form + " {%r0}, [%r3]; st.global.u32 [%o], %r0;",
                       32, 32, kShared);
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t j = 0; j < 4; ++j) {
        uint32_t at = (lane % 4 * 4 + j) * bits, row = lane / 4;
        uint32_t word = 16 * row + at / 8 + (16 * row + at / 8 + 1) * 256;
        EXPECT_EQ(out[lane] >> (8 * j) & 0xff,
                  word >> at % 8 & ((1u << bits) - 1))
            << form;
      }
  }
}

TEST(Memory, StoresMatricesOfBytes) {
  auto out = compute(R"(
  mov.u32 %r2, s; mad.lo.u32 %r3, %t, 16, %r2;
  mul.lo.u32 %r0, %t, 0x04040404; add.u32 %r0, %r0, 0x03020100;
  stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r3], {%r0};
  mad.lo.u32 %r4, %t, 4, %r2; ld.shared.b32 %r1, [%r4];
  st.global.u32 [%o], %r1;)",
                     32, 32, kShared);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t j = 0; j < 4; ++j) {
      uint32_t row = lane % 4 * 2 + j % 2, byte = lane / 4 + j / 2 * 8;
      EXPECT_EQ(out[row * 4 + byte / 4] >> (byte % 4 * 8) & 0xff, lane * 4 + j);
    }
}

TEST(Memory, TransposesMatricesOfRegisters) {
  auto out = compute(R"(
  mul.lo.u32 %r0, %t, 0x00020002; add.u32 %r0, %r0, 0x00010000;
  movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;
  st.global.u32 [%o], %r1;)",
                     32, 32);
  // Element (r, c) was 8r + c.
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t half = 0; half < 2; ++half)
      EXPECT_EQ(out[lane] >> (16 * half) & 0xffff,
                (lane % 4 * 2 + half) * 8 + lane / 4);
}

// A vector stands for its elements in braces (PTX ISA 5.4.2).
TEST(Memory, VectorRegisters) {
  std::vector<uint32_t> out = compute(R"(
  .reg .v4 .b32 v, w; .reg .v2 .b16 h;
  mov.b32 v.x, 11; mov.b32 v.y, 22; mov.b32 v.b, 33; mov.b32 v.a, 44;
  st.global.v4.b32 [%o], v;
  ld.global.v4.b32 w, [%o];
  add.u32 w.x, w.r, v.w; add.u32 w.g, w.y, w.z;
  mov.b32 h, w.x; mov.b16 h.x, h.y; mov.b32 w.z, h;
  st.global.v2.b32 [%o], {w.x, w.y}; st.global.b32 [%o+8], w.z;)",
                                      1, 4);
  EXPECT_EQ(out, (std::vector<uint32_t>{55, 55, 0, 44}));
}
