// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that shows what a TMA load writes, and tensors to load from.
#ifndef FP8_TEST_SIMULATOR_ISA_COPY_COPYKERNELS_H
#define FP8_TEST_SIMULATOR_ISA_COPY_COPYKERNELS_H

#include "Kernels.h"

namespace fp8::sim::test {

/// Executes `load` in one thread, which completes `expected` bytes on `bar`,
/// and copies the first `out.size()` bytes of shared memory, a multiple of 4,
/// to `out`. %r0 holds the address of the first, a multiple of 1024.
inline Report loadAndDump(Device &device, const TensorMap &map,
                          const std::string &load, uint64_t expected,
                          std::vector<uint8_t> &out, uint64_t seed = 0) {
  const std::string bytes = std::to_string(out.size());
  std::string text =
      kernel(".param .align 64 .b8 map[128], .param .u64 out",
             R"(
  .reg .pred %p, %q; .reg .b32 %r<9>; .reg .b64 %d<9>;
  mov.u32 %r0, s; mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0;
  @%p bra WAIT;
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], )" +
                 std::to_string(expected) + ";\n  " + load + R"(;
WAIT: bar.warp.sync -1;
LOOP: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra LOOP;
  ld.param.u64 %d0, [out]; mov.u32 %r2, 0;
DUMP: shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2; add.u32 %r4, %r3, %r0;
  setp.lt.u32 %q, %r3, )" +
                 bytes + R"(;
  @%q ld.shared.u32 %r5, [%r4];
  cvt.u64.u32 %d1, %r3; add.s64 %d1, %d1, %d0;
  @%q st.global.u32 [%d1], %r5;
  add.u32 %r2, %r2, 128; setp.lt.u32 %p, %r2, )" +
                 bytes + R"(; @%p bra DUMP;
  ret;)",
             "sm_100a",
             ".shared .align 1024 .b8 s[16384];\n.shared .align 8 .b64 bar;\n");
  uint64_t place = *device.allocate("out", out.size());
  LaunchConfig config;
  config.block = {32, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  Report report =
      run(device, text,
          {KernelArgument::tensorMap(map), KernelArgument::value(place)},
          config, options);
  device.read(place, out.data(), out.size());
  return report;
}

/// A tensor in global memory and what it holds.
struct Tensor {
  TensorMap map;
  std::vector<uint8_t> bytes;
};

/// Strides are multiples of 32 bytes.
inline Tensor makeTensor(Device &device, ElementType type,
                         std::vector<uint64_t> dims, std::vector<uint32_t> box,
                         Swizzle swizzle) {
  Tensor t;
  t.map.elementType = type;
  t.map.rank = unsigned(dims.size());
  const ElementInfo &info = infoOf(type);
  uint64_t stride = dims[0] * info.globalBytes / info.elements;
  for (unsigned i = 0; i < t.map.rank; ++i) {
    t.map.dims[i] = dims[i];
    t.map.box[i] = box[i];
    stride = ((i ? stride * dims[i] : stride) + 31) / 32 * 32;
    if (i + 1 < t.map.rank)
      t.map.strides[i] = stride;
  }
  t.map.swizzle = swizzle;
  t.bytes.resize(stride);
  for (size_t i = 0; i < t.bytes.size(); ++i)
    t.bytes[i] = uint8_t(i * 37 + i / 256 * 11 + 1);
  t.map.globalAddress = *device.allocate("tensor", stride);
  device.write(t.map.globalAddress, t.bytes.data(), stride);
  return t;
}

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_ISA_COPY_COPYKERNELS_H
