// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races in global memory: between threads, copies and clusters.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {
constexpr uint64_t kSeeds = 8;

/// The errors of `body` under one seed, with %out a buffer of 64 words, %t the
/// thread's number and %w its warp's, in `blocks` CTAs of two warps.
std::string errorsOf(const std::string &body, uint64_t seed,
                     uint32_t blocks = 1) {
  std::string text = kernel(".param .u64 out", R"(
  .reg .pred %p<10>; .reg .b32 %r<20>; .reg .b64 %d<20>;
  .reg .b64 %out; .reg .b32 %t, %w, %b;
  ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %b, %ctaid.x;
  setp.eq.u32 %p0, %w, 0; setp.eq.u32 %p1, %w, 1; setp.eq.u32 %p2, %t, 0;
  setp.eq.u32 %p3, %b, 0; setp.eq.u32 %p4, %b, 1; setp.eq.u32 %p5, %t, 32;
)" + body + "\n  ret;",
                            "sm_90a", ".shared .align 128 .b8 s[256];\n");
  Device device;
  uint64_t address = *device.allocate("out", 256);
  LaunchConfig config;
  config.grid = {blocks, 1, 1};
  config.block = {64, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  return run(device, text, {KernelArgument::value(address)}, config, options)
      .str();
}

void expectRight(const std::string &body, uint32_t blocks = 1) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    EXPECT_EQ(errorsOf(body, seed, blocks), "") << body;
}

/// A race is reported under every seed, whoever comes first.
void expectRace(const std::string &body, const std::string &message,
                uint32_t blocks = 1) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::string errors = errorsOf(body, seed, blocks);
    EXPECT_THAT(errors, HasSubstr("[race]")) << body;
    EXPECT_THAT(errors, HasSubstr(message)) << body;
  }
}

const char *kNoBarrier =
    "with no synchronisation after 'st.global.u32' wrote it; order the two by "
    "a barrier that both sides take part in";
} // namespace

TEST(GlobalMemory, StoresOfTwoWarps) {
  expectRace("st.global.u32 [%out+8], %w;",
             "'st.global.u32' writes buffer 'out' at offset 8 " +
                 std::string(kNoBarrier));
  expectRight("st.global.u32 [%out+8], 7;"); // what is there already
  expectRight("@%p0 st.global.u32 [%out], 1; bar.sync 0; @%p1 st.global.u32 "
              "[%out], 2;");
  expectRight("mul.wide.u32 %d0, %t, 4; add.s64 %d0, %d0, %out; "
              "st.global.u32 [%d0], %t; st.global.u32 [%d0], %w;");
  // Bytes beside each other are different places.
  expectRight("cvt.u64.u32 %d0, %t; add.s64 %d0, %d0, %out; "
              "st.global.u8 [%d0], %t;");
}

TEST(GlobalMemory, StoresOfTheLanesOfOneInstruction) {
  expectRace("@%p0 st.global.u32 [%out], %t;",
             "wrote it in another lane with another value, so the result is "
             "undefined; let one lane write, or use red or atom");
  expectRight("@%p0 st.global.u32 [%out], 5; @%p0 st.global.u32 [%out], 6;");
  // Shared memory is no different.
  expectRace("@%p0 st.shared.u32 [s+16], %t;",
             "'st.shared.u32' writes shared memory offset 1040 (s+16) in "
             "another lane with another value, "
             "so the result is undefined; let one lane write, or use red or "
             "atom");
  expectRace("and.b32 %r0, %t, 7; shl.b32 %r0, %r0, 2; mov.u32 %r1, s; "
             "add.u32 %r0, %r0, %r1; @%p0 st.shared.u32 [%r0], %t;",
             "' writes shared memory offset ");
  expectRight("@%p0 st.shared.u32 [s], 5; @%p0 st.shared.u32 [s], 6;");
  expectRight("mul.wide.u32 %d0, %t, 4; cvt.u32.u64 %r0, %d0; mov.u32 %r1, s; "
              "add.u32 %r0, %r0, %r1; st.shared.u32 [%r0], %t;");
}

TEST(GlobalMemory, ReadsAndWrites) {
  expectRace("@%p0 st.global.u32 [%out], 1; @%p1 ld.global.u32 %r0, [%out];",
             "the other access is here, by warp ");
  expectRight("@%p0 st.global.u32 [%out], 1; bar.sync 0; @%p1 ld.global.u32 "
              "%r0, [%out]; bar.sync 0; @%p0 st.global.u32 [%out], 2;");
  expectRight("ld.global.u32 %r0, [%out];");
}

