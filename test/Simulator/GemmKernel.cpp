// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-written GEMM and its run.

#include "GemmKernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;

namespace {

constexpr uint32_t kFull = 81920, kEmpty = 81936, kAccFull = 81952,
                   kAccEmpty = 81968, kFreed = 81984, kSlot = 81992;
constexpr uint32_t kShared = 82048;

std::string waitLoop(const std::string &name, const std::string &address,
                     const std::string &parity) {
  return name + ":\n  mbarrier.try_wait.parity.shared::cta.b64 %p9, [" +
         address + "], " + parity + ";\n  @!%p9 bra " + name + ";\n";
}

std::string loadWarp() {
  return R"(
LOAD:
  .loc 1 10 0
  mov.b32 %kb, 0;
  elect.sync %r20|%p1, -1;
  @!%p1 bra END;
LOADLOOP:
  and.b32 %stage, %kb, 1;
  shr.u32 %phase, %kb, 1;
  and.b32 %phase, %phase, 1;
  xor.b32 %r21, %phase, 1;
  shl.b32 %r22, %stage, 3;
  add.u32 %r23, %smem, %r22;
  add.u32 %full, %r23, 81920;
  add.u32 %empty, %r23, 81936;
)" + waitLoop("LOADWAIT", "%empty", "%r21") +
         R"(  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], 32768;
  shl.b32 %r24, %stage, 14;
  add.u32 %r25, %smem, %r24;
  add.u32 %r26, %r25, 32768;
  shl.b32 %r27, %kb, 7;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r25], [%mapA, {%r27, %m0}], [%full];
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r26], [%mapB, {%r27, %n0}], [%full];
  add.u32 %kb, %kb, 1;
  setp.lt.u32 %p2, %kb, %blocks;
  @%p2 bra LOADLOOP;
  bra END;
)";
}

std::string mmaWarp() {
  return R"(
MMA:
  .loc 1 20 0
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+81992], 256;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
  bar.arrive 1, 160;
  ld.shared.b32 %tmem, [smem+81992];
  mov.b32 %kb, 0;
MMALOOP:
  and.b32 %stage, %kb, 1;
  shr.u32 %phase, %kb, 1;
  and.b32 %phase, %phase, 1;
  xor.b32 %r21, %phase, 1;
  shl.b32 %r22, %stage, 3;
  add.u32 %r23, %smem, %r22;
  add.u32 %full, %r23, 81920;
  add.u32 %empty, %r23, 81936;
  add.u32 %accfull, %r23, 81952;
  add.u32 %accempty, %r23, 81968;
)" + waitLoop("MMAWAITACC", "%accempty", "%r21") +
         waitLoop("MMAWAITFULL", "%full", "%phase") +
         R"(  tcgen05.fence::after_thread_sync;
  elect.sync %r20|%p1, -1;
  @!%p1 bra MMANEXT;
  shl.b32 %r24, %stage, 7;
  add.u32 %r25, %tmem, %r24;
  shl.b32 %r26, %stage, 14;
  add.u32 %r27, %smem, %r26;
  shr.u32 %r28, %r27, 4;
  cvt.u64.u32 %d10, %r28;
  or.b64 %d11, %d10, 0x4000404000000000;
  add.s64 %d12, %d11, 2048;
  mov.b32 %r29, 0x08200010;
  setp.ne.b32 %p3, %r29, %r29;
  setp.eq.b32 %p4, %r29, %r29;
  tcgen05.mma.cta_group::1.kind::f8f6f4 [%r25], %d11, %d12, %r29, %p3;
  add.s64 %d13, %d11, 2;
  add.s64 %d14, %d12, 2;
  tcgen05.mma.cta_group::1.kind::f8f6f4 [%r25], %d13, %d14, %r29, %p4;
  add.s64 %d13, %d11, 4;
  add.s64 %d14, %d12, 4;
  tcgen05.mma.cta_group::1.kind::f8f6f4 [%r25], %d13, %d14, %r29, %p4;
  add.s64 %d13, %d11, 6;
  add.s64 %d14, %d12, 6;
  tcgen05.mma.cta_group::1.kind::f8f6f4 [%r25], %d13, %d14, %r29, %p4;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%empty];
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%accfull];
MMANEXT:
  bar.warp.sync -1;
  add.u32 %kb, %kb, 1;
  setp.lt.u32 %p2, %kb, %blocks;
  @%p2 bra MMALOOP;
  add.u32 %freed, %smem, 81984;
)" + waitLoop("MMAFREE", "%freed", "0") +
         R"(  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 256;
  bra END;
)";
}

