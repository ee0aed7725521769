// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.cp and tcgen05.shift: layouts, and what goes wrong around them.

#include "ISA/TensorCore/MmaKernel.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

constexpr uint32_t kBytes = 4096, kColumns = 16;

/// A kernel that fills 16 columns of tensor memory with lane * 256 + column,
/// has one thread execute `issue`, and stores the columns. In `issue` %d2 is a
/// descriptor of 4096 bytes that hold random data, %r4 the address of the
/// columns. Chunks of 16 bytes lie 2048 bytes apart along a row.
struct CopyRun {
  explicit CopyRun(const std::string &issue, bool pair = false) {
    frame.pair = pair;
    frame.bytes = kBytes;
    frame.allocated = 32;
    frame.columns = kColumns;
    std::string list;
    for (uint32_t c = 0; c < kColumns; ++c) {
      list += (c ? ", %v" : "%v") + std::to_string(c);
      frame.before += "  mad.lo.u32 %v" + std::to_string(c) + ", %r0, 256, " +
                      std::to_string(c) + ";\n";
    }
    frame.before += "  tcgen05.st.sync.aligned.32x32b.x16.b32 [%r9], {" + list +
                    "};\n  tcgen05.wait::st.sync.aligned; "
                    "tcgen05.fence::before_thread_sync;\n  " +
                    frame.meet() + "\n  tcgen05.fence::after_thread_sync;\n";
    frame.issue = "  or.b64 %d2, %d2, " +
                  std::to_string(uint64_t(1) << 46 | uint64_t(128 / 16) << 32 |
                                 uint64_t(2048 / 16) << 16) +
                  ";\n" + issue;
    text = frame.text();
    std::mt19937 random(11);
    data.resize(frame.ctas() * kBytes);
    for (uint8_t &byte : data)
      byte = uint8_t(random());
  }

  Report run() {
    Report report;
    out = runIssueKernel(frame, text, data, options, report);
    return report;
  }

  /// Byte `byte` of row `row` of the source.
  uint8_t source(uint32_t cta, uint32_t row, uint32_t byte) const {
    return data[cta * kBytes + row * 16 + byte / 16 * 2048 + byte % 16];
  }
  uint8_t result(uint32_t cta, uint32_t lane, uint32_t byte) const {
    return uint8_t(out[(cta * 128 + lane) * kColumns + byte / 4] >>
                   (8 * (byte % 4)));
  }
  static uint8_t untouched(uint32_t lane, uint32_t byte) {
    return uint8_t((lane * 256 + byte / 4) >> (8 * (byte % 4)));
  }

  IssueKernel frame;
  std::string text;
  Options options;
  std::vector<uint8_t> data;
  std::vector<uint32_t> out;
};

/// The row of the source that a lane gets, or -1.
int sourceRow(const std::string &shape, int lane) {
  if (shape.rfind("128x", 0) == 0)
    return lane;
  if (shape == "4x256b")
    return lane % 32 == 0 ? lane / 32 : -1;
  if (shape == "64x128b.warpx2::02_13") // warps 0 and 2, 1 and 3
    return lane % 64;
  if (shape == "64x128b.warpx2::01_23")
    return lane / 64 * 32 + lane % 32;
  return lane % 32;
}

const char *const kShapes[] = {"128x256b",
                               "4x256b",
                               "128x128b",
                               "64x128b.warpx2::02_13",
                               "64x128b.warpx2::01_23",
                               "32x128b.warpx4"};

std::string copyOf(const std::string &shape, const char *group = "1",
                   const std::string &format = "") {
  return std::string("  tcgen05.cp.cta_group::") + group + "." + shape +
         format + " [%r4+4], %d2;\n";
}

/// Bits of element `e` of 16 that lie one behind the other.
uint8_t element(const CopyRun &run, uint32_t row, uint32_t e, uint32_t bits) {
  uint8_t code = 0;
  for (uint32_t bit = 0; bit < bits; ++bit) {
    uint32_t at = e % 16 * bits + bit;
    uint8_t byte = run.source(0, row, e / 16 * 16 + at / 8);
    code |= uint8_t((byte >> at % 8 & 1) << bit);
  }
  return code;
}

} // namespace

TEST(Tcgen05Copy, EveryShape) {
  for (const std::string shape : kShapes)
    for (bool pair : {false, true}) {
      CopyRun run(copyOf(shape, pair ? "2" : "1"), pair);
      Report report = run.run();
      ASSERT_TRUE(report.ok()) << shape << "\n" << report.str();
      uint32_t bytes = shape.find("256b") != std::string::npos ? 32 : 16;
      for (uint32_t cta = 0; cta < run.frame.ctas(); ++cta)
        for (uint32_t lane = 0; lane < 128; ++lane)
          for (uint32_t byte = 0; byte < 64; ++byte) {
            int row = sourceRow(shape, int(lane));
            bool copied = row >= 0 && byte >= 16 && byte < 16 + bytes;
            ASSERT_EQ(run.result(cta, lane, byte),
                      copied ? run.source(cta, uint32_t(row), byte - 16)
                             : CopyRun::untouched(lane, byte))
                << shape << " cta " << cta << " lane " << lane << " byte "
                << byte;
          }
    }
}