TEST(GlobalMemory, Atomics) {
  expectRight("red.global.add.u32 [%out], %t; "
              "atom.global.add.u32 %r0, [%out+4], %t;",
              4);
  expectRace("@%p0 st.global.u32 [%out], 7; @%p1 red.global.add.u32 [%out], 1;",
             "with no synchronisation after ");
  expectRace("@%p0 ld.global.u32 %r0, [%out]; @%p1 atom.global.add.u32 %r0, "
             "[%out], 1;",
             "with no synchronisation ");
  expectRight("@%p2 st.global.u32 [%out], 7; bar.sync 0; "
              "red.global.add.u32 [%out], 1; bar.sync 0; "
              "@%p5 st.global.u32 [%out], 8;");
}

TEST(GlobalMemory, StoresOfTwoClusters) {
  std::string body = "add.u32 %r0, %b, 1; @%p2 st.global.u32 [%out], %r0;";
  expectRace(body,
             "wrote it in another cluster; let only one cluster access it, or "
             "hand it over by a flag that one cluster writes with .release and "
             "the other reads with .acquire",
             2);
  expectRace(body, ", in the cluster that begins at block (", 2);
  // Handed over: the second waits for the first.
  auto handOver = [](const std::string &write, const std::string &read) {
    return "@%p2 bra ONE; ret; ONE: @%p4 bra SECOND;\n"
           "st.global.u32 [%out], 1; " +
           write +
           " [%out+128], 1; ret;\n"
           "SECOND: " +
           read +
           " %r0, [%out+128]; setp.eq.u32 %p6, %r0, 0; @%p6 bra SECOND;\n"
           "ld.global.u32 %r1, [%out]; st.global.u32 [%out], 2;";
  };
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_EQ(errorsOf(handOver("st.release.gpu.global.u32",
                                "ld.acquire.gpu.global.u32"),
                       seed, 2),
              "");
    EXPECT_THAT(errorsOf(handOver("st.global.u32", "ld.global.u32"), seed, 2),
                HasSubstr("[race]"));
  }
}

namespace {

/// Both warps of block 0 store, execute `meet`, and thread 0 `write`. Thread 0
/// of block 1 loads all that behind `read`, a poll, and `then`.
std::string flagged(const std::string &meet, const std::string &write,
                    const std::string &read, const std::string &then = "") {
  return "add.s64 %d1, %out, 248; @%p4 bra READER;\n"
         "mad.wide.u32 %d0, %w, 4, %out; st.global.u32 [%d0], 7;\n" +
         meet + "\n@%p2 " + write +
         " [%d1], 1; ret;\nREADER: @!%p2 bra END;\n" + "POLL: " + read +
         " %r0, [%d1]; setp.eq.u32 %p6, %r0, 0;\n" + "@%p6 bra POLL; " + then +
         "\nld.global.v2.u32 {%r1, %r2}, [%out];\nEND:";
}

} // namespace

TEST(GlobalMemory, AFlagHandsOnWhatItsWriterKnows) {
  const std::string set = "st.release.gpu.global.u32",
                    poll = "ld.acquire.gpu.global.u32";
  expectRight(flagged("bar.sync 0;", set, poll), 2);
  // Warp 1 has not come yet, or not the other lanes of warp 0.
  expectRace(flagged("", set, poll), "in another cluster", 2);
  expectRace(flagged("@%p0 bar.warp.sync -1;", set, poll), "", 2);
}

TEST(GlobalMemory, AFlagComesBackByAnotherCluster) {
  // Warp 0 of block 0 tells block 1, which tells warp 1 of block 0.
  auto round = [](const std::string &write, const std::string &read,
                  const std::string &fence) {
    const std::string poll =
        ": " + read + " %r0, [%d1]; setp.lt.u32 %p6, %r0, ";
    return "add.s64 %d1, %out, 248; @%p4 bra OTHER; @%p5 bra BACK;\n"
           "@!%p2 bra END; st.global.u32 [%out], 7; " +
           fence + write + " [%d1], 1; ret;\nOTHER: @!%p2 bra END;\nP" + poll +
           "1; @%p6 bra P; " + fence + write + " [%d1], 2; ret;\nBACK:\nQ" +
           poll + "2; @%p6 bra Q; " + fence +
           "ld.global.u32 %r1, [%out];\nEND:";
  };
  const std::string set = "st.relaxed.gpu.global.u32 ",
                    poll = "ld.relaxed.gpu.global.u32";
  expectRight(
      round("st.release.gpu.global.u32 ", "ld.acquire.gpu.global.u32", ""), 2);
  expectRight(round(set, poll, "fence.acq_rel.gpu; "), 2);
  expectRace(round(set, poll, ""), "", 2);
}

