// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One wgmma of one warpgroup: A and B come from global memory, in the layout
// that the descriptors say, and D goes back.

#ifndef FP8_TEST_SIMULATOR_ISA_TENSORCORE_WGMMAKERNELS_H
#define FP8_TEST_SIMULATOR_ISA_TENSORCORE_WGMMAKERNELS_H

#include "Kernels.h"

#include <cstring>

namespace fp8::sim::test {

struct WgmmaProblem {
  explicit WgmmaProblem(uint32_t n, std::string typeA = "e4m3",
                        std::string typeB = "e4m3")
      : n(n), typeA(std::move(typeA)), typeB(std::move(typeB)), a(64 * 32),
        b(n * 32) {}

  uint32_t n;
  std::string typeA, typeB;
  unsigned swizzle = 1;      ///< as the descriptor says
  std::vector<uint8_t> a, b; ///< rows of 32 bytes
  bool registerA = false, initialise = true;
  bool transposeA = false, transposeB = false; ///< MN-major
  bool alongK = false; ///< MN-major: the other half of K lies next, not rows
  float before = 0.5f; ///< in the accumulator
  std::string scaleD = "%p1", scales = "1, 1";
  Options options;

  unsigned elementBytes() const {
    return typeA[0] == 'e' ? 1 : typeA == "tf32" ? 4 : 2;
  }
  uint32_t span() const { return swizzle ? 256u >> swizzle : 128; }
  uint32_t bytes(uint32_t rows, bool transposed) const {
    if (transposed)
      return blocks(rows) * 16 * width();
    return rows / 8 * (swizzle ? span() * 8 : 256);
  }
  uint32_t bytesOfA() const { return bytes(64, transposeA); }
  uint32_t bytesOfB() const { return bytes(n, transposeB); }

  // MN-major: rows of K have `width` bytes of M or N, 8 of them make a block;
  // blocks follow along M or N, and for the other half of K.
  uint32_t width() const { return swizzle ? span() : 16; }
  uint32_t blocks(uint32_t rows) const {
    return (rows * 2 + width() - 1) / width();
  }
  uint32_t nextBlock() const { return alongK ? 16 * width() : 8 * width(); }
  uint32_t nextHalf(uint32_t rows) const {
    return alongK ? 8 * width() : blocks(rows) * 8 * width();
  }
  /// Where element (row, k) of 16 bits lies.
  uint32_t transposedPlace(uint32_t row, uint32_t k, uint32_t rows) const {
    uint32_t at = row * 2 / width() * nextBlock() + row * 2 % width() +
                  k % 8 * width() + k / 8 * nextHalf(rows);
    return swizzle ? at ^ (at >> 3 & (span() - 16)) : at;
  }

  /// Where 16 bytes of a row lie, from the start of the operand.
  uint32_t place(uint32_t row, uint32_t half) const {
    if (!swizzle)
      return row / 8 * 256 + half * 128 + row % 8 * 16;
    uint32_t at = row * span() + half * 16;
    return at ^ (at >> 3 & (span() - 16));
  }
  std::vector<uint8_t> laidOut(const std::vector<uint8_t> &rows,
                               bool transposed) const {
    uint32_t count = uint32_t(rows.size() / 32);
    std::vector<uint8_t> image(bytes(count, transposed));
    if (transposed) {
      for (uint32_t r = 0; r < count; ++r)
        for (uint32_t k = 0; k < 16; ++k)
          std::memcpy(&image[transposedPlace(r, k, count)],
                      &rows[r * 32 + k * 2], 2);
      return image;
    }
    for (uint32_t r = 0; r < rows.size() / 32; ++r)
      for (uint32_t half = 0; half < 2; ++half)
        std::memcpy(&image[place(r, half)], &rows[r * 32 + half * 16], 16);
    return image;
  }
  uint64_t descriptor(uint32_t rows, bool transposed) const {
    uint64_t stride = bytes(8, false), leading = swizzle ? 16 : 128;
    if (transposed) {
      stride = swizzle ? nextHalf(rows) : nextBlock();
      leading = swizzle ? nextBlock() : nextHalf(rows);
    }
    return uint64_t(swizzle) << 62 | stride / 16 << 32 | leading / 16 << 16;
  }

  std::string list() const {
    std::string text = "{";
    for (uint32_t i = 0; i < n / 2; ++i)
      text += (i ? ", %v" : "%v") + std::to_string(i);
    return text + "}";
  }
  std::string wgmma() const {
    return "  wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" +
           std::to_string(32 / elementBytes()) + ".f32." + typeA + "." + typeB +
           " " + list() + ", " + (registerA ? "{%a0, %a1, %a2, %a3}" : "%da") +
           ", %db, " + scaleD + ", " + scales +
           (elementBytes() != 2 ? ""
                                : (registerA    ? ""
                                   : transposeA ? ", 1"
                                                : ", 0") +
                                      std::string(transposeB ? ", 1" : ", 0")) +
           ";\n";
  }