std::string registerList(const std::string &prefix) {
  std::string text;
  for (int i = 0; i < 32; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return "{" + text + "}";
}

std::string epilogueWarps() {
  std::string text = R"(
EPILOGUE:
  .loc 1 30 0
  bar.sync 1, 160;
  ld.shared.b32 %tmem, [smem+81992];
  shl.b32 %r20, %warp, 21;
  add.u32 %tmem, %tmem, %r20;
  mov.b32 %kb, 0;
)";
  for (int i = 0; i < 128; ++i)
    text += "  mov.f32 %acc" + std::to_string(i) + ", 0f00000000;\n";
  text += R"(EPILOOP:
  and.b32 %stage, %kb, 1;
  shr.u32 %phase, %kb, 1;
  and.b32 %phase, %phase, 1;
  shl.b32 %r22, %stage, 3;
  add.u32 %r23, %smem, %r22;
  add.u32 %accfull, %r23, 81952;
  add.u32 %accempty, %r23, 81968;
)" + waitLoop("EPIWAIT", "%accfull", "%phase") +
          R"(  tcgen05.fence::after_thread_sync;
  shl.b32 %r24, %stage, 7;
  add.u32 %r25, %tmem, %r24;
)";
  for (int chunk = 0; chunk < 4; ++chunk) {
    text += "  tcgen05.ld.sync.aligned.32x32b.x32.b32 " + registerList("%v") +
            ", [%r25+" + std::to_string(chunk * 32) + "];\n";
    text += "  tcgen05.wait::ld.sync.aligned; // chunk " +
            std::to_string(chunk) + "\n";
    if (chunk == 3)
      text += R"(  tcgen05.fence::before_thread_sync;
  setp.eq.u32 %p5, %lane, 0;
  bar.warp.sync -1;
  @%p5 mbarrier.arrive.shared::cta.b64 _, [%accempty]; // release
)";
    for (int i = 0; i < 32; ++i) {
      std::string acc = "%acc" + std::to_string(chunk * 32 + i);
      text += "  add.rn.f32 " + acc + ", " + acc + ", %v" + std::to_string(i) +
              ";\n";
    }
  }
  text += R"(  add.u32 %kb, %kb, 1;
  setp.lt.u32 %p2, %kb, %blocks;
  @%p2 bra EPILOOP;
  add.u32 %freed, %smem, 81984;
  @%p5 mbarrier.arrive.shared::cta.b64 _, [%freed];
  .loc 1 40 0
  shl.b32 %r30, %warp, 12;
  add.u32 %r31, %smem, %r30;
  add.u32 %r31, %r31, 65536;
  shl.b32 %r32, %lane, 7;
  add.u32 %r33, %r31, %r32;
  and.b32 %r34, %lane, 7;
  shl.b32 %r34, %r34, 4;
  shl.b32 %r35, %warp, 5;
  add.u32 %r35, %r35, %m0;
)";
  for (int chunk = 0; chunk < 4; ++chunk) {
    for (int quad = 0; quad < 8; ++quad) {
      std::string base = std::to_string(chunk * 32 + quad * 4);
      text += "  xor.b32 %r36, %r34, " + std::to_string(quad * 16) +
              ";\n  add.u32 %r37, %r33, %r36;\n";
      text += "  st.shared.v4.f32 [%r37], {%acc" + base;
      for (int i = 1; i < 4; ++i)
        text += ", %acc" + std::to_string(chunk * 32 + quad * 4 + i);
      text += "};\n";
    }
    text += "  add.u32 %r38, %n0, " + std::to_string(chunk * 32) + ";\n";
    text += R"(  fence.proxy.async.shared::cta;
  bar.warp.sync -1;
  @%p5 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%mapD, {%r38, %r35}], [%r31];
  @%p5 cp.async.bulk.commit_group;
  @%p5 cp.async.bulk.wait_group.read 0;
  bar.warp.sync -1;
)";
  }
  return text + "  @%p5 cp.async.bulk.wait_group 0;\n  bra END;\n";
}

uint32_t e4m3Random(uint32_t &state) {
  state = state * 1664525u + 1013904223u;
  uint32_t bits = state >> 24;
  return (bits & 0x7f) == 0x7f ? 0x38 : bits; // no NaN
}

double e4m3Value(uint32_t bits) {
  int exponent = int(bits >> 3 & 15), mantissa = int(bits & 7);
  double value = exponent ? std::ldexp(8 + mantissa, exponent - 10)
                          : std::ldexp(mantissa, -9);
  return bits & 0x80 ? -value : value;
}

} // namespace

std::string fp8::sim::test::gemmKernel() {
  std::string text = R"(.version 8.8
.target sm_100a
.address_size 64
.file 1 "gemm.mlir"
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .align 64 .b8 mapA[128], .param .align 64 .b8 mapB[128], .param .align 64 .b8 mapD[128],
                  .param .u32 blocks)