TEST(GlobalMemory, RelaxedFlagsNeedFences) {
  const std::string set = "st.relaxed.gpu.global.u32",
                    poll = "ld.relaxed.gpu.global.u32",
                    add = "red.global.add.u32", fence = "fence.acq_rel.gpu;",
                    meet = "bar.sync 0;";
  expectRight(flagged(meet + fence, set, poll, fence), 2);
  expectRight(flagged(meet + fence, add, poll, "membar.gl;"), 2);
  expectRight(flagged(meet + fence, set, "ld.acquire.sys.global.u32"), 2);
  // As kernels do: all fence, then they meet and one writes.
  expectRight(flagged(fence + meet, add, poll, fence), 2);
  expectRace(flagged(meet, set, poll, fence), "", 2);
  expectRace(flagged(meet + fence, set, poll), "", 2);
  expectRace(flagged(fence, add, poll, fence), "", 2);
  // A scope that other clusters are not in.
  const std::string narrow = "fence.acq_rel.cluster;";
  expectRace(flagged(meet + narrow, set, poll, fence), "", 2);
  expectRace(flagged(meet + fence, set, poll, narrow), "", 2);
  expectRace(
      flagged(meet, "st.release.cta.global.u32", "ld.acquire.gpu.global.u32"),
      "", 2);
  expectRace(flagged(meet, "st.release.gpu.global.u32",
                     "ld.acquire.cluster.global.u32"),
             "", 2);
  // No fence widens the scope of the flag itself.
  for (auto [narrowSet, narrowPoll] :
       {std::pair("st.release.cta.global.u32", "ld.acquire.gpu.global.u32"),
        std::pair("st.relaxed.gpu.global.u32",
                  "ld.relaxed.cluster.global.u32")})
    expectRace(flagged(meet + fence, narrowSet, narrowPoll, fence),
               "in another CTA, which the scope of one of the two leaves out",
               2);
}

TEST(GlobalMemory, ScopesOfAtomics) {
  auto add = [](const std::string &scope) {
    return "red.relaxed." + scope + ".global.add.u32 [%out], 1;";
  };
  expectRight(add("cta"));
  expectRight(add("gpu"), 4);
  expectRace(add("cta"), "which the scope of one of the two leaves out", 2);
  expectRace(add("cluster"), "which the scope of one of the two leaves out", 2);
}

TEST(GlobalMemory, BulkStores) {
  // One thread writes a place twice, with other bytes each time.
  auto twice = [](const std::string &first, const std::string &wait,
                  const std::string &second) {
    return "@%p2 st.shared.v4.u32 [s], {1, 1, 1, 1}; "
           "@%p2 st.shared.v4.u32 [s+16], {2, 2, 2, 2}; "
           "@%p2 fence.proxy.async.shared::cta; @%p2 bra ONE; ret;\nONE: " +
           first + " [%out], [s], 16; cp.async.bulk.commit_group;\n" + wait +
           "\n" + second +
           " [%out], [s+16], 16; cp.async.bulk.commit_group; "
           "cp.async.bulk.wait_group 0;";
  };
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group",
                    reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_"
                             "group.add.u32";
  const std::string cure = "; wait for it first, with cp.async.bulk.wait_group "
                           "without .read";
  expectRace(twice(store, "", store), cure);
  expectRace(twice(store, "cp.async.bulk.wait_group.read 0;", store), cure);
  expectRight(twice(store, "cp.async.bulk.wait_group 0;", store));
  expectRace(twice(store, "", reduce), cure);
  expectRight(twice(reduce, "", reduce));
}

TEST(GlobalMemory, ABulkStoreAndAnotherWarp) {
  auto body = [](const std::string &wait) {
    return "@%p2 st.shared.v4.u32 [s], {1, 1, 1, 1}; "
           "@%p2 fence.proxy.async.shared::cta; @!%p2 bra REST;\n"
           "cp.async.bulk.global.shared::cta.bulk_group [%out], [s], 16; "
           "cp.async.bulk.commit_group; " +
           wait +
           "\nREST: bar.warp.sync -1; bar.sync 0; "
           "@%p5 st.global.u32 [%out], 3;";
  };
  expectRight(body("cp.async.bulk.wait_group 0;"));
  expectRace(body("cp.async.bulk.wait_group.read 0;"),
             "with no synchronisation after ");
}

TEST(GlobalMemory, AtIssueNothingIsOutOfOrder) {
  std::string text = kernel(".param .u64 out", R"(
  .reg .b64 %d; .reg .b32 %t; ld.param.u64 %d, [out]; mov.u32 %t, %tid.x;
  shr.u32 %t, %t, 5; st.global.u32 [%d], %t; ret;)");
  Device device;
  uint64_t address = *device.allocate("out", 4);
  LaunchConfig config;
  config.block = {64, 1, 1};
  Options options;
  options.completion = Completion::AtIssue;
  EXPECT_TRUE(
      run(device, text, {KernelArgument::value(address)}, config, options)
          .ok());
}