  /// The pieces are lines that faults are planted in.
  std::string text() const {
    std::string body = R"(
  .reg .pred %p<4>;
  .reg .b32 %t, %r<20>, %a<4>, %bytes;
  .reg .b64 %d<20>, %in, %out, %da, %db;
  .reg .f32 %v<128>, %x;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  shl.b32 %r0, %t, 4;
  mov.u32 %r1, s;
  mov.b32 %bytes, )" + std::to_string(bytesOfA() + bytesOfB()) +
                       R"(;
COPY:
  setp.ge.u32 %p0, %r0, %bytes;
  @%p0 bra COPIED;
  cvt.u64.u32 %d0, %r0;
  add.s64 %d0, %d0, %in;
  ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%d0];
  add.u32 %r2, %r1, %r0;
  st.shared.v4.b32 [%r2], {%r4, %r5, %r6, %r7};
  add.u32 %r0, %r0, 2048;
  bra COPY;
COPIED:
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.eq.u32 %p1, %t, %t;
  shr.u32 %r3, %r1, 4;
  cvt.u64.u32 %d1, %r3;
  mov.b64 %d2, )" + std::to_string(descriptor(64, transposeA)) +
                       R"(;
  or.b64 %da, %d1, %d2;
  add.s64 %d1, %d1, )" +
                       std::to_string(bytesOfA() / 16) +
                       R"(;
  mov.b64 %d2, )" + std::to_string(descriptor(n, transposeB)) +
                       R"(;
  or.b64 %db, %d1, %d2;
)";
    if (registerA) // A's rows, as they are, lie behind D in `out`.
      body += R"(
  and.b32 %r8, %t, 3;
  shl.b32 %r8, %r8, 2;
  and.b32 %r9, %t, 96;
  shr.u32 %r9, %r9, 1;
  shr.u32 %r10, %t, 2;
  and.b32 %r10, %r10, 7;
  add.u32 %r9, %r9, %r10;
  shl.b32 %r9, %r9, 5;
  add.u32 %r8, %r8, %r9;
  cvt.u64.u32 %d3, %r8;
  add.s64 %d3, %d3, %out;
  ld.global.b32 %a0, [%d3+)" +
              std::to_string(n * 256) + "];\n  ld.global.b32 %a1, [%d3+" +
              std::to_string(n * 256 + 256) + "];\n  ld.global.b32 %a2, [%d3+" +
              std::to_string(n * 256 + 16) + "];\n  ld.global.b32 %a3, [%d3+" +
              std::to_string(n * 256 + 272) + "];\n";
    char bits[16];
    uint32_t value;
    std::memcpy(&value, &before, 4);
    std::snprintf(bits, sizeof(bits), "0f%08X", value);
    for (uint32_t i = 0; initialise && i < n / 2; ++i)
      body += "  mov.f32 %v" + std::to_string(i) + ", " + bits + ";\n";
    body += "  wgmma.fence.sync.aligned;\n" + wgmma() +
            "  wgmma.commit_group.sync.aligned;\n"
            "  wgmma.wait_group.sync.aligned 0;\n";
    // Row 16 * warp + lane / 4, column 2 * (lane % 4).
    body += R"(
  and.b32 %r11, %t, 96;
  shr.u32 %r11, %r11, 1;
  shr.u32 %r12, %t, 2;
  and.b32 %r12, %r12, 7;
  add.u32 %r11, %r11, %r12;
  mul.lo.u32 %r11, %r11, )" +
            std::to_string(n * 4) + R"(;
  and.b32 %r12, %t, 3;
  shl.b32 %r12, %r12, 3;
  add.u32 %r11, %r11, %r12;
  cvt.u64.u32 %d4, %r11;
  add.s64 %d4, %d4, %out;
)";
    for (uint32_t i = 0; i < n / 2; ++i)
      body += "  st.global.f32 [%d4+" +
              std::to_string(i / 4 * 32 + i % 2 * 4 + i % 4 / 2 * n * 32) +
              "], %v" + std::to_string(i) + ";\n";
    return kernel(".param .u64 in, .param .u64 out", body + "  ret;", "sm_90a",
                  ".shared .align 1024 .b8 s[65536];\n");
  }

  Report run(std::vector<float> &d, const std::string &ptx,
             uint32_t threads = 128) const {
    std::vector<uint8_t> image = laidOut(a, transposeA),
                         second = laidOut(b, transposeB);
    image.insert(image.end(), second.begin(), second.end());
    Device device;
    uint64_t in = *device.allocate("in", image.size()),
             out = *device.allocate("out", n * 256 + a.size());
    device.write(in, image.data(), image.size());
    device.write(out + n * 256, a.data(), a.size());
    LaunchConfig config;
    config.block = {threads, 1, 1};
    Report report = sim::test::run(
        device, ptx, {KernelArgument::value(in), KernelArgument::value(out)},
        config, options);
    d.resize(n * 64);
    device.read(out, d.data(), n * 256);
    return report;
  }
  Report run(std::vector<float> &d) const { return run(d, text()); }
};

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_ISA_TENSORCORE_WGMMAKERNELS_H