TEST(Tcgen05Copy, UnpacksElements) {
  for (uint32_t bits : {4u, 6u})
    for (const std::string shape : kShapes) {
      CopyRun run(copyOf(shape, "1",
                         bits == 4 ? ".b8x16.b4x16_p64" : ".b8x16.b6x16_p32"));
      Report report = run.run();
      ASSERT_TRUE(report.ok()) << shape << "\n" << report.str();
      uint32_t bytes = shape.find("256b") != std::string::npos ? 32 : 16;
      for (uint32_t lane = 0; lane < 128; ++lane)
        for (uint32_t e = 0; e < bytes; ++e)
          if (int row = sourceRow(shape, int(lane)); row >= 0) {
            ASSERT_EQ(run.result(0, lane, 16 + e),
                      element(run, uint32_t(row), e, bits)
                          << (bits == 4 ? 2 : 0))
                << shape << " lane " << lane << " element " << e;
          }
    }
}

TEST(Tcgen05Copy, RowsOfAQuarter) {
  // The lane of the address is that of each quarter.
  CopyRun run("  add.u32 %r11, %r4, " + std::to_string(31 << 16) +
              ";\n  tcgen05.cp.cta_group::1.4x256b [%r11], %d2;\n");
  ASSERT_TRUE(run.run().ok());
  for (uint32_t lane = 0; lane < 128; ++lane)
    EXPECT_EQ(run.result(0, lane, 3), lane % 32 == 31
                                          ? run.source(0, lane / 32, 3)
                                          : CopyRun::untouched(lane, 3));
}

TEST(Tcgen05Copy, ShiftsEachQuarter) {
  // And the last lanes are filled by a copy, which is pipelined.
  std::string shift = "  tcgen05.shift.cta_group::1.down [%r4+4];\n";
  CopyRun run(shift);
  ASSERT_TRUE(run.run().ok());
  for (uint32_t lane = 0; lane < 128; ++lane)
    for (uint32_t c = 0; c < kColumns; ++c)
      EXPECT_EQ(run.out[lane * kColumns + c],
                (lane + (lane % 32 != 31 && c >= 4 && c < 12)) * 256 + c);
  CopyRun both(shift + "  add.u32 %r11, %r4, " +
               std::to_string((31 << 16) + 4) +
               ";\n  tcgen05.cp.cta_group::1.4x256b [%r11], %d2;\n");
  Report report = both.run();
  ASSERT_TRUE(report.ok() && report.warnings.empty()) << report.str();
  EXPECT_EQ(both.result(0, 31, 17), both.source(0, 0, 1));
  EXPECT_EQ(both.out[30 * kColumns + 4], 31u * 256 + 4);
}

TEST(Tcgen05Copy, WhatIsNotPipelined) {
  // Of these pairs the ISA says nothing; kernels rely on the order.
  for (const char *second :
       {"32x128b.warpx4", "128x128b", "64x128b.warpx2::01_23"}) {
    CopyRun run(copyOf("32x128b.warpx4") + copyOf(second));
    Report report = run.run();
    EXPECT_TRUE(report.ok()) << report.str();
    ASSERT_EQ(report.warnings.size(), 1u) << report.str();
    EXPECT_EQ(report.warnings[0].rule, Rule::TensorCoreOrder);
    EXPECT_THAT(report.warnings[0].message,
                HasSubstr("that 'tcgen05.cp.cta_group::1.32x128b.warpx4' "
                          "wrote, and the two are not pipelined"));
    run.options.strict = true;
    EXPECT_TRUE(has(run.run(), ErrorKind::MemoryInFlight));
  }
  // With a commit and its wait in between they are in order.
  CopyRun run(copyOf("32x128b.warpx4") +
              "  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
              "cluster.b64 [bar];\nLC: mbarrier.try_wait.parity.shared.b64 "
              "%p1, [bar], 1; @!%p1 bra LC;\n" +
              copyOf("32x128b.warpx4"));
  run.options.strict = true;
  Report report = run.run();
  EXPECT_TRUE(report.ok()) << report.str();
}

TEST(Tcgen05Copy, MmaAndCopyOfScales) {
  // Copy to MMA is a pipeline, MMA to the next copy is not.
  MmaCase form;
  MmaRun run(form);
  size_t at = run.text.find("  tcgen05.commit");
  run.text.insert(at, "  tcgen05.cp.cta_group::1.32x128b.warpx4 [%r4+264], "
                      "%d5;\n");
  Report report = run.run();
  EXPECT_TRUE(report.ok()) << report.str();
  ASSERT_EQ(report.warnings.size(), 1u) << report.str();
  EXPECT_EQ(report.warnings[0].rule, Rule::TensorCoreOrder);
  run.check(2e-6);
}

