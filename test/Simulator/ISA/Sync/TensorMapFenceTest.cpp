// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor map that one thread writes and another uses: each fence of the
// tensor-map proxy, missing, early or late, is found in any schedule.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

// %d0: the map in global memory. The fence that copies it releases it, too.
const std::string kCopy =
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
    "gpu.sync.aligned [%d0], [map], 128;\n";
const std::string kStore = "ld.shared.u32 %r5, [%r1]; st.global.u32 [%d7], "
                           "%r5; bar.warp.sync -1;\n";
const std::string kRelease = "fence.proxy.tensormap::generic.release.gpu;\n";
const std::string kAcquire =
    "fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;\n";
// Between CTAs.
const std::string kSet = "bar.warp.sync -1; @!%p1 st.release.gpu.global.u32 "
                         "[%d9], 1; bar.warp.sync -1;\n";
const std::string kPoll =
    "POLL: ld.acquire.gpu.global.u32 %r6, [%d9]; setp.eq.u32 %p4, %r6, 0;\n"
    "@%p4 bra POLL; bar.warp.sync -1;\n";
const std::string kPollRelaxed =
    "POLL: ld.relaxed.gpu.global.u32 %r6, [%d9]; setp.eq.u32 %p4, %r6, 0;\n"
    "@%p4 bra POLL; bar.warp.sync -1;\n";
// Between warps.
const std::string kMeet = "bar.sync 1, 64;\n";

std::string field(const std::string &name, const std::string &operands,
                  const std::string &type = "b32") {
  return "tensormap.replace.tile." + name + ".shared::cta.b1024." + type +
         " [map], " + operands + ";\n";
}

/// The first CTA of two, or the first warp of two, makes a map in its shared
/// memory and executes `writer`. The other executes `reader` and loads a box.
Report handOver(const std::string &writer, const std::string &reader,
                bool betweenCtas, uint64_t seed) {
  const std::string make =
      field("global_address", "%d1", "b64") + field("rank", "1") +
      field("box_dim", "0, 32") + field("box_dim", "1, 4") +
      field("global_dim", "0, 32") + field("global_dim", "1, 8") +
      field("global_stride", "0, 128", "b64") +
      field("element_stride", "0, 1") + field("element_stride", "1, 1") +
      field("elemtype", "7") + field("interleave_layout", "0") +
      field("swizzle_mode", "0") + field("fill_mode", "0");
  const std::string text = kernel(
      ".param .u64 maps, .param .u64 in, .param .u64 flag",
      R"(
  .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<10>;
  ld.param.u64 %d0, [maps]; ld.param.u64 %d1, [in]; ld.param.u64 %d9, [flag];
  mov.u32 %r4, %tid.x; and.b32 %r0, %r4, 31; setp.ne.u32 %p1, %r0, 0;
  mad.wide.u32 %d7, %r0, 4, %d0;
  mov.u32 %r1, map; mad.lo.u32 %r1, %r0, 4, %r1; st.shared.u32 [%r1], 0;
  setp.eq.u32 %p2, %r4, 0;
  @%p2 mbarrier.init.shared.b64 [bar], 1;
  @%p2 fence.mbarrier_init.release.cluster;
  bar.sync 0;
  shr.u32 %r4, %r4, 5; mov.u32 %r3, %ctaid.x; add.u32 %r3, %r3, %r4;
  setp.ne.u32 %p3, %r3, 0; @%p3 bra READER;
  @%p1 bra MADE;
)" + make +
          "MADE: bar.warp.sync -1;\n" + writer + "bra END;\nREADER:\n" +
          reader +
          R"(  @%p1 bra ISSUED;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%d0, {0, 4}], [bar];
ISSUED: bar.warp.sync -1;
WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [bar], 0; @!%p5 bra WAIT;
END: ret;
)",
      "sm_90a",
      ".shared .align 128 .b8 map[128];\n.shared .align 128 .b8 tile[512];\n"
      ".shared .align 8 .b64 bar;\n");
  Device device;
  LaunchConfig config;
  config.grid = {betweenCtas ? 2u : 1u, 1, 1};
  config.block = {betweenCtas ? 32u : 64u, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  options.maxErrors = 1;
  auto buffer = [&](const char *name, uint64_t bytes) {
    return KernelArgument::value(*device.allocate(name, bytes));
  };
  return run(device, text,
             {buffer("maps", 128), buffer("in", 1024), buffer("flag", 4)},
             config, options);
}

void expectClean(const std::string &writer, const std::string &reader,
                 bool betweenCtas) {
  for (uint64_t seed = 0; seed < 6; ++seed)
    EXPECT_EQ(handOver(writer, reader, betweenCtas, seed).str(), "")
        << writer << reader;
}

void expectStale(const std::string &writer, const std::string &reader,
                 bool betweenCtas, const std::string &why) {
  for (uint64_t seed = 0; seed < 6; ++seed)
    EXPECT_THAT(handOver(writer, reader, betweenCtas, seed).str(),
                testing::AllOf(HasSubstr("[stale-tensor-map]"), HasSubstr(why)))
        << writer << reader;
}

const char *const kNotAcquired = "the CTA has not acquired it since";
const char *const kNotReleased = "nothing has released it since";

} // namespace

TEST(TensorMapFence, BetweenCtas) {
  expectClean(kCopy + kSet, kPoll + kAcquire, true);
  expectClean(kStore + kRelease + kSet, kPoll + kAcquire, true);
  // The acquire is one of what the relaxed poll has seen, too.
  expectClean(kCopy + kSet, kPollRelaxed + kAcquire, true);
  expectStale(kCopy + kSet, kPoll, true, kNotAcquired);
  expectStale(kStore + kSet, kPoll + kAcquire, true, kNotReleased);
  // Of another map.
  expectStale(kCopy + kSet, kPoll + replaced(kAcquire, "[%d0]", "[%d0+128]"),
              true, kNotAcquired);
  // The acquire comes before the poll; the release after the flag is set, which
  // may be before or after the use.
  expectStale(kCopy + kSet, kAcquire + kPoll, true, kNotAcquired);
  expectStale(kStore + kSet + kRelease, kPoll + kAcquire, true, "");
}

TEST(TensorMapFence, BetweenWarps) {
  expectClean(kCopy + kMeet, kMeet + kAcquire, false);
  expectClean(kStore + kRelease + kMeet, kMeet + kAcquire, false);
  // An acquire is the CTA's, whichever of its threads executes it.
  expectClean(kCopy + kAcquire + kMeet, kMeet, false);
  expectStale(kCopy + kMeet, kMeet, false, kNotAcquired);
  expectStale(kCopy + kMeet, kAcquire + kMeet, false, kNotAcquired);
  expectStale(kStore + kMeet, kMeet + kAcquire, false, kNotReleased);
  expectStale(kStore + kMeet + kRelease, kMeet + kAcquire, false, "");
}
