// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel in which one thread issues operations to the tensor core.

#include "ISA/TensorCore/IssueKernel.h"

using namespace fp8::sim;
using namespace fp8::sim::test;

std::string IssueKernel::prologue() const {
  std::string size = std::to_string(bytes);
  return R"(
  .reg .pred %p<8>; .reg .b16 %h<2>; .reg .b32 %r<20>, %v<16>;
  .reg .b64 %d<20>;
  ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; shr.u32 %r2, %r0, 5;
  setp.ne.u32 %p0, %r0, 0; setp.ne.u32 %p2, %r2, 0; setp.ne.u32 %p3, %r0, %r0;
  setp.eq.u32 %p6, %r0, %r0;
  mov.u32 %r5, s; mov.u32 %r8, bar; add.u32 %r8, %r8, 8;
  mul.wide.u32 %d8, %r1, )" +
         size + R"(; add.s64 %d0, %d0, %d8;
  @%p0 bra COPIED;
  mbarrier.init.shared.b64 [bar], 1; mbarrier.init.shared.b64 [bar+8], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], )" +
         size + R"(;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d0], )" +
         size + R"(, [bar];
COPIED: )" +
         meet() +
         R"(
L0: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra L0;
  @%p2 bra ALLOCATED;
  tcgen05.alloc.cta_group::)" +
         group() + ".sync.aligned.shared::cta.b32 [slot], " +
         std::to_string(allocated) + R"(;
  tcgen05.relinquish_alloc_permit.cta_group::)" +
         group() + R"(.sync.aligned;
ALLOCATED: )" +
         meet() + R"(
  ld.shared.b32 %r4, [slot];
  shl.b32 %r9, %r2, 21; add.u32 %r9, %r9, %r4;
)";
}

std::string IssueKernel::commit() const {
  return pair ? "  mov.b16 %h0, 3;\n  tcgen05.commit.cta_group::2"
                ".mbarrier::arrive::one.shared::cluster"
                ".multicast::cluster.b64 [%r8], %h0;\n"
              : "  tcgen05.commit.cta_group::1.mbarrier::arrive::one"
                ".shared::cluster.b64 [%r8];\n";
}

std::string IssueKernel::epilogue() const {
  std::string body = R"(
  shl.b32 %r10, %r1, 7; add.u32 %r10, %r10, %r0; mul.wide.u32 %d9, %r10, )" +
                     std::to_string(columns * 4) + R"(;
  add.s64 %d9, %d9, %d1;
  and.b32 %r11, %r0, 16; setp.eq.u32 %p7, %r11, )" +
                     std::to_string(firstLane) + ";\n";
  for (uint32_t c = 0; c < columns; c += 8) {
    body += "  tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0, %v1, %v2, %v3, %v4, "
            "%v5, %v6, %v7}, [%r9+" +
            std::to_string(c) + "];\n  tcgen05.wait::ld.sync.aligned;\n";
    for (uint32_t e = 0; e < 8; ++e)
      body += std::string(halfLanes ? "  @%p7" : " ") + " st.global.b32 [%d9+" +
              std::to_string((c + e) * 4) + "], %v" + std::to_string(e) + ";\n";
  }
  return body + "  " + meet() + "\n  @%p2 bra END;\n" +
         "  tcgen05.dealloc.cta_group::" + group() + ".sync.aligned.b32 %r4, " +
         std::to_string(allocated) + ";\nEND: ret;\n";
}

std::string IssueKernel::text() const {
  std::string body = prologue() + before + R"(
  or.b32 %r6, %r0, %r1; setp.ne.u32 %p5, %r6, 0;
  @%p5 bra ISSUED;
  shr.u32 %r7, %r5, 4; cvt.u64.u32 %d2, %r7;
)" + issue + commit() +
                     R"(ISSUED: bar.warp.sync -1;
L1: mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], 0; @!%p1 bra L1;
  tcgen05.fence::after_thread_sync;
)" + epilogue();
  return kernel(".param .u64 in, .param .u64 out", body, "sm_100a",
                ".shared .align 1024 .b8 s[" + std::to_string(bytes) +
                    "];\n.shared .align 8 .b64 bar[2];\n.shared .b32 slot;\n");
}

std::vector<uint32_t>
fp8::sim::test::runIssueKernel(const IssueKernel &kernel,
                               const std::string &text,
                               const std::vector<uint8_t> &images,
                               const Options &options, Report &report) {
  Device device;
  std::vector<uint32_t> out(size_t(kernel.ctas()) * 128 * kernel.columns,
                            0x7fc0dead);
  uint64_t in = *device.allocate("in", images.size()),
           to = *device.allocate("out", out.size() * 4);
  device.write(in, images.data(), images.size());
  device.write(to, out.data(), out.size() * 4);
  LaunchConfig config;
  config.block = {128, 1, 1};
  config.grid = config.cluster = {kernel.ctas(), 1, 1};
  report =
      run(device, text, {KernelArgument::value(in), KernelArgument::value(to)},
          config, options);
  device.read(to, out.data(), out.size() * 4);
  return out;
}