TEST(Tcgen05Copy, Hazards) {
  MmaCase form;
  struct Fault {
    const char *from, *to, *message;
    ErrorKind kind;
  };
  const Fault faults[] = {
      // Never copied; or to columns that nobody allocated.
      {"  tcgen05.cp.cta_group::1.32x128b.warpx4 [%r4+264], %d5;\n", "",
       "reads tensor memory lanes 0 to 15, column 264, which nothing has",
       ErrorKind::UninitialisedMemory},
      {"[slot], 512", "[slot], 256",
       "accesses tensor memory columns 264 to 267, which lie outside",
       ErrorKind::OutOfBounds},
      // Two quarters of the lanes lack the scales.
      {"32x128b.warpx4 [%r4+264]", "64x128b.warpx2::02_13 [%r4+264]",
       "the scale factors of row 0 of A differ between lanes 0 and 32 of "
       "column 264",
       ErrorKind::InvalidOperation},
      // Another layout than that of MMAs' scales.
      {"[%r4+272], %p3", "[%r4+1048848], %p3",
       "the scales of B must start at lane 0, not 16", ErrorKind::OutOfBounds},
      {"[%r4+264], [", "[%r4+510], [", "the scales of A ends at column 514",
       ErrorKind::OutOfBounds},
      {"warpx4 [%r4+264]", "warpx4 [%r4+510]",
       "the destination ends at column 514 of 512", ErrorKind::OutOfBounds},
      {"warpx4 [%r4+264]", "warpx4 [%r4+1048840]",
       "the destination ends at lane 144 of 128", ErrorKind::OutOfBounds},
      {"@%p5 bra ISSUED", "@%p2 bra ISSUED",
       "is executed by 32 lanes, each of which would start a copy",
       ErrorKind::InvalidOperation},
      {"tcgen05.cp.cta_group::1", "tcgen05.cp.cta_group::2",
       "has a different .cta_group", ErrorKind::Unsupported},
      {"32x128b.warpx4", "32x128b", "needs a shape", ErrorKind::Unsupported},
      {"32x128b.warpx4", "32x128b.warpx4.b8x16", "from .b6x16_p32",
       ErrorKind::Unsupported},
  };
  for (const Fault &fault : faults) {
    MmaRun run(form);
    run.text = replaced(run.text, fault.from, fault.to);
    Report report = run.run();
    EXPECT_TRUE(has(report, fault.kind)) << fault.message << report.str();
    EXPECT_THAT(report.str(), HasSubstr(fault.message));
  }
}

TEST(Tcgen05Copy, SourcesInFlight) {
  // A generic store that no fence makes visible to the copy; and one while it
  // may still read.
  std::string copy = copyOf("32x128b.warpx4");
  CopyRun unfenced("  st.shared.b32 [s], %r0;\n" + copy);
  EXPECT_TRUE(has(unfenced.run(), ErrorKind::MissingProxyFence));
  CopyRun fenced("  st.shared.b32 [s], %r0;\n  fence.proxy.async;\n" + copy);
  EXPECT_TRUE(fenced.run().ok());
  uint32_t reported = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    CopyRun overwritten(copy + "  st.shared.b32 [s], %r0;\n");
    overwritten.options.scheduleSeed = seed;
    reported += !overwritten.run().ok();
  }
  EXPECT_EQ(reported, 8u);
}

TEST(Tcgen05Copy, ResultsInFlight) {
  // Another warp reads the columns: without the wait, and without the fence.
  std::string wait = "L1: mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], 0; "
                     "@!%p1 bra L1;\n";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    CopyRun run(copyOf("128x128b"));
    run.options.scheduleSeed = seed;
    run.text = replaced(run.text, wait, "");
    Report report = run.run();
    EXPECT_TRUE(has(report, ErrorKind::Race) ||
                has(report, ErrorKind::MemoryInFlight))
        << report.str();
  }
  CopyRun run(copyOf("128x128b"));
  run.options.strict = true;
  EXPECT_TRUE(run.run().ok());
  size_t at = run.text.rfind("  tcgen05.fence::after_thread_sync;\n");
  run.text.erase(at, 36);
  EXPECT_TRUE(has(run.run(), ErrorKind::MissingTcgen05Fence));
}

TEST(Tcgen05Copy, ScalesOfAnotherThread) {
  // Warp 1 copies the scales, and warp 0's MMA does not wait for them.
  MmaRun run(MmaCase{});
  std::string copy =
      "  tcgen05.cp.cta_group::1.32x128b.warpx4 [%r4+264], %d5;\n";
  run.text = replaced(run.text, copy, "");
  run.text =
      replaced(run.text, "  @%p5 bra ISSUED;\n",
               "  shr.u32 %r7, %r5, 4; cvt.u64.u32 %d5, %r7; add.s64 "
               "%d5, %d5, 768; or.b64 %d5, %d5, " +
                   std::to_string(uint64_t(1) << 46 | uint64_t(8) << 32) +
                   ";\n  setp.eq.u32 %p7, %r0, 32;\n  @%p7 " + copy.substr(2) +
                   "  bar.sync 0;\n" + "  @%p5 bra ISSUED;\n");
  for (uint64_t seed = 0; seed < 8; ++seed) {
    run.options.scheduleSeed = seed;
    Report report = run.run();
    EXPECT_TRUE(has(report, ErrorKind::Race) ||
                has(report, ErrorKind::MemoryInFlight))
        << report.str();
  }
}
