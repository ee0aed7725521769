// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global memory that one proxy or cache writes and another reads: the fences of
// the async proxy, and loads through the non-coherent cache.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

// Of the kernels below: %out has 64 words, %p0 and %p1 are the first threads of
// the two warps, %p3 and %p4 are true in the first and the second CTA.
const std::string kWrite = "@%p0 st.global.u32 [%out], 7;\n";
const std::string kFence = "fence.proxy.async;\n";
const std::string kMeet = "bar.sync 0;\n";
const std::string kLoad =
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[s], [%out], 16, [bar];\n"
    "WAIT: mbarrier.try_wait.parity.shared.b64 %p6, [bar], 0; @!%p6 bra "
    "WAIT;\n";

std::string errorsOf(const std::string &body, uint64_t seed, uint32_t blocks) {
  std::string text = kernel(
      ".param .u64 out", R"(
  .reg .pred %p<10>; .reg .b32 %r<20>; .reg .b64 %d<20>;
  .reg .b64 %out; .reg .b32 %t;
  ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %r0, %ctaid.x;
  setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 32;
  setp.eq.u32 %p3, %r0, 0; setp.eq.u32 %p4, %r0, 1;
  @%p0 mbarrier.init.shared.b64 [bar], 1;
  @%p0 fence.mbarrier_init.release.cluster;
  bar.sync 0;
)" + body + "\nEND: ret;",
      "sm_90a", ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\n");
  Device device;
  uint64_t address = *device.allocate("out", 256);
  LaunchConfig config;
  config.grid = {blocks, 1, 1};
  config.block = {64, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  options.maxErrors = 1;
  return run(device, text, {KernelArgument::value(address)}, config, options)
      .str();
}

void expectErrors(const std::string &body, const std::string &message,
                  uint32_t blocks = 1) {
  for (uint64_t seed = 0; seed < 8; ++seed)
    if (message.empty())
      EXPECT_EQ(errorsOf(body, seed, blocks), "") << body;
    else
      EXPECT_THAT(errorsOf(body, seed, blocks), HasSubstr(message)) << body;
}
void expectRight(const std::string &body, uint32_t blocks = 1) {
  expectErrors(body, "", blocks);
}

const std::string kMissing =
    " through the async proxy, but 'st.global.u32' wrote it through the "
    "generic proxy with no fence.proxy.async between the two; execute "
    "fence.proxy.async after the write, before what hands the data over";

} // namespace

TEST(GlobalProxy, CopyOfWhatAThreadHasWritten) {
  expectErrors(kWrite + kMeet + kLoad,
               "'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes' reads buffer 'out' at offset 0" +
                   kMissing);
  expectErrors(kWrite + kMeet + kLoad, "[missing-proxy-fence]");
  expectRight(kWrite + kFence + kMeet + kLoad); // of the writer
  expectRight(kWrite + kMeet + kFence + kLoad); // of the reader
  // What another kernel has written is visible.
  expectRight(kMeet + kLoad);
  // Words beside it.
  expectRight("@%p0 st.global.u32 [%out+16], 7;\n" + kMeet + kLoad);
  // A fence in front of the write is none.
  expectErrors(kFence + kWrite + kMeet + kLoad, kMissing);
  expectErrors("@%p0 atom.global.add.u32 %r1, [%out], 7;\n" + kMeet + kLoad,
               "'atom.global.add.u32' wrote it through the generic proxy");
}

TEST(GlobalProxy, FencesOfOneStateSpace) {
  expectRight(kWrite + "fence.proxy.async.global;\n" + kMeet + kLoad);
  expectErrors(kWrite + "fence.proxy.async.shared::cta;\n" + kMeet + kLoad,
               kMissing);
  const std::string fill = "mov.u64 %d0, 0;\n@%p1 st.shared.v2.u64 [s], "
                           "{%d0, %d0};\n",
                    store = "@%p1 cp.async.bulk.global.shared::cta.bulk_group "
                            "[%out], [s], 16;\n"
                            "@%p1 cp.async.bulk.commit_group;\n"
                            "@%p1 cp.async.bulk.wait_group 0;\n";
  expectRight(fill + "fence.proxy.async.shared::cta;\n" + store);
  expectErrors(fill + "fence.proxy.async.global;\n" + store,
               "[missing-proxy-fence]");
}

TEST(GlobalProxy, StoreOverWhatAThreadHasWritten) {
  const std::string store =
      "mov.u64 %d0, 0;\n@%p1 st.shared.v2.u64 [s], {%d0, %d0};\n"
      "fence.proxy.async.shared::cta;\n"
      "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
      "[%out], [s], 16;\n"
      "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\n";
  expectErrors(kWrite + kMeet + store,
               "' writes buffer 'out' at offset 0" + kMissing);
  expectRight(kWrite + kFence + kMeet + store);
  // Its own completion makes a copy's writes visible to all.
  expectRight(store + kMeet + "ld.global.u32 %r1, [%out];");
}

TEST(GlobalProxy, HandedToAnotherCluster) {
  auto handOver = [](const std::string &written, const std::string &taken) {
    return "@%p4 bra SECOND;\n" + kWrite + written +
           "@%p0 st.release.gpu.global.u32 [%out+128], 1; bra END;\n"
           "SECOND: ld.acquire.gpu.global.u32 %r1, [%out+128];\n"
           "setp.eq.u32 %p7, %r1, 0; @%p7 bra SECOND;\n" +
           taken + kLoad;
  };
  expectErrors(handOver("", ""), kMissing, 2);
  expectErrors(handOver("", ""), ", in the cluster that begins at block (", 2);
  expectRight(handOver(kFence, ""), 2);
  expectRight(handOver("", kFence), 2);
}

TEST(GlobalProxy, HandedOnByAThirdCluster) {
  auto handOn = [](const std::string &fence) {
    return "setp.eq.u32 %p8, %r0, 2; @%p4 bra SECOND; @%p8 bra THIRD;\n" +
           kWrite +
           "@%p0 st.release.gpu.global.u32 [%out+128], 1; bra END;\n"
           "SECOND: ld.acquire.gpu.global.u32 %r1, [%out+128];\n"
           "setp.eq.u32 %p7, %r1, 0; @%p7 bra SECOND;\n" +
           fence +
           "@%p0 st.release.gpu.global.u32 [%out+132], 1; bra END;\n"
           "THIRD: ld.acquire.gpu.global.u32 %r1, [%out+132];\n"
           "setp.eq.u32 %p7, %r1, 0; @%p7 bra THIRD;\n" +
           kLoad;
  };
  expectErrors(handOn(""), kMissing, 3);
  expectRight(handOn(kFence), 3);
}

TEST(GlobalProxy, NonCoherentLoads) {
  const std::string load = "@%p1 ld.global.nc.u32 %r1, [%out];\n";
  expectRight(load);
  // It has what it needs.
  expectRight(load + kMeet + kWrite);
  expectErrors(
      kWrite + kMeet + load,
      "'ld.global.nc.u32' reads buffer 'out' at offset 0 through the "
      "non-coherent cache, but the kernel has written there by "
      "'st.global.u32', so what it reads may be old; load without "
      ".nc (in CUDA C++: without __ldg, or a pointer that is not const "
      "__restrict__)");
  expectErrors("st.global.u32 [%out], 7;\n"
               "ld.global.nc.u32 %r1, [%out];\n",
               "[non-coherent-read]");
  expectRight(kWrite + kMeet + "@%p1 ld.global.nc.u32 %r1, [%out+4];\n");
  expectRight(kWrite + kMeet + "@%p1 ld.global.u32 %r1, [%out];\n");
}
