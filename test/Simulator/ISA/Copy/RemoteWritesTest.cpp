// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// red.async and cp.reduce.async.bulk: CTAs of a cluster combine numbers in each
// other's shared memory.

#include "Machine/ClusterKernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

/// Both CTAs reduce into word 8 of each, which is `first`; %r6: 70 + rank.
std::string reducing(const std::string &operation, uint32_t first = 5) {
  return std::string(kInit) +
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 8;\n"
         "st.shared.u32 [%r2+32], " +
         std::to_string(first) + ";\n" + kSync + R"(
  mapa.shared::cluster.u32 %r4, %r2, 0; mapa.shared::cluster.u32 %r5, %r3, 0;
  mapa.shared::cluster.u32 %r8, %r2, 1; mapa.shared::cluster.u32 %r9, %r3, 1;
  add.u32 %r6, %r0, 70;
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.)" +
         operation + R"( [%r4+32], %r6, [%r5];
  red.async.shared::cluster.mbarrier::complete_tx::bytes.)" +
         operation + " [%r8+32], %r6, [%r9];\n" + kWait +
         "ld.shared.u32 %r7, [%r2+32]; st.global.u32 [%d0], %r7;\n" + kSync;
}

} // namespace

TEST(ReduceAsync, CombinesInThePeer) {
  struct {
    const char *operation;
    uint32_t first, result;
  } cases[] = {{"add.u32", 5, 146},   {"add.s32", 5, 146},  {"min.u32", 90, 70},
               {"max.s32", 5, 71},    {"and.b32", ~0u, 70}, {"or.b32", 0, 71},
               {"xor.b32", 0, 1},     {"inc.u32", 5, 7},    {"dec.u32", 6, 4},
               {"min.s32", ~0u, ~0u}, {"max.u32", ~0u, ~0u}};
  for (const auto &c : cases)
    for (uint64_t seed = 0; seed < 4; ++seed) {
      std::vector<uint32_t> out;
      Report report = runPair(reducing(c.operation, c.first), out, seed);
      ASSERT_TRUE(report.ok()) << c.operation << report.str();
      EXPECT_EQ(out, (std::vector<uint32_t>{c.result, c.result}))
          << c.operation;
    }
}

TEST(ReduceAsync, SumsOfSixtyFourBits) {
  std::vector<uint32_t> out;
  std::string body = replaced(reducing("add.u64"), "[%r2+32], 5",
                              "[%r2+36], 0; st.shared.u32 [%r2+32], 5");
  body = replaced(body, "_, [%r3], 8", "_, [%r3], 16");
  for (const char *address : {"[%r4+32], %r6", "[%r8+32], %r6"})
    body = replaced(body, address, std::string(address).substr(0, 10) + " %d3");
  body = replaced(body, "add.u32 %r6, %r0, 70;",
                  "add.u32 %r6, %r0, 70; cvt.u64.u32 %d3, %r6;");
  Report report = runPair(body, out);
  ASSERT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(out, (std::vector<uint32_t>{146, 146}));
}

TEST(ReduceAsync, ChecksWhatItMeets) {
  std::vector<uint32_t> out;
  const std::string body = reducing("add.u32");
  // A wait too few.
  EXPECT_FALSE(runPair(replaced(body, kWait, ""), out).ok());
  // A word that nothing has written.
  Report report =
      runPair(replaced(body, "st.shared.u32 [%r2+32], 5;\n", ""), out);
  EXPECT_TRUE(has(report, ErrorKind::UninitialisedMemory)) << report.str();
  // A store in its place races with what the other CTA adds.
  report = runPair(
      replaced(body,
               "red.async.relaxed.cluster.shared::cluster.mbarrier::"
               "complete_tx::bytes.add.u32",
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32"),
      out);
  EXPECT_FALSE(report.ok());
  report = runPair(replaced(body, "[%r4+32], %r6", "[%r4+34], %r6"), out);
  EXPECT_TRUE(has(report, ErrorKind::Misaligned)) << report.str();
  report = runPair(replaced(body, "[%r5];\n", "[%r9];\n"), out);
  EXPECT_TRUE(has(report, ErrorKind::BarrierMisuse)) << report.str();
  for (const char *operation : {"add.b32", "inc.s32", "and.u32", "min.u64"})
    EXPECT_THAT(runPair(reducing(operation), out).str(),
                HasSubstr("takes .inc and .dec of u32"))
        << operation;
}

TEST(ReduceAsync, NewerFormsNeedTheChip) {
  std::vector<uint32_t> out;
  EXPECT_THAT(
      runPair("red.async.mmio.release.sys.global.add.u32 [%d0], 1;\n", out)
          .str(),
      HasSubstr("needs sm_100 or later, but the module is for sm_90a"));
  EXPECT_THAT(
      runPair("st.async.mmio.release.gpu.global.b32 [%d0], 1;\n", out).str(),
      HasSubstr("needs sm_100 or later"));
  EXPECT_THAT(runPair("st.bulk.weak.shared::cta [%r2], 8, 0;\n", out).str(),
              HasSubstr("needs sm_100 or later"));
}

namespace {

/// Both CTAs reduce words of 70 + rank into words 8 to 15 of each, which are
/// `first`: into all eight, and again into the first four of CTA 0 and the last
/// four of CTA 1. The result is word 8, plus 1000 times word 12.
std::string reducingBulk(const std::string &operation, uint32_t first = 5) {
  const std::string reduce = "  cp.reduce.async.bulk.shared::cluster.shared::"
                             "cta.mbarrier::complete_tx::bytes." +
                             operation;
  const std::string word = std::to_string(first);
  return std::string(kInit) +
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 96;\n"
         "add.u32 %r6, %r0, 70;\n"
         "st.shared.v4.u32 [%r2], {%r6, %r6, %r6, %r6};\n"
         "st.shared.v4.u32 [%r2+16], {%r6, %r6, %r6, %r6};\n"
         "st.shared.v4.u32 [%r2+32], {" +
         word + ", " + word + ", " + word + ", " + word +
         "};\nst.shared.v4.u32 [%r2+48], {" + word + ", " + word + ", " + word +
         ", " + word + "};\nfence.proxy.async.shared::cta;\n" + kSync +
         R"(
  mapa.shared::cluster.u32 %r4, %r2, 0; mapa.shared::cluster.u32 %r5, %r3, 0;
  mapa.shared::cluster.u32 %r8, %r2, 1; mapa.shared::cluster.u32 %r9, %r3, 1;
)" + reduce +
         " [%r4+32], [%r2], 32, [%r5];\n" + reduce +
         " [%r8+48], [%r2], 16, [%r9];\n" + reduce +
         " [%r8+32], [%r2], 32, [%r9];\n" + reduce +
         " [%r4+32], [%r2], 16, [%r5];\n" + kWait +
         "ld.shared.u32 %r7, [%r2+32]; ld.shared.u32 %r10, [%r2+48];\n"
         "mad.lo.u32 %r7, %r10, 1000, %r7; st.global.u32 [%d0], %r7;\n" +
         kSync;
}

} // namespace