.maxntid 192
{
  .reg .pred %p<10>;
  .reg .b32 %r<40>;
  .reg .b64 %d<20>;
  .reg .f32 %acc<128>;
  .reg .f32 %v<32>;
  .reg .b32 %smem, %warp, %lane, %kb, %stage, %phase, %full, %empty, %accfull, %accempty, %freed, %tmem, %blocks;
  .reg .b32 %m0, %n0;
  .reg .b64 %mapA, %mapB, %mapD;
  .loc 1 1 0
  mov.b64 %d0, mapA;
  cvta.param.u64 %mapA, %d0;
  mov.b64 %d1, mapB;
  cvta.param.u64 %mapB, %d1;
  mov.b64 %d2, mapD;
  cvta.param.u64 %mapD, %d2;
  ld.param.u32 %blocks, [blocks];
  mov.u32 %smem, smem;
  mov.u32 %r0, %tid.x;
  shr.u32 %warp, %r0, 5;
  and.b32 %lane, %r0, 31;
  mov.u32 %r1, %ctaid.x;
  shl.b32 %n0, %r1, 7;
  mov.u32 %r2, %ctaid.y;
  shl.b32 %m0, %r2, 7;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra INITDONE;
)";
  auto init = [&](uint32_t at, uint32_t count) {
    text += "  mbarrier.init.shared::cta.b64 [smem+" + std::to_string(at) +
            "], " + std::to_string(count) + ";\n";
  };
  for (uint32_t s = 0; s < 2; ++s) {
    init(kFull + 8 * s, 1);
    init(kEmpty + 8 * s, 1);
    init(kAccFull + 8 * s, 1);
    init(kAccEmpty + 8 * s, 4);
  }
  init(kFreed, 4);
  text += R"(  fence.mbarrier_init.release.cluster;
INITDONE:
  bar.sync 0;
  setp.lt.u32 %p6, %warp, 4;
  @%p6 bra EPILOGUE;
  setp.eq.u32 %p7, %warp, 4;
  @%p7 bra LOAD;
)";
  return text + mmaWarp() + loadWarp() + epilogueWarps() + "END:\n  ret;\n}\n";
}

GemmRun fp8::sim::test::runGemm(const std::string &text, uint32_t m, uint32_t n,
                                uint32_t k, Options options) {
  Device device;
  uint64_t a = *device.allocate("a", uint64_t(m) * k),
           b = *device.allocate("b", uint64_t(n) * k);
  uint64_t d = *device.allocate("d", uint64_t(m) * n * 4);
  uint32_t state = 7;
  std::vector<uint8_t> av(uint64_t(m) * k), bv(uint64_t(n) * k);
  for (uint8_t &x : av)
    x = uint8_t(e4m3Random(state));
  for (uint8_t &x : bv)
    x = uint8_t(e4m3Random(state));
  device.write(a, av.data(), av.size());
  device.write(b, bv.data(), bv.size());
  std::vector<float> poison(uint64_t(m) * n, std::nanf(""));
  device.write(d, poison.data(), poison.size() * 4);
  auto map = [](uint64_t address, ElementType type, uint64_t inner,
                uint64_t outer, uint32_t box0, uint32_t box1) {
    TensorMap t;
    t.elementType = type;
    t.rank = 2;
    t.globalAddress = address;
    t.dims = {inner, outer};
    t.strides = {inner * elementBytes(type)};
    t.box = {box0, box1};
    t.swizzle = Swizzle::B128;
    return t;
  };
  LaunchConfig config;
  config.grid = {(n + 127) / 128, (m + 127) / 128, 1};
  config.block = {192, 1, 1};
  config.dynamicSharedBytes = kShared;
  GemmRun result;
  result.report =
      run(device, text,
          {KernelArgument::tensorMap(map(a, ElementType::U8, k, m, 128, 128)),
           KernelArgument::tensorMap(map(b, ElementType::U8, k, n, 128, 128)),
           KernelArgument::tensorMap(map(d, ElementType::F32, n, m, 32, 32)),
           KernelArgument::value(uint32_t((k + 127) / 128))},
          config, options);
  result.d.resize(uint64_t(m) * n);
  device.read(d, result.d.data(), result.d.size() * 4);
  // Compare a sample of rows: the reference costs more than the simulation.
  double table[256];
  for (uint32_t i = 0; i < 256; ++i)
    table[i] = e4m3Value(i);
  uint32_t step = std::max(1u, m / 64);
  for (uint32_t row = 0; row < m; row += step)
    for (uint32_t col = 0; col < n; ++col) {
      double sum = 0, magnitude = 0;
      for (uint32_t x = 0; x < k; ++x) {
        double product =
            table[av[uint64_t(row) * k + x]] * table[bv[uint64_t(col) * k + x]];
        sum += product;
        magnitude += std::fabs(product);
      }
      double difference =
          std::fabs(double(result.d[uint64_t(row) * n + col]) - sum) /
          std::max(1.0, magnitude);
      if (!(difference <= result.worst))
        result.worst = std::isnan(difference) ? INFINITY : difference;
    }
  return result;
}