TEST(ReduceBulk, CombinesInThePeer) {
  struct {
    const char *operation;
    uint32_t first, once, twice;
  } cases[] = {{"add.u32", 5, 146, 287},   {"add.s32", 5, 146, 287},
               {"add.u64", 5, 146, 287},   {"min.u32", 90, 70, 70},
               {"max.s32", 5, 71, 71},     {"and.b32", ~0u, 70, 70},
               {"or.b32", 0, 71, 71},      {"xor.b32", 3, 2, 3},
               {"inc.u32", 5, 7, 9},       {"dec.u32", 6, 4, 2},
               {"min.s32", ~0u, ~0u, ~0u}, {"max.u32", ~0u, ~0u, ~0u}};
  for (const auto &c : cases)
    for (uint64_t seed = 0; seed < 4; ++seed) {
      std::vector<uint32_t> out;
      Report report = runPair(reducingBulk(c.operation, c.first), out, seed);
      ASSERT_TRUE(report.ok()) << c.operation << report.str();
      EXPECT_EQ(out, (std::vector<uint32_t>{c.twice + 1000 * c.once,
                                            c.once + 1000 * c.twice}))
          << c.operation;
    }
  std::vector<uint32_t> out;
  std::string relaxed = replaced(reducingBulk("add.u32"), "reduce.async.bulk.",
                                 "reduce.async.bulk.relaxed.cluster.");
  EXPECT_TRUE(runPair(relaxed, out).ok());
}

TEST(ReduceBulk, ChecksWhatItMeets) {
  std::vector<uint32_t> out;
  const std::string body = reducingBulk("add.u32");
  EXPECT_FALSE(runPair(replaced(body, kWait, ""), out).ok());
  Report report =
      runPair(replaced(body, "fence.proxy.async.shared::cta;", ""), out);
  EXPECT_TRUE(has(report, ErrorKind::MissingProxyFence)) << report.str();
  report = runPair(replaced(body, "st.shared.v4.u32 [%r2+48]", "// "), out);
  EXPECT_TRUE(has(report, ErrorKind::UninitialisedMemory)) << report.str();
  report = runPair(replaced(body, "[%r4+32], [%r2], 32", "[%r4+40], [%r2], 32"),
                   out);
  EXPECT_TRUE(has(report, ErrorKind::Misaligned)) << report.str();
  // A copy in its place races with what the other CTA adds.
  EXPECT_FALSE(
      runPair(replaced(replaced(body, "cp.reduce.async.bulk", "cp.async.bulk"),
                       "bytes.add.u32", "bytes"),
              out)
          .ok());
  for (const char *operation : {"add.b32", "add.s64", "add.f32", "and.b64"})
    EXPECT_THAT(runPair(reducingBulk(operation), out).str(),
                HasSubstr("takes .inc and .dec of u32"))
        << operation;
  EXPECT_THAT(runPair(replaced(body, "cta.mbarrier::complete_tx::bytes.add",
                               "cta.bulk_group.add"),
                      out)
                  .str(),
              HasSubstr("with .mbarrier::complete_tx::bytes"));
}
